import { filesMessage } from '../../screens/details.ts';
import type { HandlerContext } from '../../slack/context.ts';
import { ACTIONS, decodeTarget } from '../../slack/ids.ts';
import { type AllowedRequest, ifAllowed, NOTHING_TO_DO } from '../../slack/request.ts';

/** Links open in the browser, but Slack also reports the press and expects an acknowledgement. */
const LINKS = [ACTIONS.dashboard, ACTIONS.openFile, ACTIONS.openScreenshot];

/** Registers the button for a session's files, and links. */
export function registerFiles({ listen, personReads, reply, links, noteOpened }: HandlerContext): void {
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

	listen.action(LINKS, () => NOTHING_TO_DO);
}
