import { asksAbove, looksSecret } from './asks-for-secret.ts';
import { sameText } from './fingerprint.ts';
import { guessInput } from './input-kind.ts';
import type { Question } from './open-question.ts';
import type { HumanInputItem } from './session.ts';

interface Texts extends Pick<Question, 'context'> {
	readonly items: readonly Pick<HumanInputItem, 'title' | 'description'>[];
}

/** Questions whose text above was examined: each item of a question asks for the same. */
const askedAbove = new WeakMap<Texts, boolean>();

/**
 * Whether the item at a position seems to ask for a secret. Where no item does by itself, the text above them can: then
 * every item is secret that takes any text.
 */
export function looksSecretAt(question: Texts, position: number): boolean {
	const item = question.items[position];
	if (item === undefined || looksSecret(item)) return true;
	const { kind } = guessInput(item);
	if (kind !== 'longText' && kind !== 'line') return false;
	if (!askedAbove.has(question))
		askedAbove.set(question, asksAbove(question.context) && !question.items.some(looksSecret));
	return askedAbove.get(question) === true;
}

/** What an answer of ours says about secrecy. Its row keeps this after the values are removed. */
export interface AnswerMarks {
	readonly messageIndex: number;
	readonly fingerprint: string;
	/** Secret positions: those of ticked boxes, or the guessed ones when the form had no box. */
	readonly secret: readonly number[];
	/** Whether the form had the box. If so, the author chose that positions outside `secret` are ordinary. */
	readonly boxed: boolean;
	/** Whether its values may be in the session. */
	readonly mayHaveArrived: boolean;
	/** The ordinary values, by position; null for the others, and for all once they are removed. */
	readonly values: readonly (string | null)[];
}

type Asked = Pick<Question, 'messageIndex' | 'fingerprint' | 'items' | 'context'>;

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
	const item = asked.items[position];
	if (item === undefined) return true;
	const ours = marks.filter(({ fingerprint }) => fingerprint === asked.fingerprint);
	const isMarked = ({ secret }: AnswerMarks) => secret.includes(position);
	const arrived = ours.filter(({ mayHaveArrived }) => mayHaveArrived);
	if (arrived.some((mark) => mark.messageIndex === asked.messageIndex && isMarked(mark))) return true;
	const isOrdinary = (mark: AnswerMarks) => {
		const value = mark.values[position] ?? null;
		return mark.boxed && !isMarked(mark) && value !== null && value !== '' && sameText(value, item.value);
	};
	if (arrived.some(isOrdinary)) return false;
	// Agents reword a message or add items but keep a value. At which position it is then is not known.
	const isReworded = marks.some(
		(mark) =>
			mark.mayHaveArrived &&
			mark.messageIndex === asked.messageIndex &&
			mark.fingerprint !== asked.fingerprint &&
			mark.secret.length > 0,
	);
	return isReworded || ours.some(isMarked) || looksSecretAt(asked, position);
}

/** The positions whose box is ticked in a new form: they look secret, or somebody gave a secret answer to them. */
export function secretAtFirst(marks: readonly AnswerMarks[], asked: Asked): number[] {
	const ours = marks.filter((mark) => mark.fingerprint === asked.fingerprint);
	return asked.items.flatMap((_, position) =>
		looksSecretAt(asked, position) || ours.some(({ secret }) => secret.includes(position)) ? [position] : [],
	);
}
