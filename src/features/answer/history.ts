import type { HandlerContext } from '../../slack/context.ts';
import { ACTIONS, decodeTarget, newMetadata, type ViewMetadata } from '../../slack/ids.ts';
import { type AllowedRequest, ifAllowed, originOf, sessionViewOf, windowPlace } from '../../slack/request.ts';
import type { AnswerStore } from './answer-store.ts';
import { HISTORY_PAGE, historyView } from './view.ts';

/** Registers the buttons of the history; returns what `/session history` calls. Both read only our own store. */
export function registerHistory(core: HandlerContext<{ answers: AnswerStore }>) {
	const { listen, serviceUrl, personReads, reply, store, noteOpened } = core;
	const { views } = core.clients.people;
	async function page(request: AllowedRequest, metadata: ViewMetadata) {
		try {
			const session = { service: serviceUrl, sessionId: metadata.sessionId, teamId: request.person.teamId };
			const { answers, total } = await store.answers.history(session, { offset: metadata.offset, limit: HISTORY_PAGE });
			return historyView(metadata, answers, total);
		} catch (error) {
			return reply.errorView(error, metadata);
		}
	}

	listen.action([ACTIONS.historyOlder, ACTIONS.historyNewer], (_, { view, number: offset }) => {
		const { id: view_id, metadata } = sessionViewOf(view);
		const turn = async (request: AllowedRequest) => {
			await views.update({ view_id, view: await page(request, { ...metadata, offset }) });
			await noteOpened(request, 'history', metadata.sessionId);
		};
		return ifAllowed(windowPlace(metadata), turn, { takesTurn: true });
	});

	async function open(request: AllowedRequest, sessionId: string): Promise<void> {
		// No read of the service follows, but Slack limits opening modals for all people together.
		await personReads.permit(request);
		const metadata = newMetadata({ sessionId, origin: originOf(request, null) });
		await views.open({ trigger_id: request.triggerId ?? '', view: await page(request, metadata) });
		await noteOpened(request, 'history', sessionId);
	}

	listen.valued(ACTIONS.showAnswers, decodeTarget, ({ channelId }, { sessionId }) =>
		ifAllowed(channelId, (request) => open(request, sessionId)),
	);
	return open;
}
