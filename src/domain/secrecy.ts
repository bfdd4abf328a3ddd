import { atOnce } from '../kernel/lease-loop.ts';
import { asksAbove, examineItem, looksSecret } from './asks-for-secret.ts';
import type { Mark } from './contract.ts';
import { type AskedItem, askedAt, YES_NO } from './options.ts';
import type { ItemTexts, Question } from './session.ts';
import { isGeneric, matchingText, optionOr, sameText, stringOf, withoutFinalMarks, words } from './texts.ts';
import { phrases, wordList } from './word-list.ts';

/** What an item offers. `separator`: between several that are chosen, in one text; without it, only one can be. */
export interface Choices {
	readonly options: readonly string[];
	readonly separator?: string;
}

/** The input that suits an item. Every input sends a string. */
export type InputGuess =
	/** `options`: 2 to 100, in full length. Slack shows only 75 characters of each. */
	| ({ readonly kind: 'choice' } & Choices)
	| { readonly kind: 'yesNo' }
	/** A `number` may be a fraction; a `date` is 2026-11-20, a `time` 17:05. */
	| { readonly kind: (typeof INPUT_RULES)[number]['kind'] | 'longText' };

/** Where an option has a comma itself, each chosen one takes a line, and a note the last one. */
export function choicesFrom(options: readonly string[], isSeveral: boolean): Choices {
	return { options, ...(isSeveral && { separator: options.some((option) => option.includes(',')) ? '\n' : ', ' }) };
}

export function choicesOf(guess: InputGuess): Choices {
	return guess.kind === 'choice' ? guess : { options: guess.kind === 'yesNo' ? YES_NO : [] };
}

/** What stands between an option and a note. */
const markAfter = (option: string, { separator }: Choices) =>
	separator === '\n' ? separator : /[.!?…。！？]$/.test(option) ? ' ' : '. ';

/**
 * Options, in the item's order, and a note as one text, as it is sent: "LH 1173. Seat 12A, please". Either may be
 * empty. A note that is the option is no note; any other stands behind it, so that what was chosen is always sent.
 */
export function withNote(chosen: readonly string[], note: string, choices: Choices): string {
	const option = choices.options.filter((one) => chosen.includes(one)).join(choices.separator);
	const own = note.trim();
	if (option === '' || own === '') return option || note;
	if (own.toLowerCase() === option.toLowerCase()) return option;
	const text = `${option}${markAfter(option, choices)}${own}`;
	// "A" with the note "Seat 12" is not the option "A. Seat 12".
	return choices.options.includes(text) ? `${option}\n${own}` : text;
}

/** Undoes `withNote`: a text that begins with no option is all note. */
export function splitNote(
	text: string,
	choices: Choices,
): { readonly chosen: readonly string[]; readonly note: string } {
	const { options, separator } = choices;
	for (const option of options.toSorted((a, b) => b.length - a.length)) {
		if (separator !== undefined && text.startsWith(`${option}${separator}`)) {
			const others = { options: options.filter((other) => other !== option), separator };
			const { chosen, note } = splitNote(text.slice(option.length + separator.length), others);
			if (chosen.length > 0) return { chosen: [option, ...chosen], note };
		}
		const start = `${option}${markAfter(option, choices)}`;
		if (text === option || text.startsWith(start)) return { chosen: [option], note: text.slice(start.length) };
	}
	return { chosen: [], note: text };
}

/** The option that a text is (`optionOr`), or several; else the text. */
export function optionsOr(text: string, choices: Choices): string {
	const { options, separator } = choices;
	const parts = separator === undefined ? [text] : text.split(separator, options.length + 1);
	const chosen = parts.map((part) => (options.includes(part) ? part : optionOr(part, options)));
	const isChoice = parts.length <= options.length && chosen.every((part) => options.includes(part));
	return isChoice ? withNote(chosen, '', choices) : text;
}

/** The patterns of `words/inputs.txt`, of `matchingText`: lower case, no accents, no hyphens. */
const PATTERNS = Map.groupBy(
	wordList('inputs').map((line) => line.split(/: (.*)/)),
	([name]) => name ?? '',
);
const source = (name: string): string =>
	(PATTERNS.get(name) ?? [])
		.map(([, pattern = '']) => pattern)
		.join('|')
		.replace(/\{(the|what)\}/g, (_, other: string) => `(?:(?:${source(other)}) )?`)
		.replace('{doubt}', () => source('doubt'));

/** The first rule that matches decides. The last one is for those that have a doubt. */
export const INPUT_RULES = (['number', 'email', 'url', 'date', 'time', 'line', 'line in doubt'] as const).map(
	(name) => ({
		kind: name === 'line in doubt' ? 'line' : name,
		/** All of what names the thing asked for, without its final marks. */
		label: new RegExp(`^(?:${source(name)})$`, 'u'),
		/** Words in title or description with which another answer may be correct: then the rule does not apply. */
		unless: words(source(`not ${name}`)),
	}),
);

/** Code units. Longer texts explain what is asked for and do not name it. */
const MAX_LABEL_LENGTH = 200;
/** A longer description asks for more than one word, number or date. */
const MAX_BRIEF_LENGTH = 400;

/** By what `askedAt` remembers of an item. */
const guesses = new WeakMap<AskedItem, InputGuess>();

/** For an item by itself, without the text above it. */
export const guessInput = (item: ItemTexts) => guessInputAt({ items: [item], context: '' }, 0);

/** By `looksSecret`, `askedAt` (for a lone item with the text above it), `INPUT_RULES`; in doubt long text. */
export function guessInputAt(question: Parameters<typeof askedAt>[0], position: number): InputGuess {
	const item = question.items[position] ?? { title: '', description: '' };
	const asked = askedAt(question, position);
	if (looksSecret(item)) return { kind: asked.marks.has('lines') ? 'longText' : 'line' };
	const guess = guesses.get(asked) ?? guessOf(item, asked);
	guesses.set(asked, guess);
	return guess;
}

function guessOf(item: ItemTexts, { name, marks, choice }: AskedItem): InputGuess {
	if (choice === null) return { kind: kindByMarks(marks) ?? kindByRules({ ...item, title: name }) };
	if (choice.options === YES_NO) return { kind: 'yesNo' };
	return { kind: 'choice', ...choicesFrom(choice.options, choice.isSeveral) };
}

function kindByMarks(marks: ReadonlySet<Mark>) {
	if (marks.has('lines')) return 'longText';
	return (['number', 'date', 'email', 'url'] as const).find((kind) => marks.has(kind));
}

function kindByRules(item: ItemTexts) {
	const [title, description] = [matchingText(item.title), matchingText(item.description)];
	const named = isGeneric(title) ? description : title;
	const text = `${title}\n${description}`;
	if (item.description.length > MAX_BRIEF_LENGTH || text.split('?').length > 2) return 'longText';
	if (named === '' || named.length > MAX_LABEL_LENGTH) return 'longText';
	const rule = INPUT_RULES.find(({ label, unless }) => label.test(withoutFinalMarks(named)) && !unless.test(text));
	return rule?.kind ?? 'longText';
}

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

/** Whether channels see an ordinary value. `auto`: choices, and one short line without links or possible codes. */
export function isShownInChannels(mode: ShowAnswers, item: ItemTexts, value: string): boolean {
	if (mode !== 'auto') return mode === 'always';
	if (isShortAndPlain(value.trim())) return true;
	// The texts of an item can be long, so they count only when the value alone does not tell.
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
