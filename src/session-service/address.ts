import { isReservedId } from '../questions/session.ts';
import { SessionServiceError } from './errors.ts';

/** Ids seen are 8 characters, the document says "string": this is what still makes a sane path and a sane row. */
const LONGEST_ID = 200;

/** Where the service is: its origin, and the path in front of `/v1` (empty for none, no slash at the end). */
export interface ServiceAddress {
	readonly origin: string;
	readonly basePath: string;
}

/** @throws TypeError for anything but an http(s) address without user name, query and fragment */
export function parseBaseUrl(baseUrl: string): ServiceAddress {
	const url = URL.parse(baseUrl);
	if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
		throw new TypeError('The session service address must start with http:// or https://');
	}
	if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
		throw new TypeError('The session service address takes no user name, query or fragment');
	}
	return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') };
}

/**
 * The path of one session, its id as exactly one segment.
 * @throws SessionServiceError `invalid_session_id` for an id that cannot be one: servers and proxies resolve `.` and `..` even when
 * percent-encoded, and some words are paths of the service itself
 */
export function sessionPath(address: ServiceAddress, sessionId: string): string {
	const reason = refusalOf(sessionId);
	if (reason !== null) throw new SessionServiceError('invalid_session_id', `A session id ${reason}`);
	return `${address.basePath}/v1/sessions/${encodeURIComponent(sessionId)}`;
}

function refusalOf(id: string): string | null {
	if (id.trim() === '') return 'is never empty';
	if (id.length > LONGEST_ID) return `has at most ${LONGEST_ID} characters, this one ${id.length}`;
	if (/^\.\.?$/.test(id)) return 'is never . or ..';
	if (isReservedId(id)) return 'is no word that the service has a path for';
	if (!id.isWellFormed() || /\p{Cc}/u.test(id)) return 'holds no control characters and no broken Unicode';
	return null;
}
