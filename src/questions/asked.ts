import { z } from 'zod';
import {
	askingMessageIndex,
	type ClosedItems,
	filledAt,
	isOver,
	isReworded,
	isWaiting,
	positions,
	type QuestionDigest,
	type Session,
	sameBefore,
	stepsSince,
} from './session.ts';

/** How one time of asking ended. `changed`: the message asks something else. `renewed`: asked again while open. */
export type SettledHow = 'answered' | 'closed' | 'changed' | 'renewed' | 'unwatched' | 'wentOn';

const arrived = z
	.object({
		/** Our answer; null: a read showed a value from elsewhere. */
		answerId: z.string().nullable(),
		/** Which arrival of its session, see `TimelineEntry`; null: not known. Reads that began before it do not count. */
		number: z.int().nullable(),
		/** When the service had it, or the read began that showed it; clock milliseconds. */
		at: z.number(),
		positions,
		/** `stepsSince` then. */
		steps: z.int(),
		/** The agent waited visibly in the read just before the PUT. */
		waited: z.boolean(),
	})
	.readonly();

export const evidence = z
	.object({
		/** A read showed it open with the status `humanInput`. */
		waitedSeen: z.boolean(),
		mostSteps: z.int().default(0),
		/** The index in the newest read; null: none. */
		index: z.int().nullable().default(null),
		/** The newest value that arrived. */
		arrived: arrived.nullable(),
		// After that value:
		/** The agent has written more since. */
		grew: z.boolean(),
		wasActive: z.boolean(),
		/** Reads showed another status than `humanInput` beside an empty field, or that it worked: it may flicker. */
		hasLeft: z.boolean(),
		/** A read showed it at another index and with fewer steps: it is asked again, in another message. */
		elsewhere: z.boolean().default(false),
		/** The agent certainly has our answer. */
		continued: z.boolean(),
		/** Since when all reads show the field empty; clock milliseconds. Null: the newest one does not. */
		emptySince: z.number().nullable(),
		/** Since when no read has shown `humanInput`, and the first of them showed `active`. */
		activeSince: z.number().nullable(),
		/** Of a question asked again: our answer that was lost, see `Verdict`; `''`: one that was not ours. */
		lost: z.string().nullable(),
	})
	.readonly();
/** What reads show of one time that an agent asked, no texts. Stored with its answer, and its row if it is watched. */
export type Evidence = z.infer<typeof evidence>;

/** What one read shows of the newest question of a session that is not over. */
export type Sighting = Readonly<ReturnType<typeof sightingOf>>;

/**
 * - `waits`: somebody has to answer.
 * - `wentOn`: nobody has to: the agent works on without an answer. It may still read one.
 * - `answered`: as the field shows.
 * - `checking`: an answer arrived and is not in the field; the agent still waits.
 * - `taken`: the agent has the answer. `emptied`: it has it, or it was lost. `unconfirmed`: no read shows which.
 * - `askedAgain`: it has the answer, and asks once more. `lost`: the answer is gone, and the agent waits.
 */
export type Verdict =
	| 'waits'
	| 'wentOn'
	| 'answered'
	| 'checking'
	| 'taken'
	| 'emptied'
	| 'unconfirmed'
	| 'askedAgain'
	| 'lost';

/** An agent that has waited this long beside an empty field has not read the answer, or asks again. */
export const LOST_AFTER_MS = 60_000;
/** One that was away since waits this long before it counts: an agent writes several fields at a time. */
const AWAY_EMPTY_MS = 10_000;
const WENT_ON_AFTER_MS = 30_000;

/** `steps` of a value where they were not counted: no read says that they grew. */
export const UNKNOWN_STEPS = Number.MAX_SAFE_INTEGER;

const ANEW = { grew: false, wasActive: false, hasLeft: false, elsewhere: false, continued: false, emptySince: null };

export const NOTHING_SEEN: Evidence = {
	waitedSeen: false,
	mostSteps: 0,
	index: null,
	arrived: null,
	...ANEW,
	activeSince: null,
	lost: null,
};

/** A value arrived beside earlier ones: our answer (`waited` of the read before its PUT), or one from elsewhere. */
export function withArrival(before: Evidence, value: NonNullable<Evidence['arrived']>): Evidence {
	const all = [...new Set([...(before.arrived?.positions ?? []), ...value.positions])].sort((a, b) => a - b);
	return {
		...before,
		...ANEW,
		activeSince: null,
		waitedSeen: before.waitedSeen || value.waited,
		// Of a number that nobody knows no read says that it fell.
		mostSteps: value.steps === UNKNOWN_STEPS ? before.mostSteps : Math.max(before.mostSteps, value.steps),
		arrived: { ...value, positions: all },
	};
}

/** After a read that began after all that `before` holds. */
export function withSighting(before: Evidence, seen: Sighting): Evidence {
	const waits = isWaiting(seen.status);
	const active = seen.status === 'active';
	const known = before.arrived?.positions ?? [];
	const isNew = seen.filled.some((position) => !known.includes(position));
	if (isNew) {
		const { answerId = null, number = null } = before.arrived ?? {};
		const value = { answerId, number, at: seen.at, positions: seen.filled, steps: seen.steps, waited: waits };
		// What the read shows beside an answer of ours says as much of that.
		const stood = withSighting(before, { ...seen, filled: seen.filled.filter((position) => known.includes(position)) });
		const activeSince = active ? seen.at : null;
		return {
			...withArrival(before, value),
			index: seen.index,
			wasActive: active,
			continued: stood.continued,
			activeSince,
		};
	}
	const since = (known: number | null) => Math.min(seen.at, Math.max(known ?? seen.at, seen.steadySince));
	const activeSince = !waits && (active || before.activeSince !== null) ? since(before.activeSince) : null;
	const { index } = seen;
	const isEmpty = seen.filled.length === 0;
	// Where our value stands at another index it is the same message: others around it are gone.
	const hasMoved = isEmpty && index !== (before.index ?? index);
	const mostSteps = Math.max(before.mostSteps, seen.steps);
	if (before.arrived === null)
		return { ...before, waitedSeen: before.waitedSeen || waits, mostSteps, index, activeSince };
	const { steps, waited } = before.arrived;
	const hasWorked = active && (seen.steps > steps || seen.at - (activeSince ?? seen.at) >= AWAY_EMPTY_MS);
	return {
		...before,
		mostSteps,
		index,
		elsewhere: before.elsewhere || (hasMoved && index >= 0 && seen.steps < mostSteps),
		activeSince,
		grew: before.grew || seen.steps > steps,
		wasActive: before.wasActive || active,
		hasLeft: before.hasLeft || hasWorked || (!waits && isEmpty),
		continued: before.continued || (waited && active) || (steps === 0 && seen.steps > 0 && !isEmpty),
		emptySince: isEmpty ? since(before.emptySince) : null,
	};
}

/** What a read means whose sighting is in the evidence. */
export function verdictOf(
	found: Evidence,
	seen: Sighting,
	ours: Pick<Known, 'isHeld' | 'perhapsAt'> = { isHeld: false, perhapsAt: null },
): Verdict {
	const waits = isWaiting(seen.status);
	if (seen.filled.length > 0) return 'answered';
	if (found.arrived === null) {
		const { activeSince } = found;
		const isLong = activeSince !== null && seen.at - activeSince >= WENT_ON_AFTER_MS;
		// It began to work soon after that PUT, so perhaps because of it.
		const isSoon = activeSince !== null && ours.perhapsAt !== null && activeSince - ours.perhapsAt < LOST_AFTER_MS;
		const wentOn = found.waitedSeen && seen.status === 'active' && seen.steps > 0;
		return wentOn && !ours.isHeld && (isLong || isSoon) ? 'wentOn' : 'waits';
	}
	if (waits) {
		const emptyMs = seen.at - (found.emptySince ?? seen.at);
		if (emptyMs < (found.hasLeft ? AWAY_EMPTY_MS : LOST_AFTER_MS)) return 'checking';
		return found.wasActive || found.elsewhere ? 'askedAgain' : 'lost';
	}
	if (!found.waitedSeen && found.elsewhere && seen.steps === 0) return 'askedAgain';
	if (found.waitedSeen && (seen.status === 'active' || found.grew)) return 'taken';
	return !found.waitedSeen && found.grew ? 'emptied' : 'unconfirmed';
}

/** One time that the agent of a watched session asked, as stored. */
export interface KnownAsking extends Pick<QuestionDigest, 'messageIndex' | 'sameBefore' | 'fingerprint' | 'shownHash'> {
	readonly id: string;
	readonly askedAt: number;
	readonly settledHow: SettledHow | null;
	/** Clock milliseconds; null: it is not settled. */
	readonly settledAt: number | null;
	/** What reads show is stored: somebody watches the session. */
	readonly isRead: boolean;
	/** Null: 1.0.0 stored the row. */
	readonly evidence: Evidence | null;
}

/** What is known of a session before a read of it. */
export interface Known {
	/** The newest time that its agent asked; null: none is stored. */
	readonly newest: KnownAsking | null;
	/** The newest time that it asked what its newest message asks now. */
	readonly same: KnownAsking | null;
	/** What our answers to that question show: for a session that nobody, or 1.0.0, watched. */
	readonly answered: Evidence;
	/** The newest of them; `shownHash` null: not known. */
	readonly newestAnswer: { readonly acceptedAt: number; readonly shownHash: string | null } | null;
	/** An answer of ours to it is live. */
	readonly isHeld: boolean;
	/** When the PUT of one that ended, and may have arrived, began; clock milliseconds. Null: none. */
	readonly perhapsAt: number | null;
}

/** What a read means for the newest question. */
export interface Judgement {
	readonly closedItems: ClosedItems;
	/** Null while the session is over, or asks nothing, and of a read that is older than what arrived. */
	readonly verdict: Verdict | null;
	/** What to store of the newest time that it asked this, if that is known. */
	readonly evidence: Evidence | null;
	/** It is stored otherwise, or not at all. */
	readonly isNews: boolean;
	/** What the newest message asks. */
	readonly of: Pick<QuestionDigest, 'fingerprint' | 'messageIndex' | 'sameBefore' | 'answered'> | null;
	/** It has a value, and was asked since what is stored of it ended, if anything is. */
	readonly isAnsweredAnew: boolean;
	/** The positions of the newest known question at which a value had arrived before this read. */
	readonly arrived: readonly number[];
	/** The question that nobody had to answer waits again. */
	readonly isReopened: boolean;
	/** The newest time that it asked, when equal messages before it are gone: its `sameBefore` is another. */
	readonly renumbered: string | null;
}

const NONE: ReadonlySet<number> = new Set();
export const NOT_JUDGED: Judgement = {
	of: null,
	isAnsweredAnew: false,
	closedItems: () => NONE,
	verdict: null,
	evidence: null,
	isNews: false,
	arrived: [],
	isReopened: false,
	renumbered: null,
};

/** A read that began before a value arrived says nothing about it. */
function isBefore(read: ReadTime, { arrived: value }: Evidence): boolean {
	if (value === null || value.answerId === null) return false;
	return value.number === null || read.arrival === null ? read.readAt < value.at : read.arrival < value.number;
}

/** When a read began, and how many of our answers had arrived in its session by then (null: not known). */
export interface ReadTime {
	readonly readAt: number;
	readonly arrival: number | null;
	/** See `Sighting`. Left out: the clock was never set. */
	readonly steadySince?: number;
}

/**
 * Whether the newest question of a session is open, and which of its items: the one rule for posts, cards, inboxes,
 * reminders, windows, new watches and forms. Its position, as `sameBefore` tells, says which one it is; its index only
 * that it is another.
 */
export function judge(
	session: Session,
	read: ReadTime,
	{ newest, same, answered, newestAnswer, ...ours }: Known,
): Judgement {
	const own = newest?.evidence ?? null;
	const arrived = own?.arrived != null && !isBefore(read, own) ? own.arrived.positions : [];
	const index = askingMessageIndex(session);
	const message = index === null ? undefined : session.messages[index];
	if (index === null || message === undefined || isOver(session.status)) return { ...NOT_JUDGED, arrived };
	const seen = sightingOf(session, index, read);
	const { fingerprint } = message;
	const of = { fingerprint, messageIndex: index, sameBefore: sameBefore(session, index), answered: seen.filled };
	const isNewest = same !== null && same.id === newest?.id;
	const renumbered = isNewest && same.sameBefore !== of.sameBefore ? same.id : null;
	const base = { ...NOT_JUDGED, arrived, of, renumbered };
	const empty = new Set([...message.humanInput.keys()].filter((position) => !seen.filled.includes(position)));
	const closing = (positions: Iterable<number>): ClosedItems => {
		const closed = new Set([...positions].filter((position) => empty.has(position)));
		return (messageIndex) => (messageIndex === index ? closed : NONE);
	};
	const waits = isWaiting(session.status);
	const anew = { ...base, verdict: 'waits', evidence: withSighting(NOTHING_SEEN, seen), isNews: true } as const;
	const over = { ...base, closedItems: closing(empty), verdict: 'unconfirmed' } as const;
	// It was settled or superseded: without a new value, only a waiting agent asks it again.
	const isClosed = same?.settledHow === 'closed' || same?.settledHow === 'changed';
	const isPast = same !== null && (!isNewest || isClosed);
	// The message of the newest known has no items any more, and an older one, with more steps after it, comes back.
	const isLower = same === null && newest !== null && index < newest.messageIndex;
	const isBehind =
		isLower && newest.messageIndex < session.messages.length && seen.steps > (newest.evidence?.mostSteps ?? 0);
	// It was asked again after the row was settled, perhaps while nobody watched, and answered.
	const isRenewed = isClosed && newestAnswer !== null && newestAnswer.acceptedAt > (same.settledAt ?? seen.at);
	const isGone = (isPast && !isRenewed) || isBehind;
	// No message gets a higher index when others are removed: with nothing after it, it is asked again, in another one.
	const isAnother = isPast && seen.steps === 0 && index > same.messageIndex;
	const isOther = isReworded(same?.shownHash ?? newestAnswer?.shownHash ?? null, message.shownHash);
	// While the status may still be that before its newest answer was taken, nobody can tell.
	const sinceNewest = Math.abs(seen.at - (own?.arrived?.at ?? Number.NEGATIVE_INFINITY));
	const isLagging = !isNewest && !isOther && sinceNewest < LOST_AFTER_MS;
	if (isGone && seen.filled.length === 0) return (waits && !isLagging) || isAnother ? anew : over;
	const isAnsweredAnew = (isPast || same === null) && seen.filled.length > 0;
	// Where nobody watches, checks after the delivery have read it since.
	const isUnread = same?.isRead === false && same.evidence?.emptySince === null && answered.emptySince !== null;
	const isUnknown = isRenewed && same.evidence?.arrived?.answerId !== answered.arrived?.answerId;
	const kept = isUnread || isUnknown ? answered : (same?.evidence ?? answered);
	const isAnswered = same?.settledHow === 'answered' || same?.settledHow === 'renewed';
	// 1.0.0, and who watched late, saw or stored no more of its value.
	const isUnseen = isAnswered && kept.arrived === null;
	const unseen = { answerId: null, number: null, at: seen.at, positions: [...empty], steps: seen.steps, waited: false };
	const before = isPast && !isRenewed ? NOTHING_SEEN : isUnseen ? withArrival(kept, unseen) : kept;
	if (isBefore(read, before)) {
		const closedItems = same?.settledHow === null ? NOT_JUDGED.closedItems : over.closedItems;
		return { ...over, verdict: null, closedItems, evidence: before };
	}
	const evidence = withSighting(before, seen);
	const shown = verdictOf(evidence, seen, ours);
	// Where nobody watches, no later read tells a person at a form what checks after the delivery have shown.
	const isAgain = shown === 'checking' && same?.isRead !== true && evidence.continued;
	const verdict = isAgain ? 'askedAgain' : shown;
	const positions = evidence.arrived?.positions ?? [];
	const isNews = same?.messageIndex !== index || JSON.stringify(evidence) !== JSON.stringify(same.evidence);
	const found = { ...base, arrived: isNewest ? positions : arrived, verdict, evidence, isNews, isAnsweredAnew };
	switch (verdict) {
		case 'waits': {
			const isReopened = same?.settledHow === 'wentOn' && waits && !ours.isHeld;
			if (same?.settledHow === 'wentOn' && !isReopened)
				return { ...found, verdict: 'wentOn', closedItems: closing(empty) };
			return { ...found, isReopened };
		}
		case 'answered':
		case 'checking':
			return { ...found, closedItems: closing(positions), isReopened: same?.settledHow === 'wentOn' };
		case 'askedAgain':
		case 'lost': {
			// An agent that went on, or asks in another message, did not lose it.
			const lost =
				isOther || evidence.elsewhere || (verdict === 'askedAgain' && evidence.continued)
					? null
					: (evidence.arrived?.answerId ?? '');
			return { ...found, evidence: { ...anew.evidence, lost }, isNews: true };
		}
		default:
			return { ...found, closedItems: closing(empty) };
	}
}

/** `index` -1: the message is gone, and only the status shows something. */
export function sightingOf(session: Session, index: number, read: Omit<ReadTime, 'arrival'>) {
	return {
		/** When the read began, clock milliseconds. */
		at: read.readAt,
		/** As `steadySince` of `core/basics.ts`. */
		steadySince: read.steadySince ?? Number.NEGATIVE_INFINITY,
		status: session.status,
		/** The agent's messages after the one that asks. */
		steps: index === -1 ? 0 : stepsSince(session, index),
		index,
		filled: filledAt(session, index),
	};
}
