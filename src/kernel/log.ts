import { type Logger, pino } from 'pino';
import { LOG_LINES, type LogEvent } from './log-lines.ts';

/** Fields hold ids, codes, counts and milliseconds, never texts of sessions, values, tokens or queries of addresses. */
export interface Log {
	debug(fields: object, message: string): void;
	info(fields: object, message: string): void;
	warn(event: LogEvent, fields?: object): void;
	error(event: LogEvent, fields?: object): void;
	child(fields: object): Log;
}

const LONGEST_LOGGED_ID = 200;

/** A session id as a person typed it, made safe for a log line. */
export const loggedId = (sessionId: string) => sessionId.replace(/\p{Cc}/gu, '').slice(0, LONGEST_LOGGED_ID);

const REDACTED_FIELDS =
	'token apiKey key password secret authorization value values items signedUrl headers body payload state'.split(' ');

/** JSON lines on standard output. Errors lose their other fields, where HTTP libraries put headers and bodies. */
export function createLog(level: string, destination?: { write(line: string): void }): Log {
	const logger = pino(
		{
			level,
			base: null,
			timestamp: pino.stdTimeFunctions.isoTime,
			formatters: { level: (label) => ({ level: label }) },
			redact: { paths: REDACTED_FIELDS.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
			serializers: { err: errorFields },
		},
		// Synchronous, or pino retries buffered lines forever at exit when nobody reads them (`npm start | tee`, Ctrl-C).
		destination ?? pino.destination({ fd: 1, sync: true }),
	);
	return withEvents(logger);
}

function withEvents(logger: Logger): Log {
	return {
		debug: (fields, message) => logger.debug(fields, message),
		info: (fields, message) => logger.info(fields, message),
		warn: (event, fields) => logger.warn({ event, ...fields }, LOG_LINES[event]),
		error: (event, fields) => logger.error({ event, ...fields }, LOG_LINES[event]),
		child: (fields) => withEvents(logger.child(fields)),
	};
}

function errorFields(error: unknown): object {
	if (!(error instanceof Error)) return { type: typeof error };
	const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
	const cause = error.cause instanceof Error ? { cause: errorFields(error.cause) } : {};
	const [message, stack] = [error.message.slice(0, 500), error.stack?.slice(0, 2_000)];
	return { type: error.name, message, ...code, stack, ...cause };
}
