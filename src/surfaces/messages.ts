import { MINUTE_MS, uptimeOf } from '../kernel/clock.ts';
import { setBounded } from '../kernel/memory.ts';
import { type MessageContent, replacement, textMessage } from '../slack/blocks.ts';
import {
	isThreaded,
	linkOf,
	POST_METADATA_TYPE,
	postMetadata,
	respond,
	slackErrorCode,
	slackOutcome,
} from '../slack/clients.ts';
import { repeatWords } from '../slack/phrases.ts';
import type { SlackCore } from '../slack/slack-core.ts';
import { type DuePost, kindOf, type Post, type PostTarget, type SendOutcome } from './post.ts';

/** The longest wait for a `response_url`. After that, `chat.update` shows what was chosen. */
const REPLACE_WITHIN_MS = 1_000;

/** A channel counts as gone after Slack has said for this long that it does not exist. */
const MISSING_MS = 60_000;
const MAX_MISSING = 1_000;
/** Codes of `conversations.info` for a channel that is gone. The app has no scope to ask about a direct message. */
const MISSING = new Set(['channel_not_found', 'missing_scope']);

/** Codes after which a channel takes no posts any more. */
const GONE_CODES = {
	is_archived: 'channelArchived',
	// The error for an update in an archived channel.
	is_inactive: 'channelArchived',
	channel_not_found: 'channelGone',
	not_in_channel: 'botRemoved',
} as const;
/** Codes for an update of a deleted message. Slack replaces one with replies by a message of its own. */
const DELETED = new Set(['message_not_found', 'cant_update_message']);
/** Messages to ask for in one page of history. Slack may return fewer: 15 for some apps. */
const PAGE_SIZE = 100;
/** The calls of one search, rate-limited ones included. After these it is unknown whether the post exists. */
const MAX_CALLS = 10;
/** No further page is requested after this time: a call takes up to 10 s, and the post is leased for 25 s. */
const SEARCH_MS = 5_000;
const MAX_SEARCHES = 100;

interface Search {
	/** What is still to be searched: threads, and null for the channel. */
	places: readonly (string | null)[];
	/** By Slack's clock, in milliseconds. */
	readonly oldest: number;
	cursor: string | null;
	callCount: number;
}

/** Writes messages to Slack, finds them again, and reports what became of each call. */
export function createMessages({ clients, directChannelOf, clock, log }: SlackCore) {
	const { background: client } = clients;
	/** By channel, the uptime of the first refusal with `channel_not_found`. */
	const missingSince = new Map<string, number>();
	/** Searches that continue later, by the id of the post and the time of its attempt. */
	const searches = new Map<string, Search>();

	/**
	 * Whether a channel is gone. A single `channel_not_found` may be an error of Slack, so it has to last and be
	 * confirmed.
	 */
	async function isGone(channel: string): Promise<boolean> {
		const now = uptimeOf(clock);
		const since = missingSince.get(channel);
		if (since === undefined) setBounded(missingSince, channel, now, MAX_MISSING);
		if (since === undefined || now - since < MISSING_MS) return false;
		// One call is enough for all posts of the channel.
		setBounded(missingSince, channel, now, MAX_MISSING);
		const code = await client.conversations.info({ channel }).then(() => null, slackErrorCode);
		return MISSING.has(code ?? '');
	}

	async function send(
		call: () => Promise<{ ts?: string; message?: object }>,
		target: PostTarget,
		threadTs: string | null = null,
	): Promise<SendOutcome> {
		try {
			const { ts, message } = await call();
			if (target.kind !== 'person') missingSince.delete(target.channelId);
			if (ts === undefined) return { kind: 'unknown', code: 'no_ts' };
			return { kind: 'sent', ts, ...(threadTs !== null && !isThreaded(message) && { lostThread: threadTs }) };
		} catch (error) {
			const outcome = outcomeOf(error, target);
			log.debug({ outcome }, 'Slack did not accept a post');
			const mayEnd = outcome.kind === 'gone' && outcome.reason === 'channelGone' && target.kind !== 'person';
			if (!mayEnd || (await isGone(target.channelId))) return outcome;
			return { kind: 'later', ms: null, code: 'channel_not_found', limited: false };
		}
	}

	async function channelOf(target: PostTarget): Promise<string> {
		return target.kind === 'person' ? directChannelOf(target.userId) : target.channelId;
	}

	/** A page of messages of the first place: newest first in a channel, oldest first in a thread. */
	async function historyPage(channel: string, { places: [threadTs = null], cursor, oldest }: Search) {
		const page = {
			channel,
			oldest: (oldest / 1000).toFixed(6),
			limit: PAGE_SIZE,
			include_all_metadata: true,
			...(cursor !== null && { cursor }),
		};
		if (threadTs === null) return client.conversations.history(page);
		return client.conversations.replies({ ...page, ts: threadTs }).catch((error: unknown) => {
			if (slackErrorCode(error) !== 'thread_not_found') throw error;
			return { messages: [], has_more: false, response_metadata: { next_cursor: '' } };
		});
	}

	return {
		/** Prepares the call that sends or updates a post, so that nothing slow comes between `beginAttempt` and it. */
		async prepare(due: DuePost, content: MessageContent): Promise<() => Promise<SendOutcome>> {
			const { id, target, ts } = due.post;
			const channel = await channelOf(target).catch((error: unknown) => outcomeOf(error, target));
			if (typeof channel !== 'string') return async () => channel;
			if (ts !== null) {
				const update = { channel, ts, ...replacement(content) };
				return async () => {
					const outcome = await send(() => client.chat.update(update), target);
					return outcome.kind === 'refused' && DELETED.has(outcome.code) ? { kind: 'deleted' } : outcome;
				};
			}
			const threadTs = threadOf(due);
			const message = {
				channel,
				...content,
				metadata: postMetadata(id),
				...(threadTs !== null && { thread_ts: threadTs }),
			};
			return () => send(() => client.chat.postMessage(message), target, threadTs);
		},

		/** Replaces a message by the `response_url` of a press, which has no rate limit. `later`: Slack did not take it. */
		async replace(responseUrl: string, ts: string, content: MessageContent): Promise<SendOutcome> {
			const outcome = await respond(responseUrl, { ...content, replace_original: true }, REPLACE_WITHIN_MS);
			if (outcome === 'ok') return { kind: 'sent', ts };
			if (outcome === 'unknown') return { kind: 'unknown', code: 'no_response' };
			return { kind: 'later', ms: null, code: 'not_replaced', limited: false };
		},

		/**
		 * Has a pressed repeat link to the post that is kept current. `ts` null: there is none, so the repeat is deleted.
		 */
		async replaceRepeat(responseUrl: string, { channel, ts }: { channel: string; ts: string | null }): Promise<void> {
			if (ts === null) return void (await respond(responseUrl, { delete_original: true }, REPLACE_WITHIN_MS));
			const words = repeatWords(await linkOf(clients.people, channel, ts));
			await respond(responseUrl, { ...textMessage(words), replace_original: true }, REPLACE_WITHIN_MS);
		},

		/**
		 * Searches history for a post, by the metadata of its message, from the attempt at `sentAt` on. `unreadable`: it is
		 * unknown whether the post exists. `later`: the search goes on with the next call.
		 */
		async find(
			{ id, target }: Pick<Post, 'id' | 'target'>,
			places: Search['places'],
			sentAt: number,
			signal: AbortSignal,
		) {
			const key = `${id} ${sentAt}`;
			const now = clock.now();
			// By Slack's clock, which may be minutes away from ours. The minute covers the time of a call and of rounding.
			const oldest = (clients.slackNow() ?? now) - (now - sentAt) - MINUTE_MS;
			const endsAt = now + SEARCH_MS;
			const search = searches.get(key) ?? { places, oldest, cursor: null, callCount: 0 };
			searches.delete(key);
			const remember = () => setBounded(searches, key, search, MAX_SEARCHES);
			try {
				const channel = await channelOf(target);
				while (search.callCount < MAX_CALLS) {
					if (signal.aborted || clock.now() > endsAt) {
						remember();
						return { kind: 'later', ms: 0 } as const;
					}
					search.callCount += 1;
					const page = await historyPage(channel, search);
					const found = page.messages?.find(
						({ metadata: about }) => about?.event_type === POST_METADATA_TYPE && Object(about.event_payload).key === id,
					);
					if (found?.ts !== undefined) return { kind: 'found', ts: found.ts } as const;
					search.cursor = page.response_metadata?.next_cursor || null;
					if (search.cursor !== null) continue;
					if (page.has_more === true) return { kind: 'unreadable' } as const;
					search.places = search.places.slice(1);
					if (search.places.length === 0) return { kind: 'absent' } as const;
				}
			} catch (error) {
				const outcome = slackOutcome(error);
				// No scope for history (it is optional), or Slack does not respond: a marked repeat is better than a gap.
				if (outcome.kind !== 'later' || !outcome.limited) return { kind: 'unreadable' } as const;
				remember();
				return { kind: 'later', ms: outcome.ms } as const;
			}
			// A second search for the same attempt has to return the same.
			remember();
			return { kind: 'unreadable' } as const;
		},
	};
}

/** The thread that a first post goes into; null: the channel, or a direct message. */
function threadOf({ post: { target, content }, threadTs }: DuePost): string | null {
	return target.kind === 'watch' && kindOf(content).thread !== undefined ? threadTs : null;
}

/** Where attempts may have put a first post: its thread, its former one, or the channel if the thread was deleted. */
export function placesOf(due: DuePost): readonly (string | null)[] {
	return [...new Set([threadOf(due), threadOf({ ...due, threadTs: due.formerThreadTs }), null])];
}

function outcomeOf(error: unknown, target: PostTarget): SendOutcome {
	const outcome = slackOutcome(error);
	// `gone` ends what a channel follows. A person follows nothing.
	if (outcome.code in GONE_CODES && target.kind !== 'person')
		return { kind: 'gone', reason: GONE_CODES[outcome.code as keyof typeof GONE_CODES] };
	return outcome;
}
