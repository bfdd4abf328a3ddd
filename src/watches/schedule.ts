import { CLOCK_ALLOWANCE_MS } from '../clock.ts';
import type { PlannedRead, SessionOutline, WatchedOutline } from './ports.ts';
import { activityOf } from './step-rate.ts';
import type { SessionKey } from './watch.ts';

/**
 * When to read which session next.
 *
 * All reads cost the same from one budget. With questions at a constant rate, the least expected waiting for a number of
 * reads has each session read at intervals proportional to the square root of the time until it asks (Lagrange). That
 * time is taken as proportional to the gap between its steps. One factor for all sessions makes the reads fit the
 * budget. No session waits longer than a multiple of the round that reading all in turn takes.
 *
 * One person's watches cannot blind the others: everybody but the person whose sessions take the most reads has, if
 * they need it, a lower factor, at which they get `keptFromOne` of the reads that they get if that person watches
 * nothing.
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
	/** Among due reads the ones with short intervals go first: each is put off by this share of its interval. */
	readonly slack: number;
}

export const DEFAULT_SCHEDULE: ScheduleSettings = {
	floorMs: 1_000,
	ceilingRounds: 2.5,
	ceilingMs: 15_000,
	utilisation: 1.1,
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
/** What counts as the gap of a session that waits for an answer: most answers are given in Slack and known without. */
const WAITING_GAP_MS = 60_000;
/** What counts as the gap of a session that neither works nor waits: it wakes up after hours. */
const RESTING_GAP_MS = 3_600_000;
/** The equal share of all but one of `people`. With 0.6 for all numbers others are noticed after up to twice the usual. */
const keptFromOne = (people: number) => Math.min(0.7, Math.max(0.6, 1 - 1 / people));
/** Bounds of the factor, in roots of milliseconds. */
const LEAST_FACTOR = 0.01;
const GREATEST_FACTOR = 1e7;

export interface Planner {
	/** Takes in all watched sessions and the rate; the intervals follow. */
	plan(outlines: readonly WatchedOutline[], backgroundPerSecond: number): void;
	/** When to read it next, from its newest read and what is known of it. Not before `now`. */
	nextRead(outline: SessionOutline, now: number): PlannedRead;
}

export function createPlanner(settings: ScheduleSettings = DEFAULT_SCHEDULE): Planner {
	let factor = 100;
	let ceiling = settings.ceilingMs;
	/** Sessions of all but the heaviest watcher, which have a factor of their own where that is lower. */
	let others: ReadonlySet<string> = new Set();
	let othersFactor = factor;

	function interval(outline: SessionOutline, atFactor: number): number {
		return Math.min(ceiling, Math.max(settings.floorMs, atFactor * Math.sqrt(gapOf(outline))));
	}

	function factorOf({ session }: SessionOutline, common: number): number {
		return others.has(session.sessionId) ? Math.min(common, othersFactor) : common;
	}

	/** Reads a second that these sessions take. */
	function asked(sessions: readonly SessionOutline[], atFactor: (outline: SessionOutline) => number): number {
		return sessions.reduce((sum, outline) => sum + 1000 / interval(outline, atFactor(outline)), 0);
	}

	function planOthers(sessions: readonly WatchedOutline[], rate: number): void {
		const { theirs, people } = besidesTheHeaviest(sessions, (group) => asked(group, () => factor));
		others = new Set(theirs.map(({ session }) => session.sessionId));
		if (theirs.length === 0) return;
		const withoutTheHeaviest = Math.min(
			rate,
			asked(theirs, () => LEAST_FACTOR),
		);
		othersFactor = settle(Math.min(othersFactor, factor), keptFromOne(people) * withoutTheHeaviest, (at) =>
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
			planOthers(sessions, rate);
			factor = settle(factor, rate, (common) => asked(sessions, (outline) => factorOf(outline, common)));
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
			const ms = interval(outline, factorOf(outline, factor));
			const awaited = activityOf(outline) === 'waiting' && isEarlyReadAsked(outline, now);
			return planned(awaited ? Math.min(ms, EARLY_READ_MS) : ms);
		},
	};
}

/** The factor at which `rate` reads a second are taken, nearly: from the one before, in a few steps. */
function settle(before: number, rate: number, askedAt: (factor: number) => number): number {
	let factor = before;
	// Without floor and ceiling the reads are inversely proportional to the factor, so the ratio corrects it.
	for (let round = 0; round < 6; round += 1) {
		const ratio = askedAt(factor) / rate;
		factor = Math.min(GREATEST_FACTOR, Math.max(LEAST_FACTOR, factor * ratio));
		if (Math.abs(ratio - 1) < 0.02) break;
	}
	return factor;
}

/** The gap to its next step, or what counts as it. The longer it took no step, the longer it will take none. */
function gapOf(outline: SessionOutline): number {
	const { gapMs, lastStepAt } = outline.stepRate;
	const usual = { working: gapMs, waiting: WAITING_GAP_MS, resting: RESTING_GAP_MS }[activityOf(outline)];
	const sinceStep = lastStepAt === null ? 0 : (outline.lastReadAt ?? 0) - lastStepAt;
	return Math.max(usual, sinceStep);
}

/**
 * The sessions of everybody but the one of `people` whose sessions together take the most reads; none where one person
 * watches all. A session that several people watch belongs to whoever of them watches fewest: it has what the most
 * entitled of them gives it.
 */
function besidesTheHeaviest(
	sessions: readonly WatchedOutline[],
	asks: (sessions: readonly WatchedOutline[]) => number,
): { readonly theirs: readonly WatchedOutline[]; readonly people: number } {
	const counts = new Map<string, number>();
	for (const { watchers } of sessions) for (const who of watchers) counts.set(who, (counts.get(who) ?? 0) + 1);
	const fewestFirst = (one: string, other: string) =>
		(counts.get(one) ?? 0) - (counts.get(other) ?? 0) || (one < other ? -1 : 1);
	const byOwner = [...Map.groupBy(sessions, ({ watchers }) => watchers.toSorted(fewestFirst)[0] ?? '').values()];
	const people = byOwner.length;
	if (people < 2) return { theirs: [], people };
	const asked = byOwner.map(asks);
	const heaviest = asked.indexOf(Math.max(...asked));
	return { theirs: byOwner.filter((_, index) => index !== heaviest).flat(), people };
}

/** How often the plan follows the sessions. */
export const PLAN_MS = 5_000;
/** A read that the new plan would move by less of its interval is left where it is. */
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
