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
import { digestOfQuestionAt } from './session-digest.ts';

/** How an occurrence ended. `changed`: the message asks something else. `renewed`: it was asked again while open. */
export type SettledHow = 'answered' | 'closed' | 'changed' | 'renewed' | 'unwatched' | 'wentOn';

/** One time that the agent asked, as stored. */
export interface StoredOccurrence extends Pick<QuestionDigest, 'messageIndex' | 'fingerprint' | 'shownHash'> {
	readonly id: string;
	readonly askedAt: number;
	readonly settledHow: SettledHow | null;
	readonly evidence: Evidence;
}

/** What is stored of a session's questions before a read of it. */
export interface StoredOccurrences {
	/** The newest occurrence; null: none is stored. */
	readonly newest: StoredOccurrence | null;
	/** The newest occurrences of what the newest asking message asks, the newest first. */
	readonly equal: readonly StoredOccurrence[];
	/** The ids of those in `equal` that have a live answer of ours. */
	readonly heldIds: readonly string[];
	/** A channel watches the session. Without a watch, only occurrences with an answer of ours are stored. */
	readonly isWatched: boolean;
}

/** A change of a session's stored questions. Each occurrence is one row; at most one is open. */
export type OccurrenceChange =
	/** A new occurrence. `settled`: how it has ended already, so nobody is asked; null: it is open. */
	| {
			readonly kind: 'asked';
			readonly question: QuestionDigest;
			readonly settled: SettledHow | null;
			readonly evidence: Evidence;
	  }
	/** `reopened`: a settled occurrence waits again. `updated`: an open one changed its text, place or values. */
	| { readonly kind: 'reopened' | 'updated'; readonly id: string; readonly question: QuestionDigest }
	/** `at`: the index of the message in which this read shows an answer's values; null: in none. */
	| { readonly kind: 'settled'; readonly id: string; readonly how: SettledHow; readonly at: number | null }
	/** The evidence of an occurrence, or the index of its message, differs from what is stored. */
	| { readonly kind: 'seen'; readonly id: string; readonly evidence: Evidence; readonly messageIndex: number };

/** What a read means for the newest question of a session. */
export interface Occurrences {
	/** To be written in this order. */
	readonly changes: readonly OccurrenceChange[];
	/** Null when nothing is asked, or the read is older than what arrived. */
	readonly verdict: Verdict | null;
	/** The evidence of the newest question after this read; null when nothing is asked. */
	readonly evidence: Evidence | null;
	/** The positions that are not open although empty. */
	readonly closedItems: ClosedItems;
	/** The read began before a stored value arrived, so it changes nothing. */
	readonly isOld?: true;
}

const NONE: ReadonlySet<number> = new Set();
export const NO_OCCURRENCES: Occurrences = { changes: [], verdict: null, evidence: null, closedItems: () => NONE };

/**
 * The rule that says what a read changes of a session's stored questions, and which items of the newest one are open.
 * Posts, cards, inboxes, reminders, windows and new watches all use it. A message asks a stored question if the
 * fingerprints are equal and the stored index holds that fingerprint no more (or is the message's own).
 */
export function occurrencesIn(session: Session, read: ReadTime, known: StoredOccurrences): Occurrences {
	const index = askingMessageIndex(session);
	const isAsked = index !== null && !isOver(session.status);
	const same = isAsked ? sameOf(session, index, known) : null;
	const { newest } = known;
	if ([newest, same].some((one) => one !== null && isBefore(read, one.evidence.value))) {
		// A question that was settled meanwhile stays closed.
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
	/** The index of the newest message that asks; null: none asks, or the session is over. */
	readonly index: number | null;
}

type Asked = At & { readonly index: number };

/** The stored occurrence that the message at `index` shows; null: it is a new one. */
function sameOf(session: Session, index: number, { equal }: StoredOccurrences): StoredOccurrence | null {
	const [newest = null] = equal;
	if (newest !== null && !holds(session, newest)) return newest;
	return equal.find(({ messageIndex }) => messageIndex === index) ?? null;
}

const holds = ({ messages }: Session, { messageIndex, fingerprint }: StoredOccurrence) =>
	messages[messageIndex]?.fingerprint === fingerprint;

/** The changes of the newest stored occurrence when the agent asks something else, or nothing. */
function leave(newest: StoredOccurrence, session: Session, { read, index }: At): OccurrenceChange[] {
	const { id, messageIndex, settledHow } = newest;
	const isThere = holds(session, newest);
	const seen = sightingOf(session, messageIndex, read, isThere);
	const found = withSighting(newest.evidence, seen);
	const hasValue = found.value !== null && !found.value.isPerhaps;
	/** -1: no message asks. */
	const asking = index ?? -1;
	// A new question counts as a message of the agent, even if it replaces this one.
	const continued = found.continued || (hasValue && asking >= messageIndex);
	// If the agent waits, it waits for the other question.
	const evidence = { ...found, continued, emptySince: null };
	const changes = seenAt(newest, evidence, messageIndex);
	const isOpen = settledHow === null || settledHow === 'unwatched' || settledHow === 'wentOn';
	if (!isOpen) return changes;
	const isRenewed = settledHow === null && holds(session, { ...newest, messageIndex: asking });
	const otherwise = isRenewed ? 'renewed' : asking === messageIndex ? 'changed' : 'closed';
	const at = hasValue && seen.filled.length > 0 ? messageIndex : null;
	return [...changes, { kind: 'settled', id, how: hasValue ? 'answered' : otherwise, at }];
}

/**
 * How the stored occurrence of what is asked stands before the read. `new`: none is stored. `past`: it was closed or is
 * not the newest, so it comes back only while the agent waits for it. Else it is `open`, or settled in this way.
 */
function situationOf({ same, newest }: Pick<StoredOccurrences, 'newest'> & { readonly same: StoredOccurrence | null }) {
	if (same === null) return 'new';
	const { settledHow } = same;
	if (same.id !== newest?.id || settledHow === 'closed' || settledHow === 'changed') return 'past';
	return settledHow ?? 'open';
}

function whatIsAsked(
	session: Session,
	{ read, index }: Asked,
	{ same, newest, heldIds, isWatched }: StoredOccurrences & { readonly same: StoredOccurrence | null },
): Occurrences {
	const seen = sightingOf(session, index, read);
	const found = withSighting(same?.evidence ?? NOTHING_SEEN, seen);
	const verdict = verdictOf(found, seen, same !== null && heldIds.includes(same.id));
	const noted = same === null ? [] : seenAt(same, found, index);
	const situation = situationOf({ same, newest });
	const id = same?.id ?? '';

	function outcome(closed: readonly number[], changeOf?: (question: QuestionDigest) => OccurrenceChange): Occurrences {
		const closedItems = closing(index, closed);
		const question = changeOf && digestOfQuestionAt(session, index, closedItems);
		const changes = question ? [...noted, changeOf(question)] : noted;
		return { changes, verdict, evidence: found, closedItems };
	}

	/** A new occurrence. */
	function asked(evidence: Evidence): Occurrences {
		const settled = isWatched ? null : 'unwatched';
		const another = outcome(evidence.leftEmpty, (question) => ({ kind: 'asked', question, settled, evidence }));
		return { ...another, verdict: 'asks', evidence };
	}

	function settled(how: 'answered' | 'wentOn'): Occurrences {
		if (situation === 'new' && isWatched)
			return outcome(seen.empty, (question) => ({ kind: 'asked', question, settled: how, evidence: found }));
		const at = how === 'answered' && seen.filled.length > 0 ? index : null;
		const isNews =
			situation === 'open' ||
			(situation === 'unwatched' && isWatched) ||
			(situation === 'wentOn' && how === 'answered');
		return isNews ? outcome(seen.empty, () => ({ kind: 'settled', id, how, at })) : outcome(seen.empty);
	}

	/** Whether the agent waits for an occurrence that is past. */
	function waitsForPast(): boolean {
		if (found.emptySince === null) return false;
		// A newer question may have vanished from the history while the agent still waits for it.
		const isBehind = same?.id !== newest?.id && index < (newest?.messageIndex ?? 0);
		return seen.at >= found.emptySince + (isBehind ? EMPTY_MS : 0);
	}

	function asks(): Occurrences {
		const { leftEmpty } = found;
		switch (situation) {
			case 'new':
				return isWatched ? asked(found) : outcome(leftEmpty);
			case 'past':
				return waitsForPast() ? asked(askedAgain(found, seen)) : outcome(seen.empty);
			case 'open': {
				const isSame = same?.shownHash === session.messages[index]?.shownHash && noted.length === 0;
				return isSame ? outcome(leftEmpty) : outcome(leftEmpty, (question) => ({ kind: 'updated', id, question }));
			}
			case 'wentOn':
				if (!isWaiting(session.status)) return outcome(seen.empty);
		}
		return isWatched ? outcome(leftEmpty, (question) => ({ kind: 'reopened', id, question })) : outcome(leftEmpty);
	}

	switch (verdict) {
		case 'askedAgain': {
			const again = asked(askedAgain(found, seen));
			const ended = same?.settledHow === null ? ([{ kind: 'settled', id, how: 'answered', at: null }] as const) : [];
			return { ...again, changes: [...ended, ...again.changes] };
		}
		case 'answered':
		case 'continued':
			return settled('answered');
		case 'perhaps':
		case 'wentOn':
			return settled('wentOn');
		case 'asks':
			return asks();
	}
}

function seenAt(known: StoredOccurrence, evidence: Evidence, messageIndex: number): OccurrenceChange[] {
	const isKnown = known.messageIndex === messageIndex && JSON.stringify(known.evidence) === JSON.stringify(evidence);
	return isKnown ? [] : [{ kind: 'seen', id: known.id, evidence, messageIndex }];
}

/** Whether the agent waits beside a field that lost its value, so it may be asking again. */
export const isChecking = ({ evidence }: Pick<Occurrences, 'evidence'>) =>
	evidence !== null && evidence.value !== null && evidence.emptySince !== null;
