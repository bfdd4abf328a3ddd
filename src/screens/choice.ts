import type { Pressed } from '../delivery/accept.ts';
import {
	type AcceptResult,
	type Answer,
	firstAnswerOf,
	hasArrived,
	isBlocking,
	itemsOf,
	sessionNameOf,
} from '../domain/answer.ts';
import { isSamePerson, type Person } from '../domain/person.ts';
import { oneLine } from '../domain/shown-text.ts';
import { answerButton, button, buttons, labelAboutSession, type MessageContent, textMessage } from '../slack/blocks.ts';
import { slackCodeOf } from '../slack/clients.ts';
import { type ErrorContext, errorWords } from '../slack/error-view.ts';
import { ACTIONS, encodeTarget, type PressedOption, type SessionTarget } from '../slack/ids.ts';
import { mentionOf } from '../slack/phrases.ts';
import { rich, sentences, template, type Words } from '../slack/rich-text.ts';
import { answerTitle, stateLine } from './answer.ts';
import { notYetWords } from './receipt.ts';

/** A message to one person about their choice, with a button to the session. */
export function choiceMessage(words: Words, target: SessionTarget, sessionName = ''): MessageContent {
	const open = button(ACTIONS.open, 'Open session', { value: encodeTarget(target) });
	return textMessage(words, buttons(labelAboutSession(target.sessionId, sessionName)(open)));
}

type OwnChoice = Pick<PressedOption, 'option'>;

/** What people are told about their choice. */
export const CHOICE_WORDS = {
	undone: ({ option }: OwnChoice) =>
		rich`↩️ You took back *${shownOption(option)}*. Nothing was sent, and the question asks again.`,
	/** *Undo* came after the PUT had begun. */
	undoTooLate: ({ option }: OwnChoice) =>
		rich`⏱️ Too late to undo: *${shownOption(option)}* is being sent to the agent, or was sent already.`,
	/** The choice came second. `first`: the other answer; null when it is not told. */
	lost: ({ option }: OwnChoice, who: Words, first: string | null) =>
		rich`${who} ${answeredWords(first)} before you. Your choice, *${shownOption(option)}*, was not sent.`,
	second: ({ option }: OwnChoice, first: string | null) =>
		rich`You have already ${answeredWords(first)}. Your second choice, *${shownOption(option)}*, was not sent.`,
	/** Sent before the acknowledgement if a choice takes long to store. */
	late: ({ option }: OwnChoice) =>
		template(
			'⏳ Your choice, *{option}*, takes long to save. You hear in a moment whether it was saved. If you do not, look ' +
				'at the post and choose again: only one answer is sent.',
			{ option: shownOption(option) },
		),
	/** The choice was not stored. */
	notSent: ({ option }: OwnChoice, why: Words) => rich`⚠️ Your choice, *${shownOption(option)}*, was not sent. ${why}`,
	/** The database did not say whether it stored the choice. */
	unknown: ({ option }: OwnChoice) =>
		template(
			'⚠️ Handraise could not check whether your choice, *{option}*, was saved. If it was, it is sent soon. Press it ' +
				'again to find out: it is not sent twice.',
			{ option: shownOption(option) },
		),
} as const;

/** To a person whose choice is not stored. `error`: what was thrown, or the code of a refusal. */
export function failedChoice(choice: PressedOption, error: unknown, context: ErrorContext): MessageContent {
	const code = slackCodeOf(error);
	if (code === 'acceptance_unknown') return choiceMessage(CHOICE_WORDS.unknown(choice), choice);
	return choiceMessage(CHOICE_WORDS.notSent(choice, errorWords(code, context).text), choice);
}

/** To a person who pressed on a question that the agent has replaced. */
export function changedChoice(choice: PressedOption): MessageContent {
	return choiceMessage(CHOICE_WORDS.notSent(choice, 'The agent asks something else now.'), choice);
}

/** If QUICK_ANSWERS is off. */
export function noChoice(choice: PressedOption): MessageContent {
	const answer = labelAboutSession(choice.sessionId)(answerButton(choice));
	return textMessage('One-press answers are switched off here. Open the question to answer it.', buttons(answer));
}

type Taken = Extract<AcceptResult, { kind: 'taken' }>;

/** To a person whose choice (`answer`) came after the answer `by`, which may be their own. */
export function takenChoice(choice: Pressed, { by, answer }: Taken): MessageContent {
	// Shows the first answer as receipts do. Channels show it only after a read has compared it.
	const first = firstAnswerOf(answer)?.values[choice.position] || null;
	const words = isSamePerson(answer.person, by.person)
		? CHOICE_WORDS.second(choice, first)
		: sentences(CHOICE_WORDS.lost(choice, mentionOf(by.person.userId), first), notYetWords(by));
	return choiceMessage(rich`🔀 *${answerTitle(by)}*: ${words}`, choice, sessionNameOf(by));
}

const DOUBLE_CLICK_MS = 5_000;

/** Whether a second equal press is a double click, not a new choice. Later, the agent may ask the same again. */
export function isDoubleClick({ by, answer }: Taken, now: number): boolean {
	const isSoon = isBlocking(by.state) || now - by.acceptedAt <= DOUBLE_CLICK_MS;
	return isSoon && isSamePerson(answer.person, by.person) && firstAnswerOf(answer)?.same === true;
}

/** To a person who pressed *Undo* on another person's answer. */
export function onlyAuthorCanUndo({ userId }: Person): MessageContent {
	return textMessage(rich`Only ${mentionOf(userId)} can undo this.`);
}

export function afterUndoWords(answer: Answer): Words {
	const choice = { option: itemsOf(answer).find(({ value }) => value !== null)?.value ?? '' };
	if (answer.state === 'withdrawn') return CHOICE_WORDS.undone(choice);
	const isSent = isBlocking(answer.state) || hasArrived(answer.state);
	return isSent ? CHOICE_WORDS.undoTooLate(choice) : stateLine(answer, 'author');
}

const answeredWords = (first: string | null): Words =>
	first === null ? 'answered' : rich`answered *${shownOption(first)}*`;

const shownOption = (option: string) => oneLine(option, 200);
