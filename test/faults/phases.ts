import type { Harness } from './harness.ts';
import type { Round } from './round.ts';
import type { StoredAnswer } from './stores.ts';

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

/** How far a session's requests had come, by the service's log. */
export interface Progress {
	readonly kind: 'read' | 'put';
	/** The service had not answered it. */
	readonly open: boolean;
	/** It was answered as it should be. */
	readonly good: boolean;
}

/** What is known of a kill in the moment of it, or right after it. */
export interface Strike {
	readonly pids: readonly number[];
	/** No process was left. */
	readonly all: boolean;
	/** Of the submissions that had been made, by session. */
	readonly progress: ReadonlyMap<string, Progress | null>;
	/** By view. */
	readonly stored: ReadonlyMap<string, StoredAnswer>;
}

/** To be called in the very moment: the service goes on answering afterwards. */
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
 * The phase in which `strike` met a submitted round; null when it met nothing of it. A round without an acknowledgement
 * was met before it: whether the answer had been committed is in the store.
 */
export function phaseOf(round: Round, strike: Strike): Phase | null {
	const progress = strike.progress.get(round.sessionId);
	if (progress === undefined) return null;
	const row = strike.stored.get(round.modal.id);
	const acked = round.ackedText !== null || round.told.length > 0;
	// Without an acknowledgement it may be a surviving replica that has it: then nothing met it.
	if (!acked) return !strike.all ? null : row === undefined ? 'before commit' : 'before ack';
	// With replicas left, only what the dead one had in hand was met.
	const held = strike.pids.some((pid) => row?.leaseToken?.includes(`-${pid}/`) === true);
	if (!strike.all && !held) return null;
	if (round.told.at(-1) === 'went on') return null;
	if (progress === null) return 'before the read';
	if (progress.kind === 'read') return progress.good && !progress.open ? 'between read and PUT' : 'before the read';
	if (progress.open) return 'during the PUT';
	return progress.good ? 'before confirmation' : 'outcome unknown';
}
