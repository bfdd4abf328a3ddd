import { type Answer, isBlocking, itemsOf } from '../../answers/answer.ts';
import { ACTIONS, type Choice, encodeTarget, type SessionTarget } from '../ids.ts';
import { oneLineMrkdwn, quotedTitleMrkdwn } from '../text.ts';
import { durationText, personMrkdwn, sessionName } from '../words.ts';
import { receiptHeadline } from './answers.ts';
import { answerCard } from './commands.ts';
import { type ErrorContext, errorMessage, errorWords } from './errors.ts';
import { button, buttons, type MessageContent, textMessage } from './parts.ts';
import { notYetWords } from './receipt.ts';

/** To the person who chose: what is sent, and *Undo* until then. */
export function ownChoiceMessage(answerId: string, words: string): MessageContent {
	return textMessage(words, buttons(button(ACTIONS.undo, 'Undo', { value: answerId })));
}

/** To one person about their choice, with a way to the question. */
export function choiceMessage(words: string, target: SessionTarget | null = null): MessageContent {
	const open = target === null ? null : button(ACTIONS.open, 'Open the session', { value: encodeTarget(target) });
	return textMessage(words, buttons(open));
}

/** An option has at most 30 characters; escaping makes it longer. */
const OPTION_LENGTH = 200;

/** Who chose what. mrkdwn. `option` is null when it is not told here. */
export function chosenWords(userId: string, option: string | null): string {
	const person = personMrkdwn(userId);
	return option === null ? `${person} answered` : `${person} chose ${oneLineMrkdwn(option, OPTION_LENGTH)}`;
}

type OwnChoice = Pick<Choice, 'option' | 'title' | 'sessionId'>;

/** What people are told about their choice. mrkdwn. */
export const CHOICE_WORDS = {
	/** While they can take it back. */
	own({ option, title, sessionId }: OwnChoice, undoMs: number): string {
		const asked = quotedTitleMrkdwn(title, 120) || sessionName(sessionId);
		return `👉 You chose ${quotedOption(option)} for ${asked}. It is sent after ${durationText(undoMs)}. Until then, you can undo it.`;
	},
	undone: ({ option }: OwnChoice) =>
		`↩️ You took back ${quotedOption(option)}. Nothing was sent, and the question is open again.`,
	/** The PUT has begun. */
	undoTooLate: ({ option }: OwnChoice) =>
		`⏱️ Too late to undo: ${quotedOption(option)} is being sent to the agent, or was sent already.`,
	/** It came second. `first`: the other answer; null when it is not told. */
	lost: ({ option }: OwnChoice, who: string, first: string | null) =>
		`${who} ${answeredWords(first)} before you. Your choice, ${quotedOption(option)}, was not sent.`,
	/** They had chosen already. */
	second: ({ option }: OwnChoice, first: string | null) =>
		`You have already ${answeredWords(first)}. Your second choice, ${quotedOption(option)}, was not sent.`,
	/** Before the acknowledgement of a choice that takes long to store. */
	late: ({ option }: OwnChoice) =>
		`⏳ Your choice, ${quotedOption(option)}, takes long to save. You hear in a moment whether it was saved. If you do not, look at the post and choose again: only one answer is sent.`,
	/** It could be neither checked nor stored. */
	notSent: ({ option }: OwnChoice, why: string) => `⚠️ Your choice, ${quotedOption(option)}, was not sent. ${why}`,
	/** The database did not say whether it stored the choice. */
	unknown: ({ option }: OwnChoice) =>
		`⚠️ Handraise could not check whether your choice, ${quotedOption(option)}, was saved. If it was, it is sent soon. Press it again to find out: it is not sent twice.`,
} as const;

/** To somebody whose choice is not stored, for the code of a failure or a refusal. */
export function failedChoice(choice: Choice, code: string, context: ErrorContext): MessageContent {
	if (code === 'acceptance_unknown') return choiceMessage(CHOICE_WORDS.unknown(choice), choice);
	return choiceMessage(CHOICE_WORDS.notSent(choice, errorWords(code, context).text), choice);
}

/** Why nothing can be chosen with a button; `choice` null: another version made it. */
export function noChoice(choice: Choice | null, context: ErrorContext): MessageContent {
	if (choice === null) return errorMessage('button_outdated', null, context);
	return { ...answerCard(choice.sessionId, choice.messageIndex), text: QUICK_ANSWERS_OFF };
}

/** To somebody whose choice came after the answer `by`, which perhaps is their own. mrkdwn. */
export function takenWords(choice: Choice, by: Answer, isOwn: boolean): string {
	const first = shownChoice(choice, by);
	if (isOwn) return CHOICE_WORDS.second(choice, first);
	return `${CHOICE_WORDS.lost(choice, personMrkdwn(by.person.userId), first)} ${notYetWords(by)}`.trim();
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
	if (answer.state === 'withdrawn') return CHOICE_WORDS.undone(choice);
	const isSent = isBlocking(answer.state) || answer.state === 'delivered' || answer.state === 'resumed';
	return isSent ? CHOICE_WORDS.undoTooLate(choice) : receiptHeadline(answer);
}

const QUICK_ANSWERS_OFF = 'One-press answers are switched off here. Open the question to answer it.';

function answeredWords(first: string | null): string {
	return first === null ? 'answered' : `answered ${quotedOption(first)}`;
}

function quotedOption(option: string): string {
	return quotedTitleMrkdwn(option, OPTION_LENGTH);
}
