import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { LOG_LINES } from '../../../src/core/log-lines.ts';
import { parseEncryptionKey } from '../../../src/database/encryption.ts';
import { openStore, type Store } from '../../../src/stores.ts';
import { asVersion1, versionsOf } from '../../database/key-values.ts';
import { createRecordingLog, KEY } from '../../database/support.ts';
import type { Random } from '../../support/random.ts';
import { watchReceipts } from '../answers/receipt-watch.ts';
import { beginRound, type Round, submit } from '../answers/round.ts';
import { isOver, judge } from '../answers/verdict.ts';
import { createHarness, type Harness, outcomeOf } from '../harness.ts';
import { killAt } from '../hits.ts';
import type { StoreUnderTest } from '../stores.ts';
import { until } from '../until.ts';
import { opened } from './files.ts';
import { watchMetrics } from './keyed-program.ts';
import { fill } from './values.ts';

const NEW_KEY = Buffer.alloc(32, 9).toString('base64');
const DONE = 'no stored value needs a former key';
/** Forms that are open the whole time. Their people type. */
const TYPISTS = 3;
const TYPE_EVERY_MS = 1_000;
/** Slack allows one workspace about 25 answers a minute. */
const ANSWER_EVERY_MS = 2_600;
/** From the last values that are encrypted again to the end: a look at all of them, and the compaction. */
const LAST_STEPS_MS = 4_000;
const DONE_WITHIN_MS = 600_000;
const LOOK_EVERY_MS = 100;
const SETTLE_WITHIN_MS = 150_000;

export interface KeyRunOptions {
	readonly store: StoreUnderTest;
	/** Of the program. */
	readonly entry: string;
	/** Answers in the database, and as many drafts. */
	readonly values: number;
	readonly kills: number;
	readonly random: Random;
	readonly onProgress?: (line: string) => void;
}

type Env = Readonly<Record<string, string>>;

/** Changes the key under kills, while people answer. */
export async function runKeys(options: KeyRunOptions) {
	const { store: under, entry, values: count, kills, random, onProgress = () => {} } = options;
	const isSqlite = under.kind === 'sqlite';
	const env: Env = isSqlite ? {} : { ENCRYPTION_KEY: KEY };
	await using harness = await createHarness({
		store: under,
		entry,
		replicas: isSqlite ? 1 : 2,
		people: TYPISTS + 8,
		callTimeoutMs: 2_000,
		env,
	});
	const problems: string[] = [];
	const rounds: Round[] = [];
	let begun = 0;
	const receipts = watchReceipts(harness);
	const latencies = watchAcknowledgements(harness);

	const databaseUrl = under.env.DATABASE_URL ?? null;
	const dataDir = under.env.DATA_DIR ?? '/nonexistent';
	const at = async (encryptionKey?: string): Promise<{ store: Store; warnings: readonly string[] }> => {
		const log = createRecordingLog();
		const store = await openStore({ databaseUrl, dataDir, encryptionKey: encryptionKey ?? env.ENCRYPTION_KEY, log });
		return { store, warnings: log.lines.filter(({ level }) => level !== 'info').map(({ message }) => message) };
	};
	const before = await at();
	const values = await fill(before.store, count, random);
	// Without a row of its own, the program does not start on those of another service.
	const own = {
		teamId: 'T0NONE',
		channelId: 'C0NONE',
		service: harness.service.url,
		sessionId: 'own',
		enteredAt: Date.now(),
	};
	await before.store.db.writeOne((trx) => trx.insertInto('answer_rules').values(own).execute());
	await before.store.close();
	const formerKey = isSqlite ? readFileSync(join(dataDir, 'encryption.key'), 'utf8').trim() : KEY;
	// As 1.0.0 left them.
	await asVersion1(databaseUrl ?? dataDir, formerKey);
	const former: Env = isSqlite
		? { ENCRYPTION_KEY_FORMER_FILE: join(dataDir, 'encryption.key') }
		: { ENCRYPTION_KEY_FORMER: formerKey };
	const filesOpened = () => (isSqlite ? opened(dataDir, parseEncryptionKey(formerKey)) : 0);
	const openedBefore = filesOpened();
	onProgress(`${values.count} values stored`);

	await harness.replicas[0]?.start();
	const typists = await Promise.all(Array.from({ length: TYPISTS }, (_, index) => begin(index)));
	const typing = keepTyping(typists);
	for (let answers = 0; answers < 4; answers++) await answer();
	latencies.beginsChange();

	// In the order of the documents: everybody gets both keys, and then writes with the new one. A second replica joins.
	const metrics = watchMetrics(harness);
	const isDone = () => harness.replicas.some(({ lines }) => lines.some((line) => line.includes(DONE)));
	const startedAt = performance.now();
	if (!isSqlite) await restartEach({ ENCRYPTION_KEY: NEW_KEY, ...former, ENCRYPTION_KEY_WRITE: 'former' });
	await restartEach({ ENCRYPTION_KEY: NEW_KEY, ...former, ENCRYPTION_KEY_WRITE: 'new' });
	const answering = keepAnswering();
	const killedAt = await killRepeatedly();
	if (!(await until(isDone, DONE_WITHIN_MS, LOOK_EVERY_MS)))
		problems.push(`${metrics.left()} values need the former key still`);
	if (!(await until(() => metrics.left() === 0, 30_000))) problems.push(`the metric stays at ${metrics.left()}`);
	const changeSeconds = (performance.now() - startedAt) / 1_000;
	onProgress(`no value needs the former key after ${Math.round(changeSeconds)} s`);
	latencies.endsChange();

	await restartEach({ ENCRYPTION_KEY_FORMER: '', ENCRYPTION_KEY_FORMER_FILE: '', ENCRYPTION_KEY_WRITE: '' });
	await answering.stop();
	await typing.stop();
	for (const round of typists) await submit(harness, round);
	for (let answers = 0; answers < 2; answers++) await answer();
	await until(() => rounds.every((round) => isOver(harness, round)), SETTLE_WITHIN_MS);
	await metrics.stop();
	receipts.stop();
	const verdict = judge(harness, rounds);
	await Promise.all(harness.replicas.map((replica) => replica.terminate()));
	const openedAfter = filesOpened();
	if (openedAfter > 0) problems.push(`the former key opens ${openedAfter} ciphertexts in the files`);

	const after = await at(NEW_KEY);
	// On PostgreSQL the mark that ends version 1 comes with the next round, after the run is over.
	const warnings = after.warnings.filter((words) => words !== LOG_LINES.unbound_values);
	if (warnings.length > 0) problems.push(`a start with the new key warns: ${warnings.join(', ')}`);
	const lost = await values.lost(after.store);
	if (lost > 0) problems.push(`${lost} of ${values.count} values are not what they were`);
	const versions = await versionsOf(after.store);
	if (versions.join() !== '2.') problems.push(`values have the versions ${versions.join(' and ')}`);
	await after.store.close();
	return {
		...outcomeOf(harness, startedAt, [...problems, ...verdict.problems]),
		verdict,
		values: values.count,
		/** How many values needed the former key at each kill; null: nobody had counted yet. */
		killedAt,
		/** From the first start with both keys to the end. */
		changeSeconds,
		/** From Slack to the acknowledgement, in ms: before the change, and during it. */
		acknowledgedMs: latencies.all,
		figures: metrics.figures,
		/** Ciphertexts in SQLite's files that the former key opens: before the change, and after it. */
		opened: isSqlite ? { before: openedBefore, after: openedAfter } : null,
	};

	async function begin(person: number): Promise<Round> {
		const prefix = `f${under.kind.charAt(0)}`;
		const name = harness.people[person] ?? '';
		const round = await beginRound(harness, { number: begun++, prefix, person: name, tries: 20 });
		rounds.push(round);
		receipts.follow(round);
		return round;
	}

	async function answer(): Promise<void> {
		const round = await begin(TYPISTS + (begun % 8));
		await submit(harness, round);
	}

	/** One after the other, as operators do. The replicas take these settings from `harness.env` when they start. */
	async function restartEach(changed: Env): Promise<void> {
		Object.assign(harness.env, changed);
		for (const replica of harness.replicas.toReversed()) {
			noteStopped();
			const code = replica.running ? (await replica.terminate()).code : 0;
			if (code !== 0) problems.push(`a replica stopped with ${code}`);
			await replica.start();
		}
		onProgress(
			`restarted with ${Object.entries(changed)
				.map(([name, value]) => (value === NEW_KEY ? name : `${name}=${value.slice(0, 6)}`))
				.join(', ')}`,
		);
	}

	function noteStopped(): void {
		for (const { pid, running, lines } of harness.replicas)
			if (pid !== 0 && !running) problems.push(`a replica ended by itself:\n${lines.slice(-5).join('\n')}`);
	}

	/** A fifth of the kills meets starts, a fifth the last steps, and the others the time between. */
	async function killRepeatedly(): Promise<readonly (number | null)[]> {
		const killed: (number | null)[] = [];
		const atStart = Math.round(kills / 5);
		const atEnd = Math.round(kills / 5);
		const between = kills - atStart - atEnd;
		for (let kill = 0; kill < kills; kill++) {
			const isStart = kill % 5 === 4;
			if (isStart) await pause(random.whole(0, 1_500));
			else {
				await harness.serving();
				const progress = (kill - Math.floor(kill / 5) + random.uniform()) / (between + 1);
				const isLate = killed.length - atStart >= between;
				const isTime = () => {
					const left = metrics.left();
					return isDone() || (left !== null && left <= (isLate ? 1 : metrics.most() * (1 - progress)));
				};
				await until(isTime, DONE_WITHIN_MS, LOOK_EVERY_MS);
				await pause(random.whole(0, isLate ? LAST_STEPS_MS : 200));
			}
			if (!isStart) noteStopped();
			killed.push(metrics.left());
			await killAt(harness, { at: async (hit) => hit(), oneShare: 0.5, random });
			onProgress(`kill ${kill + 1}: ${killed.at(-1) ?? 'not counted'} values left`);
			const starting = harness.startAll();
			if ((kill + 1) % 5 !== 4) await starting;
			else starting.catch(() => undefined);
		}
		await harness.startAll();
		return killed;
	}

	function keepTyping(forms: readonly Round[]) {
		return keep(async () => {
			await pause(TYPE_EVERY_MS);
			const round = random.pick(forms);
			const text = `Typed ${random.whole(0, 9_999)} into ${round.sessionId}`;
			round.texts[0] = text;
			// The window keeps what the program was not there to hear of.
			await round.modal.fill(0, text).catch(() => undefined);
		});
	}

	function keepAnswering() {
		return keep(async () => {
			await pause(ANSWER_EVERY_MS);
			await harness.serving();
			await answer().catch((error: unknown) => problems.push(`somebody could not answer: ${String(error)}`));
		});
	}
}

export type KeyRunResult = Awaited<ReturnType<typeof runKeys>>;

/** Repeats `work` until it is stopped. */
function keep(work: () => Promise<void>) {
	let isOver = false;
	const loop = (async () => {
		while (!isOver) await work();
	})();
	return {
		async stop(): Promise<void> {
			isOver = true;
			await loop;
		},
	};
}

/** How long the program took to acknowledge what people did. What it never acknowledged, because it was killed, is left out. */
function watchAcknowledgements({ slack }: Harness) {
	const all = { before: [] as number[], during: [] as number[] };
	let current: number[] | null = all.before;
	const counted = new WeakSet<object>();
	slack.changes.listen((change) => {
		if (change.kind !== 'delivery') return;
		for (const entry of slack.traffic.deliveries().slice(-50)) {
			if (entry.acked !== true || entry.tookMs === null || counted.has(entry)) continue;
			counted.add(entry);
			current?.push(entry.tookMs);
		}
	});
	return {
		all,
		beginsChange() {
			current = all.during;
		},
		endsChange() {
			current = null;
		},
	};
}
