import type { Answers } from '../delivery/accept.ts';
import { type Answer, textsOf } from '../domain/answer.ts';
import { afterUndoWords, onlyAuthorCanUndo, PRESS_NOTES } from '../screens/receipt.ts';
import type { Place } from '../slack/access-policy.ts';
import type { HandlerContext } from '../slack/context.ts';
import { ACTIONS, type ActionId, decodeCarriage, type SessionTarget } from '../slack/ids.ts';
import { textMessage } from '../slack/parts.ts';
import type { AllowedRequest, Done, PersonRequest, Press, Task } from '../slack/request.ts';
import { forAnybody, ifAllowed, ifAllowedAnywhere, inboxOf, NOTHING_TO_DO, windowPlace } from '../slack/request.ts';
import type { Receipts } from '../surfaces/receipts.ts';
import type { Forms, Wish } from './drafts.ts';

/** Registers *Undo*, and the buttons on receipts, in a modal or a DM. They work while the answer is in the store. */
export function registerAnswerActions(core: HandlerContext & { flow: Forms; answers: Answers; receipts: Receipts }) {
	const { listen, flow, reply, answers, receipts } = core;

	function onOwn(id: ActionId, taskFor: (own: Answer, asked: PersonRequest, press: Press) => Task | Promise<Task>) {
		listen.action(id, async (asked, press) => {
			const own = await answers.own(press.value, asked.person);
			return own === null ? forAnybody(() => notTheirs(asked, id, press)) : taskFor(own, asked, press);
		});
	}

	/** On a post, everybody sees *Undo*. */
	async function notTheirs(asked: PersonRequest, id: ActionId, { value }: Press): Promise<void> {
		const author = id === ACTIONS.undo ? await answers.authorOf(value) : null;
		if (author === null) return reply.failed(asked, 'answer_not_yours');
		await reply.toPerson(asked, onlyAuthorCanUndo(author));
	}

	/** Runs `act` for the answer's author, if they may act in the channel of its form. */
	function onReceipt(
		id: ActionId,
		act: (own: Answer, request: AllowedRequest, press: Press) => Done,
		placeOf: (own: Answer) => Place = ({ origin, question }) => ({
			...windowPlace({ ...question, origin }),
			answers: question.sessionId,
		}),
	): void {
		onOwn(id, (own, _, press) => {
			const about = { sessionId: own.question.sessionId, kept: 'answer' } as const;
			// It acts in a person's name: facts about them are as fresh as for "Send answer". Each button updates the
			// receipt: Slack limits that for all people together.
			const options = { changes: true, takesTurn: true, need: 'send', about } as const;
			return ifAllowed(placeOf(own), (request) => act(own, request, press), options);
		});
	}

	/** Shows the answer's state in the receipt that has the button; in a new one when Slack takes no update of it. */
	async function showAgain(request: PersonRequest, { view }: Press, answer: Answer, note = ''): Promise<void> {
		const inbox = inboxOf(request, view);
		if (inbox !== null) {
			// The inbox shows the state by itself, but no note.
			const noted = { ...receipts.shown(answer, note), overHome: inbox.viewId === null };
			if (note !== '') await reply.onTop(request, { origin: request }, noted, reply.withoutTurn);
			return;
		}
		// A post is drawn again after each press on it, but without a note.
		const isPost = view == null && request.postKey !== null;
		const isShown = isPost ? note === '' : await receipts.showIn(request, view?.id ?? null, answer, note);
		if (!isShown) await reply.withoutTurn(request, receipts.shown(answer, note).message);
	}

	function openForm(
		request: PersonRequest,
		{ view }: Press,
		target: SessionTarget & Pick<Wish, 'toAnswer' | 'again'>,
		answer: Answer | null,
	): Task {
		const prefilled =
			answer === null ? {} : { origin: answer.origin, prefill: { values: textsOf(answer), givenFor: answer } };
		return flow.open(request, { ...target, ...prefilled }, view);
	}

	onReceipt(ACTIONS.tryAgain, async (own, request, press) => {
		const result = await answers.tryAgain(own);
		if (result === null) return NOTHING_TO_DO;
		request.log.info({ answer: own.id, outcome: result.kind }, 'try again');
		// A secret was wiped when its answer ended, so the person has to type it again.
		if (result.kind === 'valuesGone') return openForm(request, press, own.question, own);
		await showAgain(request, press, result.answer);
		// A direct message of ours is left to the worker.
		if (result.kind === 'taken' && !own.receiptState.isMessage) await answers.noteTold(own);
		return NOTHING_TO_DO;
	});

	onReceipt(
		ACTIONS.giveUp,
		async (own, request, press) => showAgain(request, press, (await answers.withdraw(own)).answer),
		// Like *Undo*, also after they left.
		({ origin: { channelId } }) => ({ channelId }),
	);

	onReceipt(
		ACTIONS.postToThread,
		(own, request, press) => showAgain(request, press, own, PRESS_NOTES.notPosted),
		// Also for whoever may not answer the session any more.
		({ origin, question }) => windowPlace({ ...question, origin }),
	);

	onOwn(ACTIONS.undo, (own) => {
		const undo = async (request: AllowedRequest) => {
			const { answer, isDone } = await answers.withdraw(own, { onlyUnsent: true });
			request.log.info({ answer: own.id, outcome: isDone ? 'undone' : answer.state }, 'undo');
			// The post or the inbox shows it.
			if (!isDone) await reply.withoutTurn(request, textMessage(afterUndoWords(answer)));
		};
		return ifAllowed(own.origin.channelId, undo, { changes: true });
	});

	onOwn(ACTIONS.sendAgain, (own, asked, press) =>
		openForm(asked, press, { sessionId: own.question.sessionId, messageIndex: null, toAnswer: true, again: true }, own),
	);

	onOwn(ACTIONS.nextQuestion, async (own, asked, press) => {
		const next = await receipts.nextOf(own);
		if (next === null) {
			const tell = (request: PersonRequest) => showAgain(request, press, own, PRESS_NOTES.noneWaits);
			return ifAllowedAnywhere(tell, { takesTurn: true });
		}
		// What becomes of the answer must not replace the form.
		await answers.leaveReceipt(own);
		return flow.open(asked, next, press.view);
	});

	listen.valued(ACTIONS.answerNew, decodeCarriage, async (request, { id, sessionId }, press) => {
		const own = await answers.own(id, request.person);
		return openForm(request, press, { sessionId, messageIndex: null }, own);
	});
}
