import { sameText } from './fingerprint.ts';
import { readingsOf, withoutFinalMarks, words, wordsOr } from './matching-text.ts';
import type { Question } from './open-question.ts';
import { HARMLESS_PHRASES, SECRET_RULES, WHOLE_TITLES } from './secret-rules.ts';
import type { HumanInputItem } from './session.ts';

/** A sentence with such a word asks for something, so it does not only mention the name of a secret. */
const ASKS = wordsOr(
	'enter|provide|type|give|send|share|supply|paste|input|insert|submit|tell|reply|respond|fill|need|needs|needed|require|requires|required|asks?|asking|asked|wants?|what|please|bitte|eingeben|gib|geben|nennen|introduce|ingresa|ingrese|escribe|indica|saisir|saisissez|entrez|indiquez|donnez|podaj|wpisz|wprowadz|girin|giriniz|yazin|yaziniz|zadejte|napiste|adja meg|irja be|introdueix|introduiu|escriu|ادخل|ارسل|הזן|הזיני|הכנס|שלח|введите',
	'入力|教え|입력|알려',
);

/** A text of at most so many words names what is asked for, as a title does. */
const MAX_LABEL_WORDS = 6;

/**
 * Whether an item seems to ask for a secret, which must not be shown, kept, repeated or taken from a thread. When in doubt
 * it is true, because a masked answer costs little. The name of a secret in the title is enough. In the description, its
 * sentence must ask for something or the description must be a label.
 */
export function looksSecret(item: Pick<HumanInputItem, 'title' | 'description'>): boolean {
	if (readingsOf(item.title).some((title) => WHOLE_TITLES.test(withoutFinalMarks(title)) || namesSecret(title)))
		return true;
	return readingsOf(item.description).some(asksForSecret);
}

function asksForSecret(description: string): boolean {
	if (!namesSecret(description)) return false;
	if (isLabel(description) && !OFFERS_CHOICE.test(description)) return true;
	// A list under "Please provide:" asks for each of its lines.
	const asksForList = ASKS.test(description) && !OFFERS_CHOICE.test(description);
	return sentencesOf(description).some(
		(sentence) => (asksForIt(sentence) || (asksForList && isLabel(sentence))) && namesSecret(sentence),
	);
}

function isLabel(text: string): boolean {
	return text.trim().split(' ').length <= MAX_LABEL_WORDS;
}

const OFFERS_CHOICE = words('options?|one of|choose|pick|select|either|or');

function asksForIt(sentence: string): boolean {
	return ASKS.test(sentence) || (sentence.endsWith('?') && !OFFERS_CHOICE.test(sentence));
}

function namesSecret(text: string): boolean {
	let checkedText = text;
	for (const { pattern } of HARMLESS_PHRASES) checkedText = checkedText.replaceAll(new RegExp(pattern, 'gu'), ' _ ');
	return SECRET_RULES.some((rule) => rule.pattern.test(checkedText));
}

function sentencesOf(text: string): string[] {
	// A full stop inside a word (".env", "cookies.txt") does not end a sentence.
	return text.match(/(?:[^.!?\n]|[.!?](?!\s|$))+[.!?\n]?/g) ?? [];
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

type Asked = Pick<Question, 'messageIndex' | 'fingerprint' | 'items'>;

/**
 * Whether the value of one item is hidden from everybody. The first rule that applies decides:
 *
 * 1. A secret answer of ours may be at this message: hidden.
 * 2. The text is that of an answer whose author left the box empty: ordinary.
 * 3. There is a secret answer of ours to the same question at any message (messages move), or to the same message when
 *    it asked something else: hidden.
 * 4. The value came from outside: `looksSecret` decides.
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
	return isReworded || ours.some(isMarked) || looksSecret(item);
}

/** The positions whose box is ticked in a new form: they look secret, or somebody gave a secret answer to them. */
export function secretAtFirst(marks: readonly AnswerMarks[], { fingerprint, items }: Asked): number[] {
	const ours = marks.filter((mark) => mark.fingerprint === fingerprint);
	return items.flatMap((item, position) =>
		looksSecret(item) || ours.some(({ secret }) => secret.includes(position)) ? [position] : [],
	);
}
