import { type Logger, LogLevel } from '@slack/bolt';
import { WebClient } from '@slack/web-api';
import { codeOf as stableCodeOf } from '../errors.ts';
import type { Log } from '../log.ts';

export interface SlackClients {
	/** For a person who waits: a short time-out, one repeat, nothing queued behind a rate limit. */
	readonly people: WebClient;
	/** For everything that can wait: a rate limit is an error that carries when to try again. */
	readonly background: WebClient;
}

interface SlackClientOptions {
	readonly token: string;
	/** Ends in `/api/`. */
	readonly apiUrl: string;
	readonly log: Log;
	/** Called for every call: its method and 'answered', the HTTP status of a failure, or 'no_answer'. */
	readonly onCall: (method: string, outcome: string) => void;
}

/**
 * Two clients, because one 429 pauses a whole WebClient: a limited card update must not hold up somebody's modal. The
 * library's defaults (no time-out, ten repeats over half an hour) suit neither.
 */
export function createSlackClients({ token, apiUrl, log, onCall }: SlackClientOptions): SlackClients {
	const shared = {
		slackApiUrl: apiUrl,
		logger: createSlackLogger(log),
		rejectRateLimitedCalls: true,
		allowAbsoluteUrls: false,
		fetch: countingFetch(apiUrl, onCall),
	};
	return {
		people: new WebClient(token, {
			...shared,
			timeout: 4_000,
			maxRequestConcurrency: 250,
			retryConfig: { retries: 1, minTimeout: 100, maxTimeout: 200 },
		}),
		background: new WebClient(token, {
			...shared,
			timeout: 10_000,
			maxRequestConcurrency: 20,
			// Never by itself: a post whose answer was lost may stand there already.
			retryConfig: { retries: 0 },
		}),
	};
}

type FetchLike = NonNullable<NonNullable<ConstructorParameters<typeof WebClient>[1]>['fetch']>;

/** The platform's fetch, telling what each call came to. */
function countingFetch(apiUrl: string, onCall: (method: string, outcome: string) => void): FetchLike {
	return async (url, init) => {
		const method = String(url).slice(apiUrl.length).split('?')[0] ?? '';
		try {
			const response = await fetch(url, init as RequestInit);
			onCall(method, response.ok ? 'answered' : String(response.status));
			return response;
		} catch (error) {
			onCall(method, 'no_answer');
			throw error;
		}
	};
}

/** Slack's own code for a refused call (`expired_trigger_id`, `not_found` …), else null. */
export function slackErrorCode(error: unknown): string | null {
	const data = error instanceof Error && 'data' in error ? (error.data as { error?: unknown } | undefined) : undefined;
	return typeof data?.error === 'string' ? data.error : null;
}

/** Seconds to wait when Slack limits our calls, else null. */
export function slackRetryAfter(error: unknown): number | null {
	return error instanceof Error && 'retryAfter' in error && typeof error.retryAfter === 'number'
		? error.retryAfter
		: null;
}

/**
 * Slack's libraries write to our log, warnings and errors only: at debug they print whole payloads, with what people
 * typed in them. What they print of objects is not taken over for the same reason.
 */
export function createSlackLogger(log: Log): Logger {
	const words = (message: unknown[]) =>
		message
			.map((part) => (part instanceof Error ? `${part.name}: ${part.message}` : typeof part === 'string' ? part : ''))
			.filter((part) => part !== '')
			.join(' ')
			.slice(0, 500);
	return {
		debug() {},
		info() {},
		warn: (...message) => log.warn({ from: 'slack' }, words(message)),
		error: (...message) => log.error({ from: 'slack' }, words(message)),
		setLevel() {},
		setName() {},
		getLevel: () => LogLevel.WARN,
	};
}

/** The code that decides what a person is told: one for all failures of Slack's API, else the stable code. */
export function codeOf(error: unknown): string {
	const isSlacks =
		slackErrorCode(error) !== null ||
		(error instanceof Error && 'code' in error && String(error.code).startsWith('slack_webapi_'));
	return isSlacks ? 'slack_unavailable' : stableCodeOf(error);
}

/**
 * Whether a post, as Slack returned it, went into the thread that it named. Where the parent is gone Slack posts into the
 * channel without an error, and only the missing `thread_ts` tells.
 */
export function isThreaded(message: object | undefined): boolean {
	return message === undefined || 'thread_ts' in message;
}
