import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { count, readOptions, someOf, text } from '../../test/support/options.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { machine } from '../machine.ts';
import { copyPrograms } from '../programs.ts';
import type { Sizes } from './fill.ts';
import type { Figure, Task } from './measured.ts';

const { rounds, former, databases, ...sizes } = readOptions('npm run bench -- large', {
	answers: count(200_000, 'answers', { least: 20_000 }),
	questions: count(200_000, 'questions', { least: 1_000 }),
	posts: count(200_000, 'posts', { least: 1_000 }),
	watches: count(50_000, 'watches, ended or not', { least: 1_000 }),
	live: count(1_000, 'of them go on'),
	session: count(5_000, 'answers in one session', { least: 1 }),
	due: count(45_000, 'due posts', { least: 1 }),
	rounds: count(5, 'of each measurement', { least: 1 }),
	former: text(null, 'measures the program of this commit beside it'),
	databases: someOf(['SQLite', 'PostgreSQL'], 'which are measured'),
});

/** Goals in milliseconds: how long the event loop may be blocked. */
const GOALS = { hot: 50, housekeeping: 250 } as const;
const MEASURED = fileURLToPath(new URL('measured.ts', import.meta.url));

async function run(task: Task): Promise<readonly Figure[]> {
	const child = fork(MEASURED, [JSON.stringify(task)], { execArgv: ['--expose-gc'] });
	let figures: readonly Figure[] | null = null;
	child.once('message', (message) => {
		figures = message as readonly Figure[];
	});
	const [code] = (await once(child, 'exit')) as [number | null];
	if (figures === null) throw new Error(`the measured process ended with ${code}`);
	return figures;
}

const directory = await mkdtemp(join(tmpdir(), 'handraise-large-'));
const postgres = databases.includes('PostgreSQL') ? await startPostgres() : null;
try {
	await using copies = await copyPrograms(former);
	for (const database of databases) {
		const server = database === 'SQLite' ? null : postgres;
		const found: { readonly name: string; readonly figures: readonly Figure[] }[] = [];
		for (const [index, { name, entry }] of copies.programs.entries()) {
			const databaseUrl = server === null ? null : await server.createDatabase();
			const dataDir = join(directory, `${database}${index}`);
			found.push({ name, figures: await run({ source: dirname(entry), databaseUrl, dataDir, sizes, rounds }) });
			await rm(dataDir, { recursive: true, force: true });
		}
		console.log(`\n${database}: longest block (its processor time) / time\n`);
		console.log(
			`| | ${found.map(({ name }) => name).join(' | ')} | goal |\n|---|${found.map(() => '---|').join('')}---|`,
		);
		for (const { name, kind } of found.at(-1)?.figures ?? []) {
			const own = found.map((one) => one.figures.find((figure) => figure.name === name));
			const cells = own.map((one) =>
				one === undefined ? '–' : `${ms(one.blockedMs)} (${ms(one.ranMs)}) / ${ms(one.tookMs)} ms`,
			);
			const { blockedMs = 0, ranMs = 0 } = own.at(-1) ?? {};
			const met = blockedMs <= GOALS[kind] ? 'met' : ranMs <= GOALS[kind] ? 'met by processor time' : 'NOT met';
			console.log(`| ${name} | ${cells.join(' | ')} | ${GOALS[kind]} ms: ${met} |`);
		}
	}
	const of = Object.entries(sizes satisfies Sizes).map(([name, size]) => `${name} ${size}`);
	console.log(`\n${of.join(', ')}; medians of ${rounds} rounds. ${machine()}.`);
} finally {
	await postgres?.close();
	await rm(directory, { recursive: true, force: true });
}

function ms(value: number): string {
	return value.toFixed(value < 10 ? 1 : 0);
}
