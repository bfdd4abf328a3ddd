import type { Config } from '../config.ts';
import type { QuestionSnapshot } from '../domain/session-snapshot.ts';
import { APP_NAME, COMMAND } from '../kernel/command-name.ts';
import {
	type Button,
	button,
	buttons,
	context,
	dashboardButton,
	fitting,
	labelAbout,
	labelAboutSession,
	type MessageContent,
	message,
	row,
	section,
	textMessage,
} from '../slack/blocks.ts';
import { ACTIONS, encodeTextTarget, encodeThreadReply, type OfferedThreadReply } from '../slack/ids.ts';
import { andMoreWords, idIfAmbiguous, sessionTitle } from '../slack/phrases.ts';
import { bold, joined, line, quotedText, rich, richText, template } from '../slack/rich-text.ts';
import { askedLine, elsewhereWords, LINE_LENGTHS, ONLY_TEXT } from './question.ts';

const CHOSEN_TEXT_HELP = {
	no_session: rich`No question in this channel asks you. \`${COMMAND}\` with an id opens a session.`,
	no_text: 'That message has no text that could be an answer.',
	ours: rich`That message is from ${APP_NAME}, so it is no answer.`,
	nothing_open: 'This session asks nothing here now, so there is nothing to answer.',
	several: rich`Handraise cannot tell which question you answer: write in its thread, or press *Answer* beside it.`,
	secret: template(
		'🔒 Not in the thread: the question may ask for a password or code. Handraise never takes those from a message. ' +
			'Press *Answer* and type it there.',
	),
} as const;

export function chosenTextHelp(why: keyof typeof CHOSEN_TEXT_HELP): MessageContent {
	return textMessage(CHOSEN_TEXT_HELP[why]);
}

/** For a message with files and no text. `session`: null when none is known. */
export function filesHelp(
	{ config }: { readonly config: Pick<Config, 'SESSION_DASHBOARD_URL'> },
	session: { readonly sessionId: string; readonly name: string } | null,
): MessageContent {
	const { sessionId = '', name = '' } = session ?? {};
	const open = session && dashboardButton(config.SESSION_DASHBOARD_URL, sessionId, 'Open in the dashboard');
	const dashboard = open && labelAboutSession(sessionId, name)(open);
	const words = template(
		'📎 Files and voice messages are not sent to the agent. Press *Answer* and write the text or a link there, or ' +
			'answer {elsewhere}.',
		{ elsewhere: elsewhereWords(dashboard !== null) },
	);
	return textMessage(words, buttons(dashboard));
}

type Target = Pick<OfferedThreadReply, 'id' | 'sessionId'>;
/** `text`: the message that would answer the question. `withFiles`: it has files too. */
type OfferedText = {
	readonly text: string;
	readonly question: QuestionSnapshot;
	readonly sessionName: string;
	readonly withFiles?: boolean;
};

/** Offers to send a message as the whole answer. */
export function threadReplyOffer(offered: OfferedThreadReply, shown: OfferedText): MessageContent {
	const send = button(ACTIONS.sendReply, 'Send', { value: encodeThreadReply(offered), style: 'primary' });
	return offer('Send this to the agent as the answer?', shown, send, offered);
}

/** Offers to open the form with a message filled in. */
export function formOffer(target: Parameters<typeof encodeTextTarget>[0], shown: OfferedText): MessageContent {
	const open = button(ACTIONS.useText, 'Use as answer', { value: encodeTextTarget(target), style: 'primary' });
	return offer('Open the question with this as the answer?', shown, open, target);
}

/** Shows the question too: its thread may have several, or the session may ask another one by now. */
function offer(
	words: string,
	{ text, question, sessionName, withFiles = false }: OfferedText,
	yes: Button,
	{ id, sessionId }: Target,
) {
	const no = button(ACTIONS.keepReply, 'No', { value: id });
	const row = buttons(...[yes, no].map(labelAbout('your message')));
	const about = joined(askedLine(question), sessionTitle(sessionName, sessionId));
	const files = withFiles ? ONLY_TEXT : '';
	const shown = richText(...line(words), ...quotedText(text, 600));
	return message(words, [...shown, ...section(files), ...context(about), ...row]);
}

/** A question that somebody may answer with a message. `target`: of the kept text and the question. */
export interface OfferedQuestion extends Pick<OfferedText, 'question' | 'sessionName'> {
	readonly target: Parameters<typeof encodeTextTarget>[0];
}

/** Asks which question a message outside of threads answers. `left`: the number of questions that are not shown. */
export function chooseQuestion(text: string, offered: readonly OfferedQuestion[], left = 0): MessageContent {
	const words = 'Which question does it answer?';
	const shown = offered.map(({ target, sessionName }) => ({ sessionId: target.sessionId, name: sessionName }));
	const more = andMoreWords(left, left === 1 ? 'question' : 'questions');
	const blocks = fitting(LINE_LENGTHS, (length) => [
		...richText(...line(bold(words)), ...quotedText(text, 600)),
		...offered.flatMap(({ target, question, sessionName }) => {
			const use = button(ACTIONS.useText, 'Use as answer', { value: encodeTextTarget(target) });
			const { sessionId } = target;
			const id = idIfAmbiguous(shown, { sessionId, name: sessionName });
			const about = joined(`✋ ${askedLine(question, length)}`, sessionTitle(sessionName, sessionId, length), id);
			return row(about, labelAboutSession(sessionId, id === '' ? sessionName : '')(use));
		}),
		...context(more === '' ? '' : rich`${more}: to answer one of those, press *Answer* beside it.`),
	]);
	return message(words, blocks);
}

export const THREAD_REPLY_WORDS = {
	deleted: '🗑️ You have deleted that message, or its text. Nothing was sent.',
	kept: `👌 Nothing was sent. To send another message of this thread, mention ${APP_NAME} in it.`,
} as const;

/** `text`: the message as it is now, after it was sent. */
export function changedTooLate(text: string): MessageContent {
	const words = '✏️ Your change came too late: your answer is the message as it was before. The message is now:';
	return message(words, richText(...line(words), ...quotedText(text, 600)));
}
