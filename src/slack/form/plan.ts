import { guessInput, type InputGuess, YES_NO } from '../../questions/input-kind.ts';
import { isReworded, type Question } from '../../questions/open-question.ts';
import { looksSecretAt } from '../../questions/secrecy.ts';
import type { FieldVariant } from '../ids.ts';
import type { ViewMetadata } from '../metadata.ts';
import { cutTo, isBlank, oneLine } from '../text.ts';

/** The most items with descriptions as text: each takes up to three of a view's 100 blocks. */
export const DESCRIBED_FIELDS = 30;
/** The most items as inputs alone. */
export const MOST_FIELDS = 90;
/** What a plain_text_input holds. */
export const INPUT_LIMIT = 3000;
/** Slack takes options of 75 characters, and 100 of them; "Something else…" is one. */
const OPTION_LIMIT = 75;
const MOST_OPTIONS = 99;
const SECRET_LINE: InputGuess = { kind: 'line', secret: true };

/** One field of a form, before its blocks are built. */
export interface Field {
	readonly position: number;
	readonly variant: Exclude<FieldVariant, 'other'>;
	readonly kind: InputGuess['kind'];
	readonly secret: boolean;
	readonly looksSecret: boolean;
	/** Of a choice. */
	readonly options: readonly string[];
	/** The value to fill in; always empty for a secret. */
	readonly text: string;
}

/**
 * Which field each open item gets. `secret`: positions whose box is ticked; null for those that look secret. If the view
 * shows this question already, its metadata decides which fields are plain text, so that a refresh changes no block_id.
 * If not, a text that does not fit its guessed input ("maybe" for yes or no) turns the field into plain text.
 */
export function planFields(
	question: Question,
	metadata: ViewMetadata,
	draft: Readonly<Record<number, string>>,
	secret: ReadonlySet<number> | null,
): readonly Field[] {
	const bare = question.openItems.length > DESCRIBED_FIELDS;
	const shown = isShown(metadata, question) ? metadata.asText : null;
	const shownAsText = metadata.shown !== null && asksTheSame(metadata, question) ? metadata.asText : [];
	return question.openItems.map((position) => {
		const guess = looksSecretAt(question, position)
			? SECRET_LINE
			: usableGuess(guessInput(question.items[position] ?? { title: '', description: '' }), bare);
		const isSecret = secret === null ? guess.secret : secret.has(position);
		const text = isSecret ? '' : (draft[position] ?? '').toWellFormed();
		const { kind, secret: looksSecret } = guess;
		const options = guess.kind === 'choice' ? guess.options : [];
		const field = { position, kind, secret: isSecret, looksSecret, options, text };
		// A secret cannot be filled in again, so its block_id stays and Slack keeps what was typed.
		const plain = isSecret
			? shownAsText.includes(position)
			: metadata.plainText || (shown === null ? !fits(field) : shown.includes(position));
		return { ...field, variant: plain ? 'plain' : 'guessed' };
	});
}

/** Whether the view of this metadata shows this question already, with the same kind of fields. */
export function isShown(metadata: ViewMetadata, question: Question): boolean {
	return metadata.shown === (metadata.plainText ? 'plain' : 'guessed') && asksTheSame(metadata, question);
}

/** Whether the view of this metadata asks this question, with the same text. */
export function asksTheSame(metadata: ViewMetadata, { messageIndex, fingerprint, shownHash }: Question): boolean {
	const isSame = metadata.messageIndex === messageIndex && metadata.fingerprint === fingerprint;
	return isSame && !isReworded(metadata.shownHash, shownHash);
}

/** A choice becomes long text if Slack cannot show all its options in full. */
function usableGuess(guess: InputGuess, bare: boolean): InputGuess {
	if (guess.kind !== 'choice') return guess;
	const isShort = (option: string) => option.length <= OPTION_LIMIT && oneLine(option, OPTION_LIMIT) !== '';
	const usable = !bare && guess.options.length <= MOST_OPTIONS && guess.options.every(isShort);
	return usable ? guess : { kind: 'longText', secret: false };
}

/** What the guessed inputs take as an initial value; the other kinds take any text. */
const INITIAL_VALUES: Partial<Record<Field['kind'], (text: string) => boolean>> = {
	yesNo: (text) => yesNoOption(text) !== null,
	// As `number_input` takes it.
	number: (text) => /^-?\d{1,100}(?:\.\d{1,100})?$/.test(text),
	email: isEmail,
	url: isUrl,
	date: isDate,
	time: isTime,
	line: (text) => !text.includes('\n'),
};

function fits({ kind, text }: Pick<Field, 'kind' | 'text'>): boolean {
	return text === '' || (INITIAL_VALUES[kind]?.(text) ?? true);
}

/** The position in `YES_NO` of a text that is one of them. */
export function yesNoOption(text: string): number | null {
	const at = YES_NO.findIndex((word) => word.toLowerCase() === text.trim().toLowerCase());
	return at === -1 ? null : at;
}

/** Whether people choose from options in the guessed input of this field. */
export function hasOptions({ kind }: Pick<Field, 'kind'>): boolean {
	return kind === 'yesNo' || kind === 'choice';
}

/** The open positions at which the guessed input for `question` shows this text as one of its options. */
export function chosenPositions(
	question: Question,
	metadata: ViewMetadata,
	values: Readonly<Record<number, string>>,
): number[] {
	return planFields(question, metadata, values, null)
		.filter(({ kind, options, text }) => (kind === 'yesNo' ? yesNoOption(text) !== null : options.includes(text)))
		.map(({ position }) => position);
}

/** The initial value of a field; null when there is none that its input takes. */
export function offerOf(field: Field, limit: number): string | null {
	if (field.secret || isBlank(field.text)) return null;
	if (field.variant === 'guessed' && !fits(field)) return null;
	return cutTo(field.text, limit);
}

/** Anything that people write for a number. */
export function isNumber(text: string): boolean {
	return /^[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[+-]?\d+)?$/i.test(text.trim());
}

/** Finds typing errors; does not tell whether the address exists. */
export function isEmail(text: string): boolean {
	return text.length <= 320 && /^[^\s@<>]+@[^\s@<>]+\.[^\s@<>]{2,}$/.test(text);
}

export function isUrl(text: string): boolean {
	return /^https?:\/\/\S+$/i.test(text) && URL.canParse(text);
}

/** `YYYY-MM-DD`, and a day that exists. */
export function isDate(text: string): boolean {
	if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
	const time = Date.parse(`${text}T00:00:00Z`);
	return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** `HH:mm`. */
export function isTime(text: string): boolean {
	return /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(text);
}
