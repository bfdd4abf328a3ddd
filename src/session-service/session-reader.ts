import { type Clock, uptimeOf } from '../clock.ts';
import type { Session } from '../questions/session.ts';
import { readSessionFrom } from './answer-bodies.ts';
import type { RequestPriority } from './budget-state.ts';
import { RedirectedError, UnreadableAnswerError } from './errors.ts';
import type { ExchangeAnswer } from './exchange.ts';
import type { KeptSession, SessionCache } from './session-cache.ts';
import type { Transport } from './transport.ts';

/** One reading of a session. */
export interface SessionReading {
	readonly session: Session;
	/** Clock milliseconds when the request began: the session is shown as it was then or later. */
	readonly readAt: number;
	/** Clock milliseconds when the read that brought `session` began: readings after it found it unchanged (304). */
	readonly since: number;
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
		began: Pick<KeptSession, 'readAt' | 'beganAt'>,
		sessionId: string,
		known: KeptSession | undefined,
	): SessionReading {
		const { readAt } = began;
		const endedAt = answer.arrivedAt;
		if (answer.status === 304) {
			if (known === undefined || known.etag === null)
				throw new UnreadableAnswerError('304 to a read that named no ETag');
			const { session, since } = known;
			cache.set(sessionId, { ...known, ...began });
			return { session, readAt, since, endedAt, unchanged: true };
		}
		const session = readSessionFrom(answer, sessionId);
		cache.set(sessionId, { session, etag: etagOf(answer), since: readAt, ...began });
		return { session, readAt, since: readAt, endedAt, unchanged: false };
	}

	return {
		async read(sessionId, { priority, deadline, signal, leave }) {
			let path = transport.pathOf(sessionId);
			// Held here, so that a 304 has its session even if the cache lets go of it meanwhile.
			const known = cache.get(sessionId);
			const etag = known?.etag ?? null;
			const headers: Record<string, string> = etag === null ? {} : { 'if-none-match': etag };
			for (let hops = 0; hops <= MOST_REDIRECTS; hops++) {
				const sequence = await leave();
				const began = { readAt: clock.now(), beganAt: uptimeOf(clock) };
				const timeoutMs = Math.max(1, deadline - began.readAt);
				const from = path;
				const result = await transport.send(
					{ operation: 'read', sessionId, priority, path, headers, sequence, timeoutMs, signal },
					(answer) =>
						isRedirect(answer)
							? { redirect: transport.redirectTarget(answer, from) }
							: readingFrom(answer, began, sessionId, known),
				);
				if (!('redirect' in result)) return result;
				if (result.redirect === null) throw new RedirectedError('The session service redirects a read elsewhere');
				path = result.redirect;
			}
			throw new RedirectedError(`The session service redirects a read more than ${MOST_REDIRECTS} times`);
		},
	};
}

/** Sent back as it came, so it must be something a header can hold. */
function etagOf({ headers }: ExchangeAnswer): string | null {
	const etag = headers.get('etag') ?? '';
	return /^[\x21-\x7e]{1,256}$/.test(etag) ? etag : null;
}

function isRedirect(answer: ExchangeAnswer): boolean {
	return answer.status >= 300 && answer.status !== 304;
}
