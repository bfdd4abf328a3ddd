import type { Refusal } from '../../answers/access-policy.ts';
import type { Answer } from '../../answers/answer.ts';
import type { HelpReason } from '../handlers/session-command.ts';
import { ACTIONS, encodeTarget } from '../ids.ts';
import { oneLineMrkdwn } from '../text.ts';
import {
	type ErrorContext,
	errorWords,
	mayHaveArrived,
	receiptHeadline,
	refusalWords,
	sessionIdMrkdwn,
	sessionName,
} from '../words.ts';
import { type MessageContent, message } from './message.ts';
import { button, buttons, context, section } from './parts.ts';
import { ownText, type ReceiptContext, receiptBlocks, receiptButtons } from './receipt.ts';

const REASONS = {
	asked: '',
	unclear: 'I did not understand that.',
	missing_id: 'Which session? The id is missing.',
	too_many_ids: 'Those are too many sessions at once; 20 is the most.',
	foreign_link: 'That link is not one of our session dashboard.',
	link_without_id: 'That link names no session.',
	id_too_long: 'That is too long for a session id.',
	reserved_id: 'That word is not a session id.',
} as const satisfies Record<HelpReason, string>;

/** What `/session` understands, and why help is shown if it was not asked for. */
export function helpMessage(reason: HelpReason = 'asked', typed = '', command = '/session'): MessageContent {
	const lines = [
		`\`${command} 3f9a2c1d\` — see what the agent did and asks, and answer it. A dashboard link works too.`,
		`\`${command} watch 3f9a2c1d\` — keep a live card of it in this channel; \`--questions-only\` posts less, \`--thread-only\` keeps questions out of the channel`,
		`\`${command} unwatch 3f9a2c1d\` — stop that; \`unwatch all\` for all of them`,
		`\`${command} list\` — what this channel watches`,
		`\`${command} history 3f9a2c1d\` — who answered what`,
		`\`${command} help\` — this`,
		"*Use as answer* in a message's menu, or a mention of me, in a card's thread — answer with that message",
	];
	const said = oneLineMrkdwn(typed, 150).replaceAll('`', "'");
	const why = said === '' ? REASONS[reason] : whyWith(said, reason, command);
	return message(`${why} ${command} shows what an agent asks and takes your answer.`.trim(), [
		...section(why === '' ? '' : `⚠️ ${why}`),
		...section("*Handraise brings agents' questions to you and your answers to them.*"),
		...section(lines.join('\n')),
	]);
}

/** The reason with what was typed, where that helps. */
function whyWith(said: string, reason: HelpReason, command: string): string {
	if (reason === 'unclear') return `I did not understand \`${command} ${said}\`.`;
	if (reason === 'reserved_id')
		return `A session id cannot be “${said}”: the session service uses that word itself. Nothing was changed.`;
	return REASONS[reason];
}

/** When the trigger is lost: the same way to the form, by a button with a trigger of its own. */
export function answerCard(sessionId: string, messageIndex: number | null = null): MessageContent {
	const value = encodeTarget({ sessionId, messageIndex });
	return message(`Session ${sessionIdMrkdwn(sessionId)} is ready. Press Answer to see it.`, [
		...section(
			`Slack only opens a window within three seconds, and this took longer. Now ${sessionName(sessionId)} is ready.`,
		),
		...buttons(button(ACTIONS.answer, 'Answer', { value, style: 'primary' })),
	]);
}

/** A receipt for a DM or a thread. */
export function receiptMessage(answer: Answer, receipt: ReceiptContext): MessageContent {
	return message(`${receiptHeadline(answer)} (session ${sessionIdMrkdwn(answer.question.sessionId)})`, [
		// Slack takes about 12,000 characters in all blocks of a message.
		...receiptBlocks(answer, receipt, 5000),
		...receiptButtons(answer, receipt),
		...context(`For ${sessionName(answer.question.sessionId)}`),
	]);
}

/** The author's own text, posted where the question was because it could not be sent. Never a secret. */
export function ownTextMessage(answer: Answer): MessageContent {
	const session = sessionName(answer.question.sessionId);
	const fate = mayHaveArrived(answer) ? 'was sent to the agent and may have arrived' : 'was not sent to the agent';
	return message(`An answer that ${fate} (session ${sessionIdMrkdwn(answer.question.sessionId)})`, [
		...section(`💬 <@${answer.person.userId}> wanted to answer ${session}. This ${fate}:`),
		...ownText(answer, 6_000),
	]);
}

/** Slack takes 3,000 characters in one section. */
const SECTION_TEXT = 2_900;

/** What became of a command, a line for each session. mrkdwn that is safe already, each line below 2,900 characters. */
export function outcomesMessage(lines: readonly string[], note = ''): MessageContent {
	const parts: string[] = [];
	for (const line of lines) {
		const last = parts.at(-1);
		if (last === undefined || last.length + line.length >= SECTION_TEXT) parts.push(line);
		else parts[parts.length - 1] = `${last}\n${line}`;
	}
	return message(parts[0] ?? '', [...parts.flatMap((part) => section(part)), ...context(note)]);
}

/** Somebody may not do this. */
export function refusedMessage(refusal: Refusal, adminContact: string | null): MessageContent {
	const words = refusalWords(refusal, adminContact);
	return message(words, section(`🔒 ${words}`));
}

/** What was asked for takes long. It comes to the same place. */
export function stillWaitingMessage(sessionId: string | null): MessageContent {
	const words = '⏳ Still waiting for the session service. The result comes as soon as it responds.';
	return message(words, [
		...section(words),
		...context(sessionId === null ? '' : `This is about ${sessionName(sessionId)}.`),
	]);
}

/** A failure outside a modal. */
export function errorMessage(code: string, sessionId: string | null, error: ErrorContext): MessageContent {
	const words = errorWords(code, error);
	return message(words.text, [
		...section(`⚠️ ${words.text}`),
		...context(sessionId === null ? '' : `This was about ${sessionName(sessionId)}.`),
	]);
}
