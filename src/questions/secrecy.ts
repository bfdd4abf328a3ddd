import { sameText } from './fingerprint.ts';
import { readingsOf, withoutFinalMarks, words, wordsOr } from './matching-text.ts';
import type { Question } from './open-question.ts';
import { HARMLESS_PHRASES, SECRET_RULES, WHOLE_TITLES } from './secret-rules.ts';
import type { HumanInputItem } from './session.ts';

/** Somebody is asked for something in this sentence, so that a secret's name in it is no mere mention. */
const ASKS = wordsOr(
	'enter|provide|type|give|send|share|supply|paste|input|insert|submit|tell|reply|respond|fill|need|needs|needed|require|requires|required|asks?|asking|asked|wants?|what|please|bitte|eingeben|gib|geben|nennen|introduce|ingresa|ingrese|escribe|indica|saisir|saisissez|entrez|indiquez|donnez|podaj|wpisz|wprowadz|girin|giriniz|yazin|yaziniz|zadejte|napiste|adja meg|irja be|introdueix|introduiu|escriu|ادخل|ارسل|הזן|הזיני|הכנס|שלח|введите',
	'入力|教え|입력|알려',
);

/** Descriptions of so few words name what is asked for, as a title does. */
const WORDS_OF_A_LABEL = 6;

/**
 * Whether an item asks for something that must not be shown, kept, repeated or taken from a thread. In doubt it does: a
 * masked answer costs little. A name of a secret in the title decides by itself; in the description it does where
 * its sentence asks for something, or where the description is hardly more than that name.
 */
export function looksSecret(item: Pick<HumanInputItem, 'title' | 'description'>): boolean {
	if (readingsOf(item.title).some((title) => WHOLE_TITLES.test(withoutFinalMarks(title)) || namesSecret(title)))
		return true;
	return readingsOf(item.description).some(asksForSecret);
}

function asksForSecret(description: string): boolean {
	if (!namesSecret(description)) return false;
	if (isLabel(description) && !OFFERS_CHOICE.test(description)) return true;
	// A name in a list under "Please provide:" is asked for like one in the sentence itself.
	const listed = ASKS.test(description) && !OFFERS_CHOICE.test(description);
	return sentencesOf(description).some(
		(sentence) => (asksForIt(sentence) || (listed && isLabel(sentence))) && namesSecret(sentence),
	);
}

function isLabel(text: string): boolean {
	return text.trim().split(' ').length <= WORDS_OF_A_LABEL;
}

const OFFERS_CHOICE = words('options?|one of|choose|pick|select|either|or');

function asksForIt(sentence: string): boolean {
	return ASKS.test(sentence) || (sentence.endsWith('?') && !OFFERS_CHOICE.test(sentence));
}

function namesSecret(text: string): boolean {
	let rest = text;
	for (const { pattern } of HARMLESS_PHRASES) rest = rest.replaceAll(new RegExp(pattern, 'gu'), ' _ ');
	return SECRET_RULES.some((rule) => rule.pattern.test(rest));
}

function sentencesOf(text: string): string[] {
	// A full stop within a word (".env", "cookies.txt") ends none.
	return text.match(/(?:[^.!?\n]|[.!?](?!\s|$))+[.!?\n]?/g) ?? [];
}

/** What an answer of ours tells about secrecy; kept for as long as its row is, whatever became of its values. */
export interface AnswerMarks {
	readonly messageIndex: number;
	readonly fingerprint: string;
	/** Positions that are secret: the box decided, or the guess where there was none. */
	readonly secret: readonly number[];
	/** Whether its author had the box before them: what is not in `secret` is then meant to be ordinary. */
	readonly boxed: boolean;
	/** It may be what stands in the session. */
	readonly mayHaveArrived: boolean;
	/** The values that are not secret, by position; null for others, and for all once they are gone. */
	readonly values: readonly (string | null)[];
}

type Asked = Pick<Question, 'messageIndex' | 'fingerprint' | 'items'>;

/**
 * Whether the value of one item is hidden from everybody. In this order: a secret answer of ours that may stand there
 * hides it; the same text as an answer whose author left the box empty is ordinary; a secret answer of ours to the same
 * question anywhere in the session hides it, since messages move, and so does one to the same message when it asked
 * something else. Otherwise the value came from outside and `looksSecret` decides.
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
	// Agents reword a message, or add an item, around a value that stays: which one it is now cannot be told.
	const isReworded = marks.some(
		(mark) =>
			mark.mayHaveArrived &&
			mark.messageIndex === asked.messageIndex &&
			mark.fingerprint !== asked.fingerprint &&
			mark.secret.length > 0,
	);
	return isReworded || ours.some(isMarked) || looksSecret(item);
}

/** The positions whose box is ticked at first: by the guess, or because somebody has kept an answer to it secret. */
export function secretAtFirst(marks: readonly AnswerMarks[], { fingerprint, items }: Asked): number[] {
	const ours = marks.filter((mark) => mark.fingerprint === fingerprint);
	return items.flatMap((item, position) =>
		looksSecret(item) || ours.some(({ secret }) => secret.includes(position)) ? [position] : [],
	);
}
