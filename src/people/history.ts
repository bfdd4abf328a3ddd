import type { AnswerStore } from '../delivery/answer-store.ts';
import { HISTORY_PAGE, historyView } from '../screens/answer.ts';
import type { HandlerContext } from '../slack/context.ts';
import { ACTIONS, decodeTarget, newMetadata, type ViewMetadata } from '../slack/ids.ts';
import {
	type AllowedRequest,
	ifAllowed,
	originOf,
	type SubmittedView,
	sessionViewOf,
	whereItBegan,
	windowPlace,
} from '../slack/request.ts';

/** Registers *History* and the buttons of its pages; returns what opens it. All read only our own store. */
export function registerHistory(core: HandlerContext<{ answers: AnswerStore }>) {
	const { listen, serviceUrl, reply, store, noteOpened } = core;
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

	/** `shown`: the window with *History*, which stays below. */
	async function open(request: AllowedRequest, sessionId: string, shown: SubmittedView | null = null): Promise<void> {
		const origin = originOf(request, shown);
		const view = () => page(request, newMetadata({ sessionId, origin }));
		const handle = await reply.openWindow(whereItBegan(request, origin), 'history', view, { onTop: shown !== null });
		if (handle !== null) await noteOpened(request, 'history', sessionId);
	}

	listen.valued(ACTIONS.showAnswers, decodeTarget, ({ channelId }, { sessionId }, { view }) => {
		const place = view === null ? channelId : windowPlace(sessionViewOf(view).metadata);
		return ifAllowed(place, (request) => open(request, sessionId, view));
	});
	return open;
}
