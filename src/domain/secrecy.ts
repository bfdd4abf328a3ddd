import { runSync } from '../kernel/slices.ts';
import { asksAbove, examineItem, looksSecret } from './asks-for-secret.ts';
import { guessInput, type InputGuess } from './input-kind.ts';
import { matchingText } from './matching-text.ts';
import { askedAt, YES_NO } from './options.ts';
import type { Question } from './session.ts';
import { sameText, stringOf } from './texts.ts';
import { phrases } from './word-list.ts';

/** `isCut`: the context is cut, so every item counts as secret. */
type Texts = Parameters<typeof askedAt>[0] & { readonly isCut?: boolean };

/** Results by question: whether the text above its items asks for a secret. */
const askedAbove = new WeakMap<Texts['items'], boolean>();

/** Whether an item looks secret by its own texts, or, if it is alone and says nothing, by the text above it. */
export function looksSecretAt(question: Texts, position: number): boolean {
	const item = question.items[position];
	if (item === undefined || question.isCut === true || looksSecret(item)) return true;
	return askedAbove.get(question.items) ?? runSync(examineContext(question));
}

const SEVERAL_LINES = phrases('secret/files', 'secret/several-lines');
const PASSWORDS = phrases('secret/passwords');

/**
 * The input of an item that looks secret. An input of one line would remove the line ends of a private key or a `.env`
 * file, so these get several lines. In "the password of the private key", the first name counts. The text above the
 * items counts if that text is what asks for the secret.
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

/** Applies the rules to a question in short steps. They remember the results. A long question takes a second. */
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

/** What one of our answers says about secrecy. Its row keeps this after the values are removed. */
export interface AnswerSecrecy extends Pick<Question, 'messageIndex' | 'fingerprint'> {
	/** Secret positions: with a ticked box, or guessed when the form had no box. Null: not known. */
	readonly secret: readonly number[] | null;
	/** The form had the box, so the author decided that positions outside `secret` are ordinary. */
	readonly boxed: boolean;
	/** The answer's values may be in the session. */
	readonly mayHaveArrived: boolean;
	/** By position: an ordinary value; null: a secret or a removed one. */
	readonly values: readonly (string | null)[];
}

/** If the secret positions are not known, every position counts as secret. */
const isMarked = ({ secret }: AnswerSecrecy, position: number) => secret?.includes(position) ?? true;

type Asked = Pick<Question, 'messageIndex' | 'fingerprint' | 'items' | 'sent' | 'context' | 'isCut'>;

/**
 * Whether the value of one item is hidden from everybody. The first rule that applies decides:
 *
 * 1. A secret answer of ours to this question may be in this message: hidden.
 * 2. The text equals that of one of our answers whose author left the box empty: ordinary.
 * 3. We have a secret answer to the same question at any message (messages move), or to the same message when it asked
 *    something else: hidden.
 * 4. Otherwise the value came from outside, and `looksSecretAt` decides.
 */
export function isSecretValue(secrecy: readonly AnswerSecrecy[], asked: Asked, position: number): boolean {
	const sent = asked.sent[position];
	if (sent === undefined) return true;
	const arrived = secrecy.filter(({ mayHaveArrived }) => mayHaveArrived);
	const here = arrived.filter(({ messageIndex }) => messageIndex === asked.messageIndex);
	const isSame = ({ fingerprint }: AnswerSecrecy) => fingerprint === asked.fingerprint;
	if (here.some((mark) => isSame(mark) && isMarked(mark, position))) return true;
	const isOrdinary = (mark: AnswerSecrecy) => {
		const value = mark.values[position] ?? '';
		return mark.boxed && !isMarked(mark, position) && value !== '' && sameText(stringOf(sent.value), value);
	};
	if (arrived.some((mark) => isSame(mark) && isOrdinary(mark))) return false;
	// An agent may reword a message or add items and keep a value. Its position is then unknown.
	const isReworded = here.some((mark) => !isSame(mark) && mark.secret?.length !== 0);
	return isReworded || isInitiallySecret(secrecy, asked, position);
}

/** Whether an item looks secret, or somebody gave a secret answer to it. */
function isInitiallySecret(secrecy: readonly AnswerSecrecy[], asked: Asked, position: number): boolean {
	const ours = secrecy.filter(({ fingerprint }) => fingerprint === asked.fingerprint);
	return ours.some((mark) => isMarked(mark, position)) || looksSecretAt(asked, position);
}

/** The positions whose box is ticked in a new form. */
export function initiallySecretPositions(secrecy: readonly AnswerSecrecy[], asked: Asked): number[] {
	return [...asked.items.keys()].filter((position) => isInitiallySecret(secrecy, asked, position));
}
