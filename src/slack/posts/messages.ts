import { setBounded } from '../../bounded-map.ts';
import { uptimeOf } from '../../clock.ts';
import type { AnnouncementTarget } from '../../watches/announcements.ts';
import type { DueAnnouncement, PreparedPost, SendOutcome } from '../../watches/announcer.ts';
import { type MessageContent, replacement } from '../blocks/parts.ts';
import { isThreaded, slackErrorCode, slackFailure } from '../clients.ts';
import type { PostCore } from './kind.ts';

const EVENT_TYPE = 'handraise_post';

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
const DELETED = new Set(['message_not_found', 'cant_update_message']);
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

/** Writes messages to Slack and reports each outcome in the port's terms. */
export function createMessages({ client, directChannelOf, clock, log }: PostCore) {
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

	/** Runs one call. `threadTs`: the thread that the post names. */
	async function send(
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
	}

	async function channelOf(target: AnnouncementTarget): Promise<string> {
		return target.kind === 'person' ? directChannelOf(target.userId) : target.channelId;
	}

	/** `metadataKey`: by which the message is found again. `isShownInChannel`: a reply is shown in the channel too. */
	function post(
		content: MessageContent,
		target: AnnouncementTarget,
		place: { channel: string; threadTs?: string | null; isShownInChannel?: boolean; metadataKey: string | null },
	): Promise<SendOutcome> {
		const { channel, threadTs = null, isShownInChannel = false, metadataKey: key } = place;
		const message = {
			channel,
			...content,
			...(key !== null && { metadata: { event_type: EVENT_TYPE, event_payload: { key } } }),
		};
		if (threadTs === null) return send(() => client.chat.postMessage(message), target);
		const reply = { ...message, thread_ts: threadTs };
		const shown = { ...reply, reply_broadcast: true };
		return send(() => client.chat.postMessage(isShownInChannel ? shown : reply), target, threadTs);
	}

	return {
		channelOf,
		post,

		/** A post whose call needs nothing more from Slack or the store. */
		async prepare(due: DueAnnouncement, content: MessageContent, isShownInChannel: boolean): Promise<PreparedPost> {
			const { target } = due.announcement;
			const channel = await channelOf(target).catch(outcomeOf);
			const threadTs = threadOf(due);
			return {
				send: async ({ metadataKey }) =>
					typeof channel === 'string'
						? post(content, target, { channel, threadTs, isShownInChannel, metadataKey })
						: channel,
			};
		},

		async update(content: MessageContent, target: AnnouncementTarget, ts: string): Promise<SendOutcome> {
			const update = { ts, ...replacement(content) };
			const outcome = await send(
				async () => client.chat.update({ channel: await channelOf(target), ...update }),
				target,
			);
			return outcome.kind === 'refused' && DELETED.has(outcome.code) ? { kind: 'deleted' } : outcome;
		},

		/** Deletes a post. `refused`: Slack never allows it. */
		async remove({ announcement: { target } }: DueAnnouncement, ts: string) {
			const outcome = await send(async () => client.chat.delete({ channel: await channelOf(target), ts }), target);
			if (outcome.kind === 'sent') return 'removed';
			if (outcome.kind !== 'refused' && outcome.kind !== 'gone') return 'unknown';
			return outcome.kind === 'refused' && outcome.code === 'message_not_found' ? 'removed' : 'refused';
		},

		/** Null when Slack does not tell it. */
		async linkTo(channel: string, ts: string): Promise<string | null> {
			try {
				return (await client.chat.getPermalink({ channel, message_ts: ts })).permalink ?? null;
			} catch (error) {
				log.debug({ code: slackFailure(error).code }, 'Slack did not tell the link of a post');
				return null;
			}
		},
	};
}

export type Messages = ReturnType<typeof createMessages>;

/** Posts of a watch go into its card's thread, and those of a raised hand into the thread of its question. */
export function threadOf({ announcement: { target, content }, watch }: DueAnnouncement): string | null {
	const isRoot = content.kind === (watch?.mode === 'raisedHand' ? 'question' : 'card');
	return target.kind === 'watch' && !isRoot ? (watch?.card.ts ?? null) : null;
}

/** Whether it is the metadata of the post with this key. */
export function isPost(metadata: { event_type?: string; event_payload?: object } | undefined, key: string): boolean {
	return metadata?.event_type === EVENT_TYPE && (metadata.event_payload as { key?: unknown } | undefined)?.key === key;
}

/** What a failed call says of its post. */
function outcomeOf(error: unknown): SendOutcome {
	const { code, retryAfterMs } = slackFailure(error);
	if (retryAfterMs !== null) return { kind: 'later', ms: retryAfterMs, code, limited: true };
	if (code in GONE) return { kind: 'gone', reason: GONE[code as keyof typeof GONE] };
	if (UNCERTAIN.has(code)) return { kind: 'unknown', code };
	if (LATER.has(code)) return { kind: 'later', ms: null, code, limited: false };
	return { kind: 'refused', code };
}
