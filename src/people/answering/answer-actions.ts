import type { Answers } from '../../delivery/accept.ts';
import { type Answer, textsOf } from '../../domain/answer.ts';
import { afterUndoWords, onlyAuthorCanUndo } from '../../screens/choice.ts';
import { NOTHING_ELSE_ASKS, receiptContext, receiptMessage, receiptModal } from '../../screens/receipt.ts';
import type { Place } from '../../slack/access-policy.ts';
import { textMessage } from '../../slack/blocks.ts';
import type { HandlerContext } from '../../slack/context.ts';
import { ACTIONS, type ActionId, CALLBACKS, decodeTextTarget, type SessionTarget } from '../../slack/ids.ts';
import {
	type AllowedRequest,
	forAnybody,
	ifAllowed,
	ifAllowedAnywhere,
	NOTHING_TO_DO,
	type PersonRequest,
	type Press,
	type Task,
	type TaskResult,
	windowPlace,
} from '../../slack/request.ts';
import { line, type Words } from '../../slack/rich-text.ts';
import type { OpenOptions, SessionFlow } from '../session/session-flow.ts';

/** Registers *Undo*, and the buttons on receipts, in a modal or a DM. They work while the answer is in the store. */
export function registerAnswerActions(
	core: HandlerContext & {
		readonly flow: SessionFlow;
		readonly answers: Answers;
		/** Another question that waits for the author; null when none is known. */
		readonly nextOf: (answer: Answer) => Promise<OpenOptions | null>;
	},
) {
	const { listen, flow, reply, answers, nextOf } = core;

	function onOwn(id: ActionId, taskFor: (own: Answer, asked: PersonRequest, press: Press) => Task | Promise<Task>) {
		listen.action(id, async (asked, press) => {
			const own = await answers.own(press.value, asked.person);
			return own === null ? forAnybody(() => notTheirs(asked, id, press)) : taskFor(own, asked, press);
		});
	}

	/** Tells somebody that the answer is not theirs. Everybody sees *Undo* on a post, so that names the author. */
	async function notTheirs(asked: PersonRequest, id: ActionId, { value }: Press): Promise<void> {
		const author = id === ACTIONS.undo ? await answers.authorOf(value) : null;
		if (author === null) return reply.failed(asked, 'answer_not_yours');
		await reply.toPerson(asked, onlyAuthorCanUndo(author));
	}

	/** Runs `act` for the answer's author, if they may act in the channel of its form. */
	function onReceipt(
		id: ActionId,
		act: (own: Answer, request: AllowedRequest, press: Press) => TaskResult,
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

	/** Shows the answer once more, where the receipt with the button does not show the outcome by itself. */
	async function sayBeside(request: PersonRequest, { view }: Press, answer: Answer, note: Words = ''): Promise<void> {
		const receipt = receiptContext(core, line(note));
		const message = receiptMessage(answer, receipt);
		if (view === null) return reply.withoutTurn(request, message);
		const overHome = view.callbackId === CALLBACKS.home;
		const noted = { modal: receiptModal(answer, receipt), message, overHome };
		await reply.onTop(request, { origin: view.metadata?.origin ?? request }, noted, reply.withoutTurn);
	}

	/** Whether the button is in a message that nothing draws again, because it is no post any more. */
	const isFormer = ({ postKey }: PersonRequest, { view }: Press) => view === null && postKey === null;

	function openForm(
		request: PersonRequest,
		{ view }: Press,
		target: SessionTarget & Pick<OpenOptions, 'toAnswer' | 'again'>,
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
		if (result.kind === 'notRetryable' || isFormer(request, press)) await sayBeside(request, press, result.answer);
		return NOTHING_TO_DO;
	});

	onReceipt(
		ACTIONS.giveUp,
		async (own, request, press) => {
			const { answer, isDone } = await answers.withdraw(own);
			if (!isDone || isFormer(request, press)) await sayBeside(request, press, answer);
			return NOTHING_TO_DO;
		},
		// Like *Undo*, also after they left.
		({ origin: { channelId } }) => ({ channelId }),
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

	onOwn(ACTIONS.nextQuestion, async (own, asked, press) => {
		const next = await nextOf(own);
		if (next === null) {
			const tell = (request: PersonRequest) => sayBeside(request, press, own, NOTHING_ELSE_ASKS);
			return ifAllowedAnywhere(tell, { takesTurn: true });
		}
		return flow.open(asked, next, press.view);
	});

	listen.valued(ACTIONS.answerNew, decodeTextTarget, async (request, { id, sessionId }, press) => {
		const own = await answers.own(id, request.person);
		return openForm(request, press, { sessionId, messageIndex: null }, own);
	});
}
