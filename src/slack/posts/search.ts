import { setBounded } from '../../bounded-map.ts';
import type { Announcer } from '../../watches/announcer.ts';
import { slackErrorCode, slackFailure } from '../clients.ts';
import type { PostCore } from './kind.ts';
import { isPost, type Messages, threadOf } from './messages.ts';

/** Messages to ask for in one page of history. Slack may return fewer: 15 for some apps. */
const PAGE_SIZE = 100;
/** Calls of one search, including those that Slack limits. After that it is unknown whether the post exists. */
const MAX_CALLS = 10;
/** No further page is requested after this time: a call takes up to 10 s, and the announcement is leased for 25 s. */
const SEARCH_MS = 5_000;
/** Unfinished searches that are remembered. */
const MAX_SEARCHES = 100;

/** The progress of a search through the history. */
interface Search {
	/** False while the thread is searched; the channel comes after it. */
	readonly inChannel: boolean;
	/** Of the next page; null for the first. */
	readonly cursor: string | null;
	readonly callCount: number;
}

interface HistoryPage extends Pick<Search, 'cursor'> {
	readonly channel: string;
	readonly threadTs: string | null;
	readonly since: number;
}

/** Finds a post again whose call may have reached Slack; see the port. */
export function createPostSearch(
	{ client, clock }: PostCore,
	{ channelOf }: Pick<Messages, 'channelOf'>,
): Announcer['find'] {
	/** Searches that continue later, by the metadata key of the post and the time from which it is searched. */
	const searches = new Map<string, Search>();

	/** A page of messages: newest first in a channel, oldest first in the thread `threadTs`. */
	async function historyPage({ channel, threadTs, since, cursor }: HistoryPage) {
		const page = {
			channel,
			oldest: (since / 1000).toFixed(6),
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

	return async function find(due, { metadataKey, since, signal }) {
		const key = `${metadataKey} ${since}`;
		const endsAt = clock.now() + SEARCH_MS;
		const threadTs = threadOf(due);
		const start: Search = { inChannel: threadTs === null, cursor: null, callCount: 0 };
		let { inChannel, cursor, callCount } = searches.get(key) ?? start;
		const remember = () => setBounded(searches, key, { inChannel, cursor, callCount }, MAX_SEARCHES);
		try {
			const channel = await channelOf(due.announcement.target);
			while (callCount < MAX_CALLS) {
				if (signal.aborted || clock.now() > endsAt) {
					remember();
					return { kind: 'later', ms: 0 };
				}
				callCount += 1;
				const page = await historyPage({ channel, threadTs: inChannel ? null : threadTs, since, cursor });
				const found = page.messages?.find(({ metadata }) => isPost(metadata, metadataKey));
				if (found?.ts !== undefined) return { kind: 'found', ts: found.ts, threaded: isReply(found) };
				cursor = page.response_metadata?.next_cursor || null;
				if (cursor !== null) continue;
				if (page.has_more === true) return { kind: 'unreadable' };
				if (inChannel) return { kind: 'absent' };
				// If the card was deleted before the post, Slack put the post into the channel.
				inChannel = true;
			}
		} catch (error) {
			const { retryAfterMs } = slackFailure(error);
			// No scope for history (it is optional), or Slack does not respond: a marked repeat is better than a gap.
			if (retryAfterMs === null) return { kind: 'unreadable' };
			remember();
			return { kind: 'later', ms: retryAfterMs };
		}
		// A second search for the same attempt has to return the same.
		remember();
		return { kind: 'unreadable' };
	};
}

/** The first message of a thread carries its own `ts` as `thread_ts`. */
function isReply({ ts, thread_ts: threadTs }: { ts?: string; thread_ts?: string }): boolean {
	return threadTs !== undefined && threadTs !== ts;
}
