import { oneLine } from '../domain/shown-text.ts';
import { APP_NAME, COMMAND, type CommandWord } from '../kernel/command-name.ts';
import { button, buttons, labelAbout, type MessageContent, message, section, textMessage } from '../slack/blocks.ts';
import { meantWords } from '../slack/error-view.ts';
import { ACTIONS } from '../slack/ids.ts';
import { bold, lines, rich, sentences, template } from '../slack/rich-text.ts';

/** What is wrong with a command, in at most 15 words. `{typed}`: what was typed; `{meant}`: what is similar to it. */
const MISTYPED = {
	unclear: `Handraise does not understand \`{typed}\`. \`${COMMAND} help\` shows what it does.`,
	unknown_word: 'No command `{typed}`. {meant}',
	one_session: `\`${COMMAND}\` opens one session: give one id alone. {meant}`,
	missing_id: 'Which session? Add its id, or its link from the dashboard.',
	no_history: `History is of one session: add its id. \`${COMMAND} list\` shows those of this channel.`,
	too_many_ids: 'Those are too many sessions: name up to 20 at once.',
	one_id: `\`${COMMAND} {typed}\` takes the id of one session.`,
	stands_alone: `\`${COMMAND} {typed}\` takes nothing after it.`,
	foreign_link: 'That link does not lead to the dashboard of the sessions.',
	link_without_id: 'That link has no session id in it.',
	id_too_long: 'That is too long for a session id.',
	unknown_flag: `No flag \`{typed}\`, so nothing was done. \`${COMMAND} settings\` has what differs between channels.`,
	reserved_id: 'A session id cannot be `{typed}`: the session service uses that word itself.',
	all_alone: '`all` stands alone behind `watch` and `unwatch`.',
} as const;

export type HelpReason = keyof typeof MISTYPED | 'asked';

export const WHAT_IT_IS = "Handraise brings agents' questions to you and your answers to them.";

/** The line of each word; null: the help does not name it. */
const WORDS: Readonly<Record<CommandWord, string | null>> = {
	watch: `\`${COMMAND} watch <id>\` — follow it in this channel`,
	unwatch: `\`${COMMAND} unwatch <id>\` — end that`,
	list: `\`${COMMAND} list\` — what this channel watches, and *Stop watching*`,
	inbox: null,
	settings: `\`${COMMAND} settings\` — this channel's reminders and quiet hours, how posts look, who may answer`,
	history: null,
	help: `\`${COMMAND} help\` — this help`,
};

const HELP = [
	`\`${COMMAND}\` — what asks you, as on the *Home* tab`,
	`\`${COMMAND} <id>\` — see what the agent did and asks, and answer it. A dashboard link works too.`,
	...Object.values(WORDS).flatMap((line) => line ?? []),
];
/** Behind *More*. */
const MORE_HELP = [
	`\`${COMMAND} watch\` — choose from the sessions that ask, where Handraise may list them`,
	`\`${COMMAND} watch all\` — bring the questions of all sessions into this channel. \`${COMMAND} unwatch all\` ` +
		'ends all that is watched here.',
	`To answer with a message in a question's thread, mention ${APP_NAME} there, or choose *Use as answer* in its menu.`,
];

/** What `/session` understands. `isWhole`: after *More*. */
export function helpMessage(isWhole = false): MessageContent {
	return message(`${COMMAND} shows what an agent asks and takes your answer.`, [
		...section(bold(WHAT_IT_IS)),
		...section(lines(...(isWhole ? [...HELP, ...MORE_HELP] : HELP).map((text) => template(text)))),
		...(isWhole ? [] : buttons(labelAbout('help')(button(ACTIONS.moreHelp, 'More')))),
	]);
}

export function mistypedMessage(reason: keyof typeof MISTYPED, typed = '', meant?: string): MessageContent {
	const hint = meant === undefined ? rich`\`${COMMAND} help\` shows all.` : meantWords(meant);
	const words = template(MISTYPED[reason], { meant: hint, typed: oneLine(typed, 150) });
	return textMessage(sentences('⚠️', words));
}
