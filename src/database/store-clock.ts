import { type Kysely, sql } from 'kysely';
import { type Clock, createWaker, STEP_MS } from '../core/clock.ts';
import { codeOf, LONGEST_RETRY_AFTER_MS } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { remove, type StoreDatabase } from './database.ts';
import { COLUMNS, type Db, type Tables } from './tables.ts';

const MEASURE_EVERY_MS = { postgres: 10_000, sqlite: 1_000 };
const MEASURE_SOON_MS = 100;
/** The error of a measurement is half of what it took. After a slower one the previous one stays valid. */
const LONGEST_ROUND_TRIP_MS = 500;

/** PostgreSQL's current time, also within a transaction: milliseconds since the epoch, with fractions. */
export async function databaseTime(db: Db): Promise<number> {
	const { rows } = await sql<{ ms: number }>`
		select (extract(epoch from clock_timestamp()) * 1000)::double precision as ms`.execute(db);
	return rows[0]?.ms ?? 0;
}

const MACHINE = { wall: () => Date.now(), monotonic: () => performance.now() };

export type StoreClock = Awaited<ReturnType<typeof createStoreClock>>;

/**
 * The clock that stored times are compared with: the database's time on PostgreSQL, so that replicas agree although
 * their own clocks differ or are set, and the machine's on SQLite. Between measurements the machine's monotonic clock
 * continues it; the error is half of a quick round trip plus the drift of a few seconds, far below
 * `CLOCK_ALLOWANCE_MS`. A difference of more than `STEP_MS` is a step: the clock was set, or the machine slept, which a
 * monotonic clock does not count. It is adopted once, after stored times were repaired.
 * `local` is only for sleeping. `machine` is its own time; on PostgreSQL `wall` only shows that it slept or was set.
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

	/** Whether what was computed before a step may have been stored after its repair. */
	let isUnsettled = false;

	async function adopt(): Promise<void> {
		const measured = await measure();
		if (measured.tookMs > LONGEST_ROUND_TRIP_MS) return;
		const stepMs = Math.round(measured.offset - offset);
		const isStep = Math.abs(stepMs) > STEP_MS;
		if (isStep || isUnsettled) await repairTimes(db, timeAt(measured.offset), isStep ? stepMs : null);
		isUnsettled = isStep;
		({ offset } = measured);
		gap = wall() - monotonic();
		isInDoubt = false;
		if (!isStep) return;
		steadySince = timeAt(offset);
		log.warn('clock_set', { stepMs });
		for (const listener of listeners) listener();
	}

	async function follow(): Promise<void> {
		while (!closing.signal.aborted) {
			await waker.wait(isInDoubt || isUnsettled ? MEASURE_SOON_MS : MEASURE_EVERY_MS[db.dialect], closing.signal);
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
		close: () => closing.abort(),
	} satisfies Clock & { close(): void };
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const LONGEST_SNOOZE_MS = 36 * 60 * MINUTE_MS;

interface Rule {
	/** The longest legal delay: a time further ahead was stored by a clock that was ahead. */
	readonly longestMs: number;
	/** What such a time becomes, counted from now. */
	readonly becomesMs?: number;
	/** Whether it is the end of a duration, which goes on when the clock is set. Other times follow the clock. */
	readonly lasts?: true;
	/** Whether the row decides anew when it is due, so that each step of the clock makes it due. */
	readonly decides?: true;
}

/** When something happened. Clocks of replicas differ by less. */
const NOTED: Rule = { longestMs: STEP_MS };
const LEASE: Rule = { longestMs: MINUTE_MS, becomesMs: MINUTE_MS, lasts: true };

/** The columns with times that may lie ahead. In all other `bigint` columns something happened. */
export const DELAYS: { readonly [T in keyof Tables]?: { readonly [C in keyof Tables[T]]?: Rule } } = {
	answers: {
		leasedUntil: LEASE,
		// `GIVE_UP_HOURS` is at most 30 days.
		giveUpAt: { longestMs: 30 * DAY_MS, becomesMs: DAY_MS },
		// `UNDO_SECONDS` is at most 60.
		undoUntil: { longestMs: MINUTE_MS, becomesMs: MINUTE_MS, lasts: true },
		// The last confirmation check comes 10 minutes after a delivery; a receipt is retried after 10 minutes.
		nextAttemptAt: { longestMs: 15 * MINUTE_MS, decides: true },
		notBefore: { longestMs: LONGEST_RETRY_AFTER_MS, lasts: true },
	},
	// A claim ("(name) is answering") lasts 5 minutes.
	claims: { until: { longestMs: 10 * MINUTE_MS, lasts: true } },
	posts: {
		leasedUntil: LEASE,
		// The longest retry delay, and the longest Retry-After of Slack that is honored. Cards look at their `notBefore` again.
		dueAt: { longestMs: 15 * MINUTE_MS, lasts: true },
		// A post that may exist is searched for from then on, by Slack's clock.
		sendingSince: { ...NOTED, becomesMs: -DAY_MS },
	},
	watched_sessions: {
		leasedUntil: LEASE,
		// The longest interval between two reads.
		nextReadAt: { longestMs: 30 * MINUTE_MS, lasts: true },
		readBy: { longestMs: 60 * MINUTE_MS, lasts: true },
	},
	// The end of a snooze may be the next update.
	inboxes: { leasedUntil: LEASE, nextUpdateAt: { longestMs: LONGEST_SNOOZE_MS, decides: true } },
	windows: { leasedUntil: LEASE, dueAt: { longestMs: LONGEST_RETRY_AFTER_MS, decides: true } },
	ladders: {
		leasedUntil: LEASE,
		// Quiet hours may last for days. The start makes all ladders due.
		dueAt: { longestMs: 30 * DAY_MS, decides: true },
		reminderDueAt: { longestMs: 10 * MINUTE_MS, lasts: true },
	},
	snoozes: { until: { longestMs: LONGEST_SNOOZE_MS } },
};

/** Repairs times that are further ahead of `now` than legal: their rows would wait. `stepMs`: null at the start. */
export async function repairTimes(db: StoreDatabase, now: number, stepMs: number | null = null): Promise<void> {
	// The step that one replica sees may be its own sleep.
	const before = now - (db.dialect === 'sqlite' ? (stepMs ?? 0) : 0);
	// Their other times are in JSON. They are outdated after minutes.
	const ahead = now + STEP_MS;
	await db.writeOne((trx) => remove(trx, 'shared_states').where('changedAt', '>', ahead).execute());

	async function repair(table: keyof typeof COLUMNS): Promise<void> {
		const rules: Readonly<Record<string, Rule>> = DELAYS[table] ?? {};
		const times = Object.entries(COLUMNS[table]).filter(([, type]) => type.startsWith('bigint'));
		const set: Record<string, unknown> = {};
		const wrong = times.map(([name]) => {
			const { longestMs, becomesMs = 0, lasts, decides } = rules[name] ?? NOTED;
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

	await Promise.all((Object.keys(COLUMNS) as (keyof typeof COLUMNS)[]).map(repair));
}
