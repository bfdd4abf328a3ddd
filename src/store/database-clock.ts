import { type Kysely, sql } from 'kysely';
import { type Clock, createStepDetector, STEP_MS } from '../clock.ts';
import { codeOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { createWaker } from '../waker.ts';
import type { StoreDatabase } from './database.ts';
import type { Tables } from './tables.ts';

/** How often the database is asked for its time. */
const MEASURE_EVERY_MS = 10_000;
const MEASURE_SOON_MS = 100;
/** A measurement that took longer says too little of when it was made; the one before goes on holding. */
const LONGEST_ROUND_TRIP_MS = 2_000;

/** PostgreSQL's time at this moment, also within a transaction: milliseconds since the epoch, with fractions. */
export async function databaseTime(db: Kysely<Tables>): Promise<number> {
	const { rows } = await sql<{ ms: number }>`
		select (extract(epoch from clock_timestamp()) * 1000)::double precision as ms`.execute(db);
	return rows[0]?.ms ?? 0;
}

export interface DatabaseClock extends Clock {
	/** Ends the measuring. */
	close(): void;
}

/**
 * The time of the database, carried on between measurements by this machine's monotonic clock, so that replicas whose own
 * clocks differ, or are set while they run, compare their times by one clock. Its error is half a round trip to the
 * database and what a monotonic clock drifts in some seconds, far below `CLOCK_ALLOWANCE_MS`. When the database's clock
 * itself is set, all replicas follow within `MEASURE_EVERY_MS`.
 *
 * @throws StoreUnavailableError when the database cannot be asked at the start
 */
export async function createDatabaseClock({
	db,
	local,
	log,
	wall = () => Date.now(),
	monotonic = () => performance.now(),
}: {
	db: StoreDatabase;
	/** For sleeping. */
	local: Clock;
	log: Log;
	/** The machine's own time: it only tells that the machine slept or its clock was set. */
	wall?: () => number;
	monotonic?: () => number;
}): Promise<DatabaseClock> {
	const closing = new AbortController();
	const waker = createWaker(local);
	let steadySince = Number.NEGATIVE_INFINITY;
	const hasStepped = createStepDetector(monotonic, wall());
	/** The machine may have slept, which no monotonic clock counts: nothing is certain until the next measurement. */
	let isInDoubt = false;

	function look(): void {
		if (!hasStepped(wall())) return;
		isInDoubt = true;
		waker.wake();
	}

	/** The database's time less the monotonic one, and how long asking took. */
	async function measure(): Promise<{ offset: number; tookMs: number }> {
		const before = monotonic();
		const time = await databaseTime(db.read);
		const after = monotonic();
		return { offset: time - (before + after) / 2, tookMs: after - before };
	}

	let { offset } = await measure();

	function now(): number {
		look();
		return Math.round(monotonic() + offset);
	}

	async function keepMeasuring(): Promise<void> {
		while (!closing.signal.aborted) {
			await waker.wait(isInDoubt ? MEASURE_SOON_MS : MEASURE_EVERY_MS, closing.signal);
			try {
				const measured = await measure();
				if (measured.tookMs > LONGEST_ROUND_TRIP_MS) continue;
				const step = measured.offset - offset;
				offset = measured.offset;
				isInDoubt = false;
				if (Math.abs(step) <= STEP_MS) continue;
				steadySince = now();
				log.warn({ stepMs: Math.round(step) }, "the database's clock was set, or this machine slept");
			} catch (error) {
				if (!closing.signal.aborted) log.debug({ code: codeOf(error) }, 'the database could not be asked for its time');
			}
		}
	}

	void keepMeasuring().catch(() => undefined);

	return {
		now,
		uptime: monotonic,
		sleep: (ms, signal) => local.sleep(ms, signal),
		steadySince() {
			look();
			return isInDoubt ? Number.POSITIVE_INFINITY : steadySince;
		},
		close: () => closing.abort(),
	};
}
