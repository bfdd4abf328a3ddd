import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import type { z } from 'zod';
import { LOG_LINES, type LogEvent } from './log-lines.ts';

/** The only source of time, so that tests move it instead of sleeping. */
export interface Clock {
	/** Milliseconds since the epoch. */
	now(): number;
	/** Resolves after `ms`, which may be negative; rejects with the signal's reason when it is aborted first. */
	sleep(ms: number, signal?: AbortSignal): Promise<void>;
	/** Since when `now` had no step. Absent for a clock without steps. */
	steadySince?(): number;
	/** Milliseconds of a monotonic clock. Absent when `now` has no steps. See `uptimeOf`. */
	uptime?(): number;
}

/** For durations within the process: correct even when the clock is set in between. */
export const uptimeOf = (clock: Clock) => clock.uptime?.() ?? clock.now();

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/** Without a reason each abort would make an error with a stack. */
export const OVER = 'over';

/** A signal that is aborted after `ms` milliseconds, until it is disposed. */
export function startDeadline(clock: Clock, ms: number): Disposable & { readonly signal: AbortSignal } {
	const late = new AbortController();
	const ended = new AbortController();
	const end = () => late.abort(new Error(`no answer within ${ms} ms`));
	clock.sleep(ms, ended.signal).then(end, () => undefined);
	return { signal: late.signal, [Symbol.dispose]: () => ended.abort(OVER) };
}

/** The result of `work`; when it takes longer than `ms` milliseconds, that of `late`. */
export async function within<Value>(clock: Clock, work: Promise<Value>, ms: number, late: () => Value): Promise<Value> {
	const ended = new AbortController();
	return Promise.race([work, clock.sleep(ms, ended.signal).then(late)]).finally(() => ended.abort(OVER));
}

/** Rejects with the signal's reason once it is aborted, after `onAbort`. What comes from `call` then is ignored. */
export async function unlessAborted<Value>(
	call: Promise<Value>,
	signal: AbortSignal | undefined,
	onAbort: () => void = () => {},
): Promise<Value> {
	const aborted = Promise.withResolvers<never>();
	const abort = () => {
		onAbort();
		aborted.reject(signal?.reason);
	};
	if (signal?.aborted === true) abort();
	signal?.addEventListener('abort', abort, { once: true });
	return Promise.race([call, aborted.promise]).finally(() => signal?.removeEventListener('abort', abort));
}

/** The largest difference between clocks of replicas, which each measure the time of the shared database. */
export const CLOCK_ALLOWANCE_MS = 5_000;

/** Times before it do not tell a duration: the clock was set since, or this process was not there yet. */
export const steadySince = (clock: Clock) => clock.steadySince?.() ?? Number.NEGATIVE_INFINITY;

/** Milliseconds that have certainly passed since `at`, a time noted by any process: never too many. */
export const elapsedSince = (clock: Clock, at: number) => Math.max(0, clock.now() - Math.max(at, steadySince(clock)));

/** A larger change of the time is a step: the clock was set, or the machine slept. */
export const STEP_MS = 2_000;

/** The machine's time. Where it is set, times noted before are wrong: see `store/store-clock.ts`. */
export const systemClock: Clock = {
	now: () => Date.now(),
	uptime: () => performance.now(),
	sleep: (ms, signal) =>
		delay(Math.max(0, ms), undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
			signal?.throwIfAborted();
			throw error;
		}),
};

/** A sleep that can be ended early. */
export function createWaker(clock: Clock) {
	let isWoken = false;
	let sleeper: AbortController | null = null;
	return {
		wake() {
			isWoken = true;
			sleeper?.abort(OVER);
		},
		/** Forgets wakes since the last wait. */
		clear() {
			isWoken = false;
		},
		/** Resolves after `ms`, or when woken; at once if woken since the last wait. Rejects when aborted. */
		async wait(ms: number, signal?: AbortSignal): Promise<void> {
			if (!isWoken) {
				sleeper = new AbortController();
				try {
					await clock.sleep(ms, signal === undefined ? sleeper.signal : AbortSignal.any([sleeper.signal, signal]));
				} catch {
					signal?.throwIfAborted();
				} finally {
					sleeper = null;
				}
			}
			isWoken = false;
		},
	};
}

/** A type read-only at every depth: of values that a schema read. */
export type DeepReadonly<Value> = Value extends object
	? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
	: Value;

export function pick<T extends object, Key extends keyof T>(from: T, ...keys: readonly Key[]): Pick<T, Key> {
	return Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, Key>;
}

/** Null for null, and for text that is no JSON or does not fit the schema. */
export function parseOrNull<T>(schema: z.ZodType<T>, json: string | null): T | null {
	if (json === null) return null;
	try {
		return schema.safeParse(JSON.parse(json)).data ?? null;
	} catch {
		return null;
	}
}

/** A host has at most 253 characters; before it stands a scheme, behind it a port. */
const LONGEST_HOST = 300;

/** Null for what is no URL, or has a longer host: parsing takes as long as the square of its different letters. */
export function parseAddress(address: string): URL | null {
	const beforePath = /^[^/\\?#]*[/\\]*[^/\\?#]*/.exec(address)?.[0] ?? '';
	return beforePath.length - beforePath.lastIndexOf('@') > LONGEST_HOST ? null : URL.parse(address);
}

/** Sets an entry as the newest one, and drops the oldest one if there are more than `limit`. */
export function setBounded<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, limit: number): void {
	map.delete(key);
	map.set(key, value);
	const oldest = map.keys().next();
	if (map.size > limit && !oldest.done) map.delete(oldest.value);
}

/** Enough for the people who use the app within a few minutes. */
const MAX_CACHED = 10_000;

/**
 * Keeps what `ask` resolved to as long as a caller of `get` allows. Requests for a key share a call. A failure is kept
 * for `failureAgeMs`; at 0, an older value stays while it is young enough.
 */
export function createCache<Value>(
	clock: Clock,
	ask: (key: string, signal?: AbortSignal) => Promise<Value>,
	{ failureAgeMs = 0, limit = MAX_CACHED } = {},
) {
	const entries = new Map<string, { readonly value: Promise<Value>; at: number; limitMs: number }>();

	/** Whether `get` asks nothing. */
	function has(key: string, maxAgeMs: number): boolean {
		const { at, limitMs } = entries.get(key) ?? { at: 0, limitMs: 0 };
		return uptimeOf(clock) - at < Math.min(maxAgeMs, limitMs);
	}

	return {
		has,
		get(key: string, maxAgeMs: number, signal?: AbortSignal): Promise<Value> {
			const known = entries.get(key);
			if (known !== undefined && has(key, maxAgeMs)) return known.value;
			const entry = { value: ask(key, signal), at: uptimeOf(clock), limitMs: Number.POSITIVE_INFINITY };
			setBounded(entries, key, entry, limit);
			entry.value.catch(() => {
				Object.assign(entry, { at: uptimeOf(clock), limitMs: failureAgeMs });
				if (failureAgeMs === 0 && known !== undefined) entries.set(key, known);
			});
			return entry.value;
		},
		forget: (key: string) => void entries.delete(key),
	};
}

/** Calls during a run share its result. */
export function shareRunning<T>(run: () => Promise<T>): () => Promise<T> {
	let running: Promise<T> | null = null;
	return () => {
		running ??= run().finally(() => {
			running = null;
		});
		return running;
	};
}

/** A state in memory, or in a row that replicas share (`store/shared-states.ts`). */
export interface Cell<S> {
	/**
	 * Calls `change` with the newest state (null at first) and keeps the state that it returns. Updates run one after the
	 * other. `change` is pure and may run more than once; if it returns the object that it got, nothing is written.
	 */
	update<R>(change: (state: S | null) => { state: S; result: R }): Promise<R>;
}

/**
 * What this process remembers with times of the clock in it. It begins anew when the clock was set back since its last
 * use: such a time may then lie further ahead than it ever should.
 */
export function createMemo<Value>(clock: Clock, begin: () => Value) {
	let value = begin();
	let usedAt = Number.NEGATIVE_INFINITY;
	return {
		get(): Value {
			const now = clock.now();
			if (usedAt > now + STEP_MS) value = begin();
			usedAt = now;
			return value;
		},
		set(next: Value): void {
			value = next;
			usedAt = clock.now();
		},
	};
}

/** The cell of a single process. */
export function createMemoryCell<S>(clock: Clock): Cell<S> {
	const memo = createMemo<S | null>(clock, () => null);
	return {
		async update(change) {
			const { state, result } = change(memo.get());
			memo.set(state);
			return result;
		},
	};
}

/**
 * All errors that Handraise throws on purpose. Only `code` decides what is done; `slack/error-view.ts` makes text for
 * people. `retryable`: the same call may succeed later. `message` is for logs: no secrets, no text of a session.
 */
export class HandraiseError extends Error {
	readonly code: string;
	readonly retryable: boolean;
	/** When the next try makes sense, clock milliseconds; null when that is not known. */
	readonly retryAt: number | null;

	constructor(
		message: string,
		details: { code?: string; retryable?: boolean; retryAt?: number | null; cause?: unknown } = {},
	) {
		super(message, details.cause === undefined ? undefined : { cause: details.cause });
		this.name = new.target.name;
		this.code = details.code ?? 'internal';
		this.retryable = details.retryable ?? false;
		this.retryAt = details.retryAt ?? null;
	}
}

/** The content codings that words and codes name; any other is `other`. */
export const CODINGS = ['gzip', 'deflate', 'br', 'zstd', 'other'] as const;
export function codedCodes<T>(of: (coding: string) => T) {
	const codes = CODINGS.map((coding) => [`coded_${coding}`, of(coding)] as const);
	return Object.fromEntries(codes) as Record<(typeof codes)[number][0], T>;
}

export const codeOf = (error: unknown) => (error instanceof HandraiseError ? error.code : 'internal');

/** The longest Retry-After that is honored. A proxy that says "in a day" is asked again sooner. */
export const LONGEST_RETRY_AFTER_MS = 5 * MINUTE_MS;

/** The shortest wait that is believed: whoever says "Retry-After: 0" would be asked again at once, for ever. */
export const LEAST_RETRY_AFTER_MS = 1_000;

/** `firstMs` after a failure, doubled for each up to `longestMs`; or the other side's `askedMs`, at least `firstMs`. */
export function backOff(
	failures: number,
	{ firstMs, longestMs }: { firstMs: number; longestMs: number },
	askedMs: number | null = null,
): number {
	if (askedMs !== null) return Math.min(LONGEST_RETRY_AFTER_MS, Math.max(askedMs, firstMs));
	return Math.min(longestMs, firstMs * 2 ** Math.min(20, Math.max(0, failures - 1)));
}

/** The first of these times; null: there is none. */
export function earliestOf(...times: readonly (number | null)[]): number | null {
	const known = times.filter((at) => at !== null);
	return known.length === 0 ? null : Math.min(...known);
}

/**
 * Repeats `turn`, which resolves to the milliseconds until the next one, until the signal is aborted; after a failure,
 * after `retryMs`. `onFailure` gets its code, unless the turn before failed with the same. Never rejects.
 */
export async function repeat(
	pause: (ms: number, signal: AbortSignal) => Promise<unknown>,
	signal: AbortSignal,
	turn: () => Promise<number>,
	{ retryMs, onFailure }: { readonly retryMs: number; readonly onFailure: (code: string) => void },
): Promise<void> {
	let problem: string | null = null;
	while (!signal.aborted) {
		const outcome = await turn().catch(codeOf);
		const code = typeof outcome === 'string' ? outcome : null;
		if (code !== null && code !== problem && !signal.aborted) onFailure(code);
		problem = code;
		await pause(typeof outcome === 'number' ? outcome : retryMs, signal).catch(() => undefined);
	}
}

export function retryAtOf(error: unknown, now: number): number | null {
	if (!(error instanceof HandraiseError) || error.retryAt === null) return null;
	return Math.min(error.retryAt, now + LONGEST_RETRY_AFTER_MS);
}

/** Fields hold ids, codes, counts and milliseconds, never text of a session, values, tokens or queries of addresses. */
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

/** JSON lines on standard output. Errors lose their other fields: those of HTTP libraries hold headers and bodies. */
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
		// Synchronous: else pino retries buffered lines forever at exit when nobody reads them (`npm start | tee`, Ctrl-C).
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

/** The right to work on a row. */
export interface Lease {
	/** Random, new for each take: only its holder may write, so it fences out everybody else. */
	readonly token: string;
	/** The lease lapses this long after it was given or renewed. */
	readonly ms: number;
}

/** Such as of the JSON of a view: with the same hash, two look the same. */
export const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** In place of the id of a forgotten person: random, or an answer's id, so that nothing leads back to them. */
export const FORGOTTEN = 'forgotten-';

export const isForgotten = (userId: string) => userId.startsWith(FORGOTTEN);

/** One spelling for an address: small letters in the host, no default port, no slash at the end. */
export const normalAddress = (url: string) => new URL(url).href.replace(/\/+$/, '');

/** The version of this program, from `package.json`. */
export function ownVersion(): string {
	return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}

/** The disk is full, I/O failed, or the database is unreachable or too slow. The same call may work later. */
export class StoreUnavailableError extends HandraiseError {
	/** The write may be committed: the connection was lost, the database did not respond in time, or a sync failed. */
	readonly commitUnknown: boolean;

	constructor(message: string, { cause, commitUnknown = false }: { cause?: unknown; commitUnknown?: boolean } = {}) {
		super(message, { code: 'store_unavailable', retryable: true, cause });
		this.commitUnknown = commitUnknown;
	}
}
