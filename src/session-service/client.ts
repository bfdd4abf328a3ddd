import type { AnsweredItem, Session } from '../questions/session.ts';
import type { RequestPriority } from './budget.ts';

/** One reading of a session. */
export interface SessionReading {
	readonly session: Session;
	/** Clock milliseconds when the whole answer had arrived. */
	readonly readAt: number;
	/** The service said 304: `session` is the very object of the reading before. */
	readonly unchanged: boolean;
}

/**
 * Leave for one read and one PUT right after it, already counted in the budget, so that nothing but the network stands
 * between the two.
 */
export interface DeliveryPermit {
	/** Reads the session with leave taken beforehand; begins after this call, never shared with another reader. */
	read(sessionId: string): Promise<SessionReading>;
	/** Sends the answers at once. Takes new leave if the one for the PUT is used up. */
	putAnswers(sessionId: string, messageIndex: number, items: readonly AnsweredItem[]): Promise<void>;
}

export interface SessionServiceClient {
	/**
	 * Reads one session, again after failures that may pass, within the priority's total time.
	 * @throws SessionServiceError, or the signal's reason
	 */
	read(
		sessionId: string,
		options: { priority: RequestPriority; signal?: AbortSignal; retries?: number },
	): Promise<SessionReading>;
	/** Waits for leave for a read and a PUT. @throws RateLimitedError, or the signal's reason */
	reserveDelivery(signal?: AbortSignal): Promise<DeliveryPermit>;
	/**
	 * Replaces the whole array of answers of one message: all items, in order. Sent once, never repeated here.
	 * @throws SessionServiceError; its `outcomeUnknown` says whether the service may have saved it all the same
	 */
	putAnswers(
		sessionId: string,
		messageIndex: number,
		items: readonly AnsweredItem[],
		options?: { signal?: AbortSignal },
	): Promise<void>;
	/** Milliseconds after which a call that was sent has been given up: a PUT cannot land later than that. */
	readonly callTimeoutMs: number;
	/** Lets running calls finish for up to `graceMs` (5 s), then cuts them. */
	close(graceMs?: number): Promise<void>;
}
