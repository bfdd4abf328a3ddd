import { CLOCK_ALLOWANCE_MS } from '../clock.ts';
import type { PlannedRead, SessionOutline, WatchedOutline } from './ports.ts';
import { firstPrior, type Habits, habitsOf, middle, type Prior, priorFrom, stillStepping } from './rhythm.ts';
import { besidesTheHeaviest } from './shares.ts';
import { createStepsAhead } from './steps-ahead.ts';
import type { SessionKey } from './watch.ts';

/**
 * When to read which session next.
 *
 * Every read costs the same from one budget, so one price for a read decides: a session is read when the waiting of
 * people that a read is expected to save has reached that price, and the price is set so that the reads it asks for are
 * those that the budget has. For questions at a constant rate this is the square-root law (read rate proportional to the
 * square root of the question rate), which has the least expected waiting for a given number of reads; for an agent that
 * steps it moves the read to just after the next step is due (`steps-ahead.ts`). No session waits longer than a
 * multiple of the round that reading all in turn would take: that bounds what the rare question of a quiet session pays
 * for the quick finding of all others.
 *
 * One person's watches cannot blind the others: everybody but the person whose sessions ask for most has, if they need
 * it, a lower price, at which they get `KEPT_FROM_ONE` of the reads that they would get if that person watched nothing.
 */
export interface ScheduleSettings {
	/** No session is read more often. */
	readonly floorMs: number;
	/** No session is read less often than every `ceilingRounds` rounds, a round being sessions over reads in a second... */
	readonly ceilingRounds: number;
	/** ...but none needs to be read more often than this only because of that. */
	readonly ceilingMs: number;
	/** Of the rate, how much is planned: a little more than there is, or chance would leave places empty. */
	readonly utilisation: number;
	/**
	 * What the waiting for a quiet session's question weighs. At 1 the mean over all questions is least; with less the many
	 * questions of sessions at work are found sooner at the cost of the few others.
	 */
	readonly quietWeight: number;
	/** Among due reads the ones with short intervals go first: each is put off by this share of its interval. */
	readonly slack: number;
}

export const defaultSchedule: ScheduleSettings = {
	floorMs: 1_000,
	ceilingRounds: 2.5,
	ceilingMs: 15_000,
	utilisation: 1.1,
	quietWeight: 0.2,
	slack: 0.3,
};

/** However many sessions there are, none is planned to be read later than this. */
export const LONGEST_INTERVAL_MS = 30 * 60_000;
/** After the read that saw the end: the result may be written a moment after the status. */
const LAST_READ_MS = 5_000;
/** While somebody answers, until that is seen: it is delivered and the agent goes on within seconds. */
const EARLY_READ_MS = 3_000;
const EARLY_READ_FOR_MS = 30_000;
/** Failures back off from this, doubled each time, up to the longest. */
const FIRST_BACKOFF_MS = 4_000;
const LONGEST_BACKOFF_MS = 60_000;
/** An answer given elsewhere (the service's web page) in a minute of waiting, weighed against questions. */
const ANSWERED_ELSEWHERE_PER_MS = 0.2 / 600_000;
/** Steps that follow a wake-up, about: the inverse of how often stepping ends after a step. */
const STEPS_AFTER_WAKE = 25;
/** At half, with 50 sessions of one person at work, others were noticed after up to 2.4 times the usual (`bench:watching`). */
const KEPT_FROM_ONE = 0.6;
const LEAST_PRICE = 1;
const HIGHEST_PRICE = 1e9;

export interface Planner {
	/** Takes in all watched sessions and the rate; the price follows. */
	plan(outlines: readonly WatchedOutline[], backgroundPerSecond: number): void;
	/** When to read it next, from its newest read and what is known of it. Not before `now`. */
	nextRead(outline: SessionOutline, now: number): PlannedRead;
	/** What a read is worth at least, in question-milliseconds. */
	readonly price: number;
}

export function createPlanner(settings: ScheduleSettings = defaultSchedule): Planner {
	const stepsAhead = createStepsAhead();
	let price = 1_000;
	let prior = firstPrior;
	let ceiling = settings.ceilingMs;
	/** Sessions of all but the heaviest watcher, which have a price of their own where that is lower. */
	let others: ReadonlySet<string> = new Set();
	let othersPrice = price;

	/** Milliseconds from the newest read to the moment at which the next is worth `atPrice`. */
	function interval(outline: SessionOutline, atPrice: number): number {
		const belief = beliefOf(outline, stepsAhead, prior, settings.quietWeight);
		let low = settings.floorMs;
		let high = ceiling;
		if (low >= high || belief(low) >= atPrice) return low;
		if (belief(high) <= atPrice) return high;
		while (high - low > Math.max(100, low / 50)) {
			const mid = Math.sqrt(low * high);
			if (belief(mid) >= atPrice) high = mid;
			else low = mid;
		}
		return high;
	}

	function priceOf({ session }: SessionOutline, common: number): number {
		return others.has(session.sessionId) ? Math.min(common, othersPrice) : common;
	}

	/** Reads a second that these sessions ask for. */
	function asked(sessions: readonly SessionOutline[], atPrice: (outline: SessionOutline) => number): number {
		return sessions.reduce((sum, outline) => sum + 1000 / interval(outline, atPrice(outline)), 0);
	}

	function planOthers(sessions: readonly WatchedOutline[], rate: number): void {
		const theirs = besidesTheHeaviest(sessions, (group) => asked(group, () => price));
		others = new Set(theirs.map(({ session }) => session.sessionId));
		if (theirs.length === 0) return;
		const withoutTheHeaviest = Math.min(
			rate,
			asked(theirs, () => LEAST_PRICE),
		);
		othersPrice = settle(Math.min(othersPrice, price), KEPT_FROM_ONE * withoutTheHeaviest, (at) =>
			asked(theirs, () => at),
		);
	}

	return {
		plan(outlines, backgroundPerSecond) {
			const sessions = outlines.filter((outline) => outline.overSince === null && outline.lastReadAt !== null);
			const rate = Math.max(0.01, backgroundPerSecond * settings.utilisation);
			const rounds = (settings.ceilingRounds * outlines.length * 1000) / rate;
			ceiling = Math.min(LONGEST_INTERVAL_MS, Math.max(settings.ceilingMs, rounds));
			if (sessions.length === 0) return;
			prior = priorFrom(sessions.map((outline) => outline.rhythm));
			planOthers(sessions, rate);
			price = settle(price, rate, (common) => asked(sessions, (outline) => priceOf(outline, common)));
		},
		nextRead(outline, now) {
			// Ahead of now it was noted before the clock was put back.
			const from = Math.min(outline.lastReadAt ?? now, now);
			const planned = (ms: number) => {
				const at = Math.max(now, from + ms);
				return { at, by: at + settings.slack * ms };
			};
			if (outline.failures > 0) {
				const at = now + backoff(outline.failures);
				return { at, by: at };
			}
			if (outline.lastReadAt === null) return { at: now, by: now };
			if (outline.overSince !== null) return planned(LAST_READ_MS);
			const ms = interval(outline, priceOf(outline, price));
			const awaited = isWaiting(outline) && isEarlyReadAsked(outline, now);
			return planned(awaited ? Math.min(ms, EARLY_READ_MS) : ms);
		},
		get price() {
			return price;
		},
	};
}

/** The price at which `rate` reads a second are asked for, nearly: from the one before, in a few steps. */
function settle(before: number, rate: number, askedAt: (price: number) => number): number {
	let price = before;
	// The rate falls with the root of the price or faster, so squaring the ratio converges; damped against overshoot.
	for (let round = 0; round < 4; round += 1) {
		const ratio = askedAt(price) / rate;
		const factor = Math.min(30, Math.max(1 / 30, ratio ** 1.7));
		price = Math.min(HIGHEST_PRICE, Math.max(LEAST_PRICE, price * factor));
		if (Math.abs(ratio - 1) < 0.02) break;
	}
	return price;
}

/** How often the price follows the sessions. */
export const PLAN_MS = 5_000;
/** A read that the new price would move by less of its interval is left where it is. */
const WORTH_MOVING = 0.2;

/**
 * Which reads to move after a new plan. `recovered`: the service is back, so nobody waits out a back-off any longer. A read
 * that is further ahead than any may be was planned before the clock was put back.
 */
export function movesFor(
	outlines: readonly SessionOutline[],
	planner: Planner,
	now: number,
	recovered: boolean,
): { session: SessionKey; from: PlannedRead; to: PlannedRead }[] {
	return outlines.flatMap((outline) => {
		const { session, nextRead: from } = outline;
		const failing = outline.failures > 0 || outline.lastReadAt === null;
		if (from.at > now + LONGEST_INTERVAL_MS || (failing && recovered && from.at > now)) {
			return [{ session, from, to: { at: now, by: now } }];
		}
		if (failing || outline.lastReadAt === null || outline.overSince !== null || from.at <= now) return [];
		const to = planner.nextRead(outline, now);
		const planned = Math.max(1, from.at - outline.lastReadAt);
		return Math.abs(to.at - from.at) > WORTH_MOVING * planned ? [{ session, from, to }] : [];
	});
}

function isEarlyReadAsked({ earlyReadAskedAt }: SessionOutline, now: number): boolean {
	return (
		earlyReadAskedAt !== null &&
		now - earlyReadAskedAt < EARLY_READ_FOR_MS &&
		earlyReadAskedAt <= now + CLOCK_ALLOWANCE_MS
	);
}

function backoff(failures: number): number {
	return Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures - 1));
}

function isWaiting(outline: SessionOutline): boolean {
	return outline.questionOpen || outline.status === 'humanInput';
}

/** The worth of a read so many milliseconds after the newest one. */
function beliefOf(
	outline: SessionOutline,
	stepsAhead: ReturnType<typeof createStepsAhead>,
	prior: Prior,
	quietWeight: number,
): (ms: number) => number {
	if (isWaiting(outline)) {
		return (ms) => (ANSWERED_ELSEWHERE_PER_MS * ms * ms) / 2;
	}
	const habits = habitsOf(outline.rhythm, prior);
	const readAt = outline.lastReadAt ?? 0;
	const { lastStep } = outline.rhythm;
	const gap = habits.gapMs;
	const quiet = (ms: number) => quietWeight * quietWorth(habits, ms);
	const resting = outline.status === 'paused' || outline.status === 'inactive';
	if (resting) return quiet;
	const ages = lastStep === null ? [gap / 2] : agesAt(readAt, lastStep);
	const still = stillStepping(habits, lastStep === null ? gap / 2 : readAt - middle(lastStep));
	const ahead = stepsAhead(habits.spread);
	const weight = (still * habits.questionPerStep * gap) / ages.length;
	return (ms) => {
		let worth = 0;
		for (const age of ages) worth += ahead.worth(age / gap, ms / gap);
		return worth * weight + (1 - still) * quiet(ms);
	};
}

/**
 * For a session that wakes up now and then and steps from there: after a wake-up at any time before, steps come in a
 * row until one asks or all are done.
 */
function quietWorth({ wakesPerMs, questionPerStep, gapMs }: Habits, ms: number): number {
	const whileStepping = (questionPerStep * ms ** 3) / (3 * gapMs);
	const perWake = 1 - (1 - questionPerStep) ** STEPS_AFTER_WAKE;
	return wakesPerMs * Math.min(whileStepping, (perWake * ms * ms) / 2);
}

/** Three ages that stand for where in its interval the newest step may have been. */
function agesAt(readAt: number, [after, until]: readonly [number, number]): readonly number[] {
	const width = until - after;
	return [readAt - until + width / 6, readAt - until + width / 2, readAt - until + (5 * width) / 6];
}
