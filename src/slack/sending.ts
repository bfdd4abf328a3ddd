import type { WebClient } from '@slack/web-api';
import { setBounded } from '../bounded-map.ts';
import { type Clock, uptimeOf } from '../clock.ts';
import type { Log } from '../log.ts';
import type { AnnouncementTarget } from '../watches/announcements.ts';
import type { SendOutcome } from '../watches/announcer.ts';
import { isThreaded, slackErrorCode, slackFailure } from './clients.ts';

/** How long Slack has to say that a channel does not exist until that is believed. */
const MISSING_MS = 60_000;
const MAX_MISSING = 1_000;
/** What `conversations.info` says of it then; the app has no scope to ask about a direct message. */
const MISSING = new Set(['channel_not_found', 'missing_scope']);

/** Nothing was written, and no repeat will succeed. */
const GONE = {
	is_archived: 'channelArchived',
	// The error for an update in an archived channel.
	is_inactive: 'channelArchived',
	channel_not_found: 'channelGone',
	not_in_channel: 'botRemoved',
} as const;
/**
 * The errors for an update of a deleted message. In the place of a deleted message that has replies, Slack leaves one of
 * its own, which apps cannot update.
 */
export const DELETED = new Set(['message_not_found', 'cant_update_message']);
/** Slack failed or did not respond: the message may have been written. */
const UNCERTAIN = new Set(['no_answer', 'internal_error', 'fatal_error', 'service_unavailable', 'request_timeout']);
/** The message is valid. An administrator repairs the app's access, or the limit ends; then a repeat succeeds. */
const LATER = new Set([
	'invalid_auth',
	'not_authed',
	'token_revoked',
	'account_inactive',
	'missing_scope',
	'ratelimited',
]);

/** Returns what runs a call that writes to Slack. */
export function createSending({ client, clock, log }: { client: WebClient; clock: Clock; log: Log }) {
	/** By channel, the uptime of the first of the refusals with `channel_not_found`. */
	const missingSince = new Map<string, number>();

	/** Whether Slack still does not find a channel after a minute, also when asked for it: one such code may be an error. */
	async function isGone(channel: string): Promise<boolean> {
		const now = uptimeOf(clock);
		const since = missingSince.get(channel);
		if (since === undefined) setBounded(missingSince, channel, now, MAX_MISSING);
		if (since === undefined || now - since < MISSING_MS) return false;
		const code = await client.conversations.info({ channel }).then(() => null, slackErrorCode);
		return MISSING.has(code ?? '');
	}

	/** Runs one call and returns its outcome in the port's terms. `threadTs`: the thread that the post names. */
	return async function send(
		call: () => Promise<{ ts?: string; message?: object }>,
		target: AnnouncementTarget,
		threadTs: string | null = null,
	): Promise<SendOutcome> {
		try {
			const { ts, message } = await call();
			if (target.kind !== 'person') missingSince.delete(target.channelId);
			if (ts === undefined) return { kind: 'unknown', code: 'no_ts' };
			return threadTs === null || isThreaded(message) ? { kind: 'sent', ts } : { kind: 'unthreaded', ts };
		} catch (error) {
			const outcome = outcomeOf(error);
			log.debug({ outcome }, 'Slack did not accept a post');
			const mayEnd = outcome.kind === 'gone' && outcome.reason === 'channelGone' && target.kind !== 'person';
			if (!mayEnd || (await isGone(target.channelId))) return outcome;
			return { kind: 'later', ms: null, code: 'channel_not_found', limited: false };
		}
	};
}

/** What a failed call says of its post. */
export function outcomeOf(error: unknown): SendOutcome {
	const { code, retryAfterMs } = slackFailure(error);
	if (retryAfterMs !== null) return { kind: 'later', ms: retryAfterMs, code, limited: true };
	if (code in GONE) return { kind: 'gone', reason: GONE[code as keyof typeof GONE] };
	if (UNCERTAIN.has(code)) return { kind: 'unknown', code };
	if (LATER.has(code)) return { kind: 'later', ms: null, code, limited: false };
	return { kind: 'refused', code };
}
