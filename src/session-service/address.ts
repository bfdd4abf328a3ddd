import { SessionServiceError } from './errors.ts';

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

export function isSessionId(id: string): boolean {
	// Servers and proxies resolve `.` and `..` even when percent-encoded.
	const isSegment = id.trim() !== '' && id.length <= LONGEST_ID && !/^\.\.?$/.test(id) && !isReservedId(id);
	return isSegment && id.isWellFormed() && !/\p{Cc}/u.test(id);
}

/** Paths of the service itself (`GET /v1/sessions/query` lists sessions): sent as an id, their effect is not known. */
const RESERVED_IDS: ReadonlySet<string> = new Set(['file', 'files', 'list', 'new', 'query']);

export function isReservedId(id: string): boolean {
	return RESERVED_IDS.has(decoded(id).trim().toLowerCase());
}

function decoded(id: string): string {
	try {
		return decodeURIComponent(id);
	} catch {
		return id;
	}
}
