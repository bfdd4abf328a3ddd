import type { ModalView } from '@slack/types';
import type { ActRefusal } from '../../answers/access-policy.ts';
import type { Question } from '../../questions/open-question.ts';
import { ACTIONS, CALLBACKS } from '../ids.ts';
import type { ViewMetadata } from '../metadata.ts';
import { plain, quoted, quotedName } from '../text.ts';
import { type ErrorContext, errorWords } from '../words/errors.ts';
import { sessionName, stillWaitingWords, viewTitle } from '../words/sessions.ts';
import { button, buttons, modal, section } from './parts.ts';

/** Opens before the session is read. Slack reports when it is closed, so that the read can stop. Shows `waitedMs` above 0. */
export function loadingModal(sessionId: string, metadata: ViewMetadata, waitedMs = 0): ModalView {
	return modal({
		callbackId: CALLBACKS.loading,
		title: viewTitle(sessionId),
		metadata,
		close: 'Cancel',
		notifyOnClose: true,
		blocks: [
			...section(`⏳ Looking at ${sessionName(sessionId)}…`),
			...section(waitedMs === 0 ? '' : stillWaitingWords(waitedMs)),
		],
	});
}

/** Says what happened, what was kept and what to do, with *Try again* where that makes sense. */
export function errorModal(code: string, metadata: ViewMetadata, context: ErrorContext): ModalView {
	const words = errorWords(code, context);
	return modal({
		callbackId: CALLBACKS.error,
		title: viewTitle(metadata.sessionId),
		metadata,
		blocks: [
			...section(`⚠️ ${words.text}`),
			...section(metadata.sessionId === '' ? '' : `This was about ${sessionName(metadata.sessionId)}.`),
			...(words.retry ? buttons(button(ACTIONS.reload, 'Try again')) : []),
		],
	});
}

/** Says that somebody may not do this. Shows nothing of the session. */
export function refusedModal(refusal: ActRefusal, metadata: ViewMetadata, context: ErrorContext): ModalView {
	return modal({
		callbackId: CALLBACKS.error,
		title: 'Handraise',
		metadata,
		blocks: section(`🔒 ${errorWords(refusal, context).text}`),
	});
}

/** Slack's limit for a select. */
const MOST_OPTIONS = 100;

export const WHICH_QUESTION = '*Which question does it answer?*';

/** Asks which item of a question a chosen message answers. `positions`: the items that may be filled from text. */
export function chooseItemModal(
	question: Question,
	positions: readonly number[],
	text: string,
	metadata: ViewMetadata,
): ModalView {
	return modal({
		callbackId: CALLBACKS.chooseItem,
		title: viewTitle(metadata.sessionId),
		metadata,
		blocks: [
			...section(`*Your message*\n${quoted(text, 1_500)}`),
			...section(WHICH_QUESTION),
			{
				type: 'actions',
				elements: [
					{
						type: 'static_select',
						action_id: ACTIONS.chooseItem,
						placeholder: plain('Choose a question', 150),
						options: positions.slice(0, MOST_OPTIONS).map((position) => ({
							value: String(position),
							text: plain(`${position + 1}. ${quotedName(question.items[position]?.title ?? '', 60)}`, 75),
						})),
					},
				],
			},
		],
	});
}
