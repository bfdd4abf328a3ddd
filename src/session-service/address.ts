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
			const reason = refusalOf(sessionId);
			if (reason !== null) throw new SessionServiceError('invalid_session_id', `The session id ${reason}`);
			return `${sessions}/${encodeURIComponent(sessionId)}`;
		},
	};
}

/** Whether `pathOf` takes this id. */
export function isSessionId(id: string): boolean {
	return refusalOf(id) === null;
}

function refusalOf(id: string): string | null {
	if (id.trim() === '') return 'is empty';
	if (id.length > LONGEST_ID) return `has ${id.length} characters, more than ${LONGEST_ID}`;
	// Servers and proxies resolve these even when percent-encoded.
	if (/^\.\.?$/.test(id)) return 'is . or ..';
	if (isReservedId(id)) return 'is a path of the service itself';
	if (!id.isWellFormed() || /\p{Cc}/u.test(id)) return 'has control characters or broken Unicode';
	return null;
}

/** Paths of the service itself (`GET /v1/sessions/query` lists sessions): sent as an id, their effect is not known. */
const RESERVED_IDS: ReadonlySet<string> = new Set(['file', 'files', 'list', 'new', 'query']);

/** Whether the service would take this id for a path of its own, ignoring letter case and percent-encoding. */
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
