import type { ActRefusal } from '../../answers/access-policy.ts';
import { ACTIONS, encodeCarriage, type SessionTarget } from '../ids.ts';
import { oneLineMrkdwn, quoted } from '../text.ts';
import {
	CHOSEN_TEXT_HELP,
	type HelpReason,
	helpLines,
	helpReason,
	offerWords,
	RESULT_COMES,
	readyText,
	readyWords,
	WHAT_IT_IS,
} from '../words/commands.ts';
import { type ErrorContext, errorWords } from '../words/errors.ts';
import { sessionName } from '../words/sessions.ts';
import { answerButton, button, buttons, context, type MessageContent, message, section } from './parts.ts';

/** What `/session` understands, and why help is shown if nobody asked for it. */
export function helpMessage(reason: HelpReason = 'asked', typed = '', command = '/session'): MessageContent {
	const why = helpReason(reason, oneLineMrkdwn(typed, 150).replaceAll('`', "'"), command);
	return message(`${why} ${command} shows what an agent asks and takes your answer.`.trim(), [
		...section(why === '' ? '' : `⚠️ ${why}`),
		...section(WHAT_IT_IS),
		...section(helpLines(command)),
	]);
}

/** For an expired trigger: the button opens the form with a new trigger. */
export function answerCard(sessionId: string, messageIndex: number | null = null): MessageContent {
	return message(readyText(sessionId), [
		...section(readyWords(sessionId)),
		...buttons(answerButton({ sessionId, messageIndex })),
	]);
}

/** Slack takes 3,000 characters in one section. */
const SECTION_TEXT = 2_900;

/** The result of a command, a line for each session. mrkdwn that is safe already, each line below 2,900 characters. */
export function outcomesMessage(lines: readonly string[], note = ''): MessageContent {
	const parts: string[] = [];
	for (const line of lines) {
		const part = parts.at(-1);
		if (part === undefined || part.length + line.length >= SECTION_TEXT) parts.push(line);
		else parts[parts.length - 1] = `${part}\n${line}`;
	}
	return message(parts[0] ?? '', [...parts.flatMap((part) => section(part)), ...context(note)]);
}

/** Somebody may not do this. */
export function refusedMessage(refusal: ActRefusal, context: ErrorContext): MessageContent {
	const { text } = errorWords(refusal, context);
	return message(text, section(`🔒 ${text}`));
}

/** The result takes long and replaces this message. */
export function stillWaitingMessage(sessionId: string | null): MessageContent {
	return message(RESULT_COMES, [
		...section(RESULT_COMES),
		...context(sessionId === null ? '' : `This is about ${sessionName(sessionId)}.`),
	]);
}

/** A failure outside a modal. */
export function errorMessage(code: string, sessionId: string | null, error: ErrorContext): MessageContent {
	const { text } = errorWords(code, error);
	return message(text, [
		...section(`⚠️ ${text}`),
		...context(sessionId === null ? '' : `This was about ${sessionName(sessionId)}.`),
	]);
}

/** Why a message cannot be an answer. */
export function chosenTextHelp(why: keyof typeof CHOSEN_TEXT_HELP): MessageContent {
	return message(CHOSEN_TEXT_HELP[why], section(CHOSEN_TEXT_HELP[why]));
}

/** The reply to a mention, which cannot open a form itself: a button that opens it with that message in it. */
export function chosenTextOffer(formId: string, target: SessionTarget, text: string): MessageContent {
	const words = offerWords(target.sessionId);
	return message(words, [
		...section(`${words}\n${quoted(text, 600)}`),
		...buttons(button(ACTIONS.useText, 'Use as answer', { value: encodeCarriage(formId, target), style: 'primary' })),
	]);
}
