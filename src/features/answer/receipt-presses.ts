import type { Answer } from '../../questions/answer.ts';
import { FRESH_MS, type Place } from '../../slack/access-policy.ts';
import type { ActionId } from '../../slack/ids.ts';
import type { HandlerContext } from '../../slack/listen.ts';
import { replacement } from '../../slack/parts.ts';
import type { AllowedRequest, Done, PersonRequest, Press, Task } from '../../slack/request.ts';
import { forAnybody, ifAllowed, inboxOf, windowPlace } from '../../slack/request.ts';
import { openView } from '../../slack/windows.ts';
import type { Answers } from './accept.ts';
import { receiptMessage, receiptModal } from './receipt-view.ts';
import type { Receipts } from './receipts.ts';

/** What the buttons of answers share. They work while the answer is in the store. */
export function createReceiptPresses({
	listen,
	clients: { people: client },
	personReads,
	reply,
	answers,
	receipts,
}: HandlerContext & { answers: Answers; receipts: Receipts }) {
	/** The task for the author of the button's answer. */
	function onOwn(id: ActionId, taskFor: (own: Answer, asked: PersonRequest, press: Press) => Task): void {
		listen.action(id, async (asked, press) => {
			const own = await answers.own(press.value, asked.person);
			return own === null ? forAnybody(() => reply.failed(asked, 'answer_not_yours')) : taskFor(own, asked, press);
		});
	}

	/** Runs `act` for the author of the button's answer, if they may act in the channel of its form. */
	function onReceipt(
		id: ActionId,
		act: (own: Answer, request: AllowedRequest, press: Press) => Done,
		placeOf: (own: Answer, asked: PersonRequest) => Place = ({ origin, question }) =>
			windowPlace({ ...question, origin }),
	): void {
		onOwn(id, (own, asked, press) => {
			const about = { sessionId: own.question.sessionId, kept: 'answer' } as const;
			// It acts in a person's name: facts about them are as fresh as for "Send answer". Each button updates the receipt,
			// and one posts: Slack limits both for all people together.
			const options = { changes: true, takesTurn: true, maxAgeMs: FRESH_MS, about } as const;
			return ifAllowed(placeOf(own, asked), (request) => act(own, request, press), options);
		});
	}

	/** Shows the present state of the answer in the receipt that has the button; in a new one when Slack takes no update of it. */
	async function showAgain(request: PersonRequest, press: Press, answer: Answer, note = ''): Promise<void> {
		const receipt = receipts.context(note);
		const inbox = inboxOf(request, press.view);
		if (inbox !== null) {
			// The inbox shows the state by itself, but no note.
			if (note === '') return;
			const open = () => openView(client, request, receiptModal(answer, receipt), inbox.viewId !== null);
			const opened = await personReads.permit(request).then(open, () => null);
			if (opened === null) await reply.withoutTurn(request, receiptMessage(answer, receipt));
			return;
		}
		const message = receiptMessage(answer, receipt);
		const { channelId: channel, messageTs: ts } = request;
		const updated =
			press.view !== null
				? client.views.update({ view_id: press.view.id, view: receiptModal(answer, receipt) })
				: channel !== null && ts !== null && client.chat.update({ channel, ts, ...replacement(message) });
		await Promise.resolve(updated).catch(() => reply.withoutTurn(request, message));
	}

	return { onOwn, onReceipt, showAgain };
}

export type ReceiptPresses = ReturnType<typeof createReceiptPresses>;
