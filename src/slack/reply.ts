import type { WebClient } from '@slack/web-api';
import type { MessageContent } from './blocks/message.ts';
import { slackErrorCode } from './clients.ts';
import { isWorthTelling, type TooFastError } from './person-reads.ts';
import type { PersonRequest } from './request.ts';

const REPLY_WITHIN_MS = 5_000;

/**
 * Tells something to one person, only for their eyes: through the request's response_url, where the bot need not be a
 * member; else as an ephemeral message; else in a DM. Slack shows an ephemeral message in a thread only where that has
 * replies, and to nobody who looks at the channel: it goes into the thread of somebody who has just written there, and
 * into the channel for anybody else, as what a response_url brings does.
 */
export function createReply({ client }: { client: WebClient }) {
	/** Bolt's own `respond` has no time-out. */
	async function throughResponseUrl(url: string, content: MessageContent, replace: boolean): Promise<boolean> {
		try {
			const response = await fetch(url, {
				method: 'POST',
				headers: { 'content-type': 'application/json; charset=utf-8' },
				body: JSON.stringify({ ...content, response_type: 'ephemeral', replace_original: replace }),
				signal: AbortSignal.timeout(REPLY_WITHIN_MS),
			});
			// What Slack does not take, it may refuse with status 200 and the error in the body.
			const said = await response.text();
			return response.ok && !/"ok"\s*:\s*false/.test(said);
		} catch {
			return false;
		}
	}

	async function inChannel(request: PersonRequest, content: MessageContent): Promise<boolean> {
		if (request.channelId === null) return false;
		try {
			await client.chat.postEphemeral({
				channel: request.channelId,
				user: request.person.userId,
				...content,
				...(request.wroteInThread && request.threadTs !== null ? { thread_ts: request.threadTs } : {}),
			});
			return true;
		} catch {
			return false;
		}
	}

	async function inDm(request: PersonRequest, content: MessageContent): Promise<boolean> {
		try {
			const { channel } = await client.conversations.open({ users: request.person.userId });
			if (channel?.id === undefined) return false;
			await client.chat.postMessage({ channel: channel.id, ...content });
			return true;
		} catch (error) {
			request.log.warn({ code: slackErrorCode(error) ?? 'no_answer' }, 'a person could not be told anything');
			return false;
		}
	}

	async function toPerson(request: PersonRequest, content: MessageContent): Promise<boolean> {
		if (request.responseUrl !== null && (await throughResponseUrl(request.responseUrl, content, false))) return true;
		return (await inChannel(request, content)) || (await inDm(request, content));
	}

	/** What is still to be told to each person, one after the other. */
	const queues = new Map<string, Promise<unknown>>();

	return {
		/** Only through the response_url; false when Slack did not take it, which is not logged. */
		async tryInPrivate(request: PersonRequest, content: MessageContent): Promise<boolean> {
			return request.responseUrl !== null && throughResponseUrl(request.responseUrl, content, false);
		},
		/** Resolves to false when nothing of it worked; that is logged. */
		toPerson,
		/**
		 * Tells somebody who is too fast, where that is worth it, one at a time for each person: hundreds of replies to one do
		 * not hold up those to others.
		 */
		async slowDown(request: PersonRequest, error: TooFastError, content: MessageContent): Promise<void> {
			if (!isWorthTelling(request, error)) return;
			const { userId } = request.person;
			const told = (queues.get(userId) ?? Promise.resolve()).then(() => toPerson(request, content));
			queues.set(userId, told);
			await told;
			if (queues.get(userId) === told) queues.delete(userId);
		},
		/** Puts something else in the place of the ephemeral message that was acted on. */
		async inPlace(request: PersonRequest, content: MessageContent): Promise<boolean> {
			if (request.responseUrl === null) return false;
			return throughResponseUrl(request.responseUrl, content, true);
		},
	};
}

export type Reply = ReturnType<typeof createReply>;
