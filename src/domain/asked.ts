import { z } from 'zod';
import { isWaiting, positions, type Session, stepsSince } from './session.ts';

const arrived = z
	.object({
		/** Our answer; null: a read showed a value from outside Handraise. */
		answerId: z.string().nullable(),
		/** `arrival` of `TimelineEntry`; null: not known. Reads that began before this arrival do not count. */
		number: z.int().nullable(),
		/** Clock milliseconds: when the service had our answer, or when the read began that showed another value. */
		at: z.number(),
		/** `stepsSince` at that time; null: not known, so no message can show that the agent continued. */
		steps: z.int().nullable(),
		/** The outcome of our PUT is unknown, and the answer is not sent again. */
		isPerhaps: z.boolean(),
		/** The positions that our answer filled. */
		filled: positions,
	})
	.readonly();
export type Arrived = z.infer<typeof arrived>;

export const evidence = z
	.object({
		/** `stepsSince` in the newest read with the status `humanInput` before a value arrived; null: no such read. */
		waitedSteps: z.int().nullable(),
		/** Positions that had a value in any read. */
		filled: positions,
		/** Positions that our answer left empty on purpose. They count as answered. */
		leftEmpty: positions,
		/** The value that arrived since the agent asked; null: none. */
		value: arrived.nullable(),
		/** A read showed an empty field that had a value before. */
		emptied: z.boolean(),
		/** A read showed another status than `humanInput`. */
		awaySeen: z.boolean(),
		/** The agent has written a message since the value arrived. */
		continued: z.boolean(),
		/** Since when every read shows `humanInput` and an empty field; clock ms. Null: the newest read does not. */
		emptySince: z.number().nullable(),
		/** Without a value: since when every read shows `active` and a newer message of the agent; clock ms. */
		activeSince: z.number().nullable(),
		/** If asked again, until a value arrives: the id of our answer that was in the field; `''`: not ours. */
		lost: z.string().nullable(),
	})
	.readonly();
/** What reads have shown of one occurrence of a question, without texts. It is stored in the question's row. */
export type Evidence = z.infer<typeof evidence>;

/** If the agent waits this long beside a field that became empty, it asks again. */
export const EMPTY_MS = 60_000;
/** `EMPTY_MS` when a read has shown another status than `humanInput` since the value arrived. */
const AWAY_EMPTY_MS = 10_000;
/** If the agent works this long without an answer, it continued without one. */
const WENT_ON_MS = 30_000;

/** The fields of `Evidence` that an arriving value resets. */
const NEW = { emptied: false, awaySeen: false, continued: false, emptySince: null, activeSince: null } as const;

export const NOTHING_SEEN: Evidence = { waitedSteps: null, filled: [], leftEmpty: [], value: null, ...NEW, lost: null };

/** When a read began. `arrival`: how many of our answers had arrived in its session by then; null: not known. */
export interface ReadTime {
	readonly readAt: number;
	readonly arrival: number | null;
	/** `steadySince` of `kernel/clock.ts`. Absent: the clock was never set. */
	readonly steadySince?: number;
}

/** What one read shows of one question. */
export type Sighting = Readonly<ReturnType<typeof sightingOf>>;

/** `index`: of the asking message. `isThere`: false when that message asks something else by now. */
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

/** Whether a read began before this value arrived. Such a read says nothing about it. */
export function isBefore(read: ReadTime, value: Pick<Arrived, 'answerId' | 'number' | 'at'> | null): boolean {
	if (value === null || value.answerId === null) return false;
	return value.number === null || read.arrival === null ? read.readAt < value.at : read.arrival < value.number;
}

/** The evidence after our answer arrived or may have. `known`: positions filled before it, or left empty by it. */
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

/** The evidence after a read. The read began after everything in `before`. */
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

/** Whether a read shows an empty field that had a value before. */
const isEmptied = ({ filled }: Evidence, { empty }: Sighting) => empty.some((position) => filled.includes(position));

/** The empty positions that the agent asks again if it keeps waiting. */
function emptyAgain({ filled, leftEmpty }: Evidence, seen: Sighting): number[] {
	return seen.empty.filter((position) => filled.includes(position) || !leftEmpty.includes(position));
}

/**
 * The state of the newest question of a session that is not over; see "Asked, answered, continued" in
 * docs/reliability.md. `asks`: somebody has to answer. `perhaps`: our answer may have arrived. `wentOn`: the agent
 * continued without an answer.
 */
export type Verdict = 'perhaps' | 'askedAgain' | 'continued' | 'answered' | 'wentOn' | 'asks';

/**
 * What a read means. The first rule that applies decides. `found`: the evidence with `seen` in it. `isHeld`: one of our
 * answers to this question is live.
 */
export function verdictOf(found: Evidence, seen: Sighting, isHeld: boolean): Verdict {
	const { value, emptySince, activeSince } = found;
	// An agent that has not worked since cannot have read an answer of unknown outcome.
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

/** The first evidence of a new occurrence: the agent asks again in the same message after `former`. */
export function askedAgain(former: Evidence, seen: Sighting): Evidence {
	const { value } = former;
	const again = emptyAgain(former, seen);
	const leftEmpty = former.leftEmpty.filter((position) => !again.includes(position));
	// An answer of unknown outcome may never have been in the field, so it cannot be lost.
	const stood = value === null || value.isPerhaps ? [] : value.answerId === null ? former.filled : value.filled;
	const lost = seen.empty.some((position) => stood.includes(position)) ? (value?.answerId ?? '') : null;
	return withSighting({ ...NOTHING_SEEN, filled: seen.filled, leftEmpty, lost }, seen);
}

function union(one: readonly number[], other: readonly number[]): number[] {
	return [...new Set([...one, ...other])].sort((a, b) => a - b);
}
