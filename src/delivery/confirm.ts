import type { Core } from '../core.ts';
import { type Answer, type AnswerPatch, awaitsAgentOutcome, EARLY_READS_MS } from '../domain/answer.ts';
import type { Session } from '../domain/session.ts';
import { DAY_MS, elapsedSince, MINUTE_MS, startDeadline } from '../kernel/clock.ts';
import type { SessionStore } from '../store/watched-sessions.ts';
import type { AnswerStore } from './answer-store.ts';

/** How long a check may wait for the budget. The next answer to the session waits meanwhile. */
const BUDGET_WITHIN_MS = 2_000;

/** Has what a read of a session shows stored. Never rejects. */
export type NoteRead = (reading: {
	readonly session: Session;
	readonly readAt: number;
	readonly arrival: number | null;
}) => Promise<void>;

/**
 * Makes the function that checks once what became of a delivered answer, and returns what to write. The watch of a
 * session stores what its reads show. A read that fails or is late shows nothing.
 */
export function createConfirmation(
	core: Core<{ answers: AnswerStore; sessions: Pick<SessionStore, 'isWatched'> }>,
	noteRead: NoteRead,
) {
	const { store, sessionService, clock } = core;

	async function read({ question }: Answer, signal: AbortSignal): Promise<void> {
		if (await store.sessions.isWatched(question)) return;
		try {
			using deadline = startDeadline(clock, sessionService.callTimeoutMs + BUDGET_WITHIN_MS);
			const either = AbortSignal.any([signal, deadline.signal]);
			const reading = await sessionService.read(question.sessionId, { priority: 'background', signal: either });
			await noteRead(reading);
		} catch {
			signal.throwIfAborted();
		}
	}

	/** Null: a read has shown what became of the answer. */
	return async function confirm(answer: Answer, signal: AbortSignal): Promise<AnswerPatch | null> {
		await read(answer, signal);
		const current = await store.answers.get(answer.id);
		if (current === null || !awaitsAgentOutcome(current)) return null;
		const now = clock.now();
		// Only time that has certainly passed: a clock change skips no check.
		const elapsed = elapsedSince(clock, answer.deliveredAt ?? now);
		const nextMs = EARLY_READS_MS.find((ms) => ms > elapsed) ?? doubled(elapsed);
		return { nextAttemptAt: nextMs <= DAY_MS ? now + nextMs - elapsed : null };
	};
}

/** A minute, doubled until it is more than `elapsed`. */
function doubled(elapsed: number): number {
	let ms: number = MINUTE_MS;
	while (ms <= elapsed) ms *= 2;
	return ms;
}
