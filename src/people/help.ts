import { z } from 'zod';
import { helpMessage } from '../screens/help.ts';
import type { HandlerContext } from '../slack/context.ts';
import { ACTIONS } from '../slack/ids.ts';
import { forAnybody } from '../slack/request.ts';

const DIRECT_MESSAGE_EVENT = z.object({
	channel: z.string(),
	channel_type: z.literal('im'),
	/** Edits, joins and our own posts have other subtypes. */
	subtype: z.literal(['file_share', 'thread_broadcast']).nullish(),
});

/** Registers *More* of the help, and the reply to direct messages. */
export function registerHelp({ listen, personReads, reply, clients }: HandlerContext): void {
	listen.action(ACTIONS.moreHelp, (request) =>
		forAnybody(async () => {
			const help = helpMessage(true);
			// In a direct message everybody's help is a message of its own.
			const isReplaced = request.messageTs === null && (await reply.inPlace(request, help));
			if (!isReplaced) await reply.toPerson(request, help);
		}),
	);

	// The reply to every direct message is the help.
	listen.message('message', (request, event) => {
		const { data } = DIRECT_MESSAGE_EVENT.safeParse(event);
		if (data === undefined) return null;
		return forAnybody(async () => {
			// Whoever writes so fast has just got the same help.
			if ((await personReads.turn(request)) !== null) return;
			await clients.background.chat.postMessage({ channel: data.channel, ...helpMessage() });
		});
	});
}
