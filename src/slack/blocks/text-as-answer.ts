import type { ModalView } from '@slack/types';
import type { Question } from '../../questions/open-question.ts';
import { ACTIONS, CALLBACKS, encodeCarriage, type SessionTarget } from '../ids.ts';
import type { ViewMetadata } from '../metadata.ts';
import { plain, quoted, quotedTitle } from '../text.ts';
import { sessionName, viewTitle } from '../words.ts';
import { button, buttons, type MessageContent, message, modal, section, textMessage } from './parts.ts';

/** Why a message cannot be an answer. */
export const CHOSEN_TEXT_HELP = {
	no_session:
		'I cannot tell which session that message is for. Use this in the thread of a watched session. Elsewhere, use `/session` with the id.',
	no_text: 'That message has no text that could be an answer.',
	nothing_open: 'No question of this session is open now, so there is nothing to answer.',
	secret:
		'🔒 The question asks for a password or code. Handraise never takes those from a message. Press Answer and type it there.',
} as const;

/** Why a message cannot be an answer. */
export function chosenTextHelp(why: keyof typeof CHOSEN_TEXT_HELP): MessageContent {
	return textMessage(CHOSEN_TEXT_HELP[why]);
}

/** The reply to a mention, which cannot open a form itself: a button that opens it with that message in it. */
export function chosenTextOffer(formId: string, target: SessionTarget, text: string): MessageContent {
	const words = `Use this as the answer for ${sessionName(target.sessionId)}?`;
	return message(words, [
		...section(`${words}\n${quoted(text, 600)}`),
		...buttons(
			button(ACTIONS.useText, 'Use as answer', { value: encodeCarriage({ id: formId, ...target }), style: 'primary' }),
		),
	]);
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
	const options = positions.slice(0, MOST_OPTIONS).map((position) => ({
		value: String(position),
		text: plain(`${position + 1}. ${quotedTitle(question.items[position]?.title ?? '', 60)}`, 75),
	}));
	return modal({
		callbackId: CALLBACKS.chooseItem,
		title: viewTitle(metadata.sessionId),
		metadata,
		blocks: [
			...section(`*Your message*\n${quoted(text, 1_500)}`),
			...section(WHICH_QUESTION),
			...buttons({
				type: 'static_select',
				action_id: ACTIONS.chooseItem,
				placeholder: plain('Choose a question', 150),
				options,
			}),
		],
	});
}
