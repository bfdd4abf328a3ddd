import { type Answer, textsOf } from '../../questions/answer.ts';
import { ACTIONS, decodeCarriage, type SessionTarget } from '../../slack/ids.ts';
import type { HandlerContext } from '../../slack/listen.ts';
import { textMessage } from '../../slack/parts.ts';
import type { AllowedRequest, PersonRequest, Press, Task } from '../../slack/request.ts';
import { ifAllowed, inboxOf, NOTHING_TO_DO } from '../../slack/request.ts';
import type { Answers } from './accept.ts';
import type { Forms } from './drafts.ts';
import { createReceiptPresses } from './receipt-presses.ts';
import { afterUndoWords } from './receipt-view.ts';
import type { Receipts } from './receipts.ts';
import { registerSecondSending } from './second-sending.ts';

/** Registers *Undo*, and the buttons on receipts, in a modal or a DM. */
export function registerAnswerActions(
	core: HandlerContext & { flow: Forms; answers: Answers; receipts: Receipts },
): void {
	const { listen, flow, reply, answers } = core;
	const presses = createReceiptPresses(core);
	const { onOwn, onReceipt, showAgain } = presses;
	registerSecondSending(core, presses);

	/** Opens the session's form with the texts of `answer` in it, where they fit. */
	function openForm(request: PersonRequest, { view }: Press, target: SessionTarget, answer: Answer | null): Task {
		const prefilled =
			answer === null ? {} : { origin: answer.origin, prefill: { values: textsOf(answer), givenFor: answer } };
		return flow.open(request, { ...target, ...prefilled }, view);
	}

	onReceipt(ACTIONS.tryAgain, async (own, request, press) => {
		const result = await answers.tryAgain(own);
		if (result === null) return NOTHING_TO_DO;
		request.log.info({ answer: own.id, outcome: result.kind }, 'try again');
		// A secret value was wiped when its answer ended, so the person has to type it again.
		if (result.kind === 'valuesGone') return openForm(request, press, own.question, own);
		await showAgain(request, press, result.answer);
		return NOTHING_TO_DO;
	});

	onReceipt(
		ACTIONS.giveUp,
		async (own, request, press) => {
			const { answer } = await answers.withdraw(own);
			await showAgain(request, press, answer);
		},
		// Like *Undo*, also after they left.
		({ origin: { channelId } }) => ({ channelId }),
	);

	onOwn(ACTIONS.undo, (own, _, press) => {
		const undo = async (request: AllowedRequest) => {
			const { answer, isDone } = await answers.withdraw(own, { onlyUnsent: true });
			request.log.info({ answer: own.id, outcome: isDone ? 'undone' : answer.state }, 'undo');
			// The inbox shows it by itself.
			if (isDone && inboxOf(request, press.view) !== null) return;
			const content = textMessage(afterUndoWords(answer));
			if (press.view === null && (await reply.inPlace(request, content))) return;
			await reply.withoutTurn(request, content);
		};
		return ifAllowed(own.origin.channelId, undo, { changes: true });
	});

	listen.action(ACTIONS.answerNew, async (request, press) => {
		const carriage = decodeCarriage(press.value);
		if (carriage === null) return null;
		const own = await answers.own(carriage.id, request.person);
		return openForm(request, press, { sessionId: carriage.sessionId, messageIndex: null }, own);
	});
}
