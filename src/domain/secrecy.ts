import { atOnce } from '../kernel/lease-loop.ts';
import { asksAbove, examineItem, looksSecret } from './asks-for-secret.ts';
import { guessInput, type InputGuess } from './input-kind.ts';
import { askedAt, YES_NO } from './options.ts';
import type { Question } from './session.ts';
import { matchingText, sameText, stringOf } from './texts.ts';
import { phrases } from './word-list.ts';

/** `isCut`: the context is cut. Then every item counts as secret. What is stored has marks of its own. */
type Texts = Parameters<typeof askedAt>[0] & { readonly isCut?: boolean };

/** By the items: whether the text above them asks for a secret. */
const askedAbove = new WeakMap<Texts['items'], boolean>();

/** By the item's own texts; a lone one that says nothing itself is secret where the text above it asks for a secret. */
export function looksSecretAt(question: Texts, position: number): boolean {
	const item = question.items[position];
	if (item === undefined || question.isCut === true || looksSecret(item)) return true;
	return askedAbove.get(question.items) ?? atOnce(examineContext(question));
}

const SEVERAL_LINES = phrases('secret/files', 'secret/several-lines');
const PASSWORDS = phrases('secret/passwords');

/**
 * The input of an item that looks secret: an input of one line, which Enter sends, removes the line ends of a private
 * key or a `.env` file. Of "the password of the private key", what comes first counts. The text above the items counts
 * where it is what asks for the secret.
 */
export function secretInputAt({ items, context }: Texts, position: number): InputGuess {
	const item = items[position] ?? { title: '', description: '' };
	const text = matchingText(`${item.title}\n${item.description}\n${looksSecret(item) ? '' : context}`);
	const several = text.search(SEVERAL_LINES);
	const password = text.search(PASSWORDS);
	return { kind: several !== -1 && (password === -1 || several < password) ? 'longText' : 'line' };
}

function* examineContext(question: Texts): Generator<void, boolean> {
	const { items, context } = question;
	const [item] = items;
	const options = askedAt(question, 0).choice?.options;
	// "May I have the password?"
	const isLone = item !== undefined && items.length === 1 && (options === undefined || options === YES_NO);
	const isAsked = isLone && (yield* asksAbove(context, item));
	askedAbove.set(items, isAsked);
	return isAsked;
}

/** Has the rules read a question, in short steps. They remember the findings: a long one takes a second. */
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

/** What our answer says about secrecy. Its row keeps this after the values are removed. */
export interface AnswerMarks extends Pick<Question, 'messageIndex' | 'fingerprint'> {
	/** Secret positions: of ticked boxes, or the guessed ones when the form had no box; null: which is not known. */
	readonly secret: readonly number[] | null;
	/** The form had the box: the author chose that positions outside `secret` are ordinary. */
	readonly boxed: boolean;
	/** Its values may be in the session. */
	readonly mayHaveArrived: boolean;
	/** The ordinary values, by position; null for the others, and for all once they are removed. */
	readonly values: readonly (string | null)[];
}

/** Where it is not known which positions are secret, all are. */
const isMarked = ({ secret }: AnswerMarks, position: number) => secret?.includes(position) ?? true;

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
