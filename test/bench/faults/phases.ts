import type { Round } from './round.ts';
import type { StoredAnswer } from './stores.ts';
import type { World } from './world.ts';

/** Where an answer was on its way when the process that had it was killed. */
export const PHASES = [
	'before commit',
	'before ack',
	'before the read',
	'between read and PUT',
	'during the PUT',
	'outcome unknown',
	'before confirmation',
] as const;
export type Phase = (typeof PHASES)[number];

/** What is known of a kill right after it. */
export interface Strike {
	/** Milliseconds since the epoch. */
	readonly at: number;
	readonly pids: readonly number[];
	/** No process was left. */
	readonly all: boolean;
	readonly stored: ReadonlyMap<string, StoredAnswer>;
}

/**
 * The phase in which `strike` met a submitted round; null when it met nothing of it. A round without an acknowledgement
 * was met before it: whether the answer had been committed is in the store.
 */
export function phaseOf({ service }: World, round: Round, acked: boolean, strike: Strike): Phase | null {
	const row = strike.stored.get(round.modal.id);
	if (!acked) return row === undefined ? 'before commit' : 'before ack';
	// With replicas left, only what the dead one had in hand was met.
	const held = strike.pids.some((pid) => row?.leaseOwner?.includes(`-${pid}-`) === true);
	if (!strike.all && !held) return null;
	if (round.told.at(-1) === 'went on') return null;
	const entries = service.log
		.list({ sessionId: round.sessionId })
		.filter((entry) => entry.kind !== 'page' && entry.at >= round.pressedAt && entry.at <= strike.at);
	const put = entries.findLast((entry) => entry.kind === 'answer');
	if (put !== undefined) {
		const over = put.reset || (put.answeredAt !== null && put.answeredAt <= strike.at);
		if (!over) return 'during the PUT';
		return put.status === 200 && put.faults.length === 0 ? 'before confirmation' : 'outcome unknown';
	}
	const read = entries.findLast((entry) => entry.kind === 'read');
	const wasRead = read?.status === 200 || read?.status === 304;
	return wasRead && read?.answeredAt !== null && (read?.answeredAt ?? 0) <= strike.at
		? 'between read and PUT'
		: 'before the read';
}
