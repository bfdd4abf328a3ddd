import { ACTIONS, encodeTarget, type SessionTarget } from '../ids.ts';
import { button, buttons, type MessageContent, message, section } from './parts.ts';

/** To the person who chose: what is sent, and *Undo* until then. */
export function ownChoiceMessage(answerId: string, words: string): MessageContent {
	return message(words, [...section(words), ...buttons(button(ACTIONS.undo, 'Undo', { value: answerId }))]);
}

/** To one person about their choice, with a way to the question. */
export function choiceMessage(words: string, target: SessionTarget | null = null): MessageContent {
	const open =
		target === null ? [] : buttons(button(ACTIONS.open, 'Open the session', { value: encodeTarget(target) }));
	return message(words, [...section(words), ...open]);
}
