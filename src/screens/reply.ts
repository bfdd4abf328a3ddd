import type { Config } from '../config.ts';
import type { QuestionView } from '../domain/session-snapshot.ts';
import { APP_NAME, COMMAND } from '../kernel/command-name.ts';
import { ACTIONS, encodeCarriage, encodeReply, type OfferedReply } from '../slack/ids.ts';
import {
	type Button,
	button,
	buttons,
	context,
	dashboardButton,
	joined,
	type MessageContent,
	message,
	saying,
	sayingSession,
	section,
	sessionTitle,
	textMessage,
} from '../slack/parts.ts';
import { quoted } from '../slack/text.ts';
import { askedLine, elsewhereWords, ONLY_TEXT } from './question.ts';

const CHOSEN_TEXT_HELP = {
	no_session:
		'Handraise cannot tell which session that message is for. Use this in the thread of a watched session. ' +
		`Elsewhere, use \`${COMMAND}\` with the id.`,
	no_text: 'That message has no text that could be an answer.',
	nothing_open: 'No question of this session is open here now, so there is nothing to answer.',
	several: 'Handraise cannot tell which question you answer: write in its thread, or press *Answer* beside it.',
	secret:
		'🔒 Not in the thread: the question may ask for a password or code. Handraise never takes those from a ' +
		'message. Press Answer and type it there.',
} as const;

export function chosenTextHelp(why: keyof typeof CHOSEN_TEXT_HELP): MessageContent {
	return textMessage(CHOSEN_TEXT_HELP[why]);
}

/** For a message with files and no text. `session`: null where none is known. */
export function filesHelp(
	{ config }: { readonly config: Pick<Config, 'SESSION_DASHBOARD_URL'> },
	session: { readonly sessionId: string; readonly name: string } | null,
): MessageContent {
	const { sessionId = '', name = '' } = session ?? {};
	const open = session && dashboardButton(config.SESSION_DASHBOARD_URL, sessionId, 'Open in the dashboard');
	const dashboard = open && sayingSession(sessionId, name)(open);
	const words =
		'📎 Files and voice messages are not sent to the agent. Press *Answer* and write the text or a link there, or ' +
		`answer ${elsewhereWords(dashboard !== null)}.`;
	return textMessage(words, buttons(dashboard));
}

type Target = Pick<OfferedReply, 'id' | 'sessionId'>;
/** `text`: what would answer this question. `withFiles`: the message has files too. */
type Shown = {
	readonly text: string;
	readonly question: QuestionView;
	readonly sessionName: string;
	readonly withFiles?: boolean;
};

/** Of a message that can be the whole answer. */
export function replyOffer(offered: OfferedReply, shown: Shown): MessageContent {
	const send = button(ACTIONS.sendReply, 'Send', { value: encodeReply(offered), style: 'primary' });
	return offer('Send this to the agent as the answer?', shown, send, offered);
}

/** Of a message that the form has to be opened with. */
export function formOffer(target: Parameters<typeof encodeCarriage>[0], shown: Shown): MessageContent {
	const open = button(ACTIONS.useText, 'Use as answer', { value: encodeCarriage(target), style: 'primary' });
	return offer('Open the question with this as the answer?', shown, open, target);
}

/** It names the question: its thread may be about several, or the session asks another one by now. */
function offer(
	words: string,
	{ text, question, sessionName, withFiles = false }: Shown,
	yes: Button,
	{ id, sessionId }: Target,
) {
	const no = button(ACTIONS.keepReply, 'No', { value: id });
	const row = buttons(...[yes, no].map(saying('your message')));
	const about = joined(askedLine(question), sessionTitle(sessionName, sessionId));
	const files = withFiles ? ONLY_TEXT : '';
	return message(words, [...section(`${words}\n${quoted(text, 600)}`), ...section(files), ...context(about), ...row]);
}

export const REPLY_WORDS = {
	deleted: '🗑️ You have deleted that message, or its text. Nothing was sent.',
	kept: `👌 Nothing was sent. To send another message of this thread, mention ${APP_NAME} in it.`,
	/** `text`: of the message after it was sent. */
	tooLate: (text: string) =>
		'✏️ Your change came too late: your answer is the message as it was before. The message is ' +
		`now:\n${quoted(text, 600)}`,
} as const;
