import { WebClient } from '@slack/web-api';
import type { Log } from '../log.ts';
import { createSlackLogger } from './slack-logger.ts';

export interface SlackClients {
	/** For a person who waits: a short time-out, one repeat, nothing queued behind a rate limit. */
	readonly people: WebClient;
	/** For everything that can wait: a rate limit is an error that carries when to try again. */
	readonly background: WebClient;
}

export interface SlackClientOptions {
	readonly token: string;
	/** Ends in `/api/`. */
	readonly apiUrl: string;
	readonly log: Log;
	/** Hears of every call: its method and Slack's error code, 'ok', or how it failed. */
	readonly onCall?: (method: string, outcome: string) => void;
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
		...(onCall === undefined ? {} : { fetch: countingFetch(apiUrl, onCall) }),
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
