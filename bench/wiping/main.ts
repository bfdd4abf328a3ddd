import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Store } from '../../src/stores.ts';
import { ANN, inTurns, item, KEY, open, submission } from '../../test/store/support.ts';
import { amount, count, readOptions, text } from '../../test/support/options.ts';
import { measureDisk } from '../figures/disk.ts';
import { ms, pair, quantile, Rounds } from '../figures/stats.ts';

/**
 * Answers in the database at the start, and those among them whose secrets are still needed: each is encrypted again.
 */
const STORED = 5_000;
const NEEDED = 100;
const SUBMITTED_AT_ONCE = 5;
const EVERY_MS = 25;

const values = readOptions('npm run bench -- wiping', {
	rounds: count(5, 'interleaved rounds', { least: 1 }),
	seconds: amount(5, 'of each measurement'),
	directory: text(tmpdir(), 'the disk that is measured'),
});

type Kind = 'plain' | 'secret' | 'secret, and a reader';
const KINDS: readonly Kind[] = ['plain', 'secret', 'secret, and a reader'];

/** Another program that reads the database for 40 ms of every 200 ms, like a backup in steps. */
const READER = `
	import { DatabaseSync } from 'node:sqlite';
	import { setTimeout as pause } from 'node:timers/promises';
	const database = new DatabaseSync(process.argv[1], { readOnly: true });
	for (;;) {
		database.exec('begin');
		database.prepare('select count(*) from meta').get();
		await pause(40);
		database.exec('commit');
		await pause(160);
	}
`;

interface Checkpoints {
	readonly done: number[];
	busy: number;
}

const directory = await mkdtemp(join(values.directory, 'handraise-wiping-'));
const checkpoints = new Map<Kind, Checkpoints>(KINDS.map((kind) => [kind, { done: [], busy: 0 }]));
let current: Kind = 'plain';
let rounds = new Rounds();
const store = await open({
	dataDir: directory,
	encryptionKey: KEY,
	onCheckpoint(outcome, tookMs) {
		const seen = checkpoints.get(current);
		if (outcome === 'busy' && seen !== undefined) seen.busy++;
		else seen?.done.push(tookMs);
	},
});
let sessions = 0;

function answer(isSecret: boolean) {
	const items = [item('the other words'), item('the words of the answer', { secret: isSecret })];
	return submission({ id: crypto.randomUUID(), sessionId: `session-${++sessions}`, items });
}

/** Submits answers and gives them up continuously. Returns how long each submission took to be on disk, in ms. */
async function submit(to: Store, isSecret: boolean): Promise<number[]> {
	const took: number[] = [];
	const end = performance.now() + values.seconds * 1_000;
	while (performance.now() < end) {
		const next = pause(EVERY_MS);
		const batch = Array.from({ length: SUBMITTED_AT_ONCE }, () => answer(isSecret));
		const start = performance.now();
		await Promise.all(
			batch.map(async (one) => {
				await to.answers.accept(one);
				took.push(performance.now() - start);
			}),
		);
		await Promise.all(batch.map((one) => to.answers.withdraw(one.id, ANN, Date.now())));
		await next;
	}
	return took;
}

async function stopped(child: ChildProcess): Promise<void> {
	const exited = once(child, 'exit');
	child.kill('SIGKILL');
	await exited;
}

async function round(kind: Kind): Promise<void> {
	current = kind;
	const reader =
		kind === 'secret, and a reader'
			? spawn(process.execPath, ['--input-type=module', '--eval', READER, join(directory, 'handraise.db')])
			: null;
	const took = await submit(store, kind !== 'plain');
	rounds.addSample(kind, took);
	rounds.add(`${kind} worst`, Math.max(...took));
	if (reader !== null) await stopped(reader);
	// Wipes that are due from this kind must not count for the next.
	await pause(1_000);
}

try {
	await inTurns(Array.from({ length: STORED }), 60, () => store.answers.accept(answer(false)));
	await inTurns(Array.from({ length: NEEDED }), 60, () => store.answers.accept(answer(true)));
	for (const kind of KINDS) await round(kind);
	for (const seen of checkpoints.values()) Object.assign(seen, { done: [], busy: 0 });
	rounds = new Rounds();
	for (let count = 0; count < values.rounds; count++) {
		rounds.addSample('disk', await measureDisk(directory));
		for (const kind of count % 2 === 0 ? KINDS : KINDS.toReversed()) await round(kind);
	}
	console.log(
		`| submissions of | to disk, p50 / p99 | worst | checkpoints | each held the event loop, p50 / p99 | worst | found a reader |`,
	);
	console.log('|---|---|---|---|---|---|---|');
	for (const kind of KINDS) {
		const { done, busy } = checkpoints.get(kind) ?? { done: [], busy: 0 };
		const cells = [
			`${kind}`,
			pair(rounds, kind),
			`${ms(rounds.median(`${kind} worst`))} ms`,
			`${done.length}`,
			done.length === 0 ? '–' : `${ms(quantile(done, 0.5))} / ${ms(quantile(done, 0.99))} ms`,
			done.length === 0 ? '–' : `${ms(Math.max(...done))} ms`,
			`${busy}`,
		];
		console.log(`| ${cells.join(' | ')} |`);
	}
	console.log(
		`\nMedians of ${values.rounds} interleaved rounds of ${values.seconds} s; ${SUBMITTED_AT_ONCE} submissions every ${EVERY_MS} ms, each given up at once; ` +
			`${STORED} answers stored, ${NEEDED} secrets needed. fdatasync of 4 kB: ${pair(rounds, 'disk')}. ` +
			`${availableParallelism()} cores, load ${loadavg()
				.map((one) => one.toFixed(1))
				.join(' ')}, Node ${process.version}.`,
	);
} finally {
	await store.close();
	await rm(directory, { recursive: true, force: true });
}
