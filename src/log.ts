/**
 * The interface of pino's loggers (`ops/log.ts`) that modules use. Fields hold ids, codes, counts and milliseconds, never
 * text of a session, values, tokens or addresses with queries.
 */
export interface Log {
	debug(fields: object, message: string): void;
	info(fields: object, message: string): void;
	warn(fields: object, message: string): void;
	error(fields: object, message: string): void;
	child(fields: object): Log;
}

const LONGEST_LOGGED_ID = 200;

/** A session id as a person typed it, made safe for a log line. */
export function loggedId(sessionId: string): string {
	return sessionId.replace(/\p{Cc}/gu, '').slice(0, LONGEST_LOGGED_ID);
}
