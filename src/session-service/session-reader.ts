import type { Clock } from '../clock.ts';
import type { Session } from '../questions/session.ts';
import { readSessionFrom } from './answer-bodies.ts';
import type { RequestPriority } from './budget.ts';
import { RedirectedError, UnreadableAnswerError } from './errors.ts';
import type { ExchangeAnswer } from './exchange.ts';
import type { CachedSession, SessionCache } from './session-cache.ts';
import type { Transport } from './transport.ts';

/** One reading of a session. */
export interface SessionReading {
	readonly session: Session;
	/** Clock milliseconds when the request began: the session is shown as it was then or later. */
	readonly readAt: number;
	/** Clock milliseconds when the whole response had arrived. */
	readonly endedAt: number;
	/** The service said 304: `session` is the very object of the reading before. */
	readonly unchanged: boolean;
}

export interface SessionReader {
	/**
	 * One attempt at reading a session: conditional while the last result is held, redirects within the origin followed.
	 * @throws SessionServiceError, or the signal's reason
	 */
	read(
		sessionId: string,
		options: {
			priority: RequestPriority;
			/** Clock milliseconds at which the attempt is given up. */
			deadline: number;
			signal: AbortSignal | undefined;
			/** Gives the budget's number of a request that may be sent now; asked for every request on the way. */
			leave: () => Promise<number>;
		},
	): Promise<SessionReading>;
}

const MOST_REDIRECTS = 3;

export function createSessionReader({
	transport,
	cache,
	clock,
}: {
	transport: Transport;
	cache: SessionCache;
	clock: Clock;
}): SessionReader {
	function readingFrom(
		answer: ExchangeAnswer,
		readAt: number,
		sessionId: string,
		known: CachedSession | undefined,
	): SessionReading {
		const endedAt = answer.arrivedAt;
		if (answer.status === 304) {
			if (known === undefined) throw new UnreadableAnswerError('304 to a read that named no ETag');
			return { session: known.session, readAt, endedAt, unchanged: true };
		}
		const session = readSessionFrom(answer, sessionId);
		const etag = answer.headers.get('etag');
		// Sent back as it came, so it must be something a header can hold.
		if (etag !== undefined && /^[\x21-\x7e]{1,256}$/.test(etag)) {
			cache.set(sessionId, { etag, session, bytes: answer.body.length });
		} else cache.delete(sessionId);
		return { session, readAt, endedAt, unchanged: false };
	}

	return {
		async read(sessionId, { priority, deadline, signal, leave }) {
			let path = transport.pathOf(sessionId);
			// Held here, so that a 304 has its session even if the cache lets go of it meanwhile.
			const known = cache.get(sessionId);
			const headers: Record<string, string> = known === undefined ? {} : { 'if-none-match': known.etag };
			for (let hops = 0; hops <= MOST_REDIRECTS; hops++) {
				const sequence = await leave();
				const readAt = clock.now();
				const timeoutMs = Math.max(1, deadline - readAt);
				const from = path;
				const result = await transport.send(
					{ operation: 'read', sessionId, priority, path, headers, sequence, timeoutMs, signal },
					(answer) =>
						isRedirect(answer)
							? { redirect: transport.redirectTarget(answer, from) }
							: readingFrom(answer, readAt, sessionId, known),
				);
				if (!('redirect' in result)) return result;
				if (result.redirect === null) throw new RedirectedError('The session service redirects a read elsewhere');
				path = result.redirect;
			}
			throw new RedirectedError(`The session service redirects a read more than ${MOST_REDIRECTS} times`);
		},
	};
}

function isRedirect(answer: ExchangeAnswer): boolean {
	return answer.status >= 300 && answer.status !== 304;
}
