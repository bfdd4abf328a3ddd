import { z } from 'zod';
import { filesMessage } from '../screens/details.ts';
import { helpMessage } from '../screens/watch.ts';
import type { HandlerContext } from '../slack/context.ts';
import { ACTIONS, decodeTarget } from '../slack/ids.ts';
import { type AllowedRequest, forAnybody, ifAllowed, NOTHING_TO_DO } from '../slack/request.ts';
import type { WatchCommands } from './watch-commands.ts';

/** Links open in the browser, but Slack also reports the press and expects an acknowledgement. */
const LINKS = [ACTIONS.dashboard, ACTIONS.openFile, ACTIONS.openScreenshot];

const DIRECT_MESSAGE_EVENT = z.object({
	channel: z.string(),
	channel_type: z.literal('im'),
	/** Edits, joins and our own posts have other subtypes. */
	subtype: z.literal(['file_share', 'thread_broadcast']).nullish(),
});

/** Registers what shows a session's files and the watches, links, *More* of the help, and messages to the app. */
export function registerShowing(core: HandlerContext, { list }: Pick<WatchCommands, 'list'>): void {
	const { listen, personReads, reply, links, clients, noteOpened } = core;

	/** Reads the session again, as its links expire, and replies to the person. */
	async function showFiles(request: AllowedRequest, sessionId: string): Promise<void> {
		try {
			const permit = await personReads.permit(request);
			const { session } = await reply.patiently(request, sessionId, permit.read(sessionId));
			if (await reply.toPerson(request, filesMessage(session, links))) await noteOpened(request, 'files', sessionId);
		} catch (error) {
			await reply.failed(request, error, { sessionId });
		}
	}

	listen.valued(ACTIONS.showFiles, decodeTarget, ({ channelId }, { sessionId }) =>
		ifAllowed(channelId, (request) => showFiles(request, sessionId)),
	);

	listen.action([ACTIONS.listOlder, ACTIONS.listNewer], ({ channelId }, { number: offset }) =>
		ifAllowed(channelId, (request) => list(request, offset, true)),
	);

	listen.action(LINKS, () => NOTHING_TO_DO);

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
