/**
 * What a module needs of a logger; pino's loggers fit (`ops/log.ts`). Fields hold ids, codes, counts and milliseconds,
 * never text of a session, values, tokens or addresses with queries.
 */
export interface Log {
	debug(fields: object, message: string): void;
	info(fields: object, message: string): void;
	warn(fields: object, message: string): void;
	error(fields: object, message: string): void;
	child(fields: object): Log;
}

const LONGEST_LOGGED_ID = 200;

/** A session's id as people typed it, for a log line: it may be anything. */
export function loggedId(sessionId: string): string {
	return sessionId.replace(/\p{Cc}/gu, '').slice(0, LONGEST_LOGGED_ID);
}
