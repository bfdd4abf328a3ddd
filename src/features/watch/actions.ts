import { codeOf } from '../../slack/clients.ts';
import { ACTIONS, decodeTarget } from '../../slack/ids.ts';
import type { HandlerContext } from '../../slack/listen.ts';
import type { AllowedRequest, PersonRequest, Task } from '../../slack/request.ts';
import {
	ifAllowed,
	logged,
	NOTHING_TO_DO,
	originOf,
	SILENTLY,
	sessionViewOf,
	windowPlace,
} from '../../slack/request.ts';
import type { Drafting, Forms } from '../answer/drafts.ts';
import type { WatchCommands } from './commands.ts';
import { filesMessage, screenshotMessage } from './details-view.ts';

export function registerWatching(
	{ listen, flow, drafting, personReads, reply, links }: HandlerContext & { flow: Forms; drafting: Drafting },
	{ watch, unwatch, list }: WatchCommands,
): void {
	listen.action(ACTIONS.watch, (asked, { value, view }) => {
		const target = decodeTarget(value);
		if (target === null) return null;
		const { channelId } = originOf(asked, view);
		const shown = view && sessionViewOf(view);
		const follow = async (request: AllowedRequest) => {
			// The draft is saved first, because the person may type while the session is read.
			const form = shown && (await drafting.save(request.person, shown));
			// A press inside a modal names no channel.
			await watch({ ...request, channelId }, [target.sessionId]);
			if (form !== null) await flow.show(request, { ...form, sameReading: true });
		};
		return ifAllowed(shown === null ? channelId : windowPlace(shown.metadata), follow, {
			changes: true,
			about: { sessionId: target.sessionId },
		});
	});

	listen.action(ACTIONS.unwatch, (asked, { value, view }) => {
		const target = decodeTarget(value);
		if (target === null) return null;
		const { sessionId } = target;
		const { channelId } = originOf(asked, view);
		const shown = view && sessionViewOf(view);
		async function stop(anybody: PersonRequest): Promise<Task> {
			await unwatch({ ...anybody, channelId }, [sessionId]);
			if (shown === null) return NOTHING_TO_DO;
			const update = async (request: AllowedRequest) =>
				flow.show(request, { ...(await drafting.save(request.person, shown)), sameReading: true });
			// The unwatch succeeded, so a refusal to show the session again is not worth a message.
			return ifAllowed(channelId, update, SILENTLY);
		}
		return ifAllowed({ ...windowPlace(shown?.metadata ?? null), inAnyChannel: true }, stop, { changes: true });
	});

	/** Reads the session again, because its links expire, and replies to the person. Resolves to the outcome for the log. */
	async function showPrivately(
		request: AllowedRequest,
		sessionId: string,
		build: typeof filesMessage,
	): Promise<string> {
		try {
			const permit = await personReads.permit(request);
			const { session } = await reply.patiently(request, sessionId, permit.read(sessionId));
			const [best, ...others] = build(session, links);
			if (best === undefined) return 'nothing';
			if (await reply.throughResponseUrl(request, best)) return 'shown';
			// Slack refuses a message whose image it cannot download, so there are others.
			for (const other of others) if (await reply.toPerson(request, other)) return 'shown';
			return 'not_shown';
		} catch (error) {
			await reply.failed(request, error, { sessionId });
			return codeOf(error);
		}
	}

	listen.action([ACTIONS.showScreenshot, ACTIONS.showFiles], ({ channelId }, { value }, id) => {
		const target = decodeTarget(value);
		if (target === null) return null;
		const { sessionId } = target;
		const [access, build] =
			id === ACTIONS.showFiles ? (['files', filesMessage] as const) : (['screenshot', screenshotMessage] as const);
		return ifAllowed(channelId, (request) =>
			logged(request, access, sessionId, () => showPrivately(request, sessionId, build)),
		);
	});

	listen.action([ACTIONS.listOlder, ACTIONS.listNewer], ({ channelId }, { number: offset }) =>
		ifAllowed(channelId, (request) => list(request, offset, true)),
	);
}
