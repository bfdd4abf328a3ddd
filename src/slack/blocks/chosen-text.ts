import { ACTIONS, encodeTarget, type SessionTarget } from '../ids.ts';
import { quoted } from '../text.ts';
import { sessionName } from '../words.ts';
import { type MessageContent, message } from './message.ts';
import { button, buttons, section } from './parts.ts';

const HELP = {
	no_session:
		'I cannot tell which session that message is for. It works in the thread of a session this channel watches; elsewhere use `/session` with the id.',
	no_text: 'That message has no text that could be an answer.',
	nothing_open: 'No question of this session is open now, so there is nothing to answer.',
	secret: '🔒 The question asks for a password or code. Those are never taken from a message; please press Answer.',
} as const;

/** Why a message cannot be an answer. */
export function chosenTextHelp(why: keyof typeof HELP): MessageContent {
	return message(HELP[why], section(HELP[why]));
}

/** The reply to a mention: a button that opens the form with that message in it; a mention itself cannot open one. */
export function chosenTextOffer(formId: string, target: SessionTarget, text: string): MessageContent {
	const value = `${formId}|${encodeTarget(target)}`;
	const words = `Shall this be the answer for ${sessionName(target.sessionId)}?`;
	return message(words, [
		...section(`${words}\n${quoted(text, 600)}`),
		...buttons(button(ACTIONS.useText, 'Use as answer', { value, style: 'primary' })),
	]);
}
