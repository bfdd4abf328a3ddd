import type { ModalView } from '@slack/types';
import type { Question } from '../../questions/open-question.ts';
import { ACTIONS, CALLBACKS, encodeCarriage, type SessionTarget } from '../ids.ts';
import type { ViewMetadata } from '../metadata.ts';
import { oneLineMrkdwn, plain, quoted, quotedTitle } from '../text.ts';
import { sessionIdMrkdwn, sessionName, viewTitle } from '../words.ts';
import {
	answerButton,
	button,
	buttons,
	context,
	type MessageContent,
	message,
	modal,
	section,
	sectionsOf,
	textMessage,
} from './parts.ts';

const REASONS = {
	asked: '',
	unclear: 'I did not understand that.',
	missing_id: 'Which session? The id is missing.',
	too_many_ids: 'Those are too many sessions. You can name up to 20 at once.',
	foreign_link: 'That link does not lead to our session dashboard.',
	link_without_id: 'That link has no session id in it.',
	id_too_long: 'That is too long for a session id.',
	unknown_flag: 'I do not know that flag.',
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
		unknown_flag: `\`watch\` has no flag “${shown}”, so nothing was changed. Put a session id that begins with a dash in quotes.`,
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

const TOO_LATE = 'Slack only opens a window within three seconds, and this took longer.';

/** For an expired trigger: the button opens the form with a new trigger. */
export function answerCard(sessionId: string, messageIndex: number | null = null): MessageContent {
	return message(`Session ${sessionIdMrkdwn(sessionId)} is ready. Press Answer to see it.`, [
		...section(`${TOO_LATE} Now ${sessionName(sessionId)} is ready.`),
		...buttons(answerButton({ sessionId, messageIndex })),
	]);
}

const NO_WINDOW = {
	inbox: [
		'Open the *Home* tab of this app, or type `/session inbox` again.',
		'Your inbox could not be opened in a window.',
	],
	settings: ['Type `/session settings` again.', 'The settings could not be opened in a window.'],
	handOver: ['Nothing was handed over. Please press *Hand over* again.', ''],
} as const;

/** For the expired trigger of another window. */
export function noWindow(what: keyof typeof NO_WINDOW): MessageContent {
	const [todo, text] = NO_WINDOW[what];
	return message(text || `${TOO_LATE} ${todo}`, section(`${TOO_LATE} ${todo}`));
}

/** The result of a command, a line for each session. mrkdwn that is safe already, each line below 3,000 characters. */
export function outcomesMessage(lines: readonly string[], note = ''): MessageContent {
	const parts = sectionsOf(lines);
	return message(parts[0]?.text?.text ?? '', [...parts, ...context(note)]);
}

/** The result takes long and replaces this message. */
export function stillWaitingMessage(sessionId: string | null): MessageContent {
	const words = '⏳ Still waiting for the session service. The result comes as soon as it responds.';
	return textMessage(words, context(sessionId === null ? '' : `This is about ${sessionName(sessionId)}.`));
}

const CHOSEN_TEXT_HELP = {
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
