import type { Button, KnownBlock, StaticSelect } from '@slack/types';
import type { QuestionView } from '../../watches/session-snapshot.ts';
import { MOST_FIELDS } from '../form/plan.ts';
import { ACTIONS, CHOOSE_IDS, type Choice, encodeChoice, encodeTarget, type SessionTarget } from '../ids.ts';
import { cutTo } from '../text.ts';
import { noFormWords } from '../words/form.ts';
import { answerButton, button, buttons, type MessageContent, message, section } from './parts.ts';

/** Slack's limit for the value of a button. */
const MAX_VALUE_LENGTH = 2_000;
/** UTF-16 units. In JSON a character can take six. */
const TITLE_LENGTH = 120;

/**
 * The buttons of an open question: one for each option that can be sent in one press, and one that opens the form, if Slack
 * can show one.
 *
 * @param offersOptions whether the settings allow buttons with options
 * @param others what comes after them
 */
export function answerButtons(
	question: Pick<QuestionView, 'messageIndex' | 'fingerprint' | 'quick' | 'items' | 'openCount'>,
	place: Pick<Choice, 'sessionId' | 'channelId' | 'readAt'>,
	offersOptions: boolean,
	others: readonly (Button | StaticSelect)[] = [],
): KnownBlock[] {
	const { messageIndex, fingerprint, quick } = question;
	const target = { sessionId: place.sessionId, messageIndex };
	const form = buttons(noForm(question) === '' ? answerButton(target) : null, ...others);
	if (quick === null || !offersOptions) return form;
	const { position, options } = quick;
	const title = cutTo(question.items[position]?.title ?? '', TITLE_LENGTH);
	const values = options.map((option) =>
		encodeChoice({ ...place, messageIndex, fingerprint, position, title, option }),
	);
	if (values.some((value) => value.length > MAX_VALUE_LENGTH)) return form;
	const row = CHOOSE_IDS.flatMap((id, index) => {
		const option = options[index];
		const value = values[index];
		return option === undefined || value === undefined ? [] : [button(id, option, { value })];
	});
	return buttons(...row, button(ACTIONS.answer, 'Answer…', { value: encodeTarget(target) }), ...others);
}

/** Why no form can be made for a question, and where to answer it; empty if one can. mrkdwn. */
export function noForm({ openCount }: Pick<QuestionView, 'openCount'>): string {
	return openCount > MOST_FIELDS ? noFormWords({ kind: 'tooMany', count: openCount }, false) : '';
}

/** To the person who chose: what is sent, and *Undo* until then. */
export function ownChoiceMessage(answerId: string, words: string): MessageContent {
	return message(words, [...section(words), ...buttons(button(ACTIONS.undo, 'Undo', { value: answerId }))]);
}

/** To one person about their choice, with a way to the question. */
export function choiceMessage(words: string, target: SessionTarget | null = null): MessageContent {
	const open =
		target === null ? [] : buttons(button(ACTIONS.open, 'Open the session', { value: encodeTarget(target) }));
	return message(words, [...section(words), ...open]);
}
