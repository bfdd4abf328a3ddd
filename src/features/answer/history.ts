import type { HandlerContext } from '../../slack/context.ts';
import { ACTIONS, decodeTarget, newMetadata, type ViewMetadata } from '../../slack/ids.ts';
import {
	type AllowedRequest,
	ifAllowed,
	logged,
	originOf,
	type SubmittedView,
	sessionViewOf,
	whereItBegan,
	windowPlace,
} from '../../slack/request.ts';
import type { AnswerStore } from './answer-store.ts';
import { HISTORY_PAGE, historyView } from './view.ts';

/** Registers *History* and the buttons of its pages; returns what opens it. All read only our own store. */
export function registerHistory(core: HandlerContext<{ answers: AnswerStore }>) {
	const { listen, serviceUrl, reply, store } = core;
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
		const turn = (request: AllowedRequest) =>
			logged(request, 'history', metadata.sessionId, async () => {
				await views.update({ view_id, view: await page(request, { ...metadata, offset }) });
				return 'shown';
			});
		return ifAllowed(windowPlace(metadata), turn, { takesTurn: true });
	});

	/** `shown`: the window with *History*, which stays below. */
	const open = (request: AllowedRequest, sessionId: string, shown: SubmittedView | null = null) =>
		logged(request, 'history', sessionId, async () => {
			const origin = originOf(request, shown);
			const view = () => page(request, newMetadata({ sessionId, origin }));
			const how = { onTop: shown !== null };
			const handle = await reply.openWindow(whereItBegan(request, origin), 'history', view, how);
			return handle === null ? 'no_window' : 'shown';
		});

	listen.valued(ACTIONS.showAnswers, decodeTarget, ({ channelId }, { sessionId }, { view }) => {
		const place = view === null ? channelId : windowPlace(sessionViewOf(view).metadata);
		return ifAllowed(place, (request) => open(request, sessionId, view));
	});
	return open;
}
