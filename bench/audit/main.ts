import { spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { count, readOptions } from '../../test/support/options.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { takeAnswers } from '../figures/answers.ts';
import type { BenchContext } from '../figures/context.ts';
import { createHarness, type Harness } from '../figures/harness.ts';
import { choiceOf, putPresses } from '../figures/presses.ts';
import { startService } from '../figures/service.ts';
import { pair, Rounds } from '../figures/stats.ts';

const AUDIT = new URL('../../src/audit.ts', import.meta.url).pathname;
const PEOPLE = 50;
const BURSTS = 2;
/** By then the follower has started, and printed what there was. */
const STARTED_MS = 5_000;

const values = readOptions('npm run bench -- audit', {
	rounds: count(7, 'interleaved rounds', { least: 1 }),
});

/** Presses one by one and many at once, on one store, while nobody or somebody follows the audit. */
async function takeRound(context: BenchContext, harness: Harness, rounds: Rounds, name: string): Promise<void> {
	const actors = harness.meet(PEOPLE, 'same');
	const rows = Array.from({ length: 1 + BURSTS }, (_, row) => `row${row}`);
	const answers = await putPresses(context, harness, actors, rows);
	await takeAnswers(context, harness, rounds, {
		delivery: 'block_actions',
		sessionOf: (request) => choiceOf(request)?.sessionId ?? '',
		groups: [
			{ name: `${name} 1`, atOnce: 1, answers: answers.slice(0, PEOPLE) },
			{ name: `${name} ${PEOPLE}`, atOnce: PEOPLE, answers: answers.slice(PEOPLE) },
		],
	});
}

async function followed(env: Readonly<Record<string, string>>, work: () => Promise<void>): Promise<void> {
	const child = spawn(process.execPath, [AUDIT, '--follow'], {
		env: { PATH: process.env.PATH ?? '', ...env },
		stdio: ['ignore', 'ignore', 'inherit'],
	});
	try {
		await pause(STARTED_MS);
		await work();
	} finally {
		child.kill();
	}
}

const shown = () =>
	loadavg()
		.map((one) => one.toFixed(2))
		.join(' ');
const before = shown();
const directory = await mkdtemp(join(tmpdir(), 'handraise-bench-'));
const server = await startPostgres({ durable: true });
{
	await using service = await startService();
	const { rounds: count } = values;
	const context: BenchContext = { service, directory, postgres: async () => server, rounds: count, programs: [] };
	const databaseUrl = await server.createDatabase();
	const common = { program: 'handraise', transport: 'socket', service, directory } as const;
	const dataDir = await mkdtemp(join(directory, 'data-'));
	const env = { UNDO_SECONDS: '0' };
	await using sqlite = await createHarness({ ...common, env: { ...env, DATA_DIR: dataDir } });
	await using postgres = await createHarness({ ...common, env, databaseUrl });
	const stores = [
		{ name: 'SQLite', harness: sqlite, settings: { DATA_DIR: dataDir } },
		{ name: 'PostgreSQL', harness: postgres, settings: { DATABASE_URL: databaseUrl } },
	];
	const rounds = new Rounds();
	for (let round = -1; round < values.rounds; round++) {
		const into = round < 0 ? new Rounds() : rounds;
		for (const { name, harness, settings } of stores) {
			const alone = () => takeRound(context, harness, into, `${name} alone`);
			const beside = () => followed(settings, () => takeRound(context, harness, into, `${name} followed`));
			for (const take of round % 2 === 0 ? [alone, beside] : [beside, alone]) await take();
		}
	}
	console.log('| store, presses at once (p50 / p99) | nobody follows | --follow beside it | p50 |');
	console.log('|---|---|---|---|');
	for (const { name } of stores)
		for (const what of [`1`, `${PEOPLE}`, '1 put', `${PEOPLE} put`]) {
			const [alone, beside] = [`${name} alone ${what}`, `${name} followed ${what}`];
			const change = (rounds.median(`${beside} p50`) / rounds.median(`${alone} p50`) - 1) * 100;
			const label = what.endsWith('put') ? `${what.split(' ')[0]}, from ack to PUT` : `${what}, press to ack`;
			console.log(`| ${name}, ${label} | ${pair(rounds, alone)} | ${pair(rounds, beside)} | ${change.toFixed(1)} % |`);
		}
	console.log(`\nmedians of ${values.rounds} interleaved rounds; load ${before} before and ${shown()} after`);
}
await server.close();
