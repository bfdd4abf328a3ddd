import { type Logger, LogLevel } from '@slack/bolt';
import { WebClient } from '@slack/web-api';
import { z } from 'zod';
import { type Clock, MINUTE_MS } from '../kernel/clock.ts';
import { codeOf, HandraiseError } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import { createCache } from '../kernel/memory.ts';
import { backOff, LEAST_RETRY_AFTER_MS } from '../kernel/retries.ts';
import { parseOrNull } from '../kernel/values.ts';
import { createTokenCheck } from './token-check.ts';

/** For the question whether Slack takes the token. */
const AUTH_WITHIN_MS = 4_000;
/** No refusal of a token is longer. Longer responses are not read for one. */
const LONGEST_REFUSAL = 2_000;

/**
 * Makes two clients: they differ in time-outs and repeats, and each has its own room, so that background calls which
 * wait for Slack never delay those of people.
 */
export function createSlackClients(
	/** `botToken`: the token as it is now. */
	{ apiUrl, botToken }: { readonly apiUrl: string; readonly botToken: () => string },
	{ clock, log }: { readonly clock: Clock; readonly log: Log },
	/** Is called after every call. `outcome`: 'answered', the HTTP status of a failure, or 'no_answer'. */
	onCall: (call: { readonly method: string; readonly outcome: string }) => void,
) {
	/** Slack's time in its last response, and the process's monotonic time then. */
	let heard: { readonly at: number; readonly uptime: number } | null = null;
	const bearing = (token: string) => ({ Authorization: `Bearer ${token}` });
	const askAuth = async (token: string) => {
		const signal = AbortSignal.timeout(AUTH_WITHIN_MS);
		const response = await fetch(`${apiUrl}auth.test`, { method: 'POST', headers: bearing(token), signal });
		return AUTH.parse(await response.json());
	};
	const tokenCheck = createTokenCheck((token) => askAuth(token).catch(() => undefined), { botToken, clock, log });
	const shared = {
		slackApiUrl: apiUrl,
		logger: createSlackLogger(log),
		rejectRateLimitedCalls: true,
		allowAbsoluteUrls: false,
		async fetch(url: string | URL, init?: RequestInit) {
			const method = String(url).slice(apiUrl.length).split('?')[0] ?? '';
			const send = (token: string) =>
				fetch(url, { ...init, headers: { ...(init?.headers as object), ...bearing(token) } });
			const refusal = await tokenCheck.refusal();
			if (refusal !== null) return Response.json({ ok: false, error: refusal });
			try {
				const token = botToken();
				let response = await send(token);
				if (await refusesToken(response.clone())) {
					// A refused token did nothing, so the call is repeated if the token's file has changed meanwhile.
					if (botToken() !== token) response = await send(botToken());
					else await tokenCheck.check();
				}
				onCall({ method, outcome: response.ok ? 'answered' : String(response.status) });
				const at = Date.parse(response.headers.get('date') ?? '');
				if (at > 0) heard = { at, uptime: performance.now() };
				if (response.status !== 429 || Number.parseInt(response.headers.get('retry-after') ?? '', 10) >= 0)
					return response;
				// A 429 without seconds, as from a proxy, would make the client throw as if the call may have been done.
				return new Response(response.body, { status: response.status, headers: { 'retry-after': '10' } });
			} catch (error) {
				onCall({ method, outcome: 'no_answer' });
				throw error;
			}
		},
	};
	return {
		/** Slack's time in milliseconds, by the `Date` of its last response; null before. */
		slackNow: () => heard && heard.at + performance.now() - heard.uptime,
		/** Slack's code while it refuses the bot token, else null. */
		tokenRefusal: tokenCheck.known,
		/** Asks Slack whether it takes the bot token. */
		checkToken: tokenCheck.check,
		/** For people who wait: short time-out, one repeat. */
		people: new WebClient(undefined, {
			...shared,
			timeout: 4_000,
			maxRequestConcurrency: 250,
			retryConfig: { retries: 1, minTimeout: 100, maxTimeout: 200 },
		}),
		/** For work that can wait: longer time-out, no repeats. */
		background: new WebClient(undefined, {
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

/**
 * Slack's code for a refused call (`not_found` …), else null. The client may take the text of an HTML page for a code.
 */
export function slackErrorCode(error: unknown): string | null {
	const data = error instanceof Error && 'data' in error ? (error.data as { error?: unknown } | undefined) : undefined;
	return typeof data?.error === 'string' && /^\w{1,80}$/.test(data.error) ? data.error : null;
}

/** The link to a message; undefined where Slack does not tell it. */
export const linkOf = ({ chat }: WebClient, channel: string, message_ts: string): Promise<string | undefined> =>
	chat.getPermalink({ channel, message_ts }).then(
		({ permalink }) => permalink,
		() => undefined,
	);

/** Slack's codes for a user group that is there no more. */
const GONE_GROUP: readonly unknown[] = ['no_such_subteam', 'subteam_not_found'];
export const isGoneGroup = (error: unknown) => GONE_GROUP.includes(slackErrorCode(error));

/** Why a call failed: `ratelimited` with the time to wait (at least a second), Slack's code, or `no_answer`. */
export function slackFailure(error: unknown): { readonly code: string; readonly retryAfterMs: number | null } {
	if (error instanceof Error && 'retryAfter' in error && typeof error.retryAfter === 'number')
		return { code: 'ratelimited', retryAfterMs: Math.max(error.retryAfter * 1_000, LEAST_RETRY_AFTER_MS) };
	return { code: slackErrorCode(error) ?? 'no_answer', retryAfterMs: null };
}

/** Codes after which the call may have succeeded: Slack failed or did not respond. */
const UNCERTAIN = new Set(['no_answer', 'internal_error', 'fatal_error', 'service_unavailable', 'request_timeout']);
const LIMITED = new Set(['ratelimited', 'rate_limited']);
/** Codes while a workspace or a channel moves to an organisation. */
const MIGRATING = ['team_added_to_org', 'org_login_required', 'external_channel_migrating'];
const PASSING = new Set([...LIMITED, ...MIGRATING, 'message_limit_exceeded']);
/** Slack refuses our token, so even `account_inactive` says nothing about a person. */
const TOKEN_REFUSED = ['invalid_auth', 'not_authed', 'token_revoked', 'token_expired', 'account_inactive'] as const;
const REFUSAL = z.object({ error: z.enum(TOKEN_REFUSED) });
/** Slack's code for a refused token; null: it takes the token. Any other answer tells neither. */
const AUTH = z
	.union([REFUSAL, z.object({ ok: z.literal(true) })])
	.transform((told) => ('error' in told ? told.error : null));
const NO_ACCESS = ['missing_scope', 'team_access_not_granted', 'accesslimited', 'ekm_access_denied'];

async function refusesToken(response: Response): Promise<boolean> {
	const text = await response.text().catch(() => '');
	if (text.length > LONGEST_REFUSAL) return false;
	return parseOrNull(REFUSAL, text) !== null;
}

/** Codes after which a repeat succeeds, once the state has passed or somebody has repaired the token or the access. */
const LATER = new Set([...PASSING, ...TOKEN_REFUSED, ...NO_ACCESS]);

/**
 * What a failed call means. `later`: nothing was done; `ms` is the wait that Slack asks for, `limited`: its rate was
 * hit. `unknown`: it may have been done. `refused`: it would be refused again, as far as the code tells.
 */
export function slackOutcome(error: unknown) {
	const { code, retryAfterMs: ms } = slackFailure(error);
	if (LATER.has(code)) return { kind: 'later', ms, code, limited: LIMITED.has(code) } as const;
	return { kind: UNCERTAIN.has(code) ? 'unknown' : 'refused', code } as const;
}

/** Logs warnings and errors of Slack's libraries, without objects: these hold what people typed. */
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
		warn: (...message) => log.warn('slack_library', { said: textOf(message) }),
		error: (...message) => log.error('slack_library', { said: textOf(message) }),
		setLevel() {},
		setName() {},
		getLevel: () => LogLevel.WARN,
	};
}

/** The stable code of what was thrown; `slack_unavailable` for failures of Slack's API. A code stands for itself. */
export function slackCodeOf(error: unknown): string {
	if (typeof error === 'string') return error;
	const isFromSlack =
		slackErrorCode(error) !== null ||
		(error instanceof Error && 'code' in error && String(error.code).startsWith('slack_webapi_'));
	return isFromSlack ? 'slack_unavailable' : codeOf(error);
}

/** Slack's `event_type` in the metadata of posts. By it and the key, a post of ours is found again. */
export const POST_METADATA_TYPE = 'handraise_post';
export const postMetadata = (key: string) => ({ event_type: POST_METADATA_TYPE, event_payload: { key } });

/** False for a post into a thread that is gone: Slack posts it into the channel, without `thread_ts`. */
export const isThreaded = (message: object | undefined) => message === undefined || 'thread_ts' in message;

const REMEDIES = {
	SLACK_BOT_TOKEN: 'copy the bot token again, or reinstall the app',
	SLACK_APP_TOKEN: 'make an app-level token with connections:write and copy it again',
} as const;

/** The error for a token that Slack refuses, or of no bot. `reason`: Slack's code. */
export function tokenRefused(setting: keyof typeof REMEDIES, reason: string): HandraiseError {
	const message = `Slack refuses ${setting} (${reason}): ${REMEDIES[setting]}`;
	return new HandraiseError(message, { code: 'slack_token_refused' });
}

/** The pause in ms before a connection is tried again. After a `refused` token, somebody has to do something. */
export const pauseAfter = (failures: number, refused = false) =>
	backOff(failures + 1, { firstMs: 500, longestMs: refused ? 5 * MINUTE_MS : 30_000 });

/** Whether a failure passes by itself, so that it says nothing about the token. */
export const isTemporary = (code: string) => PASSING.has(code) || UNCERTAIN.has(code);

/** Asks whose the token is, until Slack is reached. @throws `slack_token_refused`, `organisation_install` */
export async function identify(
	client: WebClient,
	{ clock, log, signal }: { clock: Clock; log: Log; signal: AbortSignal },
) {
	for (let tries = 1; ; tries++) {
		signal.throwIfAborted();
		const self = await client.auth.test().catch(async (error: unknown) => {
			const { code } = slackFailure(error);
			if (!isTemporary(code)) throw tokenRefused('SLACK_BOT_TOKEN', code);
			log.warn('slack_unreachable', { code, tries });
			await clock.sleep(pauseAfter(tries), signal);
			return null;
		});
		if (self === null) continue;
		if (self.user_id === undefined) throw tokenRefused('SLACK_BOT_TOKEN', 'not a bot');
		if (self.is_enterprise_install === true || self.team_id === undefined)
			throw new HandraiseError(
				'The app is installed for a whole Enterprise Grid organisation, which is not supported yet: install it ' +
					'in one workspace and set that bot token as SLACK_BOT_TOKEN',
				{ code: 'organisation_install' },
			);
		return {
			teamId: self.team_id,
			/** Null for a workspace that belongs to no organisation. */
			enterpriseId: self.enterprise_id ?? null,
			/** Null when Slack leaves it out. */
			botId: self.bot_id ?? null,
			botUserId: self.user_id,
		};
	}
}

export type Identity = Readonly<Awaited<ReturnType<typeof identify>>>;

/** Where the app is installed. Slack tells it once after the start; before that it is not known. */
export function createInstallation() {
	let known: Identity | null = null;
	return {
		learn(identity: Identity): void {
			known = identity;
		},
		known: () => known,
		/** Throws before it is known. */
		identity(): Identity {
			if (known === null) throw new Error('Slack has not told yet where the app is installed');
			return known;
		},
	};
}

export type Installation = ReturnType<typeof createInstallation>;

/** Looks up direct messages, once for each person: Slack allows about 50 `conversations.open` a minute in all. */
export function createDirectChannels(client: WebClient, clock: Clock) {
	const ask = async (userId: string) => {
		const { channel } = await client.conversations.open({ users: userId });
		if (channel?.id === undefined) throw new Error('Slack returned no direct message');
		return channel.id;
	};
	const ids = createCache(clock, ask);
	// The id never changes.
	return (userId: string) => ids.get(userId, Number.POSITIVE_INFINITY);
}

/**
 * Posts to the response_url of an interaction. `refused`: Slack did not take it; `unknown`: it did not respond within
 * `withinMs`, or the connection broke. Bolt's `respond` has one time-out for all calls (`clientOptions.fetch`): a
 * replacement that was given up could then arrive after the update that follows it. Nor does it read the response.
 */
export async function respond(responseUrl: string, body: object, withinMs: number) {
	try {
		const response = await fetch(responseUrl, {
			method: 'POST',
			headers: { 'content-type': 'application/json; charset=utf-8' },
			body: JSON.stringify(body),
			signal: AbortSignal.timeout(withinMs),
		});
		// Slack may refuse a message with status 200 and the error in the body.
		const text = await response.text();
		return response.ok && !/"ok"\s*:\s*false/.test(text) ? 'ok' : 'refused';
	} catch {
		return 'unknown';
	}
}
