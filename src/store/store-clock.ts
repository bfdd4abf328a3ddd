import { type Kysely, sql } from 'kysely';
import { CLOCK_ALLOWANCE_MS, type Clock, MINUTE_MS, STEP_MS } from '../kernel/clock.ts';
import { codeOf, StoreUnavailableError } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import { columnsOf, type Db, remove, type StoreDatabase, TABLE_NAMES, type TableName } from './database.ts';

/** How often it looks whether the clock was set. */
const LOOK_EVERY_MS = MINUTE_MS;
/** After a slower measurement the previous one stays valid. */
const LONGEST_ROUND_TRIP_MS = 500;
/** The first one may include opening the connection. */
const FIRST_MEASUREMENTS = 5;

const MACHINE = { wall: () => Date.now(), monotonic: () => performance.now() };

export type StoreClock = Awaited<ReturnType<typeof createStoreClock>>;

/**
 * The clock that stored times are compared with: the database's time on PostgreSQL, so that replicas agree although
 * their own clocks differ or are set, and the machine's on SQLite. The machine's monotonic clock continues it from one
 * look to the next, a minute later; the error is half of the quickest round trip plus the drift of a minute, far below
 * `CLOCK_ALLOWANCE_MS`. A difference of more than `STEP_MS` is a step: the clock was set, or the machine slept, which a
 * monotonic clock does not count. A look adopts it after it has repaired stored times.
 * `local` is for sleeping alone. `machine`: other clocks of the machine, for tests.
 */
export async function createStoreClock(
	db: StoreDatabase,
	local: Clock,
	log: Log,
	machine: Partial<typeof MACHINE> = {},
) {
	const { wall, monotonic } = { ...MACHINE, ...machine };
	const isShared = db.dialect === 'postgres';
	const closing = new AbortController();

	/** The limits of the offset: the time minus the monotonic time. They differ by the duration of the query. */
	async function measure(): Promise<{ least: number; most: number }> {
		const before = monotonic();
		const time = isShared ? await databaseTime(db.read) : wall();
		return { least: time - monotonic(), most: time - before };
	}

	const first = await measure();
	let offset = (first.least + first.most) / 2;
	for (let more = 1; more < FIRST_MEASUREMENTS; more++) offset = nearestWithin(await measure(), offset);
	const timeAt = (by: number) => Math.round(monotonic() + by);
	let steadySince = isShared ? Number.NEGATIVE_INFINITY : timeAt(offset);

	/**
	 * After a step the next look repairs again: a time that was computed before the step may have been stored after
	 * the repair.
	 */
	let isUnsettled = false;

	async function look(): Promise<void> {
		const measured = await measure();
		if (measured.most - measured.least > LONGEST_ROUND_TRIP_MS) return;
		const next = nearestWithin(measured, offset);
		const stepMs = Math.round(next - offset);
		const isStep = Math.abs(stepMs) > STEP_MS;
		if (isStep || isUnsettled) await repairTimes(db, timeAt(next), isStep ? stepMs : null);
		isUnsettled = isStep;
		offset = next;
		if (!isStep) return;
		steadySince = timeAt(offset);
		log.warn('clock_set', { stepMs });
	}

	async function follow(): Promise<void> {
		while (!closing.signal.aborted) {
			await local.sleep(LOOK_EVERY_MS, closing.signal);
			await look().catch((error: unknown) => {
				if (!closing.signal.aborted) log.debug({ code: codeOf(error) }, 'could not look at the time; trying again');
			});
		}
	}

	void follow().catch(() => undefined);

	return {
		now: () => timeAt(offset),
		uptime: monotonic,
		sleep: local.sleep,
		steadySince: () => steadySince,
		close: () => closing.abort(),
	} satisfies Clock & { close(): void };
}

/** `value`, or the limit that is nearest to it: a slow measurement moves nothing that it does not contradict. */
function nearestWithin({ least, most }: { least: number; most: number }, value: number): number {
	return Math.min(Math.max(value, least), most);
}

/** Repairs times that are further ahead of `now` than legal: their rows would wait. `stepMs`: null at the start. */
export async function repairTimes(db: StoreDatabase, now: number, stepMs: number | null = null): Promise<void> {
	// On PostgreSQL the step may be the sleep of one replica, so stored times do not follow it.
	const before = now - (db.dialect === 'sqlite' ? (stepMs ?? 0) : 0);
	// Their other times are in JSON, which is not repaired: they are outdated after minutes.
	const ahead = now + STEP_MS;
	await db.writeOne((trx) => remove(trx, 'shared_states').where('changedAt', '>', ahead).execute());

	async function repair(table: TableName): Promise<void> {
		const set: Record<string, unknown> = {};
		const wrong = columnsOf(table).flatMap(([name, column]) => {
			if (!('longestMs' in column)) return [];
			const { longestMs, becomesMs = 0, lasts, decides } = column;
			const at = sql.ref(name);
			const latest = now + (decides && stepMs !== null ? 0 : longestMs);
			const isKept = lasts && before !== now;
			// What was due stays due.
			const kept = isKept
				? sql`case when ${at} > ${before} then ${at} + ${now - before} when ${at} > ${now} then ${now} else ${at} end`
				: at;
			set[name] = sql`case when ${kept} > ${latest} then ${now + becomesMs} else ${kept} end`;
			return sql<boolean>`${at} > ${isKept ? Math.min(before, now) : latest}`;
		});
		if (wrong.length === 0) return;
		await db.writeOne(async (trx) => {
			const rows = (trx as Kysely<Record<string, Record<string, unknown>>>).updateTable(table).set(set);
			await rows.where((eb) => eb.or(wrong)).execute();
		});
	}

	await Promise.all(TABLE_NAMES.map(repair));
}

/** PostgreSQL's current time, also within a transaction: milliseconds since the epoch, with fractions. */
async function databaseTime(db: Db): Promise<number> {
	const { rows } = await sql<{ ms: number }>`
		select (extract(epoch from clock_timestamp()) * 1000)::double precision as ms`.execute(db);
	return rows[0]?.ms ?? 0;
}

/**
 * SQL: whether `at` is the database's time now. Replicas count from the start of a PUT, and the clock of a machine
 * that slept may be behind.
 */
export const isNow = (at: number) =>
	sql<boolean>`abs(extract(epoch from clock_timestamp()) * 1000 - ${at}) <= ${CLOCK_ALLOWANCE_MS}`;

/** The error of a write for which `isNow` did not hold. */
export const clockDiffers = () =>
	new StoreUnavailableError("This process's clock differs from the database's time. It measures the time again.");
