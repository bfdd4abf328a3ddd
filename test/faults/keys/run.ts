import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseEncryptionKey } from '../../../src/store/encryption.ts';
import { openStore } from '../../../src/stores.ts';
import { createRecordingLog, KEY, keyFits, open } from '../../store/support.ts';
import { startProgram } from '../../support/program.ts';
import type { Random } from '../../support/random.ts';
import type { StoreUnderTest } from '../stores.ts';
import { opened } from './files.ts';
import { fill } from './values.ts';

/** What `npm run rekey` says when the database is marked. */
const MARKED = 'The database is marked';
/** A kill comes up to this much later than the last change took. */
const LATER = 1.1;

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

/** Changes the key again and again, and kills the command that does it, at any time. */
export async function runKeys(options: KeyRunOptions) {
	const { store: under, entry, values: count, kills, random, onProgress = () => {} } = options;
	const startedAt = performance.now();
	const problems: string[] = [];
	const databaseUrl = under.env.DATABASE_URL ?? null;
	const dataDir = under.env.DATA_DIR ?? '/nonexistent';
	const at = (encryptionKey: string) => open({ databaseUrl, dataDir, encryptionKey });
	const filesOpened = (key: string) => (databaseUrl === null ? opened(dataDir, parseEncryptionKey(key)) : 0);

	const before = await at(KEY);
	const values = await fill(before, count, random);
	await before.close();
	let [former, own] = [KEY, newKey(1)];
	const openedBefore = filesOpened(KEY);
	onProgress(`${values.count} values stored`);

	/** Starts a change, or goes on with one. Killed after `killAfterMs`, unless it ends before; null: never. */
	async function change(killAfterMs: number | null) {
		const env = { ...under.env, ENCRYPTION_KEY: own, ENCRYPTION_KEY_FORMER: former };
		const begunAt = performance.now();
		const running = startProgram(env, join(dirname(entry), 'rekey.ts'));
		const isOver = running.closed.then(() => true);
		if (killAfterMs !== null && !(await Promise.race([isOver, pause(killAfterMs, false)])))
			running.child.kill('SIGKILL');
		const { code, stdout, stderr } = await running.closed;
		if (code !== null && code !== 0) problems.push(`npm run rekey failed: ${stderr}`);
		return { isKilled: code === null, isMarked: stdout.includes(MARKED), tookMs: performance.now() - begunAt };
	}

	/** Whether a killed change has finished: else no program starts, with either key. */
	async function isFinished(isMarked: boolean): Promise<boolean> {
		const start = (encryptionKey: string, formerKeys: string | null) =>
			openStore({ databaseUrl, dataDir, encryptionKey, formerKeys, log: createRecordingLog() }).then(
				async ({ keysFit, close }) => {
					await close();
					return keysFit;
				},
				(error: { code?: unknown }) => (error.code === 'rekey_needed' ? 'refused' : Promise.reject(error)),
			);
		const outcome = await start(own, former);
		if (outcome === false) problems.push('a start with both keys does not know the key of the database');
		if (outcome === 'refused' && isMarked && (await start(former, null)) !== 'refused')
			problems.push('a program starts with the former key during a change');
		return outcome === true;
	}

	async function check(): Promise<void> {
		const openedAfter = filesOpened(former);
		if (openedAfter > 0) problems.push(`the former key opens ${openedAfter} ciphertexts in the files`);
		const after = await at(own);
		if (!keyFits(after)) problems.push('a start with the new key does not know it');
		const lost = await values.lost(after);
		if (lost > 0) problems.push(`${lost} of ${values.count} values are not what they were`);
		await after.close();
	}

	const phases = { before: 0, marked: 0, after: 0 };
	let [changes, changeMs, isMarked, isOpen] = [0, 0, false, false];
	for (let killed = 0; killed < kills || isOpen || changes === 0; ) {
		const isSpared = killed >= kills || changeMs === 0;
		const result = await change(isSpared ? null : random.uniform() * LATER * changeMs);
		isMarked ||= result.isMarked;
		const isDone = !result.isKilled || (await isFinished(isMarked));
		if (result.isKilled) {
			phases[isDone ? 'after' : isMarked ? 'marked' : 'before']++;
			killed++;
			onProgress(`kill ${killed}: ${isDone ? 'finished' : isMarked ? 'marked' : 'not marked'}`);
		} else if (!isOpen) changeMs = result.tookMs;
		isOpen = !isDone;
		if (!isDone) continue;
		// A start has written the file anew if the command was killed before it could.
		await check();
		changes++;
		isMarked = false;
		[former, own] = [own, newKey(changes + 1)];
	}
	return {
		refusedCalls: 0,
		problems,
		seconds: (performance.now() - startedAt) / 1_000,
		values: values.count,
		changes,
		/** How many kills came before the mark, until the change was committed, and after that. */
		phases,
		/** What a change takes that nobody kills. */
		changeSeconds: changeMs / 1_000,
		/** Ciphertexts in SQLite's files that the first key opens, before the changes. */
		openedBefore,
	};
}

const newKey = (number: number) => Buffer.alloc(32, number + 100).toString('base64');

export type KeyRunResult = Awaited<ReturnType<typeof runKeys>>;
