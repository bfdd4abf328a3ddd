import { z } from 'zod';
import { ACTIONS, type FieldVariant, fieldBlockId, secretBlockId } from '../ids.ts';
import type { ViewMetadata } from '../metadata.ts';
import { cutTo, isBlank } from '../text.ts';
import { OTHER_OPTION } from './field-blocks.ts';
import { isDate, isEmail, isNumber, isTime, isUrl } from './formats.ts';
import { PUT_LIMIT_BYTES, valueBytes } from './put-size.ts';

/** What a form holds. */
export interface FormReading {
	/** By position, one for each field: the answer as it is sent, '' where nothing was filled in. */
	readonly values: Readonly<Record<number, string>>;
	/** Positions without a value, ascending. */
	readonly missing: readonly number[];
	/** What stands in the way of submitting, by block_id, as `response_action: 'errors'` takes it; empty when nothing does. */
	readonly fieldErrors: Readonly<Record<string, string>>;
	/** Positions whose values are kept secret, as the box says now. */
	readonly secret: readonly number[];
	/** `values` without secret ones: what may be kept as a draft, even where it cannot be submitted yet. */
	readonly draft: Readonly<Record<number, string>>;
}

const element = z.object({
	type: z.string().optional(),
	value: z.string().nullish(),
	selected_option: z.object({ value: z.string(), text: z.object({ text: z.string() }).optional() }).nullish(),
	selected_date: z.string().nullish(),
	selected_time: z.string().nullish(),
	selected_options: z.array(z.object({ value: z.string() })).nullish(),
});
type Element = z.infer<typeof element>;
const state = z.record(z.string(), z.record(z.string(), z.unknown()));

/**
 * Reads a form back from `view.state.values`. Slack may leave out initial values that nobody touched: positions that
 * were offered one then count as their `draft` says. `acted` is the block_id of the input whose `block_actions` event this
 * is, if any: nothing in it means that the person emptied it.
 */
export function readForm(input: {
	values: unknown;
	metadata: ViewMetadata;
	draft: Readonly<Record<number, string>>;
	acted?: string;
}): FormReading {
	const { metadata } = input;
	const parsed = state.safeParse(input.values);
	const view: View = { ...input, blocks: parsed.success ? parsed.data : {} };
	const values: Record<number, string> = {};
	const fieldErrors: Record<string, string> = {};
	for (const position of metadata.fields) {
		const field = readField(view, position);
		values[position] = isBlank(field.value) ? '' : field.value;
		if (field.error !== null) fieldErrors[field.error.blockId] = field.error.text;
	}
	const missing = metadata.fields.filter((position) => values[position] === '');
	addMissing(fieldErrors, missing, metadata);
	addTooLarge(fieldErrors, values, metadata);
	const secret = secretNow(view);
	const draft = Object.fromEntries(Object.entries(values).filter(([key]) => !secret.includes(Number(key))));
	return { values, missing, fieldErrors, secret, draft };
}

interface View {
	readonly blocks: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
	readonly metadata: ViewMetadata;
	readonly draft: Readonly<Record<number, string>>;
	readonly acted?: string;
}

/**
 * Slack hands in an empty list for boxes that were shown ticked and that nobody touched (bolt-js #1258), so an empty list
 * says something only where nothing was ticked before, and in the event of the box itself.
 */
function secretNow({ metadata, acted, ...view }: View): readonly number[] {
	if (!metadata.boxed) return metadata.secret;
	const blockId = secretBoxId(metadata);
	const ticked = (entryOf({ ...view, metadata }, blockId, ACTIONS.secret)?.selected_options ?? [])
		.map(({ value }) => Number(value))
		.filter((position) => metadata.fields.includes(position));
	return ticked.length === 0 && acted !== blockId ? metadata.secret : ticked;
}

export function secretBoxId({ messageIndex, fingerprint }: ViewMetadata): string {
	return secretBlockId({ messageIndex: messageIndex ?? 0, fingerprint: fingerprint ?? '' });
}

interface Reading {
	readonly value: string;
	readonly error: { readonly blockId: string; readonly text: string } | null;
}

function readField(view: View, position: number): Reading {
	const { metadata } = view;
	const plain = isPlain(metadata, position);
	const blockId = mainId(metadata, position);
	const entry = entryOf(view, blockId, ACTIONS.field);
	const otherId = fieldId(metadata, position, 'other');
	const other = plain ? null : entryOf(view, otherId, ACTIONS.otherText);
	const known = metadata.offered.includes(position) ? (view.draft[position] ?? '').toWellFormed() : '';
	const chosen = entry?.selected_option;
	const written = other?.value ?? '';
	if (chosen?.value === OTHER_OPTION) {
		const leftOut = other?.value == null && view.acted !== otherId;
		const text = leftOut ? known : wholeText(written, known, metadata.offerLimit);
		if (!isBlank(text)) return { value: text, error: null };
		return failure('', otherId, 'Write what you mean by "something else", or choose one of the options.');
	}
	if (chosen != null) {
		const value = optionText(metadata, position, chosen);
		if (isBlank(written) || written === known) return { value, error: null };
		return failure(value, otherId, 'To send this text, choose "Something else…" above. Otherwise clear it.');
	}
	if (!isBlank(written)) return { value: wholeText(written, known, metadata.offerLimit), error: null };
	const text = entry?.value ?? entry?.selected_date ?? entry?.selected_time;
	if (text == null) return { value: view.acted === blockId ? '' : known, error: null };
	const value = wholeText(text, known, metadata.offerLimit);
	const complaint = isBlank(value) ? null : complaintAbout(entry?.type, value);
	return complaint === null ? { value, error: null } : failure(value, blockId, complaint);
}

function failure(value: string, blockId: string, text: string): Reading {
	return { value, error: { blockId, text } };
}

function entryOf(view: View, blockId: string, actionId: string): Element | null {
	const parsed = element.safeParse(view.blocks[blockId]?.[actionId]);
	return parsed.success ? parsed.data : null;
}

/** A long text that was shown cut is meant whole as long as the field holds just what was shown. */
function wholeText(text: string, known: string, offerLimit: number): string {
	if (known.length <= offerLimit) return text;
	return comparable(text) === comparable(cutTo(known, offerLimit)) ? known : text;
}

function comparable(text: string): string {
	return text.replaceAll('\r\n', '\n').trim();
}

function optionText(metadata: ViewMetadata, position: number, chosen: NonNullable<Element['selected_option']>): string {
	const at = Number(/^o(\d{1,3})$/.exec(chosen.value)?.[1] ?? Number.NaN);
	return metadata.optionTexts[position]?.[at] ?? chosen.text?.text ?? '';
}

function complaintAbout(type: string | undefined, value: string): string | null {
	const otherwise = 'For other text press "Plain text fields" below.';
	if (type === 'number_input' && !isNumber(value)) return `This has to be a number, such as 42 or 3.5. ${otherwise}`;
	if (type === 'email_text_input' && !isEmail(value)) return `This has to be an e-mail address. ${otherwise}`;
	if (type === 'url_text_input' && !isUrl(value))
		return `This has to be a web address that begins with https://. ${otherwise}`;
	if (type === 'datepicker' && !isDate(value)) return 'Choose a date.';
	if (type === 'timepicker' && !isTime(value)) return 'Choose a time.';
	return null;
}

function addMissing(errors: Record<string, string>, missing: readonly number[], metadata: ViewMetadata): void {
	if (metadata.partial) {
		const [first] = metadata.fields;
		if (first === undefined || missing.length < metadata.fields.length || Object.keys(errors).length > 0) return;
		errors[mainId(metadata, first)] = 'Fill in at least one field.';
		return;
	}
	for (const position of missing) {
		if (fieldId(metadata, position, 'other') in errors) continue;
		errors[mainId(metadata, position)] ??=
			'Please fill this in. If you cannot, press "I can\'t answer all of it" below.';
	}
}

function addTooLarge(
	errors: Record<string, string>,
	values: Readonly<Record<number, string>>,
	metadata: ViewMetadata,
): void {
	const bytes = metadata.putOverheadBytes + valueBytes(Object.values(values));
	const longest = metadata.fields.reduce<number | null>(
		(best, position) =>
			best === null || (values[position] ?? '').length > (values[best] ?? '').length ? position : best,
		null,
	);
	if (bytes <= PUT_LIMIT_BYTES || longest === null) return;
	const over = Math.ceil((bytes - PUT_LIMIT_BYTES) / 1000);
	errors[mainId(metadata, longest)] =
		`Question and answers together are ${over} kB longer than the session service takes. Please shorten this text.`;
}

function mainId(metadata: ViewMetadata, position: number): string {
	return fieldId(metadata, position, isPlain(metadata, position) ? 'plain' : 'guessed');
}

function isPlain({ asText }: ViewMetadata, position: number): boolean {
	return asText.includes(position);
}

function fieldId(metadata: ViewMetadata, position: number, variant: FieldVariant): string {
	return fieldBlockId({
		messageIndex: metadata.messageIndex ?? 0,
		fingerprint: metadata.fingerprint ?? '',
		position,
		variant,
	});
}
