import { type Kysely, sql } from 'kysely';
import { type Clock, createStepDetector, STEP_MS } from '../clock.ts';
import { codeOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { createWaker } from '../waker.ts';
import type { StoreDatabase } from './database.ts';
import type { Tables } from './tables.ts';

/** How often the database's time is measured. */
const MEASURE_EVERY_MS = 10_000;
const MEASURE_SOON_MS = 100;
/** A slower measurement is too inexact; the previous one stays valid. */
const LONGEST_ROUND_TRIP_MS = 2_000;
/** A slower one is repeated a few times, because its error is half of what it took: the quickest counts. */
const EXACT_MS = 10;
const MOST_TRIES = 3;

/** PostgreSQL's current time, also within a transaction: milliseconds since the epoch, with fractions. */
export async function databaseTime(db: Kysely<Tables>): Promise<number> {
	const { rows } = await sql<{ ms: number }>`
		select (extract(epoch from clock_timestamp()) * 1000)::double precision as ms`.execute(db);
	return rows[0]?.ms ?? 0;
}

export interface DatabaseClock extends Clock {
	/** Stops the measurements. */
	close(): void;
}

/**
 * The time of the database, so that replicas compare times by one clock even when their own clocks differ or are set.
 * Between measurements the machine's monotonic clock continues it. The error is half of a quick round trip plus the drift of a few
 * seconds, far below `CLOCK_ALLOWANCE_MS`. When the database's clock is set, replicas follow within `MEASURE_EVERY_MS`.
 *
 * @throws StoreUnavailableError when the first measurement fails
 */
export async function createDatabaseClock({
	db,
	local,
	log,
	wall = () => Date.now(),
	monotonic = () => performance.now(),
}: {
	db: StoreDatabase;
	/** Only for sleeping. */
	local: Clock;
	log: Log;
	/** The machine's own time: only shows that the machine slept or its clock was set. */
	wall?: () => number;
	monotonic?: () => number;
}): Promise<DatabaseClock> {
	const closing = new AbortController();
	const waker = createWaker(local);
	let steadySince = Number.NEGATIVE_INFINITY;
	const hasStepped = createStepDetector(monotonic, wall());
	/** The machine may have slept, which a monotonic clock does not count: the next measurement tells. */
	let isInDoubt = false;

	function detectStep(): void {
		if (!hasStepped(wall())) return;
		isInDoubt = true;
		waker.wake();
	}

	/** The database's time minus the monotonic time, and how long the query took. */
	async function measureOnce(): Promise<{ offset: number; tookMs: number }> {
		const before = monotonic();
		const time = await databaseTime(db.read);
		const after = monotonic();
		return { offset: time - (before + after) / 2, tookMs: after - before };
	}

	async function measure() {
		let best = await measureOnce();
		for (let tries = 1; tries < MOST_TRIES && best.tookMs > EXACT_MS; tries += 1) {
			const again = await measureOnce();
			if (again.tookMs < best.tookMs) best = again;
		}
		return best;
	}

	let { offset } = await measure();

	function now(): number {
		detectStep();
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
				if (!closing.signal.aborted) log.debug({ code: codeOf(error) }, "could not read the database's time; retrying");
			}
		}
	}

	void keepMeasuring().catch(() => undefined);

	return {
		now,
		uptime: monotonic,
		sleep: (ms, signal) => local.sleep(ms, signal),
		steadySince() {
			detectStep();
			return isInDoubt ? Number.POSITIVE_INFINITY : steadySince;
		},
		close: () => closing.abort(),
	};
}
