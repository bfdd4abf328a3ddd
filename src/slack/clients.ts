import { type Logger, LogLevel } from '@slack/bolt';
import { WebClient } from '@slack/web-api';
import { codeOf as stableCodeOf } from '../errors.ts';
import type { Log } from '../log.ts';

export interface SlackClients {
	/** For people who wait: short time-out, one repeat. */
	readonly people: WebClient;
	/** For work that can wait: longer time-out, no repeats. */
	readonly background: WebClient;
}

type OnCall = (method: string, outcome: string) => void;

interface SlackClientOptions {
	readonly token: string;
	/** Ends in `/api/`. */
	readonly apiUrl: string;
	readonly log: Log;
	/** Called after every call. `outcome`: 'answered', the HTTP status of a failure, or 'no_answer'. */
	readonly onCall: OnCall;
}

/**
 * Creates two clients, because one 429 pauses a whole WebClient: a limited card update must not delay a modal. A rate limit
 * is an error that says when to try again. The library's defaults are no time-out and ten repeats in half an hour.
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
			// Checks of late answers' authors take at most 16 of them.
			maxRequestConcurrency: 36,
			// A post may exist although its response was lost.
			retryConfig: { retries: 0 },
		}),
	};
}

type FetchLike = NonNullable<NonNullable<ConstructorParameters<typeof WebClient>[1]>['fetch']>;

function countingFetch(apiUrl: string, onCall: OnCall): FetchLike {
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

/** Slack's code for a refused call (`expired_trigger_id`, `not_found` …), else null. */
export function slackErrorCode(error: unknown): string | null {
	const data = error instanceof Error && 'data' in error ? (error.data as { error?: unknown } | undefined) : undefined;
	return typeof data?.error === 'string' ? data.error : null;
}

/** How long to wait when Slack limits our calls, else null. */
export function slackRetryAfterMs(error: unknown): number | null {
	const isLimited = error instanceof Error && 'retryAfter' in error && typeof error.retryAfter === 'number';
	return isLimited ? Number(error.retryAfter) * 1_000 : null;
}

/** Why a call failed: `ratelimited` with the time to wait, Slack's code, or `no_answer`. */
export function slackFailure(error: unknown): { readonly code: string; readonly retryAfterMs: number | null } {
	const retryAfterMs = slackRetryAfterMs(error);
	return { code: retryAfterMs === null ? (slackErrorCode(error) ?? 'no_answer') : 'ratelimited', retryAfterMs };
}

/**
 * Writes warnings and errors of Slack's libraries to our log. At debug level they print whole payloads, which hold what
 * people typed; objects in their messages are left out for the same reason.
 */
export function createSlackLogger(log: Log): Logger {
	const textOf = (message: unknown[]) =>
		message
			.map((part) => (part instanceof Error ? `${part.name}: ${part.message}` : typeof part === 'string' ? part : ''))
			.filter((part) => part !== '')
			.join(' ')
			.slice(0, 500);
	return {
		debug() {},
		info() {},
		warn: (...message) => log.warn({ from: 'slack' }, textOf(message)),
		error: (...message) => log.error({ from: 'slack' }, textOf(message)),
		setLevel() {},
		setName() {},
		getLevel: () => LogLevel.WARN,
	};
}

/** The stable code of an error; `slack_unavailable` for all failures of Slack's API. */
export function codeOf(error: unknown): string {
	const isFromSlack =
		slackErrorCode(error) !== null ||
		(error instanceof Error && 'code' in error && String(error.code).startsWith('slack_webapi_'));
	return isFromSlack ? 'slack_unavailable' : stableCodeOf(error);
}

/**
 * Whether a post, as Slack returned it, went into the thread that it named. If the thread is gone, Slack posts into the
 * channel without an error, and only `thread_ts` is missing.
 */
export function isThreaded(message: object | undefined): boolean {
	return message === undefined || 'thread_ts' in message;
}
