import type { QuietHours, Rung } from '../watches/channel-settings.ts';
import type { ChannelKey, SessionKey } from '../watches/watch.ts';
import type { LadderTimes } from './channel-settings.ts';
import { quietUntil } from './quiet-hours.ts';

/** The reminders of one question in one channel, as stored. All times are milliseconds since the epoch. */
export interface Ladder {
	/** The watch's id: a session asks one question at a time. */
	readonly watchId: string;
	readonly channel: ChannelKey;
	readonly session: SessionKey;
	readonly fingerprint: string;
	/** The question's post. */
	readonly postTs: string;
	readonly postedAt: number;
	readonly remindedAt: number | null;
	readonly escalationCount: number;
	/** When the newest rung was posted; null before the first. */
	readonly lastRungAt: number | null;
	/** Whether a rung is on its way to Slack. */
	readonly isRinging: boolean;
	/** When the next rung was due; later looks wait for a read, or for other rungs. Null: no rung is due. */
	readonly rungDueAt: number | null;
	/** Slack user id of whoever was answering when a rung was due; the rung says so. */
	readonly heldBy: string | null;
	/** Null: its rung waits for no others. */
	readonly waiting: WaitingRungs | null;
}

/** Since when rungs of a channel wait for each other: when one was first seen due, and since when at most a few are not read. */
export interface WaitingRungs {
	readonly since: number;
	readonly fewSince: number | null;
}

/** What is known of a ladder's question. */
export interface LadderFacts {
	readonly ladder: Ladder;
	readonly times: LadderTimes;
	readonly quietHours: QuietHours | null;
	/** When somebody last changed the channel's settings. */
	readonly settingsChangedAt: number | null;
	/** Whether the watch goes on, and the newest read found this question open. */
	readonly isOpen: boolean;
	/** Whether somebody has answered through Handraise since: delivered, or on its way. */
	readonly isAnswered: boolean;
	/** The active claim that lasts longest. */
	readonly claim: { readonly userId: string; readonly until: number } | null;
	/** When the newest successful read of the session began. */
	readonly readAt: number | null;
	/** Whether reads of the session fail at the moment. */
	readonly isFailing: boolean;
}

export type Decision =
	/** The question is settled: no more rungs. */
	| { readonly kind: 'over' }
	/** Look again then (null: when something changes). `rungDueAt`: the time of the rung that is due. */
	| {
			readonly kind: 'wait';
			readonly until: number | null;
			readonly rungDueAt: number | null;
			readonly heldBy: string | null;
			/** Ask for a read of the session; while reads fail, for the first one that succeeds. */
			readonly read?: true;
			/** A rung is due, and a read has to tell whether it is needed. */
			readonly waitsForRead?: true;
	  }
	| { readonly kind: 'ring'; readonly rung: Rung; readonly dueAt: number };

export const MOST_ESCALATIONS = 3;
/** A read that began in this time before a rung was due, or later, tells whether the question is still open... */
const READ_BEFORE_DUE_MS = 10_000;
/** ...unless it is older than this: the rung waited for other rungs meanwhile. */
const READ_WITHIN_MS = 30_000;
/** How often to look whether the read that was asked for is there. */
const LOOK_AGAIN_MS = 1_000;
/** The same while the service is away. */
const LOOK_AGAIN_FAILING_MS = 5_000;
/** An answer may be taken back or fail; that is noticed at once unless the process dies then. */
const LOOK_AGAIN_ANSWERED_MS = 10_000;
/** Rungs of a channel that are due within this time are announced together. */
export const TOGETHER_MS = 10_000;

/** What to do about a ladder at `now`. */
export function decide(facts: LadderFacts, now: number): Decision {
	const { ladder, claim } = facts;
	if (!facts.isOpen) return { kind: 'over' };
	if (facts.isAnswered) {
		const until = now + LOOK_AGAIN_ANSWERED_MS;
		return { ...NOT_DUE, until, rungDueAt: until };
	}
	// While Slack is away, rungs do not pile up.
	if (ladder.isRinging) return { ...NOT_DUE, until: null };
	const next = nextRung(facts, now);
	if (next === null) return { ...NOT_DUE, until: null };
	if (next.at > now) return { ...NOT_DUE, until: next.at, heldBy: ladder.heldBy };
	// From when it is late: not while somebody was answering, had answered or the service was away, nor by settings of before.
	const dueSince = Math.max(next.at, Math.min(facts.settingsChangedAt ?? next.at, now));
	const rungDueAt = Math.max(dueSince, Math.min(ladder.rungDueAt ?? dueSince, now));
	if (claim !== null && claim.until > now) {
		return { kind: 'wait', until: claim.until, rungDueAt: claim.until, heldBy: claim.userId };
	}
	const { heldBy } = ladder;
	if (facts.isFailing) {
		const until = now + LOOK_AGAIN_FAILING_MS;
		// Others could join meanwhile, so it waits for none that fall due when the service is back.
		const failingDueAt = Math.max(dueSince, now - TOGETHER_MS);
		return { kind: 'wait', until, rungDueAt: failingDueAt, heldBy, waitsForRead: true, read: true };
	}
	const readFrom = Math.max(now - READ_WITHIN_MS, rungDueAt - READ_BEFORE_DUE_MS);
	if (facts.readAt === null || facts.readAt < readFrom) {
		return { kind: 'wait', until: now + LOOK_AGAIN_MS, rungDueAt, heldBy, waitsForRead: true, read: true };
	}
	return { kind: 'ring', rung: next.rung, dueAt: rungDueAt };
}

const NOT_DUE = { kind: 'wait', rungDueAt: null, heldBy: null } as const;

/**
 * The next rung and its time, after the quiet hours. Of a reminder and an escalation that are both due, only the
 * escalation: what came together in the quiet hours rings once.
 */
function nextRung({ ladder, times, quietHours }: LadderFacts, now: number): { rung: Rung; at: number } | null {
	const { remindAfterMs, escalateAfterMs } = times;
	const { postedAt, remindedAt, escalationCount } = ladder;
	const afterQuietHours = (at: number) => {
		if (quietHours === null) return at;
		const after = quietUntil(quietHours, at) ?? at;
		return after > now ? after : (quietUntil(quietHours, now) ?? after);
	};
	const rungs: { rung: Rung; at: number }[] = [];
	if (escalateAfterMs !== null && escalationCount < MOST_ESCALATIONS) {
		const from = escalationCount === 0 ? postedAt : (ladder.lastRungAt ?? postedAt);
		rungs.push({ rung: 'escalation', at: afterQuietHours(from + escalateAfterMs) });
	}
	if (remindAfterMs !== null && remindedAt === null && escalationCount === 0) {
		rungs.push({ rung: 'reminder', at: afterQuietHours(postedAt + remindAfterMs) });
	}
	return rungs.find(({ at }) => at <= now) ?? rungs.toSorted((one, other) => one.at - other.at)[0] ?? null;
}
