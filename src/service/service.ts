import type { ListedSession, SentItem, Session } from '../domain/session.ts';
import { codedCodes, HandraiseError } from '../kernel/errors.ts';

/**
 * - `retryable`: the same call may succeed later.
 * - `repeated`: the failure may pass within seconds, so a read is repeated. A wrong key does not.
 * - `ofService`: the failure concerns the whole service, so it may be over once another call succeeds.
 */
type Kind = Readonly<Record<'retryable' | 'repeated' | 'ofService', boolean>>;

const PASSING: Kind = { retryable: true, repeated: true, ofService: true };
const FINAL: Kind = { retryable: false, repeated: false, ofService: false };

const CODES = {
	/** 401 or 403: the key is missing, wrong or was revoked. */
	unauthorized: { retryable: true, repeated: false, ofService: true },
	/** 404 to a read: this key has no such session, or a gateway says so. (A PUT to another account's is saved.) */
	session_not_found: FINAL,
	/** 429, or the service's limit allows no request before the deadline. Nothing was saved. Has a `retryAt`. */
	rate_limited: PASSING,
	/** Our own limit allows no request before the deadline. Nothing was sent. Has a `retryAt`. */
	no_permit: PASSING,
	/** 5xx, 408, 425, no connection, or a connection that broke. */
	unavailable: PASSING,
	/** The connection or the whole call took too long. */
	timed_out: PASSING,
	/** Any other 4xx, of the service or of a gateway; also a 404 to a PUT, whose session was just read. */
	refused: FINAL,
	/** A success with an unexpected body: HTML of a proxy, truncated or foreign JSON, wrong types. */
	unreadable_answer: PASSING,
	/** A success with a session of another id than the one asked for. Letter case does not count. */
	other_session: { retryable: true, repeated: true, ofService: false },
	/** A success, compressed although we ask for `identity`. A gateway does so. */
	...codedCodes(() => ({ retryable: true, repeated: false, ofService: true })),
	/** A success of the list operation with something else than a list. */
	not_a_list: FINAL,
	body_too_large: FINAL,
	/** The response's body has more arrays, objects and elements than this client reads. */
	body_too_complex: FINAL,
	/** The PUT has more bytes than the service takes, so it was not sent. */
	request_too_large: FINAL,
	/** A redirect, which is not followed. Mostly the base address is wrong, or a gateway drops the key. */
	redirected: { retryable: false, repeated: false, ofService: true },
	/** An id that cannot be one path segment, or is a path of the service itself. Nothing was sent. */
	invalid_session_id: FINAL,
} as const satisfies Readonly<Record<string, Kind>>;

type SessionServiceErrorCode = keyof typeof CODES;

/** The codes of a 404. `gone`: the session is gone. `one`: others can be read. `all`: nothing can be read. */
export const NOT_FOUND_CODES = { gone: 'session_not_found', one: 'session_missing', all: 'service_missing' } as const;

/** The codes of failures that end when the service is back. */
export const SERVICE_CODES: readonly string[] = Object.entries(CODES).flatMap(([code, { ofService }]) =>
	ofService ? [code] : [],
);

/** The reasons to wait for which an answer is sent at once when the service is back. */
export const WAITS_FOR_SERVICE_CODES: ReadonlySet<string> = new Set([
	...SERVICE_CODES,
	...Object.values(NOT_FOUND_CODES),
	'refused',
]);

/** The codes of a call that was not made yet, because the request budget had no permit. */
export const NO_PERMIT_CODES: ReadonlySet<string> = new Set(['rate_limited', 'no_permit']);

/** A failed call. Its message names operation, status and sizes, never the response's text, the key or an address. */
export class SessionServiceError extends HandraiseError {
	declare readonly code: SessionServiceErrorCode;
	/**
	 * The call may have changed the session. Always false for a read. For a PUT it is false only if the service certainly
	 * saved nothing: not sent, or a 4xx. When true, read and compare before sending again.
	 */
	readonly outcomeUnknown: boolean;
	/** The response's status, for `refused` and `unavailable`; null: for other codes, and without a response. */
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

/** The error for a status; null: success. A failed PUT's body never says whether it saved. `retryAt`: for a 429. */
export function errorOfStatus(status: number, operation: Operation, retryAt: number): SessionServiceError | null {
	const message = `The session service responded to a ${operation} with ${status}`;
	if ((status >= 200 && status < 300) || (status === 304 && operation !== 'put')) return null;
	if (status >= 300 && status < 400) {
		// 307 and 308 ask for the same request elsewhere. Other redirects may follow a PUT that was carried out.
		const outcomeUnknown = operation === 'put' && status !== 307 && status !== 308;
		return new SessionServiceError('redirected', message, { outcomeUnknown });
	}
	if (status === 401 || status === 403) return new SessionServiceError('unauthorized', message);
	if (status === 404 && operation !== 'put') return new SessionServiceError('session_not_found', message);
	if (status === 429) return new SessionServiceError('rate_limited', message, { retryAt });
	// 408 (the request took too long) and 425 (the service wants it again later) are temporary.
	if (status >= 500 || status === 408 || status === 425) {
		return new SessionServiceError('unavailable', message, { status, outcomeUnknown: operation === 'put' });
	}
	return new SessionServiceError('refused', message, { status });
}

/** Real ids have 8 characters, but the service's document only says "string". Limits paths and stored rows. */
const LONGEST_ID = 200;

/** The origin and the paths of a service. `baseUrl`: a valid `SESSION_SERVICE_URL`. */
export function parseBaseUrl(baseUrl: string) {
	const { origin, pathname } = new URL(baseUrl);
	const sessions = `${pathname.replace(/\/+$/, '')}/v1/sessions`;
	return {
		origin,
		/** The list operation, which the service's document does not show; without a query. */
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

/** Whether two ids differ at most by letter case. Only the service knows whether they name the same session. */
export const isSameButCase = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

export function isSessionId(id: string): boolean {
	// Servers and proxies resolve `.` and `..` as paths, even percent-encoded.
	const isSegment = id.trim() !== '' && id.length <= LONGEST_ID && !/^\.\.?$/.test(id) && !isReservedId(id);
	return isSegment && id.isWellFormed() && !/\p{Cc}/u.test(id);
}

/** Paths of the service itself, such as `GET /v1/sessions/query`. As ids, their effect would be unknown. */
const RESERVED_IDS: ReadonlySet<string> = new Set(['file', 'files', 'list', 'new', 'query']);

export const isReservedId = (id: string) => RESERVED_IDS.has(decoded(id).trim().toLowerCase());

function decoded(id: string): string {
	try {
		return decodeURIComponent(id);
	} catch {
		return id;
	}
}

/** Who asks for a request: the delivery of an answer, a person, or watching (`background`), served in this order. */
export const PRIORITIES = ['delivery', 'person', 'background'] as const;

export type RequestPriority = (typeof PRIORITIES)[number];

export interface SessionReading {
	/** Has the id that the service says, which may differ by letter case from the one asked for. */
	readonly session: Session;
	/** When the request began, clock milliseconds. The session is in its state of then or later. */
	readonly readAt: number;
	/** How many of our answers had arrived by then; null: not known. See `arrivalSeen` of an answer. */
	readonly arrival: number | null;
	/** When the read that brought `session` began, clock milliseconds. Later reads found it unchanged (304). */
	readonly since: number;
}

/** A reading with the cost of its call. */
export interface MeasuredReading extends SessionReading {
	/** When the whole response had arrived, clock milliseconds. */
	readonly endedAt: number;
	readonly tookMs: number;
	/** Bytes of the response's body; 0 when the session was unchanged. */
	readonly byteCount: number;
}

/** The client of the session service: its two operations, and the list that some services have. */
export interface SessionServiceClient {
	/** Milliseconds after which a call is given up. A PUT cannot arrive later than this after it was sent. */
	readonly callTimeoutMs: number;
	/**
	 * The longest time in ms from `reserveDelivery` to the end of a read: two waits for permits (first call and repeat)
	 * and one call. It can take longer while a slow service gets few requests at once.
	 */
	readonly deliveryReadMs: number;
	/** The sessions that wait. @throws SessionServiceError; if not retryable, this service has no usable list */
	listWaiting(signal?: AbortSignal): Promise<WaitingList>;
	/**
	 * Reads a session, and repeats temporary failures. `person`: whose turn it uses. `arrived`: how many of our answers
	 * have arrived; absent: asks the store. @throws SessionServiceError, or the signal's reason
	 */
	read(
		sessionId: string,
		options: { priority: RequestPriority; signal?: AbortSignal; person?: string; arrived?: number },
	): Promise<MeasuredReading>;
	/** A session as last read; null: that was more than 10 minutes ago, or it has left the cache. */
	latest(sessionId: string): SessionReading | null;
	/** Permits for a read and a PUT. @throws SessionServiceError `no_permit`, `rate_limited`, or the signal's reason */
	reserveDelivery(signal?: AbortSignal): Promise<DeliveryPermit>;
	close(): Promise<void>;
}

/** Dispose of it at the end. At a slow service, others wait for that. */
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
	/** False: not all pages were read, or they changed meanwhile, so a session may have moved to a page read before. */
	readonly isComplete: boolean;
	readonly requestCount: number;
	/** The time of the calls, without the wait for permits. */
	readonly tookMs: number;
}
