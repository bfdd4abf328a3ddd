import { loggedId } from '../log.ts';
import type { PersonRequest } from './request.ts';

/** What people do with a session that somebody may want to know of later. */
export type Access = 'open' | 'refresh' | 'history' | 'files' | 'screenshot' | 'watch' | 'unwatch' | 'list';

/**
 * The trace that every access leaves: one line with the person (of the request), the session and what became of it, a
 * stable word. Never anything of the session's content.
 *
 * @param sessionId null for what is about a whole channel
 */
export function logAccess(request: PersonRequest, access: Access, sessionId: string | null, outcome: string): void {
	request.log.info(
		{ access, session: sessionId === null ? null : loggedId(sessionId), channel: request.channelId, outcome },
		'access',
	);
}
