import { type Answer, isSamePerson } from '../../answers/answer.ts';
import { afterUndoWords, choiceMessage } from '../blocks/choices.ts';
import { ACTIONS, decodeCarriage, type SessionTarget } from '../ids.ts';
import { isInbox, type PersonRequest, type Press } from '../request.ts';
import type { Values } from '../session/drafts.ts';
import { changing, ifAllowed, NOTHING_TO_DO, type Task } from '../task.ts';
import type { HandlerContext } from './context.ts';
import { createReceiptPresses } from './receipt-presses.ts';
import { registerSecondSending } from './second-sending.ts';

/** Registers *Undo*, and the buttons on receipts, in a modal or a DM. */
export function registerAnswerActions(core: HandlerContext): void {
	const { listen, flow, reply, answers } = core;
	const { answers: store } = core.store;
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
		const result = await answers.tryAgain(own.id, own.person);
		request.log.info({ answer: own.id, outcome: result.kind }, 'try again');
		if (result.kind === 'notFound') return NOTHING_TO_DO;
		// A secret value was wiped when its answer ended, so the person has to type it again.
		if (result.kind === 'valuesGone') return openForm(request, press, own.question, own);
		await showAgain(request, press, result.answer);
		return NOTHING_TO_DO;
	});

	onReceipt(
		ACTIONS.giveUp,
		async (own, request, press) => {
			const withdrawn = await answers.withdraw(own.id, own.person);
			await showAgain(request, press, withdrawn ?? (await store.get(own.id)) ?? own);
		},
		// Like *Undo*, also after they left.
		({ origin: { channelId } }) => ({ channelId }),
	);

	onOwn(ACTIONS.undo, (own, _, press) =>
		changing(
			ifAllowed(own.origin.channelId, async (request) => {
				const withdrawn = await answers.withdraw(own.id, own.person, { onlyUnsent: true });
				const current = withdrawn ?? (await store.get(own.id)) ?? own;
				request.log.info({ answer: own.id, outcome: withdrawn === null ? current.state : 'undone' }, 'undo');
				// The inbox shows it by itself.
				if (isInbox(press.view) && withdrawn !== null) return;
				const content = choiceMessage(afterUndoWords(current));
				if (press.view === null && (await reply.inPlace(request, content))) return;
				await reply.withoutTurn(request, content);
			}),
		),
	);

	listen.action(ACTIONS.answerNew, async (request, press) => {
		const carriage = decodeCarriage(press.value);
		if (carriage === null) return null;
		const answer = await store.get(carriage.id);
		const own = answer !== null && isSamePerson(request.person, answer.person) ? answer : null;
		return openForm(request, press, { sessionId: carriage.sessionId, messageIndex: null }, own);
	});
}

/** The texts of an answer by position, without secrets. */
function textsOf({ content }: Answer): Values {
	if (content.kind !== 'readable') return {};
	return Object.fromEntries(
		content.items.flatMap(({ value, secret }, position) => (secret || value === null ? [] : [[position, value]])),
	);
}
