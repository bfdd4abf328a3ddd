import { z } from 'zod';
import { filesMessage } from '../screens/details.ts';
import { helpMessage } from '../screens/help.ts';
import { ANYWHERE } from '../slack/access-policy.ts';
import type { HandlerContext } from '../slack/context.ts';
import {
	ACTIONS,
	decodeListedPage,
	decodeListedWatch,
	decodeTarget,
	decodeUnwatchAll,
	type ListedPage,
} from '../slack/ids.ts';
import {
	type AllowedRequest,
	copyPlace,
	forAnybody,
	ifAllowed,
	NOTHING_TO_DO,
	type PersonRequest,
	SILENTLY,
	type Task,
} from '../slack/request.ts';
import type { WatchCommands } from './watch-commands.ts';

/** Links open in the browser, but Slack also reports the press and expects an acknowledgement. */
const LINKS = [ACTIONS.dashboard, ACTIONS.openFile, ACTIONS.openScreenshot];

const DIRECT_MESSAGE_EVENT = z.object({
	channel: z.string(),
	channel_type: z.literal('im'),
	/** Edits, joins and our own posts have other subtypes. */
	subtype: z.literal(['file_share', 'thread_broadcast']).nullish(),
});

/** Registers the buttons for files, lists of watches, links and *More* of the help, and the reply to messages. */
export function registerWatchActions(
	core: HandlerContext,
	{ list, unwatch, unwatchAll, keep }: Pick<WatchCommands, 'list' | 'unwatch' | 'unwatchAll' | 'keep'>,
): void {
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

	// The button names the channel: the list may stand in a direct message.
	const listing = (asked: PersonRequest, { channelId, offset }: ListedPage, options?: typeof SILENTLY) =>
		ifAllowed(copyPlace(asked, channelId), (request) => list({ ...request, channelId }, offset, true), options);
	const unwatching = (asked: PersonRequest, channelId: string) =>
		({ ...ANYWHERE, ...copyPlace(asked, channelId), unwatches: true }) as const;
	const CHANGES = { changes: true } as const;

	listen.valued([ACTIONS.listOlder, ACTIONS.listNewer], decodeListedPage, (asked, page) => listing(asked, page));

	listen.valued(ACTIONS.stopListed, decodeListedWatch, (asked, { sessionId, ...page }) => {
		const { channelId } = page;
		async function stop(request: PersonRequest): Promise<Task> {
			await unwatch({ ...request, channelId }, [sessionId]);
			// It is done, so a refusal to show the list is not worth a message.
			return listing(asked, page, SILENTLY);
		}
		return ifAllowed(unwatching(asked, channelId), stop, CHANGES);
	});

	listen.valued(ACTIONS.unwatchAll, decodeUnwatchAll, (asked, ending) =>
		ifAllowed(unwatching(asked, ending.channelId), (request) => unwatchAll(request, ending), CHANGES),
	);
	listen.action(ACTIONS.keepWatches, (asked) => forAnybody(() => keep(asked)));

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
