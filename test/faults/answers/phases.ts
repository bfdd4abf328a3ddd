import type { Harness } from '../harness.ts';
import type { Victims } from '../hits.ts';
import type { Round } from './round.ts';

/** Where an answer was when the process that handled it was killed. */
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

/** How far a session's requests had come, according to the service's log. */
export interface Progress {
	readonly kind: 'read' | 'put';
	/** The service had not responded. */
	readonly open: boolean;
	/** The service had responded correctly. */
	readonly good: boolean;
}

/** By session: how far the submissions made so far have come. */
export function progressOf({ service }: Harness, rounds: readonly Round[]): Map<string, Progress | null> {
	const submitted = rounds.filter((round) => round.pressedAt !== 0);
	return new Map(
		submitted.map((round) => {
			const entries = service.log
				.list({ sessionId: round.sessionId })
				.filter((entry) => entry.kind !== 'page' && entry.at >= round.pressedAt);
			const last =
				entries.findLast((entry) => entry.kind === 'answer') ?? entries.findLast((entry) => entry.kind === 'read');
			if (last === undefined) return [round.sessionId, null];
			const open = last.answeredAt === null && !last.reset;
			const good =
				(last.status === 200 || last.status === 304) &&
				last.faults.every((fault) => fault === 'late' || fault === 'slow');
			return [round.sessionId, { kind: last.kind === 'answer' ? 'put' : 'read', open, good }];
		}),
	);
}

/**
 * The phase in which a kill met a submitted round; null when it met nothing of it. Without an acknowledgement, the
 * store tells whether the answer had been committed.
 */
export function phaseOf(round: Round, seen: ReadonlyMap<string, Progress | null>, strike: Victims): Phase | null {
	const progress = seen.get(round.sessionId);
	if (progress === undefined) return null;
	const row = strike.stored.find(({ viewId }) => viewId === round.modal.id);
	const acked = round.ackedText !== null || round.told.length > 0;
	// Without an acknowledgement a surviving replica may have it. Then the kill met nothing.
	if (!acked) return !strike.all ? null : row === undefined ? 'before commit' : 'before ack';
	// While replicas are left, only what the dead one handled was met.
	const held = strike.pids.some((pid) => row?.leaseToken?.includes(`-${pid}/`) === true);
	if (!strike.all && !held) return null;
	if (round.told.at(-1) === 'went on') return null;
	if (progress === null) return 'before the read';
	if (progress.kind === 'read') return progress.good && !progress.open ? 'between read and PUT' : 'before the read';
	if (progress.open) return 'during the PUT';
	return progress.good ? 'before confirmation' : 'outcome unknown';
}
