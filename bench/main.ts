import { startNamed } from '../test/support/options.ts';

/** `RESULTS.md` beside each has its figures; others stand in comments. */
await startNamed('npm run bench --', {
	figures: { about: 'acknowledgements, throughput and memory', start: () => import('./figures/main.ts') },
	'watching-live': { about: 'how soon questions are noticed', start: () => import('./watching-live/main.ts') },
	large: {
		about: 'a database with many answers, questions, posts and watches',
		start: () => import('./large/main.ts'),
	},
	statements: { about: 'what the program asks PostgreSQL', start: () => import('./statements/main.ts') },
	people: {
		about: 'a company: a crowd that opens Home, and what questions cost',
		start: () => import('./people/main.ts'),
	},
	'slow-service': { about: 'a session service with slow keys', start: () => import('./slow-service/main.ts') },
	attack: { about: 'floods and hostile traffic', start: () => import('./attack/main.ts') },
	words: { about: 'how much people see', start: () => import('./words/main.ts') },
	sandbox: { about: 'the start of the sandbox, and its page', start: () => import('../sandbox/bench.ts') },
	commands: {
		about: 'runs every command of the documents that no test runs',
		start: () => import('./documented-commands.ts'),
	},
});
