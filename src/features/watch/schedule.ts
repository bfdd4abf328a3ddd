import { backOff, HOUR_MS, MINUTE_MS } from '../../core/basics.ts';
import { LONGEST_INTERVAL_MS } from '../../database/schema/watches.ts';
import { activityOf, type PlannedRead } from '../../database/watch.ts';
import type { WatchedSession } from '../../database/watch-store.ts';
import { EARLY_READS_MS } from '../../questions/answer.ts';
import { isWaiting } from '../../questions/session.ts';

/*
 * When to read which session next.
 *
 * Requests count the same and share one budget. If questions come at a constant rate, the expected wait is least when
 * each session's interval is proportional to the square root of the time until it asks (Lagrange). That time is taken
 * as proportional to the gap between its steps. One factor for all sessions makes the reads fit the budget. No session
 * waits longer than a multiple of the round, the time in which all are read once in turn.
 *
 * A request is not all that a read costs: no session is read more often than its bodies and the service's time allow,
 * nor one that nobody expects anything of at the moment.
 *
 * One person's watches must not slow down everybody else's. The person whose sessions take the most reads keeps the
 * common factor. The others get a lower one if they need it: at that factor they get `shareOfOthers` of the reads that
 * they would get without that person.
 */

/** What the schedule needs of a session. The outlines of all sessions are read every few seconds. */
export interface SessionOutline extends Omit<WatchedSession, 'digest' | 'earlyReadCount'> {
	readonly status: string | null;
	readonly questionOpen: boolean;
}

/** `watchers`: who created its watches, and the channels into which it was brought. They share reads fairly. */
export interface WatchedOutline extends SessionOutline {
	readonly watchers: readonly string[];
	/** Whether somebody has the form of its question open. */
	readonly isClaimed: boolean;
}

export const FLOOR_MS = 1_000;
/** A session is quiet when its reads have shown nothing new for this long. */
const QUIET_AFTER_MS = 10 * 60_000;
/** An agent that works beside its open question waits when it has shown nothing new for this long. */
const WAITS_AFTER_MS = 60_000;
/**
 * The least interval of a quiet session, and of one whose question nobody is answering: 391 reads an hour, and what
 * happens there is seen within 10 s. Where the service lists what waits, a list shows a new question sooner.
 */
export const QUIET_MS = 9_200;
/** A session takes no more of the service than this in the long run. One of 5 MB that steps is read every 10 s. */
const BYTES_PER_MS = 512;
/** The least interval in times of what a read takes. */
const TIMES_TOOK = 3;
const LONGEST_BY_COST_MS = 20_000;
/** After this many reads that brought another body and nothing new, the body is known to change by itself… */
const VAIN_FROM = 3;
/** …so the interval is at least this share of the time since something new was seen, up to that of a quiet one. */
const VAIN_SHARE = 1 / 8;
/** No interval is longer than this many rounds... */
export const CEILING_ROUNDS = 2.5;
/** ...unless that is shorter than this. */
export const CEILING_MS = 15_000;
/** The part of the rate that is planned: above 1, because otherwise chance leaves some of it unused. */
export const UTILISATION = 1.1;
/** Due reads with short intervals go first: each is put off by this share of its interval. */
const SLACK = 0.3;
/** Until the last read of a session that is over: the service may write the result a moment after the status. */
const LAST_READ_MS = 5_000;
/** For so long a person has just done something after which the agent goes on. */
const JUST_ANSWERED_MS = 30_000;
/** The back-off after a failure, doubled for each further one up to the longest. */
const RETRY = { firstMs: 4_000, longestMs: 60_000 } as const;
/** The equal share of all but one of `people`, bounded. At 0.6, others wait up to twice the usual time. */
const shareOfOthers = (people: number) => Math.min(0.7, Math.max(0.6, 1 - 1 / people));
/** Bounds of the factor, in square roots of milliseconds. */
const LEAST_FACTOR = 0.01;
const GREATEST_FACTOR = 1e7;

export function createPlanner() {
	let factor = 100;
	let ceilingMs = CEILING_MS;
	/** Sessions of all but the heaviest watcher, with a factor of their own if that is lower. */
	let others: ReadonlySet<string> = new Set();
	let othersFactor = factor;
	/** Sessions with a question that somebody is answering. */
	let claimed: ReadonlySet<string> = new Set();

	function interval(outline: SessionOutline, atFactor: number): number {
		const least = leastInterval(outline, claimed.has(outline.session.sessionId));
		return Math.max(least, Math.min(ceilingMs, atFactor * Math.sqrt(gapOf(outline))));
	}

	function factorOf({ session }: SessionOutline, common: number): number {
		return others.has(session.sessionId) ? Math.min(common, othersFactor) : common;
	}

	function readsPerSecond(sessions: readonly SessionOutline[], atFactor: (outline: SessionOutline) => number): number {
		return sessions.reduce((sum, outline) => sum + 1000 / interval(outline, atFactor(outline)), 0);
	}

	function planOthers(sessions: readonly WatchedOutline[], rate: number): void {
		const { theirs, people } = besidesTheHeaviest(sessions, (group) => readsPerSecond(group, () => factor));
		others = new Set(theirs.map(({ session }) => session.sessionId));
		if (theirs.length === 0) return;
		const readsAt = (common: number) => readsPerSecond(theirs, () => common);
		const withoutTheHeaviest = Math.min(rate, readsAt(LEAST_FACTOR));
		othersFactor = settle(Math.min(othersFactor, factor), shareOfOthers(people) * withoutTheHeaviest, readsAt);
	}

	return {
		plan(outlines: readonly WatchedOutline[], backgroundPerSecond: number): void {
			const sessions = outlines.filter((outline) => outline.overSince === null && outline.lastReadAt !== null);
			const rate = Math.max(0.01, backgroundPerSecond * UTILISATION);
			const roundMs = (outlines.length * 1000) / rate;
			ceilingMs = Math.min(LONGEST_INTERVAL_MS, Math.max(CEILING_MS, CEILING_ROUNDS * roundMs));
			claimed = new Set(outlines.filter((one) => one.isClaimed).map(({ session }) => session.sessionId));
			if (sessions.length === 0) return;
			planOthers(sessions, rate);
			factor = settle(factor, rate, (common) => readsPerSecond(sessions, (outline) => factorOf(outline, common)));
		},
		/** When to read a session next; not before `now`. */
		nextRead(outline: SessionOutline, now: number): PlannedRead {
			const planned = (ms: number) => {
				const at = Math.max(now, (outline.lastReadAt ?? now) + ms);
				return { at, by: at + SLACK * ms };
			};
			if (outline.failures > 0) {
				const at = now + backOff(outline.failures, RETRY);
				return { at, by: placeOf(outline, at) };
			}
			if (outline.lastReadAt === null) return { at: now, by: now };
			if (outline.overSince !== null) return planned(LAST_READ_MS);
			const ms = interval(outline, factorOf(outline, factor));
			const usual = planned(ms);
			const early = earlyReadAt(outline, now);
			return early !== null && early < usual.at ? { at: early, by: early } : usual;
		},
	};
}

export type Planner = ReturnType<typeof createPlanner>;

/** The factor at which about `rate` reads a second are taken, found in a few steps from the factor before. */
function settle(before: number, rate: number, readsAt: (factor: number) => number): number {
	let factor = before;
	// Without floor and ceiling the reads are inversely proportional to the factor, so the ratio corrects it.
	for (let round = 0; round < 6; round += 1) {
		const ratio = readsAt(factor) / rate;
		factor = Math.min(GREATEST_FACTOR, Math.max(LEAST_FACTOR, factor * ratio));
		if (Math.abs(ratio - 1) < 0.02) break;
	}
	return factor;
}

/** The time since a read showed something new. */
const steadyMs = ({ lastReadAt: at, lastChangeAt }: SessionOutline) => (at ?? 0) - (lastChangeAt ?? at ?? 0);

function leastInterval(outline: SessionOutline, isClaimed: boolean): number {
	const { byteCount, tookMs, vainCount } = outline.reads;
	const isAsking = outline.questionOpen && (isWaiting(outline.status ?? '') || steadyMs(outline) >= WAITS_AFTER_MS);
	const isQuiet = isAsking || steadyMs(outline) >= QUIET_AFTER_MS;
	const byCost = Math.min(LONGEST_BY_COST_MS, byteCount / BYTES_PER_MS + TIMES_TOOK * tookMs);
	const vain = vainCount < VAIN_FROM ? 0 : Math.min(QUIET_MS, VAIN_SHARE * steadyMs(outline));
	return Math.max(FLOOR_MS, byCost, vain, isQuiet && !isClaimed ? QUIET_MS : 0);
}

function gapOf(outline: SessionOutline): number {
	const { gapMs, lastStepAt } = outline.stepRate;
	// Most answers come through Slack and are known without a read. What rests resumes after hours.
	const usual = { working: gapMs, waiting: MINUTE_MS, resting: HOUR_MS }[
		activityOf(outline.status, outline.questionOpen)
	];
	return Math.max(usual, lastStepAt === null ? 0 : (outline.lastReadAt ?? 0) - lastStepAt);
}

/** All sessions but those of the heaviest watcher. Of several watchers, the one who watches the fewest counts. */
function besidesTheHeaviest(
	sessions: readonly WatchedOutline[],
	readsOf: (sessions: readonly WatchedOutline[]) => number,
): { readonly theirs: readonly WatchedOutline[]; readonly people: number } {
	const counts = new Map<string, number>();
	for (const userId of sessions.flatMap(({ watchers }) => watchers)) counts.set(userId, (counts.get(userId) ?? 0) + 1);
	const fewestFirst = (a: string, b: string) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0) || (a < b ? -1 : 1);
	const byOwner = [...Map.groupBy(sessions, ({ watchers }) => watchers.toSorted(fewestFirst)[0] ?? '').values()];
	const people = byOwner.length;
	if (people < 2) return { theirs: [], people };
	const reads = byOwner.map(readsOf);
	const heaviest = reads.indexOf(Math.max(...reads));
	return { theirs: byOwner.filter((_, index) => index !== heaviest).flat(), people };
}

export const PLAN_MS = 5_000;
/** A read is moved only to an earlier time, by more than this share of its interval: reads that are spread stay so. */
const WORTH_MOVING = 0.2;

/** Which reads to move after a new plan. `recovered`: the service is back, so every back-off ends. */
export function movesFor(outlines: readonly SessionOutline[], planner: Planner, now: number, recovered: boolean) {
	return outlines.flatMap((outline) => {
		const { session, nextRead: from } = outline;
		const failing = outline.failures > 0 || outline.lastReadAt === null;
		if (failing && recovered && from.at > now) {
			return [{ session, from, to: { at: now, by: placeOf(outline, now) } }];
		}
		if (failing || outline.lastReadAt === null || outline.overSince !== null || from.at <= now) return [];
		const to = planner.nextRead(outline, now);
		const planned = Math.max(1, from.at - outline.lastReadAt);
		return from.at - to.at > WORTH_MOVING * planned ? [{ session, from, to }] : [];
	});
}

/** The place of a failing session's read at `at`: it stays the same while a reminder waits for it. */
const placeOf = ({ nextRead }: SessionOutline, at: number) => (nextRead.by < nextRead.at ? nextRead.by : at);

/** Whether a person has just done something after which the agent goes on, so that its session is read early. */
export function isEarlyReadAsked({ earlyReadAskedAt }: Pick<SessionOutline, 'earlyReadAskedAt'>, now: number): boolean {
	return earlyReadAskedAt !== null && now - earlyReadAskedAt < JUST_ANSWERED_MS;
}

/** The next of the reads after an answer; null: none is left. Between two there is as long as one takes. */
function earlyReadAt(outline: SessionOutline, now: number): number | null {
	const { earlyReadAskedAt: askedAt, lastReadAt } = outline;
	if (askedAt === null || lastReadAt === null) return null;
	const next = EARLY_READS_MS.find((ms) => askedAt + ms > lastReadAt);
	const least = lastReadAt + Math.max(FLOOR_MS, outline.reads.tookMs);
	return next === undefined ? null : Math.max(now, askedAt + next, least);
}
