import { setTimeout as pause } from 'node:timers/promises';
import { type KyselyPlugin, sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import type { StoreDatabase } from '../../src/store/database.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { createStoreClock, type StoreClock } from '../../src/store/store-clock.ts';
import { openStore } from '../../src/stores.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { createRecordingLog, KEY, LEASE, SERVICE, submission } from './support.ts';

let db: StoreDatabase;
beforeAll(async () => {
	const databaseUrl = await (await sharedPostgres()).createDatabase();
	const log = createRecordingLog();
	await (await openStore({ databaseUrl, dataDir: '/nonexistent', encryptionKey: KEY, log })).close();
	db = openPostgres(databaseUrl, log);
});
afterAll(() => db.close());

async function databaseTime(): Promise<number> {
	const { rows } = await sql<{ ms: number }>`select extract(epoch from clock_timestamp()) * 1000 as ms`.execute(
		db.read,
	);
	return Number(rows[0]?.ms);
}

/** How far the clock is from the database's time, however long PostgreSQL takes to tell that. */
async function errorOf(clock: StoreClock): Promise<number> {
	const before = await databaseTime();
	const told = clock.now();
	const after = await databaseTime();
	return Math.max(0, before - told, told - after);
}

it("returns the database's time when the machine's clock is wrong", async () => {
	const log = createRecordingLog();
	const clock = await createStoreClock(db, createManualClock(0), log);
	expect(await errorOf(clock)).toBeLessThanOrEqual(100);
	clock.close();
});

/** The next `count` queries' results come 300 ms late, as over a network that is slow for a moment. */
function slowDatabase() {
	let count = 0;
	const plugin: KyselyPlugin = {
		transformQuery: ({ node }) => node,
		async transformResult({ result }) {
			if (count-- > 0) await pause(300);
			return result;
		},
	};
	return {
		database: { ...db, read: db.read.withPlugin(plugin) },
		slowNext: (queries: number) => {
			count = queries;
		},
	};
}

it('is exact although the first measurement was slow', async () => {
	const { database, slowNext } = slowDatabase();
	slowNext(1);
	const clock = await createStoreClock(database, createManualClock(0), createRecordingLog());
	expect(await errorOf(clock)).toBeLessThanOrEqual(50);
	clock.close();
});

it('is not moved by a slow measurement that does not contradict it', async () => {
	const { database, slowNext } = slowDatabase();
	const local = createManualClock(0);
	let measured = 0;
	const monotonic = () => {
		measured++;
		return performance.now();
	};
	const clock = await createStoreClock(database, local, createRecordingLog(), { monotonic });
	const before = measured;
	slowNext(1);
	await local.advance(60_000);
	await expect.poll(() => measured - before).toBeGreaterThanOrEqual(2);
	expect(await errorOf(clock)).toBeLessThanOrEqual(50);
	clock.close();
});

it('detects that the machine slept and does not count the time before as certain', async () => {
	const log = createRecordingLog();
	const local = createManualClock(0);
	let slept = 0;
	const clock = await createStoreClock(db, local, log, { monotonic: () => performance.now() - slept });
	expect(clock.steadySince?.()).toBe(Number.NEGATIVE_INFINITY);
	slept = 60_000;
	expect(await errorOf(clock)).toBeGreaterThan(50_000);
	const wokeAt = await databaseTime();
	await local.advance(60_000);
	await expect.poll(() => log.lines.length).toBe(1);
	expect(log.lines).toMatchObject([{ level: 'warn', message: expect.stringContaining('this machine slept') }]);
	expect(await errorOf(clock)).toBeLessThan(1_000);
	expect(clock.steadySince?.()).toBeGreaterThan(wokeAt - 1_000);
	clock.close();
});

it('rejects the start of a PUT whose time is not the database’s', async () => {
	const databaseUrl = await (await sharedPostgres()).createDatabase();
	const store = await openStore({
		databaseUrl,
		dataDir: '/nonexistent',
		encryptionKey: KEY,
		log: createRecordingLog(),
	});
	const now = store.clock.now();
	const given = submission({ acceptedAt: now, giveUpAt: now + 86_400_000 });
	await store.answers.accept(given);
	const [taken] = await store.answers.takeDue(SERVICE, LEASE, 1, now);
	if (taken === undefined) throw new Error('nothing was due');
	const beforePut = { status: 'humanInput', assistantCount: 1, sameCount: 0, stepsSince: 0, filled: [] };
	const begin = (putStartedAt: number) =>
		store.answers.beginPut(taken, LEASE.token, { beforePut, startedAt: putStartedAt }, { now });
	await expect(begin(now - 60_000)).rejects.toMatchObject({ code: 'store_unavailable', commitUnknown: false });
	expect(await begin(now)).toMatchObject({ state: 'delivering' });
	await store.close();
});
