import { z } from 'zod';
import { type Choices, choicesFrom, optionsOr, splitNote, withNote } from '../../domain/choices.ts';
import { choicesOf, guessInputAt, type InputGuess } from '../../domain/input-kind.ts';
import { masked } from '../../domain/masking.ts';
import { askedAt } from '../../domain/options.ts';
import { looksSecretAt, secretInputAt } from '../../domain/secrecy.ts';
import { isSameQuestion, type Question } from '../../domain/session.ts';
import { cutTo, isBlank, oneLine } from '../../domain/shown-text.ts';
import {
	ACTIONS,
	type FieldVariant,
	fieldBlockId,
	NO_OPTION,
	OWN_OPTION,
	secretBlockId,
	type ViewMetadata,
} from '../ids.ts';
import type { SubmittedSessionView, SubmittedView } from '../request.ts';

/** The most items that are shown with their descriptions: each takes up to two of a view's 100 blocks. */
export const DESCRIBED_FIELDS = 30;
/** The most items, shown as inputs alone. */
export const MOST_FIELDS = 90;
/** The most UTF-16 units that a plain_text_input holds. */
export const INPUT_LIMIT = 3000;
/** UTF-16 units of an option's label. */
export const OPTION_LIMIT = 75;
/** The label of the last option, if an own answer is possible too. */
export const NONE_LABEL = 'None of these (write below)';
/** UTF-16 units of an option that people see in any case, in its label and its description. */
const DISTINCT = 140;
/** The most bytes that the session service takes in a PUT; equal to the limit in `service/client.ts`. */
export const PUT_LIMIT_BYTES = 100_000;
/** Texts by position. */
export type Values = Readonly<Record<number, string>>;

export interface Field extends Choices {
	readonly position: number;
	readonly variant: Exclude<FieldVariant, 'other'>;
	readonly kind: InputGuess['kind'];
	readonly secret: boolean;
	readonly looksSecret: boolean;
	/** The form's line for a note or an own answer belongs to this field: the last one with options. */
	readonly noted: boolean;
	/** The agent allows to leave it empty. */
	readonly optional: boolean;
	/** The value to fill in; always empty for a secret. */
	readonly text: string;
}

/**
 * Decides which field each open item gets. `secret`: positions whose box is ticked; null: those that look secret. If
 * the view shows this question already, its metadata decides which fields are plain text: a refresh changes no
 * block_id. If not, a text that does not fit its guessed input ("maybe" for yes or no) makes the field plain text.
 */
export function planFields(
	question: Question,
	metadata: ViewMetadata,
	draft: Values,
	secret: readonly number[] | null,
): readonly Field[] {
	const bare = question.openItems.length > DESCRIBED_FIELDS;
	const shown = isShown(metadata, question) ? metadata.asText : null;
	const shownAsText = metadata.shown !== null && asksTheSame(metadata, question) ? metadata.asText : [];
	const guessed = question.openItems.map((position) => {
		const looksSecret = looksSecretAt(question, position);
		const { marks } = askedAt(question, position);
		const secretGuess: InputGuess = marks.has('lines') ? { kind: 'longText' } : secretInputAt(question, position);
		const guess: InputGuess = looksSecret ? secretGuess : usableGuess(guessInputAt(question, position), bare);
		return { ...choicesOf(guess), position, kind: guess.kind, looksSecret, optional: marks.has('optional') };
	});
	const noted = bare ? undefined : guessed.findLast(({ options }) => options.length > 0)?.position;
	return guessed.map((guess): Field => {
		const { position } = guess;
		const isSecret = secret === null ? guess.looksSecret : secret.includes(position);
		const text = isSecret ? '' : optionsOr((draft[position] ?? '').toWellFormed(), guess);
		const field = { ...guess, secret: isSecret, noted: position === noted, text };
		// Options without a line for own text cannot show such a text, so the field becomes plain text also after a
		// refresh.
		const asText = shown === null || guess.options.length > 0 ? !fits(field) : false;
		// A secret cannot be filled in again, so its block_id stays and Slack keeps what was typed.
		const plain = isSecret
			? shownAsText.includes(position)
			: metadata.plainText || asText || shown?.includes(position) === true;
		return { ...field, variant: plain ? 'plain' : 'guessed' };
	});
}

/** Whether this metadata's view shows this question already, with the same kind of fields. */
export function isShown(metadata: ViewMetadata, question: Question): boolean {
	return metadata.shown === (metadata.plainText ? 'plain' : 'guessed') && asksTheSame(metadata, question);
}

export function asksTheSame(metadata: ViewMetadata, question: Question): boolean {
	return metadata.messageIndex === question.messageIndex && isSameQuestion(metadata, question);
}

/** A choice becomes long text if Slack cannot take all its options as they are. */
function usableGuess(guess: InputGuess, bare: boolean): InputGuess {
	if (guess.kind !== 'choice') return guess;
	const isUsable = (option: string) =>
		!option.startsWith(OWN_OPTION) && option.isWellFormed() && oneLine(option, OPTION_LIMIT) !== '';
	const usable = !bare && areDistinct([NONE_LABEL, ...guess.options]) && guess.options.every(isUsable);
	return usable ? guess : { kind: 'longText' };
}

/** Whether people can tell all options apart by what the form shows. */
function areDistinct(options: readonly string[]): boolean {
	const lookOf = (option: string) =>
		oneLine(masked(option).text, DISTINCT)
			.normalize('NFKC')
			.replace(/\p{Default_Ignorable_Code_Point}/gu, '')
			.replace(/\s+/g, ' ')
			.trim();
	return new Set(options.map(lookOf)).size === options.length;
}

/** Finds typing errors. The address may still not exist. */
const isEmail = (text: string) => text.length <= 320 && /^[^\s@<>]+@[^\s@<>]+\.[^\s@<>]{2,}$/.test(text);
const isUrl = (text: string) => /^https?:\/\/\S+$/i.test(text) && URL.canParse(text);
/** `HH:mm`. */
const isTime = (text: string) => /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(text);
/** `YYYY-MM-DD`, and a day that exists. */
const isDate = (text: string) => z.iso.date().safeParse(text).success;

const OTHER_TEXT = 'For other text use "Type freely" below.';

interface InputFormat {
	/** Of Slack's element. */
	readonly type: string;
	/** Which values people may send, and the error for others. */
	readonly takes: (text: string) => boolean;
	readonly error: string;
}

interface Input {
	/** Which initial values Slack takes; left out: any text. */
	readonly begins?: (text: string) => boolean;
	/** Left out: people may send any text. */
	readonly format?: InputFormat;
}

/** What the guessed input of each kind takes. Options have rules of their own. */
const INPUTS: Readonly<Record<Field['kind'], Input>> = {
	choice: {},
	yesNo: {},
	longText: {},
	line: { begins: (text) => !text.includes('\n') },
	number: {
		// As `number_input` takes it.
		begins: (text) => /^-?\d{1,100}(?:\.\d{1,100})?$/.test(text),
		format: {
			type: 'number_input',
			takes: (text) => /^[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[+-]?\d+)?$/i.test(text.trim()),
			error: `This has to be a number, such as 42 or 3.5. ${OTHER_TEXT}`,
		},
	},
	email: {
		begins: isEmail,
		format: {
			type: 'email_text_input',
			takes: isEmail,
			error: `This has to be an e-mail address. ${OTHER_TEXT}`,
		},
	},
	url: {
		begins: isUrl,
		format: {
			type: 'url_text_input',
			takes: isUrl,
			error: `This has to be a web address that begins with https://. ${OTHER_TEXT}`,
		},
	},
	date: { begins: isDate, format: { type: 'datepicker', takes: isDate, error: 'Choose a date.' } },
	time: { begins: isTime, format: { type: 'timepicker', takes: isTime, error: 'Choose a time.' } },
};

/** A view says which element a field has, not its kind. */
const formatOf = (type: string | undefined) =>
	Object.values(INPUTS).find(({ format }) => format?.type === type)?.format ?? null;

function fits(field: Omit<Field, 'variant'>): boolean {
	const { kind, noted, options, text } = field;
	if (text === '' || noted) return true;
	return options.length > 0 ? splitNote(text, field).note === '' : (INPUTS[kind].begins?.(text) ?? true);
}

/** Texts of open positions for `question` without chosen options: only notes stay, each with its option's name. */
export function withoutChoices(question: Question, metadata: ViewMetadata, values: Values): Values {
	const texts = planFields(question, metadata, values, null).map((field) => {
		const { chosen, note } = splitNote(field.text, field);
		// Options on lines of their own would be chosen again.
		return [field.position, chosen.length === 0 || note === '' ? note : `${chosen.join('; ')}: ${note}`] as const;
	});
	return Object.fromEntries(texts.filter(([, text]) => text !== ''));
}

/** The initial value of a field; null when there is none that its input takes. */
export function offerOf(field: Field, limit: number): string | null {
	if (field.secret || isBlank(field.text)) return null;
	if (field.variant === 'guessed' && !fits(field)) return null;
	return cutTo(field.text, limit);
}

export const FIELD_ERRORS = {
	allEmpty: 'Fill in at least one field.',
	missing: 'Please fill this in.',
	missingChoice: 'Choose an option, or write your answer below.',
	lostOptions: 'The texts of these options are not kept any more. Close this form and open it again.',
	/** In a form with several fields. */
	missingHere: 'Please fill this in, or choose "Skip some questions" below.',
} as const;

const ELEMENT = z.object({
	type: z.string().optional(),
	value: z.string().nullish(),
	selected_option: z.object({ value: z.string() }).nullish(),
	selected_date: z.string().nullish(),
	selected_time: z.string().nullish(),
	selected_options: z.array(z.object({ value: z.string() })).nullish(),
	selected_users: z.array(z.string()).nullish(),
});

export type Element = z.infer<typeof ELEMENT>;

interface FormInput extends Pick<SubmittedSessionView, 'values' | 'choices' | 'metadata'> {
	/** The initial values. Slack may leave out of the state those that nobody touched. */
	readonly draft: Values;
	/** The text of an option by its value in the view. */
	readonly optionText?: (position: number, value: string) => string;
	/** The block_id of the input of this `block_actions` event. If its value is missing, the person emptied it. */
	readonly acted?: string | undefined;
}

/**
 * Reads a form. `values`: answers by position as they are sent ('' for an empty field). `missing`: positions without
 * one. `fieldErrors`: by block_id. `secret`: positions whose box is ticked. `draft`: values without secrets, also with
 * errors.
 */
export function readForm(view: FormInput) {
	const { metadata } = view;
	const fieldErrors: Record<string, string> = {};
	const values: Record<number, string> = {};
	for (const position of metadata.fields) {
		const value = readField(view, position, fieldErrors);
		values[position] = isBlank(value) ? '' : value;
	}
	const missing = metadata.fields.filter((position) => values[position] === '');
	addMissing(fieldErrors, missing, metadata);
	addTooLarge(fieldErrors, values, metadata);
	const secret = tickedPositions(view);
	return { values, missing, fieldErrors, secret, draft: withoutPositions(values, secret) };
}

/** Texts by position, without those at `positions`. Secrets are neither saved nor carried over. */
export function withoutPositions(texts: Values, positions: readonly number[]): Record<number, string> {
	return Object.fromEntries(Object.entries(texts).filter(([position]) => !positions.includes(Number(position))));
}

/** Slack sends an empty list for ticked boxes that nobody touched (bolt-js #1258), so it counts only in their event. */
function tickedPositions(view: FormInput): readonly number[] {
	const { metadata, acted } = view;
	const blockId = secretBlockId(metadata);
	const ticked = (elementStateOf(view, blockId, ACTIONS.secret)?.selected_options ?? [])
		.map(({ value }) => Number(value))
		.filter((position) => metadata.fields.includes(position));
	return ticked.length === 0 && acted !== blockId ? metadata.secret : ticked;
}

function readField(view: FormInput, position: number, errors: Record<string, string>): string {
	const { metadata } = view;
	const blockId = mainId(metadata, position);
	const entry = elementStateOf(view, blockId, ACTIONS.field);
	const offered = metadata.offered.includes(position) ? (view.draft[position] ?? '').toWellFormed() : '';
	const shown = view.choices[blockId];
	if (shown !== undefined) {
		const textOf = (value: string) => view.optionText?.(position, value) ?? value;
		const choices = choicesFrom(shown.options.map(textOf), shown.separator !== undefined);
		const noteId = fieldBlockId(metadata, position, 'other');
		const offer = splitNote(optionsOr(offered, choices), choices);
		const written = elementStateOf(view, noteId, ACTIONS.otherText)?.value;
		const note = written == null ? offer.note : wholeText(written, offer.note, metadata.offerLimit);
		const chosen = entry?.selected_options ?? (entry?.selected_option ? [entry.selected_option] : []);
		// An empty list may mean boxes that nobody touched, as in `tickedPositions`.
		const isKept = chosen.length === 0 && view.acted !== blockId;
		const options = chosen.flatMap(({ value }) => (value === NO_OPTION ? [] : textOf(value)));
		const ownText = written == null && view.acted === noteId ? '' : note;
		// The texts of long options are kept beside the form. Here they are lost.
		if (options.some((option) => option.startsWith(OWN_OPTION))) errors[blockId] = FIELD_ERRORS.lostOptions;
		return withNote(isKept ? offer.chosen : options, ownText, choices);
	}
	const text = entry?.value ?? entry?.selected_date ?? entry?.selected_time;
	if (text == null) return view.acted === blockId ? '' : offered;
	const value = wholeText(text, offered, metadata.offerLimit);
	const format = formatOf(entry?.type);
	if (format !== null && !isBlank(value) && !format.takes(value)) errors[blockId] = format.error;
	return value;
}

/** The state of an element of a view, as Slack reports it; undefined for an unknown element. */
export function elementStateOf(
	{ values }: Pick<FormInput, 'values'>,
	blockId: string,
	actionId: string,
): Element | undefined {
	return ELEMENT.safeParse(values[blockId]?.[actionId]).data;
}

/** The full text if it was shown cut and the field still holds what was shown. */
function wholeText(text: string, offered: string, offerLimit: number): string {
	if (offered.length <= offerLimit) return text;
	const [typed, shown] = [text, cutTo(offered, offerLimit)].map((one) => one.replaceAll('\r\n', '\n').trim());
	return typed === shown ? offered : text;
}

function addMissing(errors: Record<string, string>, missing: readonly number[], metadata: ViewMetadata): void {
	const [first] = metadata.fields;
	const isEmpty = missing.length === metadata.fields.length;
	if (!metadata.partial && !(isEmpty && metadata.fields.every((position) => metadata.optional.includes(position)))) {
		for (const position of missing) {
			if (metadata.optional.includes(position)) continue;
			const alone = metadata.withOptions.includes(position) ? FIELD_ERRORS.missingChoice : FIELD_ERRORS.missing;
			errors[mainId(metadata, position)] ??= metadata.fields.length === 1 ? alone : FIELD_ERRORS.missingHere;
		}
	} else if (first !== undefined && isEmpty && Object.keys(errors).length === 0) {
		errors[mainId(metadata, first)] = FIELD_ERRORS.allEmpty;
	}
}

function addTooLarge(errors: Record<string, string>, values: Values, metadata: ViewMetadata): void {
	const sizes = Object.values(values).map((value) => Buffer.byteLength(JSON.stringify(value)) - 2);
	const bytes = sizes.reduce((sum, size) => sum + size, metadata.putOverheadBytes);
	const lengthOf = (position: number) => (values[position] ?? '').length;
	const [longest] = metadata.fields.toSorted((a, b) => lengthOf(b) - lengthOf(a));
	if (bytes <= PUT_LIMIT_BYTES || longest === undefined) return;
	const over = Math.ceil((bytes - PUT_LIMIT_BYTES) / 1000);
	errors[mainId(metadata, longest)] =
		`The question and your answers together are ${over} kB larger than the session service accepts. Please ` +
		'shorten this text.';
}

function mainId(metadata: ViewMetadata, position: number): string {
	return fieldBlockId(metadata, position, metadata.asText.includes(position) ? 'plain' : 'guessed');
}

export function fieldTitle({ labels }: SubmittedView, metadata: ViewMetadata, position: number): string {
	return labels[mainId(metadata, position)] ?? '';
}
