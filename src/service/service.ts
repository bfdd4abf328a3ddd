import type { ListedSession, SentItem, Session } from '../domain/session.ts';
import { codedCodes, HandraiseError } from '../kernel/errors.ts';

/**
 * - `retryable`: the same call may succeed later.
 * - `repeated`: it may pass within seconds, so a read is repeated; not a wrong key, which an operator has to fix.
 * - `ofService`: it concerns the whole service, so it may be over once another call succeeds.
 */
type Kind = Readonly<Record<'retryable' | 'repeated' | 'ofService', boolean>>;

const PASSING: Kind = { retryable: true, repeated: true, ofService: true };
const FINAL: Kind = { retryable: false, repeated: false, ofService: false };

const CODES = {
	/** 401 or 403: the key is missing, wrong or was revoked. */
	unauthorized: { retryable: true, repeated: false, ofService: true },
	/** 404: this key has no such session, or something in front says so. A PUT to another account's session is saved. */
	session_not_found: FINAL,
	/** 429, or the service's limit allows no request before the caller's deadline; nothing was saved. Has a `retryAt`. */
	rate_limited: PASSING,
	/** Our own limit allows no request before the caller's deadline: nothing was sent. Has a `retryAt`. */
	no_permit: PASSING,
	/** 5xx, 408, 425, no connection, or a connection that broke. */
	unavailable: PASSING,
	/** The connection or the whole call took too long. */
	timed_out: PASSING,
	/** Any other 4xx, of the service or of something in front. */
	refused: FINAL,
	/** A success with an unexpected body: HTML of a proxy, truncated or foreign JSON, wrong types. */
	unreadable_answer: PASSING,
	/** A success with a session of another id than the one asked for, not only in other letter case. */
	other_session: { retryable: true, repeated: true, ofService: false },
	/** A success, compressed although we ask for `identity`: something in front does so whatever it is asked. */
	...codedCodes(() => ({ retryable: true, repeated: false, ofService: true })),
	/** A success of the list operation with something else than a list. */
	not_a_list: FINAL,
	body_too_large: FINAL,
	/** The response's body has more arrays, objects and elements than this client reads. */
	body_too_complex: FINAL,
	/** The PUT has more bytes than the service takes: it was not sent. */
	request_too_large: FINAL,
	/** Not followed. Mostly a wrong base address, or something drops the key: then it leads to the front page. */
	redirected: { retryable: false, repeated: false, ofService: true },
	/** An id that cannot be one path segment, or is a path of the service itself: nothing was sent. */
	invalid_session_id: FINAL,
} as const satisfies Readonly<Record<string, Kind>>;

type SessionServiceErrorCode = keyof typeof CODES;

/** The codes of a 404: of a session that is gone, of one beside which others can be read, and where nothing can be. */
export const MISSING = { gone: 'session_not_found', one: 'session_missing', all: 'service_missing' } as const;

/** Codes of failures that pass when the service is back. */
export const SERVICE_CODES: readonly string[] = Object.entries(CODES).flatMap(([code, { ofService }]) =>
	ofService ? [code] : [],
);

/** Why an answer waits that is sent at once when the service is back. */
export const REASONS: ReadonlySet<string> = new Set([...SERVICE_CODES, ...Object.values(MISSING), 'refused']);

/** Failures that say nothing of a call: it waits. */
export const WAITING_CODES: ReadonlySet<string> = new Set(['rate_limited', 'no_permit']);

/** Messages name the operation, the status and sizes, never the response's text, the key or an address. */
export class SessionServiceError extends HandraiseError {
	declare readonly code: SessionServiceErrorCode;
	/**
	 * The call may have changed the session; false for a read. For a PUT it is false only if the service certainly saved
	 * nothing: not sent, 401, 403, 404, 429 and the other 4xx. When true, read and compare before sending again.
	 */
	readonly outcomeUnknown: boolean;
	/** The response's status of a refusal or a PUT with unknown outcome; else null. */
	readonly status: number | null;

	constructor(
		code: SessionServiceErrorCode,
		message: string,
		details: { cause?: unknown; outcomeUnknown?: boolean; status?: number | null; retryAt?: number } = {},
	) {
		super(message, { ...details, code, retryable: CODES[code].retryable });
		this.outcomeUnknown = details.outcomeUnknown ?? false;
		this.status = details.status ?? null;
	}

	get isPassing(): boolean {
		return CODES[this.code].repeated;
	}
}

export type Operation = 'read' | 'put' | 'list';

/** The error for a status; null for a success. A failed PUT's body never says whether it saved. `retryAt`: of a 429. */
export function errorOfStatus(status: number, operation: Operation, retryAt: number): SessionServiceError | null {
	const message = `The session service responded to a ${operation} with ${status}`;
	if ((status >= 200 && status < 300) || (status === 304 && operation !== 'put')) return null;
	if (status >= 300 && status < 400) {
		// 307 and 308 ask for the same request elsewhere. The other redirects may come after the PUT was carried out.
		const outcomeUnknown = operation === 'put' && status !== 307 && status !== 308;
		return new SessionServiceError('redirected', message, { outcomeUnknown });
	}
	if (status === 401 || status === 403) return new SessionServiceError('unauthorized', message);
	if (status === 404) return new SessionServiceError('session_not_found', message);
	if (status === 429) return new SessionServiceError('rate_limited', message, { retryAt });
	// 408: the request took too long; 425: the service wants it again later. Both are temporary.
	if (status >= 500 || status === 408 || status === 425) {
		return new SessionServiceError('unavailable', message, { status, outcomeUnknown: operation === 'put' });
	}
	return new SessionServiceError('refused', message, { status });
}

/** Real ids have 8 characters, the service's document only says "string". This limits the path and the stored rows. */
const LONGEST_ID = 200;

/** The origin and the paths of a service. `baseUrl`: a valid setting of it. */
export function parseBaseUrl(baseUrl: string) {
	const { origin, pathname } = new URL(baseUrl);
	const sessions = `${pathname.replace(/\/+$/, '')}/v1/sessions`;
	return {
		origin,
		/** Of the list operation, which the service's document does not show; without a query. */
		listPath: `${sessions}/query`,
		/** @throws SessionServiceError `invalid_session_id` */
		pathOf(sessionId: string): string {
			if (!isSessionId(sessionId)) {
				throw new SessionServiceError('invalid_session_id', 'The session id cannot be one segment of a path');
			}
			return `${sessions}/${encodeURIComponent(sessionId)}`;
		},
	};
}

/** Whether two ids differ at most by letter case. Whether such name the same session, only the service knows. */
export const isSameButCase = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

export function isSessionId(id: string): boolean {
	// Servers and proxies resolve `.` and `..` even when percent-encoded.
	const isSegment = id.trim() !== '' && id.length <= LONGEST_ID && !/^\.\.?$/.test(id) && !isReservedId(id);
	return isSegment && id.isWellFormed() && !/\p{Cc}/u.test(id);
}

/** Paths of the service itself (`GET /v1/sessions/query` lists sessions): as an id, their effect is unknown. */
const RESERVED_IDS: ReadonlySet<string> = new Set(['file', 'files', 'list', 'new', 'query']);

export const isReservedId = (id: string) => RESERVED_IDS.has(decoded(id).trim().toLowerCase());

function decoded(id: string): string {
	try {
		return decodeURIComponent(id);
	} catch {
		return id;
	}
}

/** Who waits for a request (the delivery of an answer, a person, watching), first served first. */
export const PRIORITIES = ['delivery', 'person', 'background'] as const;

export type RequestPriority = (typeof PRIORITIES)[number];

export interface SessionReading {
	/** With the id that the service says: it may differ by letter case from the one that was asked for. */
	readonly session: Session;
	/** When the request began, clock milliseconds: the session is as it was then or later. */
	readonly readAt: number;
	/** How many answers of ours had arrived by then; null: not known. See `arrivalSeen` of an answer. */
	readonly arrival: number | null;
	/** When the read that brought `session` began, clock milliseconds: later reads found it unchanged (304). */
	readonly since: number;
}

/** A reading with what its call cost. */
export interface MeasuredReading extends SessionReading {
	/** When the whole response had arrived, clock milliseconds. */
	readonly endedAt: number;
	readonly tookMs: number;
	/** Of the response's body: 0 when the session was unchanged. */
	readonly byteCount: number;
}

/** What the session service can do: its two operations, and the list that some services have. */
export interface SessionServiceClient {
	/** Milliseconds after which a call is given up: a PUT cannot arrive later than that after it was sent. */
	readonly callTimeoutMs: number;
	/**
	 * The longest time in ms from `reserveDelivery` to the end of a read: the wait for the permits of a first call and
	 * of a repeat, and a call. While a slow service lets requests wait for each other it can take longer.
	 */
	readonly deliveryReadMs: number;
	/** @throws SessionServiceError; when it is not retryable, this service has no list that can be used */
	listWaiting(signal?: AbortSignal): Promise<WaitingList>;
	/**
	 * Repeats temporary failures. `person`: whose turn it uses. `arrived`: how many answers of ours had arrived a moment
	 * ago; left out: asks the store. @throws SessionServiceError, or the signal's reason
	 */
	read(
		sessionId: string,
		options: { priority: RequestPriority; signal?: AbortSignal; person?: string; arrived?: number },
	): Promise<MeasuredReading>;
	/** A session as it was last read; null when that was more than 10 minutes ago or it is no longer in the cache. */
	latest(sessionId: string): SessionReading | null;
	/** For a read, then a PUT. @throws SessionServiceError `no_permit`, `rate_limited`, or the signal's reason */
	reserveDelivery(signal?: AbortSignal): Promise<DeliveryPermit>;
	close(): Promise<void>;
}

/** Dispose of it at the end: at a slow service others wait for that. */
export interface DeliveryPermit extends Disposable {
	/** Reads the session with a request of its own, which begins after this call. */
	read(sessionId: string): Promise<MeasuredReading>;
	/** Replaces all items of one message, once. @throws SessionServiceError, see its `outcomeUnknown` */
	putAnswers(
		sessionId: string,
		messageIndex: number,
		items: readonly SentItem[],
		maySend?: () => boolean,
	): Promise<void>;
}

export interface WaitingList {
	readonly sessions: readonly ListedSession[];
	/** False when not all pages are read, or they changed: a session may have moved to a page read before. */
	readonly isComplete: boolean;
	readonly requestCount: number;
	/** Of the calls, without the wait for permits. */
	readonly tookMs: number;
}
