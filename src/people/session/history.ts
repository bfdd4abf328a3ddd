import type { AnswerStore } from '../../delivery/answer-store.ts';
import type { Answer } from '../../domain/answer.ts';
import { HISTORY_PAGE, historyView, questionModal } from '../../screens/answer.ts';
import type { WatchStore } from '../../sessions/watch-store.ts';
import type { Place } from '../../slack/access-policy.ts';
import type { HandlerContext } from '../../slack/context.ts';
import { ACTIONS, decodeTarget, isDirectMessage, newMetadata, type ViewMetadata } from '../../slack/ids.ts';
import {
	type AllowedRequest,
	atOrigin,
	copyPlace,
	forAnybody,
	ifAllowed,
	originOf,
	type PersonRequest,
	type SubmittedView,
	sessionViewOf,
	windowPlace,
} from '../../slack/request.ts';

/** Registers *History* and the buttons of its pages. Returns what opens it. Nothing here asks the session service. */
export function registerHistory(core: HandlerContext<{ answers: AnswerStore; watches: WatchStore }>) {
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

	/** `shown`: the window whose *History* was pressed. It stays below. */
	async function open(request: AllowedRequest, sessionId: string, shown: SubmittedView | null = null): Promise<void> {
		const origin = originOf(request, shown);
		const view = () => page(request, newMetadata({ sessionId, origin }));
		const handle = await reply.openWindow(atOrigin(request, origin), 'history', view, { onTop: shown !== null });
		if (handle !== null) await noteOpened(request, 'history', sessionId);
	}

	/** Where the access policy looks for the answer of a message. A direct message may show the answer of a channel. */
	async function placeOf(asked: PersonRequest, { origin }: Answer): Promise<Place> {
		const { channelId, messageTs, person } = asked;
		if (channelId === null || messageTs === null || !isDirectMessage(channelId)) return { channelId };
		const watched = await store.watches.findByPost({ teamId: person.teamId, channelId }, messageTs);
		return watched.length > 0 ? { channelId } : copyPlace(asked, origin.channelId);
	}

	listen.action(ACTIONS.showQuestion, async (asked, { value = '', view }) => {
		const { person } = asked;
		const answer = await store.answers.get(value);
		if (answer === null || answer.person.teamId !== person.teamId)
			return forAnybody(() => reply.failed(asked, 'answer_not_yours'));
		const { sessionId } = answer.question;
		const show = async (request: AllowedRequest) => {
			const origin = originOf(request, view);
			const shown = () => questionModal(answer);
			const handle = await reply.openWindow(atOrigin(request, origin), 'question', shown, { onTop: view !== null });
			if (handle !== null) await noteOpened(request, 'question', sessionId);
		};
		return ifAllowed(view === null ? await placeOf(asked, answer) : windowPlace(sessionViewOf(view).metadata), show);
	});

	listen.valued(ACTIONS.openHistory, decodeTarget, ({ channelId }, { sessionId }, { view }) => {
		const place = view === null ? channelId : windowPlace(sessionViewOf(view).metadata);
		return ifAllowed(place, (request) => open(request, sessionId, view));
	});
	return open;
}
