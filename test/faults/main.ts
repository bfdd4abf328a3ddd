import { startNamed } from '../support/options.ts';

/** Each keeps its figures in `RESULTS.md` beside it. */
await startNamed('npm run faults --', {
	answers: {
		about: 'people answer while the program is killed, stopped and cut off',
		start: () => import('./answers/main.ts'),
	},
	watches: { about: 'sessions are watched while it is killed', start: () => import('./watches/main.ts') },
	'reminder-kills': {
		about: 'reminders are sent while it is killed and frozen around them',
		start: () => import('./watches/reminders/main.ts'),
	},
	keys: {
		about: 'npm run rekey changes the encryption key while it is killed',
		start: () => import('./keys/main.ts'),
	},
	powercut: {
		about: 'the machine loses power while people answer; needs root on Linux',
		start: () => import('./powercut/main.ts'),
	},
});
