import {
	askedAgain,
	EMPTY_MS,
	type Evidence,
	isBefore,
	NOTHING_SEEN,
	type ReadTime,
	sightingOf,
	type Verdict,
	verdictOf,
	withSighting,
} from './asked.ts';
import {
	askingMessageIndex,
	type ClosedItems,
	isOver,
	isWaiting,
	type QuestionDigest,
	type Session,
} from './session.ts';
import { digestOfQuestionAt } from './session-snapshot.ts';

/** How one time of asking ended. `changed`: the message asks something else. `renewed`: asked again while open. */
export type SettledHow = 'answered' | 'closed' | 'changed' | 'renewed' | 'unwatched' | 'wentOn';

/** One time that the agent of a session asked, as stored. */
export interface KnownQuestion extends Pick<QuestionDigest, 'messageIndex' | 'fingerprint' | 'shownHash'> {
	readonly id: string;
	readonly askedAt: number;
	readonly settledHow: SettledHow | null;
	readonly evidence: Evidence;
}

/** What is stored of a session before a read of it. */
export interface Known {
	/** The newest time that its agent asked; null: none is stored. */
	readonly newest: KnownQuestion | null;
	/** The newest times that it asked what its newest message asks, the newest first. */
	readonly equal: readonly KnownQuestion[];
	/** Those of them to which an answer of ours is live. */
	readonly heldIds: readonly string[];
	/** Else only what our answers are to is stored. */
	readonly isWatched: boolean;
}

/** What a read changes of a session's questions: each time its agent asks is one row; at most one is open. */
export type OccurrenceChange =
	/** The agent asks; `settled`: or asked, and nobody has to be told. */
	| {
			readonly kind: 'asked';
			readonly question: QuestionDigest;
			readonly settled: SettledHow | null;
			readonly evidence: Evidence;
	  }
	/** A settled one waits again; or an open one changed its text, place or values. */
	| { readonly kind: 'reopened' | 'updated'; readonly id: string; readonly question: QuestionDigest }
	/** `at`: the index of the message in which this read shows the values of an answer; null: in none. */
	| { readonly kind: 'settled'; readonly id: string; readonly how: SettledHow; readonly at: number | null }
	/** What reads show of one is otherwise than stored, or it stands at another index. */
	| { readonly kind: 'seen'; readonly id: string; readonly evidence: Evidence; readonly messageIndex: number };

/** What a read means for the newest question of a session. */
export interface Occurrences {
	/** What to write, in this order. */
	readonly changes: readonly OccurrenceChange[];
	/** Null where nothing is asked, and of a read that is older than what arrived. */
	readonly verdict: Verdict | null;
	/** What is known of the newest question after this read; null where nothing is asked. */
	readonly evidence: Evidence | null;
	/** The empty positions that are not open. */
	readonly closedItems: ClosedItems;
	/** It is a read that began before what is stored arrived: it changes nothing. */
	readonly isOld?: true;
}

const NONE: ReadonlySet<number> = new Set();
export const NO_OCCURRENCES: Occurrences = { changes: [], verdict: null, evidence: null, closedItems: () => NONE };

/**
 * What a read changes of the stored questions of its session, and which items of the newest one are open: the one rule
 * for posts, cards, inboxes, reminders, windows and new watches. A message asks what is stored if it has the
 * fingerprint of that, and the former index does not hold that fingerprint any more.
 */
export function occurrencesIn(session: Session, read: ReadTime, known: Known): Occurrences {
	const index = askingMessageIndex(session);
	const isAsked = index !== null && !isOver(session.status);
	const same = isAsked ? sameOf(session, index, known) : null;
	const { newest } = known;
	if ([newest, same].some((one) => one !== null && isBefore(read, one.evidence.value))) {
		// What was settled since stays closed.
		const isShut = same !== null && same.settledHow !== null && index !== null;
		const empty = isShut ? sightingOf(session, index, read).empty : [];
		return { ...NO_OCCURRENCES, closedItems: closing(index, empty), isOld: true };
	}
	const at = { read, index: isAsked ? index : null };
	const left = newest !== null && same?.id !== newest.id ? leave(newest, session, at) : [];
	if (!isAsked) return { ...NO_OCCURRENCES, changes: left };
	const found = whatIsAsked(session, { read, index }, { ...known, same });
	return { ...found, changes: [...left, ...found.changes] };
}

function closing(index: number | null, closed: readonly number[]): ClosedItems {
	const positions = new Set(closed);
	return (at) => (at === index ? positions : NONE);
}

interface At {
	readonly read: ReadTime;
	/** Of the newest message that asks; null: none does, or the session is over. */
	readonly index: number | null;
}

type Asked = At & { readonly index: number };

/** The stored question that the message at `index` asks; null: it is another one. */
function sameOf(session: Session, index: number, { equal }: Known): KnownQuestion | null {
	const [newest = null] = equal;
	if (newest !== null && !holds(session, newest)) return newest;
	return equal.find(({ messageIndex }) => messageIndex === index) ?? null;
}

const holds = ({ messages }: Session, { messageIndex, fingerprint }: KnownQuestion) =>
	messages[messageIndex]?.fingerprint === fingerprint;

/** What a read shows of the newest known question when another one, or none, is asked. */
function leave(newest: KnownQuestion, session: Session, { read, index }: At): OccurrenceChange[] {
	const { id, messageIndex, settledHow } = newest;
	const isThere = holds(session, newest);
	const seen = sightingOf(session, messageIndex, read, isThere);
	const found = withSighting(newest.evidence, seen);
	const hasValue = found.value !== null && !found.value.isPerhaps;
	/** -1: no message asks. */
	const asking = index ?? -1;
	// A new question is a message of the agent, also in place of this one.
	const continued = found.continued || (hasValue && asking >= messageIndex);
	// If the agent waits, then for another one.
	const evidence = { ...found, continued, emptySince: null };
	const changes = seenAt(newest, evidence, messageIndex);
	const isOpen = settledHow === null || settledHow === 'unwatched' || settledHow === 'wentOn';
	if (!isOpen) return changes;
	const isRenewed = settledHow === null && holds(session, { ...newest, messageIndex: asking });
	const otherwise = isRenewed ? 'renewed' : asking === messageIndex ? 'changed' : 'closed';
	const at = hasValue && seen.filled.length > 0 ? messageIndex : null;
	return [...changes, { kind: 'settled', id, how: hasValue ? 'answered' : otherwise, at }];
}

function whatIsAsked(
	session: Session,
	{ read, index }: Asked,
	{ same, newest, heldIds, isWatched }: Known & { readonly same: KnownQuestion | null },
): Occurrences {
	const seen = sightingOf(session, index, read);
	const found = withSighting(same?.evidence ?? NOTHING_SEEN, seen);
	const verdict = verdictOf(found, seen, same !== null && heldIds.includes(same.id));
	const waits = isWaiting(session.status);
	const noted = same === null ? [] : seenAt(same, found, index);
	const settledHow = same?.settledHow ?? null;
	// When the messages after it are gone, the agent may still wait for what they asked.
	const isNewest = same?.id === newest?.id;
	const isBehind = index < (newest?.messageIndex ?? 0) && !isNewest;
	const waitsFrom = found.emptySince === null ? Number.POSITIVE_INFINITY : found.emptySince + (isBehind ? EMPTY_MS : 0);
	// What was closed, or came before another one, comes back only while the agent waits for it.
	const isPast = same !== null && (!isNewest || settledHow === 'closed' || settledHow === 'changed');

	function outcome(closed: readonly number[], changeOf?: (question: QuestionDigest) => OccurrenceChange): Occurrences {
		const closedItems = closing(index, closed);
		const question = changeOf && digestOfQuestionAt(session, index, closedItems);
		const changes = question ? [...noted, changeOf(question)] : noted;
		return { changes, verdict, evidence: found, closedItems };
	}

	function asked(evidence: Evidence): Occurrences {
		const settled = isWatched ? null : 'unwatched';
		const another = outcome(evidence.leftEmpty, (question) => ({ kind: 'asked', question, settled, evidence }));
		return { ...another, verdict: 'asks', evidence };
	}

	function settled(how: 'answered' | 'wentOn'): Occurrences {
		const at = how === 'answered' && seen.filled.length > 0 ? index : null;
		if (same === null && isWatched)
			return outcome(seen.empty, (question) => ({ kind: 'asked', question, settled: how, evidence: found }));
		const isOpen = settledHow === null || (settledHow === 'unwatched' && isWatched);
		const isNews = !isPast && (isOpen || (how === 'answered' && settledHow === 'wentOn'));
		return same === null || !isNews
			? outcome(seen.empty)
			: outcome(seen.empty, () => ({ kind: 'settled', id: same.id, how, at }));
	}

	switch (verdict) {
		case 'askedAgain': {
			const again = asked(askedAgain(found, seen));
			const isOpen = same !== null && settledHow === null;
			const ended = isOpen ? ([{ kind: 'settled', id: same.id, how: 'answered', at: null }] as const) : [];
			return { ...again, changes: [...ended, ...again.changes] };
		}
		case 'answered':
		case 'continued':
			return settled('answered');
		case 'perhaps':
		case 'wentOn':
			return settled('wentOn');
		case 'asks': {
			const { leftEmpty } = found;
			if (same === null) return isWatched ? asked(found) : outcome(leftEmpty);
			if (isPast) return seen.at >= waitsFrom ? asked(askedAgain(found, seen)) : outcome(seen.empty);
			if (settledHow === 'wentOn' && !waits) return outcome(seen.empty);
			if (settledHow !== null)
				return isWatched
					? outcome(leftEmpty, (question) => ({ kind: 'reopened', id: same.id, question }))
					: outcome(leftEmpty);
			const isSame = same.shownHash === session.messages[index]?.shownHash && noted.length === 0;
			return isSame
				? outcome(leftEmpty)
				: outcome(leftEmpty, (question) => ({ kind: 'updated', id: same.id, question }));
		}
	}
}

function seenAt(known: KnownQuestion, evidence: Evidence, messageIndex: number): OccurrenceChange[] {
	const isKnown = known.messageIndex === messageIndex && JSON.stringify(known.evidence) === JSON.stringify(evidence);
	return isKnown ? [] : [{ kind: 'seen', id: known.id, evidence, messageIndex }];
}

/** Whether the agent waits beside a value that is not in the field: perhaps it asks again. */
export const isChecking = ({ evidence }: Pick<Occurrences, 'evidence'>) =>
	evidence !== null && evidence.value !== null && evidence.emptySince !== null;
