import { type Kysely, sql } from 'kysely';
import { type Clock, createWaker, STEP_MS } from '../clock.ts';
import { codeOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { StoreDatabase } from './database.ts';
import { repairTimes } from './repair-times.ts';
import type { Tables } from './tables.ts';

/** How often the time is measured: the database's, and the machine's. */
const MEASURE_EVERY_MS = { postgres: 10_000, sqlite: 1_000 };
const MEASURE_SOON_MS = 100;
/** The error of a measurement is half of what it took. After a slower one the previous one stays valid. */
const LONGEST_ROUND_TRIP_MS = 500;

/** PostgreSQL's current time, also within a transaction: milliseconds since the epoch, with fractions. */
export async function databaseTime(db: Kysely<Tables>): Promise<number> {
	const { rows } = await sql<{ ms: number }>`
		select (extract(epoch from clock_timestamp()) * 1000)::double precision as ms`.execute(db);
	return rows[0]?.ms ?? 0;
}

export type StoreClock = Awaited<ReturnType<typeof createStoreClock>>;

/**
 * The clock that stored times are compared with: the database's time on PostgreSQL, so that replicas agree although their
 * own clocks differ or are set, and the machine's on SQLite. Between measurements the machine's monotonic clock continues it;
 * the error is half of a quick round trip plus the drift of a few seconds, far below `CLOCK_ALLOWANCE_MS`.
 *
 * A difference of more than `STEP_MS` is a step: the clock was set, or the machine slept, which a monotonic clock does not
 * count. It is adopted once, after stored times were repaired.
 *
 * @param local only for sleeping
 * @throws StoreUnavailableError when the first measurement fails
 */
export async function createStoreClock({
	db,
	local,
	log,
	wall = () => Date.now(),
	monotonic = () => performance.now(),
}: {
	db: StoreDatabase;
	local: Clock;
	log: Log;
	/** The machine's own time. On PostgreSQL it only shows that the machine slept or its clock was set. */
	wall?: () => number;
	monotonic?: () => number;
}) {
	const isShared = db.dialect === 'postgres';
	const closing = new AbortController();
	const waker = createWaker(local);
	const listeners: (() => void)[] = [];
	let gap = wall() - monotonic();
	/** The machine may have slept, or its clock was set: the next measurement tells. */
	let isInDoubt = false;

	function detectStep(): void {
		const formerGap = gap;
		gap = wall() - monotonic();
		if (Math.abs(gap - formerGap) <= STEP_MS) return;
		isInDoubt = true;
		waker.wake();
	}

	/** The time minus the monotonic time, and how long the query took. */
	async function measure(): Promise<{ offset: number; tookMs: number }> {
		const before = monotonic();
		const time = isShared ? await databaseTime(db.read) : wall();
		const after = monotonic();
		return { offset: time - (before + after) / 2, tookMs: after - before };
	}

	let { offset } = await measure();
	const timeAt = (by: number) => Math.round(monotonic() + by);
	let steadySince = isShared ? Number.NEGATIVE_INFINITY : timeAt(offset);

	async function adopt(): Promise<void> {
		const measured = await measure();
		if (measured.tookMs > LONGEST_ROUND_TRIP_MS) return;
		const stepMs = Math.round(measured.offset - offset);
		const isStep = Math.abs(stepMs) > STEP_MS;
		if (isStep) await repairTimes(db, timeAt(measured.offset), stepMs);
		({ offset } = measured);
		gap = wall() - monotonic();
		isInDoubt = false;
		if (!isStep) return;
		steadySince = timeAt(offset);
		log.warn({ stepMs }, 'the clock was set, or this machine slept');
		for (const listener of listeners) listener();
	}

	async function follow(): Promise<void> {
		while (!closing.signal.aborted) {
			await waker.wait(isInDoubt ? MEASURE_SOON_MS : MEASURE_EVERY_MS[db.dialect], closing.signal);
			await adopt().catch((error: unknown) => {
				if (!closing.signal.aborted) log.debug({ code: codeOf(error) }, 'could not adopt the time; trying again');
			});
		}
	}

	void follow().catch(() => undefined);

	return {
		now() {
			detectStep();
			return timeAt(offset);
		},
		uptime: monotonic,
		sleep: local.sleep,
		steadySince() {
			detectStep();
			return isInDoubt ? Number.POSITIVE_INFINITY : steadySince;
		},
		onStep: (listener: () => void) => void listeners.push(listener),
		/** Stops the measurements. */
		close: () => closing.abort(),
	} satisfies Clock & { close(): void };
}
