import { z } from 'zod';
import { isWaiting, positions, type Session, stepsSince } from './session.ts';

const arrived = z
	.object({
		/** Our answer; null: a read showed a value from elsewhere. */
		answerId: z.string().nullable(),
		/** Which arrival of its session, see `TimelineEntry`; null: not known. Reads that began before it do not count. */
		number: z.int().nullable(),
		/** When the service had it, or the read began that showed it; clock milliseconds. */
		at: z.number(),
		/** `stepsSince` then; null: not known, so no message says that the agent continued. */
		steps: z.int().nullable(),
		/** The outcome of our PUT is not known, and the answer is not sent again. */
		isPerhaps: z.boolean(),
		/** The positions that our answer filled. */
		filled: positions,
	})
	.readonly();
export type Arrived = z.infer<typeof arrived>;

export const evidence = z
	.object({
		/** `stepsSince` in the newest read with the status `humanInput` before a value arrived; null: none showed that. */
		waitedSteps: z.int().nullable(),
		/** The positions that had a value. */
		filled: positions,
		/** The positions that an answer of ours left empty on purpose: they count as answered. */
		leftEmpty: positions,
		/** The value that arrived since the agent asks; null: none. */
		value: arrived.nullable(),
		/** A read showed a field empty that had a value. */
		emptied: z.boolean(),
		/** A read showed another status than `humanInput`. */
		awaySeen: z.boolean(),
		/** The agent has written a message. */
		continued: z.boolean(),
		/** Since when all reads show `humanInput` beside an empty field; clock milliseconds. Null: the newest does not. */
		emptySince: z.number().nullable(),
		/** Without a value: since when all reads show that the agent works, with a message that is newer than its wait. */
		activeSince: z.number().nullable(),
		/** Of what is asked again, until a value arrives: our answer that the field had; `''`: it was not ours. */
		lost: z.string().nullable(),
	})
	.readonly();
/** What reads show of one time that an agent asks, no texts. Stored in its row. */
export type Evidence = z.infer<typeof evidence>;

/** The agent waits this long beside an empty field: then it asks again. */
export const EMPTY_MS = 60_000;
/** The same where a read has shown another status since the value arrived. */
const AWAY_EMPTY_MS = 10_000;
const WENT_ON_MS = 30_000;

/** What begins anew when a value arrives. */
const NEW = { emptied: false, awaySeen: false, continued: false, emptySince: null, activeSince: null } as const;

export const NOTHING_SEEN: Evidence = { waitedSteps: null, filled: [], leftEmpty: [], value: null, ...NEW, lost: null };

/** When a read began, and how many of our answers had arrived in its session by then (null: not known). */
export interface ReadTime {
	readonly readAt: number;
	readonly arrival: number | null;
	/** As `steadySince` of `kernel/clock.ts`. Left out: the clock was never set. */
	readonly steadySince?: number;
}

/** What one read shows of a question. */
export type Sighting = Readonly<ReturnType<typeof sightingOf>>;

/** `index`: where it is asked. Where that message asks something else by now, `isThere` is false. */
export function sightingOf(session: Session, index: number, { readAt, steadySince }: ReadTime, isThere = true) {
	const items = isThere ? (session.messages[index]?.humanInput ?? []) : [];
	const isEmpty = (position: number) => items[position]?.value === '';
	return {
		/** When the read began, clock milliseconds. */
		at: readAt,
		steadySince: steadySince ?? Number.NEGATIVE_INFINITY,
		status: session.status,
		/** The agent's messages after the one that asks. */
		steps: stepsSince(session, index),
		/** Positions with a value, and without. */
		filled: [...items.keys()].filter((position) => !isEmpty(position)),
		empty: [...items.keys()].filter(isEmpty),
	};
}

/** A read that began before something was stored changes nothing of it. */
export function isBefore(read: ReadTime, value: Pick<Arrived, 'answerId' | 'number' | 'at'> | null): boolean {
	if (value === null || value.answerId === null) return false;
	return value.number === null || read.arrival === null ? read.readAt < value.at : read.arrival < value.number;
}

/** Our answer arrived, or may have. `known`: what had a value before it, and what it left empty on purpose. */
export function withArrival(before: Evidence, value: Arrived, known: Pick<Evidence, 'filled' | 'leftEmpty'>): Evidence {
	return {
		...before,
		...NEW,
		value,
		filled: value.isPerhaps ? before.filled : union(before.filled, [...value.filled, ...known.filled]),
		leftEmpty: union(before.leftEmpty, known.leftEmpty),
		lost: null,
	};
}

/** The evidence after a read that began after all that `before` holds. */
export function withSighting(before: Evidence, seen: Sighting): Evidence {
	const waits = isWaiting(seen.status);
	const since = (known: number | null) => Math.min(seen.at, Math.max(known ?? seen.at, seen.steadySince));
	const filled = union(before.filled, seen.filled);
	const isNew = filled.length > before.filled.length && (before.value === null || before.value.isPerhaps);
	const elsewhere = { answerId: null, number: null, at: seen.at, steps: seen.steps, isPerhaps: false, filled: [] };
	const known = isNew ? withArrival(before, elsewhere, { filled, leftEmpty: [] }) : { ...before, filled };
	const emptySince = waits && emptyAgain(known, seen).length > 0 ? since(known.emptySince) : null;
	if (known.value === null) {
		const isActive = seen.status === 'active' && before.waitedSteps !== null && seen.steps > before.waitedSteps;
		const waitedSteps = waits ? seen.steps : before.waitedSteps;
		return { ...known, waitedSteps, emptySince, activeSince: isActive ? since(before.activeSince) : null };
	}
	return {
		...known,
		emptySince,
		emptied: known.emptied || isEmptied(known, seen),
		awaySeen: known.awaySeen || !waits,
		continued: known.continued || (!waits && known.value.steps !== null && seen.steps > known.value.steps),
	};
}

/** Whether a read shows a field empty that had a value. */
const isEmptied = ({ filled }: Evidence, { empty }: Sighting) => empty.some((position) => filled.includes(position));

/** The empty positions that are asked again if the agent goes on waiting. */
function emptyAgain({ filled, leftEmpty }: Evidence, seen: Sighting): number[] {
	return seen.empty.filter((position) => filled.includes(position) || !leftEmpty.includes(position));
}

/**
 * What is known of one time that an agent asks, while its message is the newest that asks and the session is not over;
 * see "Asked, answered, continued" in docs/reliability.md. `perhaps`: nobody knows whether our answer arrived.
 * `wentOn`: the agent works on without an answer. `asks`: somebody has to answer.
 */
export type Verdict = 'perhaps' | 'askedAgain' | 'continued' | 'answered' | 'wentOn' | 'asks';

/** What a read means whose sighting is in the evidence; the first rule that applies. `isHeld`: an answer is live. */
export function verdictOf(found: Evidence, seen: Sighting, isHeld: boolean): Verdict {
	const { value, emptySince, activeSince } = found;
	// Only an agent that has worked since may have read an answer of unknown outcome.
	const hasWorked = found.continued || (found.awaySeen && found.waitedSteps !== null);
	if (value === null || (value.isPerhaps && !hasWorked)) {
		const isLong = activeSince !== null && seen.at - activeSince >= WENT_ON_MS;
		return isLong && !isHeld ? 'wentOn' : 'asks';
	}
	const longMs = found.awaySeen && isEmptied(found, seen) && !value.isPerhaps ? AWAY_EMPTY_MS : EMPTY_MS;
	const isAgain = emptySince !== null && seen.at - emptySince >= longMs;
	if (isAgain && !isHeld) return 'askedAgain';
	if (value.isPerhaps) return 'perhaps';
	return found.continued ? 'continued' : 'answered';
}

/** The evidence of the time that begins when the agent asks again after `former`, in the same message. */
export function askedAgain(former: Evidence, seen: Sighting): Evidence {
	const { value } = former;
	const again = emptyAgain(former, seen);
	const leftEmpty = former.leftEmpty.filter((position) => !again.includes(position));
	// Of one that may have arrived nobody can say that it stood there.
	const stood = value === null || value.isPerhaps ? [] : value.answerId === null ? former.filled : value.filled;
	const lost = seen.empty.some((position) => stood.includes(position)) ? (value?.answerId ?? '') : null;
	return withSighting({ ...NOTHING_SEEN, filled: seen.filled, leftEmpty, lost }, seen);
}

function union(one: readonly number[], other: readonly number[]): number[] {
	return [...new Set([...one, ...other])].sort((a, b) => a - b);
}
