import { atOnce } from '../core/lease-loop.ts';
import { examineItem, looksSecret, type Request, requestIn, takesSecret } from './asks-for-secret.ts';
import { choicesOf, guessInput, guessInputAt, splitNote } from './input-kind.ts';
import type { askedItem } from './options.ts';
import type { ItemTexts, Question } from './session.ts';
import { sameText, stringOf } from './texts.ts';

/** `isCut`: the context is cut. Then every item counts as secret. What is stored has marks of its own. */
type Texts = Parameters<typeof askedItem>[0] & { readonly isCut?: boolean };

/** By the items: what the text above them is about a secret, where no item asks for one. */
const requestsAbove = new WeakMap<Texts['items'], Request>();

/** Where no item asks for a secret by itself, the text above can: then every item may be secret that takes any text. */
export function looksSecretAt(question: Texts, position: number): boolean {
	const item = question.items[position];
	if (item === undefined || question.isCut === true || looksSecret(item)) return true;
	const { kind } = guessInput(item);
	if (kind !== 'longText' && kind !== 'line' && kind !== 'url') return false;
	const found = requestsAbove.get(question.items);
	const above = found === undefined ? atOnce(examineContext(question)) : found;
	// "Which one?" below a list of refunds asks for one of them, unless the text also asks for a secret.
	return takesSecret(item, above) && (above === 'asks' || guessInputAt(question, position).kind !== 'choice');
}

function* examineContext({ items, context }: Texts): Generator<void, Request> {
	const isInItems = items.some((item) => item.isCut !== true && looksSecret(item));
	const request = isInItems ? null : yield* requestIn(context);
	requestsAbove.set(items, request);
	return request;
}

/** Has the rules read a question, in short steps. They remember what they found: of a long one it takes a second. */
export function* examine(question: Texts): Generator<void, void> {
	if (question.isCut === true) return;
	for (const item of question.items) {
		if (item.isCut === true) continue;
		yield* examineItem(item);
		guessInput(item);
		yield;
	}
	yield* examineContext(question);
}

/** What an answer of ours says about secrecy. Its row keeps this after the values are removed. */
export interface AnswerMarks extends Pick<Question, 'messageIndex' | 'fingerprint'> {
	/** Secret positions: those of ticked boxes, or the guessed ones when the form had no box; null: which is not known. */
	readonly secret: readonly number[] | null;
	/** Whether the form had the box. If so, the author chose that positions outside `secret` are ordinary. */
	readonly boxed: boolean;
	/** Whether its values may be in the session. */
	readonly mayHaveArrived: boolean;
	/** The ordinary values, by position; null for the others, and for all once they are removed. */
	readonly values: readonly (string | null)[];
}

/** Where it is not known which positions are secret, all are. */
function isMarked({ secret }: AnswerMarks, position: number): boolean {
	return secret?.includes(position) ?? true;
}

type Asked = Pick<Question, 'messageIndex' | 'fingerprint' | 'items' | 'sent' | 'context' | 'isCut'>;

/**
 * Whether the value of one item is hidden from everybody. The first rule that applies decides:
 *
 * 1. A secret answer of ours may be at this message: hidden.
 * 2. The text is that of an answer whose author left the box empty: ordinary.
 * 3. There is a secret answer of ours to the same question at any message (messages move), or to the same message when
 *    it asked something else: hidden.
 * 4. The value came from outside: `looksSecretAt` decides.
 */
export function isSecretValue(marks: readonly AnswerMarks[], asked: Asked, position: number): boolean {
	const sent = asked.sent[position];
	if (sent === undefined) return true;
	const arrived = marks.filter(({ mayHaveArrived }) => mayHaveArrived);
	const here = arrived.filter(({ messageIndex }) => messageIndex === asked.messageIndex);
	const isSame = ({ fingerprint }: AnswerMarks) => fingerprint === asked.fingerprint;
	if (here.some((mark) => isSame(mark) && isMarked(mark, position))) return true;
	const isOrdinary = (mark: AnswerMarks) => {
		const value = mark.values[position] ?? '';
		return mark.boxed && !isMarked(mark, position) && value !== '' && sameText(stringOf(sent.value), value);
	};
	if (arrived.some((mark) => isSame(mark) && isOrdinary(mark))) return false;
	// Agents reword a message or add items but keep a value. At which position it is then is not known.
	const isReworded = here.some((mark) => !isSame(mark) && mark.secret?.length !== 0);
	return isReworded || isSecretAtFirst(marks, asked, position);
}

/** Whether it looks secret, or somebody gave a secret answer to it. */
function isSecretAtFirst(marks: readonly AnswerMarks[], asked: Asked, position: number): boolean {
	const ours = marks.filter(({ fingerprint }) => fingerprint === asked.fingerprint);
	return ours.some((mark) => isMarked(mark, position)) || looksSecretAt(asked, position);
}

/** The positions whose box is ticked in a new form. */
export function secretAtFirst(marks: readonly AnswerMarks[], asked: Asked): number[] {
	return [...asked.items.keys()].filter((position) => isSecretAtFirst(marks, asked, position));
}

/** The setting `SHOW_ANSWERS`: whether channels see answers or only that there is one. */
export const SHOW_ANSWERS = ['auto', 'always', 'never'] as const;
export type ShowAnswers = (typeof SHOW_ANSWERS)[number];

/** UTF-16 units. */
const MAX_ANSWER_LENGTH = 80;
/** UTF-16 units. Longer words are more likely keys. */
const MAX_WORD_LENGTH = 30;

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{1,2}:\d{2}$/;
/** Letters, with punctuation marks only inside the word. */
const LETTERS = /^[\p{L}\p{M}]+(?:['’&/+-][\p{L}\p{M}]+)*$/u;
/** At most three digits, with or without letters or a currency: 12, 3rd, A4, €15, 30%, 0.5. */
const SMALL_NUMBER = /^[+#\p{Sc}-]?\d{1,3}\p{L}{0,3}$|^\p{L}\d{1,2}$|^[+\p{Sc}-]?\d{1,2}[.,]\d$/u;

/** What a channel sees of the value at one position of a question. `withheld`: only that there is one. */
export type Disclosure = (asked: Question, position: number) => 'shown' | 'withheld' | 'secret';

/** What channels see of a session's values. Secret ones are hidden in every mode. */
export function disclosureOf(marks: readonly AnswerMarks[], mode: ShowAnswers): Disclosure {
	return (asked, position) => {
		const item = asked.items[position];
		if (item === undefined || isSecretValue(marks, asked, position)) return 'secret';
		return isShownInChannels(mode, item, item.value) ? 'shown' : 'withheld';
	};
}

/** Whether channels may see a value that is not secret. `auto`: choices, and one short line without links or possible codes. */
export function isShownInChannels(mode: ShowAnswers, item: ItemTexts, value: string): boolean {
	if (mode !== 'auto') return mode === 'always';
	if (isShortAndPlain(value.trim())) return true;
	// The texts of an item can be long, so they are looked at only when the value alone does not tell.
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
