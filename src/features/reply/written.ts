import { z } from 'zod';
import { slackErrorCode } from '../../slack/clients.ts';
import type { OfferedReply } from '../../slack/ids.ts';
import type { HandlerContext } from '../../slack/listen.ts';
import type { PersonRequest } from '../../slack/request.ts';
import { typedText } from '../../slack/text.ts';

const MESSAGE = z.object({ text: z.string() }).catch({ text: '' });

/** Reads what people wrote. */
export function createWritten({ clients: { people: client }, personReads, botUserId }: HandlerContext) {
	const textOf = (message: unknown) => typedText(MESSAGE.parse(message).text, botUserId);

	return {
		/** Without a mention of the app. */
		textOf,
		mentionsApp(message: unknown) {
			const mentioned = [...MESSAGE.parse(message).text.matchAll(/<@(\w+)/g)];
			return mentioned.some(([, userId]) => userId === botUserId);
		},
		/**
		 * As it is now; empty: deleted. `text` null: the app has no scope to read it, so what was offered is all that is known. Null:
		 * Slack does not tell. @throws `too_fast`: people share the limit of these calls
		 */
		async textNow(request: PersonRequest, { channelId, threadTs, messageTs }: OfferedReply) {
			const tooFast = await personReads.turn(request);
			if (tooFast !== null) throw tooFast;
			const only = { oldest: messageTs, latest: messageTs, inclusive: true, limit: 2 };
			try {
				const { messages } = await client.conversations.replies({ channel: channelId, ts: threadTs, ...only });
				return messages === undefined ? null : { text: textOf(messages.find(({ ts }) => ts === messageTs)) };
			} catch (error) {
				const code = slackErrorCode(error);
				if (code === 'thread_not_found') return { text: '' };
				return code === 'missing_scope' ? { text: null } : null;
			}
		},
	};
}
