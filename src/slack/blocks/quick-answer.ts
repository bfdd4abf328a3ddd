import type { Button, KnownBlock, StaticSelect } from '@slack/types';
import { lookDifferent, looksOfLabels } from '../../questions/look-alikes.ts';
import type { QuestionView } from '../../watches/session-snapshot.ts';
import { MOST_FIELDS } from '../form/plan.ts';
import { ACTIONS, CHOOSE_IDS, type Choice, encodeChoice, encodeTarget, type SessionTarget } from '../ids.ts';
import { cutTo, plain } from '../text.ts';
import { noFormWords } from '../words/form.ts';
import { answerButton, BUTTON_LABELS, button, buttons, type MessageContent, message, section } from './parts.ts';

const OWN_LABELS = looksOfLabels(BUTTON_LABELS);
/** Slack's limit for the value of a button. */
const MAX_VALUE_LENGTH = 2_000;
/** UTF-16 units. In JSON a character can take six. */
const TITLE_LENGTH = 120;

/**
 * The buttons of an open question: one for each option that can be sent in one press, and one that opens the form, if Slack
 * can show one.
 *
 * @param offersOptions whether the settings allow buttons with options, and the whole question stands above them
 * @param others what comes after them
 */
export function answerButtons(
	question: Pick<QuestionView, 'messageIndex' | 'fingerprint' | 'shownHash' | 'quick' | 'items' | 'openCount'>,
	place: Pick<Choice, 'sessionId' | 'channelId' | 'readAt'>,
	offersOptions: boolean,
	others: readonly (Button | StaticSelect)[] = [],
): KnownBlock[] {
	const { messageIndex, fingerprint, shownHash, quick } = question;
	const target = { sessionId: place.sessionId, messageIndex };
	const form = buttons(noForm(question) === '' ? answerButton(target) : null, ...others);
	const item = quick === null ? undefined : question.items[quick.position];
	if (quick === null || item === undefined || !offersOptions) return form;
	const { position, options } = quick;
	if (!lookDifferent(options, OWN_LABELS)) return form;
	const title = cutTo(item.title, TITLE_LENGTH);
	const values = options.map((option) =>
		encodeChoice({ ...place, messageIndex, fingerprint, shownHash, position, title, option }),
	);
	if (values.some((value) => value.length > MAX_VALUE_LENGTH)) return form;
	const row = CHOOSE_IDS.flatMap((id, index) => {
		const option = options[index];
		const value = values[index];
		return option === undefined || value === undefined
			? []
			: [{ type: 'button' as const, action_id: id, text: plain(option, 75), value }];
	});
	return buttons(...row, button(ACTIONS.answer, 'Answer…', { value: encodeTarget(target) }), ...others);
}

/** Whether a row has a button with an option. */
export function hasOption(row: KnownBlock): boolean {
	return row.type === 'actions' && row.elements.some((element) => element.action_id === ACTIONS.choose1);
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
