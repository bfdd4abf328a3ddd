import type { WebClient } from '@slack/web-api';
import type { MessageContent } from './blocks/message.ts';
import { slackErrorCode } from './clients.ts';

/**
 * What became of a post that is for a thread alone. `threadGone`: nothing stands anywhere. `inChannel`: it stands in the
 * open channel, and Slack did not take it away.
 */
export type ThreadPostOutcome = 'posted' | 'threadGone' | 'inChannel';

/**
 * Whether a post, as Slack returned it, went into the thread that it named. Where the parent is gone Slack posts into the
 * channel without an error, and only the missing `thread_ts` tells.
 */
export function isThreaded(message: object | undefined): boolean {
	return message === undefined || 'thread_ts' in message;
}

/**
 * Posts into a thread or nowhere: what somebody meant for a few is not put before a whole channel. Throws Slack's errors;
 * then nothing was posted, unless Slack did not answer.
 */
export async function postToThread(
	client: WebClient,
	{ channel, threadTs, content }: { channel: string; threadTs: string; content: MessageContent },
): Promise<ThreadPostOutcome> {
	// Needs no scope, and finds a parent that is gone before anybody sees the post.
	const isThere = await client.chat.getPermalink({ channel, message_ts: threadTs }).then(() => true, falseWhenGone);
	if (!isThere) return 'threadGone';
	const { ts, message } = await client.chat.postMessage({ channel, ...content, thread_ts: threadTs });
	if (isThreaded(message) || ts === undefined) return 'posted';
	const isDeleted = await client.chat.delete({ channel, ts }).then(
		() => true,
		(error: unknown) => slackErrorCode(error) === 'message_not_found',
	);
	return isDeleted ? 'threadGone' : 'inChannel';
}

/** False for a message that is gone; throws any other error again. */
function falseWhenGone(error: unknown): false {
	if (slackErrorCode(error) !== 'message_not_found') throw error;
	return false;
}
