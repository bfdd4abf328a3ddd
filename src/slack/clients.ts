import { type Logger, LogLevel } from '@slack/bolt';
import { WebClient } from '@slack/web-api';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { HandraiseError, codeOf as stableCodeOf } from '../errors.ts';
import type { Log } from '../log.ts';

/**
 * Two clients, because one 429 pauses a whole WebClient: a limited card update must not delay a modal. `onCall`: after
 * every call; `outcome`: 'answered', the HTTP status of a failure, or 'no_answer'.
 */
export function createSlackClients(
	{ botToken, apiUrl }: Pick<Config['slack'], 'botToken' | 'apiUrl'>,
	log: Log,
	onCall: (method: string, outcome: string) => void,
) {
	const shared = {
		slackApiUrl: apiUrl,
		logger: createSlackLogger(log),
		rejectRateLimitedCalls: true,
		allowAbsoluteUrls: false,
		async fetch(url: string | URL, init?: RequestInit) {
			const method = String(url).slice(apiUrl.length).split('?')[0] ?? '';
			try {
				const response = await fetch(url, init);
				onCall(method, response.ok ? 'answered' : String(response.status));
				return response;
			} catch (error) {
				onCall(method, 'no_answer');
				throw error;
			}
		},
	};
	return {
		/** For people who wait: short time-out, one repeat. */
		people: new WebClient(botToken, {
			...shared,
			timeout: 4_000,
			maxRequestConcurrency: 250,
			retryConfig: { retries: 1, minTimeout: 100, maxTimeout: 200 },
		}),
		/** For work that can wait: longer time-out, no repeats. */
		background: new WebClient(botToken, {
			...shared,
			timeout: 10_000,
			// Checks of late answers' authors take at most 16 of them.
			maxRequestConcurrency: 36,
			// A post may exist although its response was lost.
			retryConfig: { retries: 0 },
		}),
	};
}

export type SlackClients = ReturnType<typeof createSlackClients>;

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

/** False for a post into a thread that is gone: Slack posts into the channel, and only `thread_ts` is missing. */
export function isThreaded(message: object | undefined): boolean {
	return message === undefined || 'thread_ts' in message;
}

const REMEDIES = {
	SLACK_BOT_TOKEN: 'copy the bot token again, or reinstall the app',
	SLACK_APP_TOKEN: 'make an app-level token with connections:write and copy it again',
} as const;

/** The error for a token that Slack does not accept, or that belongs to no bot. `reason`: Slack's code. */
export function tokenRefused(setting: keyof typeof REMEDIES, reason: string): HandraiseError {
	const message = `Slack refuses ${setting} (${reason}): ${REMEDIES[setting]}`;
	return new HandraiseError(message, { code: 'slack_token_refused' });
}

const MAX_PAUSE_MS = 30_000;
/** Failures that say nothing about the token. */
const TEMPORARY = new Set([
	'no_answer',
	'ratelimited',
	'internal_error',
	'fatal_error',
	'service_unavailable',
	'request_timeout',
]);

/** Asks whose the token is, until Slack is reached. @throws `slack_token_refused`, `organisation_install` */
export async function identify(
	client: WebClient,
	{ clock, log, signal }: { clock: Clock; log: Log; signal: AbortSignal },
) {
	for (let tries = 1; ; tries++) {
		signal.throwIfAborted();
		const self = await client.auth.test().catch((error: unknown) => {
			const { code } = slackFailure(error);
			if (!TEMPORARY.has(code)) throw tokenRefused('SLACK_BOT_TOKEN', code);
			log.warn({ code, tries }, 'Slack cannot be reached yet; trying again');
			return null;
		});
		if (self === null) {
			await clock.sleep(Math.min(500 * 2 ** Math.min(tries, 10), MAX_PAUSE_MS), signal);
			continue;
		}
		if (self.user_id === undefined) throw tokenRefused('SLACK_BOT_TOKEN', 'not a bot');
		if (self.is_enterprise_install === true || self.team_id === undefined) {
			throw new HandraiseError(
				'The app is installed for a whole Enterprise Grid organisation, which is not supported yet: install it in one workspace and set that bot token as SLACK_BOT_TOKEN',
				{ code: 'organisation_install' },
			);
		}
		return {
			teamId: self.team_id,
			enterpriseId: self.enterprise_id ?? null,
			/** Null when Slack leaves it out. */
			botId: self.bot_id ?? null,
			botUserId: self.user_id,
		};
	}
}

export type Identity = Readonly<Awaited<ReturnType<typeof identify>>>;
