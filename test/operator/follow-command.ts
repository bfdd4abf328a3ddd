import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { main } from '../../src/audit.ts';
import { recordEvents, writeEvents } from '../../src/store/audit.ts';
import { sql } from '../../src/store/database.ts';
import type { Store } from '../../src/stores.ts';
import { AUDIT_LINE, type AuditLine } from '../support/audit-lines.ts';
import { ioOf, startCommand } from '../support/commands.ts';
import { createRandom } from '../support/random.ts';

/** `npm run audit -- --follow` with these settings in this process, until it is stopped; as a process by a `signal`. */
export function follow(env: Readonly<Record<string, string>>, signal?: NodeJS.Signals) {
	const { stdout, stderr, stop, ended } = signal === undefined ? followHere(env) : startFollowing(env, signal);
	const lines: AuditLine[] = [];
	let said = '';
	createInterface({ input: stdout }).on('line', (line) => lines.push(AUDIT_LINE.parse(JSON.parse(line))));
	stderr.on('data', (data) => {
		said += data;
	});
	return {
		lines: lines as readonly AuditLine[],
		stderr: () => said,
		until: (count: number, timeout = 20_000) =>
			expect.poll(() => lines.length, { timeout, interval: 50 }).toBeGreaterThanOrEqual(count),
		said: (words: string, timeout = 20_000) => expect.poll(() => said, { timeout, interval: 50 }).toContain(words),
		stop() {
			stop();
			return ended;
		},
		async [Symbol.asyncDispose]() {
			stop();
			await ended;
		},
	};
}

function followHere(env: Readonly<Record<string, string>>) {
	const io = ioOf(env);
	return { stdout: io.stdout, stderr: io.stderr, stop: () => io.emit('SIGINT'), ended: main(['--follow'], io) };
}

function startFollowing(env: Readonly<Record<string, string>>, signal: NodeJS.Signals) {
	const { child, closed } = startCommand('audit', ['--follow'], env);
	const { stdout, stderr } = child;
	return { stdout, stderr, stop: () => child.kill(signal), ended: closed.then(({ code }) => code) };
}

/** Adds a row for each of these channels. */
export const record = ({ db }: Pick<Store, 'db'>, ...channels: readonly string[]) =>
	db.write(async (trx) => {
		recordEvents(trx, ...channels.map((channel) => ({ at: Date.now(), action: 'settingsChanged', channel }) as const));
	});

/** Transactions of one replica at once. */
const WRITERS = 6;
/** The follower looks each second: several times while the fewest rows are written. */
const SLOWEST_MS = 120;

/**
 * Two replicas on PostgreSQL write so many rows, in transactions that commit in another order than that in which they took
 * their numbers, while somebody follows. Each row comes once.
 */
export async function followTwoWriters(
	{ store, replica, databaseUrl }: { store: Store; replica: Store; databaseUrl: string },
	count: number,
): Promise<void> {
	await using follower = follow({ DATABASE_URL: databaseUrl });
	await record(store, 'C0');
	await follower.until(1);
	const random = createRandom(1);
	let next = 0;
	let isMixed = false;
	let committed = 0;

	async function write({ db }: Store): Promise<void> {
		while (next < count) {
			const number = ++next;
			await db.write(async (trx) => {
				recordEvents(trx, { at: Date.now(), action: 'settingsChanged', channel: `C${number}` });
				await writeEvents(trx);
				await sql`select pg_sleep(${(random.uniform() * SLOWEST_MS) / 1_000})`.execute(trx);
			});
			isMixed ||= number < committed;
			committed = number;
			await pause(0);
		}
	}

	await Promise.all([store, replica].flatMap((one) => Array.from({ length: WRITERS }, () => write(one))));
	expect(isMixed).toBe(true);
	await follower.until(count + 1, 60_000);
	expect(new Set(follower.lines.map(({ channel }) => channel)).size).toBe(count + 1);
	expect(follower.lines).toHaveLength(count + 1);
	expect(await follower.stop()).toBe(0);
	// Tests share the server, and each transaction on it holds lines back.
	const said = follower.stderr().split('\n');
	expect(said.filter((line) => line !== '' && !line.startsWith('Lines wait for another transaction'))).toEqual([]);
}
