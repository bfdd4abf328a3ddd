import type { KnownBlock, ModalView } from '@slack/types';
import type { Answer } from '../../answers/answer.ts';
import { ACTIONS, CALLBACKS } from '../ids.ts';
import { newMetadata, type ViewMetadata } from '../metadata.ts';
import { sessionName, viewTitle } from '../words.ts';
import { button, buttons, context, modal, section } from './parts.ts';
import { type ReceiptContext, receiptBlocks, receiptButtons } from './receipt.ts';

/** What a submission is acknowledged with, once it is committed. */
export function savedModal(answer: Answer): ModalView {
	return modal({
		callbackId: CALLBACKS.receipt,
		title: viewTitle(answer.question.sessionId),
		metadata: metadataOf(answer),
		notifyOnClose: true,
		blocks: [
			...section('*💾 Your answer is saved. Delivering…*'),
			...section('You can close this: it is sent in any case, and you are told if it cannot be.'),
		],
	});
}

/** Saved, delivered, agent resumed: each with its time, or what went wrong with the text kept and what can be done. */
export function receiptModal(answer: Answer, receipt: ReceiptContext): ModalView {
	const settled = answer.state === 'resumed' || (answer.state === 'delivered' && answer.aftermath !== null);
	const blocks: KnownBlock[] = [
		...receiptBlocks(answer, receipt, 20_000),
		...receiptButtons(answer, receipt),
		...(settled ? buttons(button(ACTIONS.refresh, 'Show the session')) : []),
		...context(`For ${sessionName(answer.question.sessionId)}`),
	];
	return modal({
		callbackId: CALLBACKS.receipt,
		title: viewTitle(answer.question.sessionId),
		metadata: metadataOf(answer),
		notifyOnClose: true,
		blocks,
	});
}

/** A receipt has no form; one that is shown in its view later is known by the answer before it. */
function metadataOf({ id, question, origin }: Answer): ViewMetadata {
	const { sessionId, messageIndex } = question;
	return { ...newMetadata({ sessionId, messageIndex, formId: id, origin }), answerId: id };
}
