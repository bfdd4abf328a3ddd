import { type Answer, isBlocking, itemsOf } from '../../answers/answer.ts';
import { ACTIONS, type Choice, encodeTarget, type SessionTarget } from '../ids.ts';
import { oneLineMrkdwn, quotedTitleMrkdwn } from '../text.ts';
import { durationText, type Names, personMrkdwn, sessionName } from '../words.ts';
import { receiptHeadline } from './answers.ts';
import { answerCard } from './commands.ts';
import { type ErrorContext, errorMessage, errorWords } from './errors.ts';
import { button, buttons, type MessageContent, message, section } from './parts.ts';
import { notYetWords } from './receipt.ts';

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

/** An option has at most 30 characters; escaping makes it longer. */
const OPTION_LENGTH = 200;

/**
 * Who chose what. mrkdwn.
 * @param option null: not told here
 */
export function chosenWords(userId: string, option: string | null, names: Names): string {
	const person = personMrkdwn(userId, names);
	return option === null ? `${person} answered` : `${person} chose ${oneLineMrkdwn(option, OPTION_LENGTH)}`;
}

interface OwnChoice {
	readonly option: string;
	readonly title: string;
	readonly sessionId: string;
}

/** To the person who chose, while they can take it back. mrkdwn. */
export function ownChoiceWords({ option, title, sessionId }: OwnChoice, undoMs: number): string {
	const asked = quotedTitleMrkdwn(title, 120) || sessionName(sessionId);
	return `👉 You chose ${optionMrkdwn(option)} for ${asked}. It is sent after ${durationText(undoMs)}. Until then, you can undo it.`;
}

/** To the person who took their choice back. mrkdwn. */
export function undoneWords(choice: OwnChoice): string {
	return `↩️ You took back ${optionMrkdwn(choice.option)}. Nothing was sent, and the question is open again.`;
}

/** The PUT has begun. mrkdwn. */
export function undoTooLateWords(choice: OwnChoice): string {
	return `⏱️ Too late to undo: ${optionMrkdwn(choice.option)} is being sent to the agent, or was sent already.`;
}

/**
 * To somebody whose choice came second. mrkdwn.
 * @param first null: the other answer is not told
 */
export function lostChoiceWords(choice: OwnChoice, who: string, first: string | null): string {
	const what = first === null ? `${who} answered` : `${who} answered ${optionMrkdwn(first)}`;
	return `${what} before you. Your choice, ${optionMrkdwn(choice.option)}, was not sent.`;
}

/** To somebody who has chosen already. mrkdwn. */
export function chosenAlreadyWords(choice: OwnChoice, first: string | null): string {
	const what = first === null ? 'answered' : `answered ${optionMrkdwn(first)}`;
	return `You have already ${what}. Your second choice, ${optionMrkdwn(choice.option)}, was not sent.`;
}

/** Before the acknowledgement of a choice that takes long to store. mrkdwn. */
export function choiceLateWords(choice: OwnChoice): string {
	return `⏳ Your choice, ${optionMrkdwn(choice.option)}, takes long to save. You hear in a moment whether it was saved. If you do not, look at the post and choose again: only one answer is sent.`;
}

/** To somebody whose choice could be neither checked nor stored. mrkdwn; `why`: what happened. */
export function notChosenWords(choice: OwnChoice, why: string): string {
	return `⚠️ Your choice, ${optionMrkdwn(choice.option)}, was not sent. ${why}`;
}

/** The database did not say whether it stored the choice. mrkdwn. */
export function choiceUnknownWords(choice: OwnChoice): string {
	return `⚠️ Handraise could not check whether your choice, ${optionMrkdwn(choice.option)}, was saved. If it was, it is sent soon. Press it again to find out: it is not sent twice.`;
}

/** To somebody whose choice is not stored, for the code of a failure or a refusal. */
export function failedChoice(choice: Choice, code: string, context: ErrorContext): MessageContent {
	if (code === 'acceptance_unknown') return choiceMessage(choiceUnknownWords(choice), choice);
	return choiceMessage(notChosenWords(choice, errorWords(code, context).text), choice);
}

/** Why nothing can be chosen with a button; `choice` null: another version made it. */
export function noChoice(choice: Choice | null, context: ErrorContext): MessageContent {
	if (choice === null) return errorMessage('button_outdated', null, context);
	return { ...answerCard(choice.sessionId, choice.messageIndex), text: QUICK_ANSWERS_OFF };
}

/** To somebody whose choice came after the answer `by`, which perhaps is their own. mrkdwn. */
export function takenWords(choice: Choice, by: Answer, { isOwn, names }: { isOwn: boolean; names: Names }): string {
	const first = shownChoice(choice, by);
	if (isOwn) return chosenAlreadyWords(choice, first);
	return `${lostChoiceWords(choice, personMrkdwn(by.person.userId, names), first)} ${notYetWords(by)}`.trim();
}

/** What an answer chose; null when that must not be shown. */
export function shownChoice({ position }: Choice, answer: Answer): string | null {
	const item = itemsOf(answer)[position];
	return item === undefined || item.secret ? null : item.value || null;
}

/** What became of an answer after *Undo* was pressed. mrkdwn. */
export function afterUndoWords(answer: Answer): string {
	const item = itemsOf(answer).find(({ value }) => value !== null);
	const choice = { option: item?.value ?? '', title: item?.title ?? '', sessionId: answer.question.sessionId };
	if (answer.state === 'withdrawn') return undoneWords(choice);
	const isSent = isBlocking(answer.state) || answer.state === 'delivered' || answer.state === 'resumed';
	return isSent ? undoTooLateWords(choice) : receiptHeadline(answer);
}

const QUICK_ANSWERS_OFF = 'One-press answers are switched off here. Open the question to answer it.';

function optionMrkdwn(option: string): string {
	return quotedTitleMrkdwn(option, OPTION_LENGTH);
}
