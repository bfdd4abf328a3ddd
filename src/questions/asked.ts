import { z } from 'zod';
import { isWaiting } from './session.ts';

const positions = z.array(z.int()).readonly();

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
		/** Whether the agent waited visibly in the read just before the PUT. */
		waited: z.boolean(),
	})
	.readonly();

export const evidence = z
	.object({
		/** Whether a read showed it open with the status `humanInput`. */
		waitedSeen: z.boolean(),
		/** The newest value that arrived. */
		arrived: arrived.nullable(),
		// After that value:
		/** The agent has written more since. */
		grew: z.boolean(),
		wasActive: z.boolean(),
		/** A read showed another status than `humanInput`. */
		hasLeft: z.boolean(),
		/** The agent certainly has our answer. */
		continued: z.boolean(),
		/** Since when all reads show `humanInput`, and the field empty; clock milliseconds. Null: the newest one does not. */
		waitsSince: z.number().nullable(),
		emptySince: z.number().nullable(),
		// Without a value:
		/** Since when no read has shown `humanInput`, and the first of them showed `active`. */
		activeSince: z.number().nullable(),
		/** Of a question that is asked again: our answer that was lost, see `Verdict`. */
		lost: z.string().nullable(),
	})
	.readonly();
/** What reads have shown of one time that an agent asked. Stored with its row, and with an answer: nobody may watch it. No texts. */
export type Evidence = z.infer<typeof evidence>;

/** What one read shows of the newest question of a session that is not over. */
export interface Sighting {
	/** When the read began, clock milliseconds. */
	readonly at: number;
	readonly status: string;
	/** The agent's messages after the one that asks: a count of all falls when a history is compacted. */
	readonly steps: number;
	/** How many items it has, and which have a value. */
	readonly itemCount: number;
	readonly filled: readonly number[];
}

/**
 * - `waits`: somebody has to answer.
 * - `wentOn`: nobody has to: the agent works on without an answer. It may still read one.
 * - `answered`: as the field shows.
 * - `checking`: an answer arrived and is not in the field; the agent still waits.
 * - `taken`: the agent has the answer. `emptied`: it has it, or the answer was lost. `unconfirmed`: no read tells.
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

/** An agent that waits for this long beside an empty field has not read the answer… */
const LOST_AFTER_MS = 60_000;
/** …if reads this far apart found it empty: an agent writes more than one field at a time. */
const EMPTY_FOR_MS = 10_000;
const WENT_ON_AFTER_MS = 30_000;

const SINCE_ARRIVAL = { grew: false, wasActive: false, hasLeft: false, continued: false, emptySince: null } as const;

export const NOTHING_SEEN: Evidence = {
	waitedSeen: false,
	arrived: null,
	...SINCE_ARRIVAL,
	waitsSince: null,
	activeSince: null,
	lost: null,
};

/** After a value arrived: an answer of ours (`waited` of the read before its PUT), or one from elsewhere. */
export function withArrival(before: Evidence, value: NonNullable<Evidence['arrived']>): Evidence {
	const waitsSince = value.waited ? value.at : null;
	return { ...before, ...SINCE_ARRIVAL, waitedSeen: before.waitedSeen || value.waited, arrived: value, waitsSince };
}

/** After a read that began after all that `before` holds. */
export function withSighting(before: Evidence, seen: Sighting): Evidence {
	const waits = isWaiting(seen.status);
	const known = before.arrived?.positions ?? [];
	const isNew = seen.filled.some((position) => !known.includes(position));
	if (isNew) {
		const { answerId = null, number = null } = before.arrived ?? {};
		const all = [...new Set([...known, ...seen.filled])].sort((a, b) => a - b);
		const value = { answerId, number, at: seen.at, positions: all, steps: seen.steps, waited: waits };
		// What the read shows beside an answer of ours says as much of that.
		const stood = withSighting(before, { ...seen, filled: seen.filled.filter((position) => known.includes(position)) });
		return { ...withArrival(before, value), continued: stood.continued };
	}
	const active = seen.status === 'active';
	if (before.arrived === null) {
		const activeSince = waits ? null : (before.activeSince ?? (active ? seen.at : null));
		return { ...before, waitedSeen: before.waitedSeen || waits, activeSince };
	}
	const { steps, waited } = before.arrived;
	const isEmpty = seen.filled.length === 0;
	return {
		...before,
		grew: before.grew || seen.steps > steps,
		wasActive: before.wasActive || active,
		hasLeft: before.hasLeft || !waits,
		continued: before.continued || (waited && active) || (steps === 0 && seen.steps > 0 && !isEmpty),
		waitsSince: waits ? (before.waitsSince ?? seen.at) : null,
		emptySince: isEmpty ? (before.emptySince ?? seen.at) : null,
	};
}

/** What a read means whose sighting is in the evidence. `isHeld`: an answer of ours is live, or nobody knows what became of it. */
export function verdictOf(found: Evidence, seen: Sighting, isHeld = false): Verdict {
	const waits = isWaiting(seen.status);
	if (seen.filled.length > 0) return 'answered';
	if (found.arrived === null) {
		const isLong = found.activeSince !== null && seen.at - found.activeSince >= WENT_ON_AFTER_MS;
		const wentOn = found.waitedSeen && seen.status === 'active' && isLong && seen.steps > 0;
		return wentOn && !isHeld ? 'wentOn' : 'waits';
	}
	if (waits) {
		if (found.wasActive) return 'askedAgain';
		const waitedMs = found.waitsSince === null ? 0 : seen.at - found.waitsSince;
		const emptyMs = found.emptySince === null ? 0 : seen.at - found.emptySince;
		const isLost = emptyMs >= EMPTY_FOR_MS && (found.hasLeft || waitedMs >= LOST_AFTER_MS);
		return isLost ? 'lost' : 'checking';
	}
	if (found.waitedSeen && (seen.status === 'active' || found.grew)) return 'taken';
	return !found.waitedSeen && found.grew ? 'emptied' : 'unconfirmed';
}
