import { splitNote } from './choices.ts';
import { choicesOf, guessInput } from './input-kind.ts';
import { type AnswerSecrecy, isSecretValue } from './secrecy.ts';
import type { ItemTexts, Question } from './session.ts';

/** The setting `SHOW_ANSWERS`: whether channels see the text of answers. */
export const SHOW_ANSWERS = ['auto', 'always', 'never'] as const;
export type ShowAnswers = (typeof SHOW_ANSWERS)[number];

/** UTF-16 units. */
const MAX_ANSWER_LENGTH = 80;
/** UTF-16 units. A longer word is more likely a key. */
const MAX_WORD_LENGTH = 30;

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{1,2}:\d{2}$/;
/** Letters, with punctuation marks only inside the word. */
const LETTERS = /^[\p{L}\p{M}]+(?:['’&/+-][\p{L}\p{M}]+)*$/u;
/** At most three digits, perhaps with letters or a currency: 12, 3rd, A4, €15, 0.5. */
const SMALL_NUMBER = /^[+#\p{Sc}-]?\d{1,3}\p{L}{0,3}$|^\p{L}\d{1,2}$|^[+\p{Sc}-]?\d{1,2}[.,]\d$/u;

/** What a channel sees of one value of a question. `withheld`: only that there is one. */
export type Disclosure = (asked: Question, position: number) => 'shown' | 'withheld' | 'secret';

/** How much channels see of a session's values. Secret values are hidden in every mode. */
export function disclosureOf(secrecy: readonly AnswerSecrecy[], mode: ShowAnswers): Disclosure {
	return (asked, position) => {
		const item = asked.items[position];
		if (item === undefined || isSecretValue(secrecy, asked, position)) return 'secret';
		return isShownInChannels(mode, item, item.value) ? 'shown' : 'withheld';
	};
}

/** Whether channels see a value that is not secret. `auto` shows choices, and one short line without possible codes. */
export function isShownInChannels(mode: ShowAnswers, item: ItemTexts, value: string): boolean {
	if (mode !== 'auto') return mode === 'always';
	if (isShortAndPlain(value.trim())) return true;
	// The texts of an item can be long, so its options are read only when the value alone does not decide.
	const { chosen, note } = splitNote(value.trim(), choicesOf(guessInput(item)));
	return chosen.length > 0 && isShortAndPlain(note);
}

function isShortAndPlain(value: string): boolean {
	if (value.length > MAX_ANSWER_LENGTH || /[\n\r\u2028\u2029]/.test(value)) return false;
	if (DATE.test(value) || TIME.test(value)) return true;
	// Adjacent numbers can be a code: "12 34 56".
	if (/(?<![\p{L}\d])\d+[\s.,;:-]+\d{2}/u.test(value.replace(/\b\d{1,2}:\d{2}\b/g, 'time'))) return false;
	return value.split(/[\s、。，！？]+/).every((word) => {
		const bare = word.replace(/^[("'“„‘[]+|[)"'”’\].,;:!?…%\p{Sc}]+$/gu, '');
		return (
			bare.length <= MAX_WORD_LENGTH &&
			(bare === '' || LETTERS.test(bare) || SMALL_NUMBER.test(bare) || TIME.test(bare))
		);
	});
}
