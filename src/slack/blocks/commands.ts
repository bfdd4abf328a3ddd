import { oneLineMrkdwn } from '../text.ts';
import { sessionIdMrkdwn, sessionName } from '../words.ts';
import { answerButton, buttons, context, type MessageContent, message, section, sectionsOf } from './parts.ts';

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

export const WHAT_IT_IS = "*Handraise brings agents' questions to you and your answers to them.*";

/** What `/session` understands, and why help is shown if nobody asked for it. */
export function helpMessage(reason: HelpReason = 'asked', typed = '', command = '/session'): MessageContent {
	const shown = oneLineMrkdwn(typed, 150).replaceAll('`', "'");
	const aboutTyped: Partial<Record<HelpReason, string>> = {
		unclear: `I did not understand \`${command} ${shown}\`.`,
		reserved_id: `A session id cannot be “${shown}”: the session service uses that word itself.`,
	};
	const why = (shown === '' ? undefined : aboutTyped[reason]) ?? REASONS[reason];
	const lines = [
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
	];
	return message(`${why} ${command} shows what an agent asks and takes your answer.`.trim(), [
		...section(why === '' ? '' : `⚠️ ${why}`),
		...section(WHAT_IT_IS),
		...section(lines.join('\n')),
	]);
}

/** For an expired trigger: the button opens the form with a new trigger. */
export function answerCard(sessionId: string, messageIndex: number | null = null): MessageContent {
	return message(`Session ${sessionIdMrkdwn(sessionId)} is ready. Press Answer to see it.`, [
		...section(
			`Slack only opens a window within three seconds, and this took longer. Now ${sessionName(sessionId)} is ready.`,
		),
		...buttons(answerButton({ sessionId, messageIndex })),
	]);
}

/** The result of a command, a line for each session. mrkdwn that is safe already, each line below 3,000 characters. */
export function outcomesMessage(lines: readonly string[], note = ''): MessageContent {
	const parts = sectionsOf(lines);
	return message(parts[0]?.text?.text ?? '', [...parts, ...context(note)]);
}

/** The result takes long and replaces this message. */
export function stillWaitingMessage(sessionId: string | null): MessageContent {
	const words = '⏳ Still waiting for the session service. The result comes as soon as it responds.';
	return message(words, [
		...section(words),
		...context(sessionId === null ? '' : `This is about ${sessionName(sessionId)}.`),
	]);
}
