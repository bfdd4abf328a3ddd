import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { COMPILE_CACHE } from '../../sandbox/compile-cache.ts';
import { recordEvents, writeEvents } from '../../src/store/audit.ts';
import { sql } from '../../src/store/database.ts';
import type { Store } from '../../src/stores.ts';
import { AUDIT_LINE, type AuditLine } from '../support/audit-lines.ts';
import { createRandom } from '../support/random.ts';

const PROGRAM = new URL('../../src/audit.ts', import.meta.url).pathname;

/** `npm run audit -- --follow` with these settings, until it is stopped. */
export function follow(env: Readonly<Record<string, string>>, args: readonly string[] = []) {
	const child = spawn(process.execPath, [PROGRAM, '--follow', ...args], {
		env: { PATH: process.env.PATH ?? '', ...COMPILE_CACHE, ...env },
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	const lines: AuditLine[] = [];
	let stderr = '';
	createInterface({ input: child.stdout }).on('line', (line) => lines.push(AUDIT_LINE.parse(JSON.parse(line))));
	child.stderr.setEncoding('utf8').on('data', (text: string) => {
		stderr += text;
	});
	return {
		child,
		lines: lines as readonly AuditLine[],
		stderr: () => stderr,
		until: (count: number, timeout = 20_000) =>
			expect.poll(() => lines.length, { timeout, interval: 50 }).toBeGreaterThanOrEqual(count),
		said: (words: string, timeout = 20_000) => expect.poll(() => stderr, { timeout, interval: 50 }).toContain(words),
		async stop(signal: NodeJS.Signals = 'SIGTERM') {
			child.kill(signal);
			const [code] = await once(child, 'close');
			return code as number | null;
		},
		[Symbol.asyncDispose]: async () => void child.kill('SIGKILL'),
	};
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
	expect(follower.stderr()).toBe('');
}
