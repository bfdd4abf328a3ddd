import { ANYWHERE } from '../../slack/access-policy.ts';
import type { HandlerContext } from '../../slack/context.ts';
import {
	ACTIONS,
	decodeListedPage,
	decodeListedWatch,
	decodeTarget,
	decodeUnwatchAll,
	type ListedPage,
} from '../../slack/ids.ts';
import {
	type AllowedRequest,
	copyPlace,
	forAnybody,
	ifAllowed,
	originOf,
	type PersonRequest,
	SILENTLY,
	sessionViewOf,
	type Task,
	windowPlace,
} from '../../slack/request.ts';
import type { Drafting } from '../session/drafts.ts';
import type { SessionFlow } from '../session/session-flow.ts';
import type { WatchCommands } from './watch-commands.ts';

/** Registers *Watch* and *Stop watching*, also in a session's window, and the buttons of lists of watches. */
export function registerWatchActions(
	{ listen }: HandlerContext,
	{ watch, list, unwatch, unwatchAll, keep }: WatchCommands,
	{ flow, drafting }: { flow: SessionFlow; drafting: Drafting },
): void {
	listen.valued(ACTIONS.watch, decodeTarget, (asked, { sessionId }, { view }) => {
		const { channelId } = originOf(asked, view);
		const shown = view && sessionViewOf(view);
		const follow = async (request: AllowedRequest) => {
			// The draft is saved first, because the person may type while the session is read.
			const form = shown && (await drafting.save(request.person, shown));
			// A press inside a modal names no channel.
			await watch({ ...request, channelId }, [sessionId]);
			if (form !== null) await flow.show(request, { ...form, sameReading: true });
		};
		return ifAllowed(shown === null ? channelId : windowPlace(shown.metadata), follow, {
			changes: true,
			about: { sessionId },
		});
	});

	listen.valued(ACTIONS.unwatch, decodeTarget, ({ channelId }, { sessionId }) => {
		const place = { channelId, inAnyChannel: true, unwatches: true } as const;
		return ifAllowed(place, (request) => unwatch(request, [sessionId]), { changes: true });
	});

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
}
