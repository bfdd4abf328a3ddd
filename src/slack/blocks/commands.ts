import { oneLineMrkdwn } from '../text.ts';
import { sessionIdMrkdwn, sessionName } from '../words.ts';
import { answerButton, buttons, context, type MessageContent, message, section } from './parts.ts';

const REASONS = {
	asked: '',
	unclear: 'I did not understand that.',
	missing_id: 'Which session? The id is missing.',
	too_many_ids: 'Those are too many sessions. You can name up to 20 at once.',
	foreign_link: 'That link does not lead to our session dashboard.',
	link_without_id: 'That link has no session id in it.',
	id_too_long: 'That is too long for a session id.',
	reserved_id: 'That word is not a session id.',
	all_alone:
		'`all` goes with `watch` and `unwatch` only, and stands alone: `watch all` takes `--discreet` and `--no-buttons`, because it makes no cards, and `unwatch all` takes nothing.',
} as const;

/** Why help is shown. */
export type HelpReason = keyof typeof REASONS;

/** Why help is shown; empty if somebody asked for it. `typed`: mrkdwn without backticks, may be empty. */
function helpReason(reason: HelpReason, typed: string, command: string): string {
	if (typed !== '' && reason === 'unclear') return `I did not understand \`${command} ${typed}\`.`;
	if (typed !== '' && reason === 'reserved_id')
		return `A session id cannot be “${typed}”: the session service uses that word itself.`;
	return REASONS[reason];
}

export const WHAT_IT_IS = "*Handraise brings agents' questions to you and your answers to them.*";

/** What `/session` understands. mrkdwn. */
function helpLines(command: string): string {
	return [
		`\`${command} 3f9a2c1d\` — see what the agent did and asks, and answer it. A dashboard link works too.`,
		`\`${command} watch 3f9a2c1d\` — keep a live card of it in this channel; \`--questions-only\` posts less, \`--thread-only\` keeps questions out of the channel (an escalation there names only the session), \`--discreet\` out of notifications, \`--no-buttons\` shows no options as buttons`,
		`\`${command} watch all\` — bring the questions of all sessions into this channel`,
		`\`${command} unwatch 3f9a2c1d\` — stop watching it; \`unwatch all\` stops watching everything here`,
		`\`${command} list\` — what this channel watches`,
		`\`${command} inbox\` — what waits for you; the *Home* tab of this app shows the same`,
		`\`${command} settings\` — when open questions are reminded of in this channel, whom to mention, quiet hours`,
		`\`${command} history 3f9a2c1d\` — who answered what`,
		`\`${command} help\` — show this help`,
		"In a card's thread: choose *Use as answer* in a message's menu, or mention me, to answer with that message.",
	].join('\n');
}

/** What `/session` understands, and why help is shown if nobody asked for it. */
export function helpMessage(reason: HelpReason = 'asked', typed = '', command = '/session'): MessageContent {
	const why = helpReason(reason, oneLineMrkdwn(typed, 150).replaceAll('`', "'"), command);
	return message(`${why} ${command} shows what an agent asks and takes your answer.`.trim(), [
		...section(why === '' ? '' : `⚠️ ${why}`),
		...section(WHAT_IT_IS),
		...section(helpLines(command)),
	]);
}

/** For an expired trigger: the session needs one more press. mrkdwn. */
function readyWords(sessionId: string): string {
	return `Slack only opens a window within three seconds, and this took longer. Now ${sessionName(sessionId)} is ready.`;
}

/** The same for notifications. */
function readyText(sessionId: string): string {
	return `Session ${sessionIdMrkdwn(sessionId)} is ready. Press Answer to see it.`;
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

const RESULT_COMES = '⏳ Still waiting for the session service. The result comes as soon as it responds.';

/** The result takes long and replaces this message. */
export function stillWaitingMessage(sessionId: string | null): MessageContent {
	return message(RESULT_COMES, [
		...section(RESULT_COMES),
		...context(sessionId === null ? '' : `This is about ${sessionName(sessionId)}.`),
	]);
}
