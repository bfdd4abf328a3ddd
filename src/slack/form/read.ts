import { z } from 'zod';
import { ACTIONS, type FieldVariant, fieldBlockId, secretBlockId } from '../ids.ts';
import type { ViewMetadata } from '../metadata.ts';
import type { SubmittedView } from '../request.ts';
import { cutTo, isBlank, withoutMarks } from '../text.ts';
import { OTHER_OPTION, PUT_LIMIT_BYTES } from './build.ts';
import { isDate, isEmail, isNumber, isTime, isUrl } from './plan.ts';

export const FIELD_ERRORS = {
	otherMissing: 'Write what you mean by "something else", or choose one of the options.',
	otherUnused: 'To send this text, choose "Something else…" above. Otherwise clear it.',
	allEmpty: 'Fill in at least one field.',
	missing: 'Please fill this in. If you cannot, press "I can\'t answer all of it" below.',
} as const;

const OTHER_TEXT = 'For other text press "Plain text fields" below.';
/** By type of input: which values fit it, and what to say of others. */
const FORMATS: Partial<Readonly<Record<string, readonly [fits: (value: string) => boolean, error: string]>>> = {
	number_input: [isNumber, `This has to be a number, such as 42 or 3.5. ${OTHER_TEXT}`],
	email_text_input: [isEmail, `This has to be an e-mail address. ${OTHER_TEXT}`],
	url_text_input: [isUrl, `This has to be a web address that begins with https://. ${OTHER_TEXT}`],
	datepicker: [isDate, 'Choose a date.'],
	timepicker: [isTime, 'Choose a time.'],
};

export type FormReading = Readonly<ReturnType<typeof readForm>>;

const ELEMENT = z.object({
	type: z.string().optional(),
	value: z.string().nullish(),
	selected_option: z.object({ value: z.string(), text: z.object({ text: z.string() }).optional() }).nullish(),
	selected_date: z.string().nullish(),
	selected_time: z.string().nullish(),
	selected_options: z.array(z.object({ value: z.string() })).nullish(),
});

type Element = z.infer<typeof ELEMENT>;

interface FormInput {
	readonly values: SubmittedView['values'];
	readonly metadata: ViewMetadata;
	readonly draft: Readonly<Record<number, string>>;
	readonly acted?: string | undefined;
}

/**
 * Reads a form from `view.state.values`. Slack may leave out initial values that nobody touched; `draft` holds them.
 * `acted`: the block_id of the input whose `block_actions` event this is; if that input has no value, the person emptied it.
 * Returns the answers by position as they are sent ('' for an empty field), the positions without one, the errors by
 * block_id, the positions whose box is ticked, and the values without secrets, a draft even if the form has errors.
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
	const draft = Object.fromEntries(Object.entries(values).filter(([key]) => !secret.includes(Number(key))));
	return { values, missing, fieldErrors, secret, draft };
}

/**
 * Slack sends an empty list for boxes that were shown ticked and not touched (bolt-js #1258). So an empty list counts only
 * if nothing was ticked before, or in the event of the box itself.
 */
function tickedPositions(view: FormInput): readonly number[] {
	const { metadata, acted } = view;
	const blockId = secretBoxId(metadata);
	const ticked = (entryOf(view, blockId, ACTIONS.secret)?.selected_options ?? [])
		.map(({ value }) => Number(value))
		.filter((position) => metadata.fields.includes(position));
	return ticked.length === 0 && acted !== blockId ? metadata.secret : ticked;
}

export function secretBoxId({ messageIndex, fingerprint }: ViewMetadata): string {
	return secretBlockId({ messageIndex: messageIndex ?? 0, fingerprint: fingerprint ?? '' });
}

/** The value of one field; adds what is wrong with it to `errors`. */
function readField(view: FormInput, position: number, errors: Record<string, string>): string {
	const { metadata } = view;
	const blockId = mainId(metadata, position);
	const otherId = fieldId(metadata, position, 'other');
	const entry = entryOf(view, blockId, ACTIONS.field);
	const other = metadata.asText.includes(position) ? null : entryOf(view, otherId, ACTIONS.otherText);
	const offered = metadata.offered.includes(position) ? (view.draft[position] ?? '').toWellFormed() : '';
	const chosen = entry?.selected_option;
	const written = other?.value ?? '';
	if (chosen?.value === OTHER_OPTION) {
		const leftOut = other?.value == null && view.acted !== otherId;
		const text = leftOut ? offered : wholeText(written, offered, metadata.offerLimit);
		if (isBlank(text)) errors[otherId] = FIELD_ERRORS.otherMissing;
		return text;
	}
	if (chosen != null) {
		if (!isBlank(written) && written !== offered) errors[otherId] = FIELD_ERRORS.otherUnused;
		return optionText(metadata, position, chosen);
	}
	if (!isBlank(written)) return wholeText(written, offered, metadata.offerLimit);
	const text = entry?.value ?? entry?.selected_date ?? entry?.selected_time;
	if (text == null) return view.acted === blockId ? '' : offered;
	const value = wholeText(text, offered, metadata.offerLimit);
	const format = FORMATS[entry?.type ?? ''];
	if (format !== undefined && !isBlank(value) && !format[0](value)) errors[blockId] = format[1];
	return value;
}

function entryOf({ values }: FormInput, blockId: string, actionId: string): Element | undefined {
	return ELEMENT.safeParse(values[blockId]?.[actionId]).data;
}

/** The full text if it was shown cut and the field still holds what was shown. */
function wholeText(text: string, offered: string, offerLimit: number): string {
	if (offered.length <= offerLimit) return text;
	const [typed, shown] = [text, cutTo(offered, offerLimit)].map((one) => one.replaceAll('\r\n', '\n').trim());
	return typed === shown ? offered : text;
}

function optionText(metadata: ViewMetadata, position: number, chosen: NonNullable<Element['selected_option']>): string {
	const at = Number(/^o(\d{1,3})$/.exec(chosen.value)?.[1] ?? Number.NaN);
	return metadata.optionTexts[position]?.[at] ?? chosen.text?.text ?? '';
}

function addMissing(errors: Record<string, string>, missing: readonly number[], metadata: ViewMetadata): void {
	const [first] = metadata.fields;
	if (!metadata.partial) {
		const unsaid = missing.filter((position) => !(fieldId(metadata, position, 'other') in errors));
		for (const position of unsaid) errors[mainId(metadata, position)] ??= FIELD_ERRORS.missing;
	} else if (first !== undefined && missing.length === metadata.fields.length && Object.keys(errors).length === 0) {
		errors[mainId(metadata, first)] = FIELD_ERRORS.allEmpty;
	}
}

function addTooLarge(
	errors: Record<string, string>,
	values: Readonly<Record<number, string>>,
	metadata: ViewMetadata,
): void {
	const sizes = Object.values(values).map((value) => Buffer.byteLength(JSON.stringify(value)) - 2);
	const bytes = sizes.reduce((sum, size) => sum + size, metadata.putOverheadBytes);
	const lengthOf = (position: number) => (values[position] ?? '').length;
	const [longest] = metadata.fields.toSorted((a, b) => lengthOf(b) - lengthOf(a));
	if (bytes <= PUT_LIMIT_BYTES || longest === undefined) return;
	const over = Math.ceil((bytes - PUT_LIMIT_BYTES) / 1000);
	errors[mainId(metadata, longest)] =
		`The question and your answers together are ${over} kB larger than the session service accepts. Please shorten this text.`;
}

function mainId(metadata: ViewMetadata, position: number): string {
	return fieldId(metadata, position, metadata.asText.includes(position) ? 'plain' : 'guessed');
}

/** The block_id of a field in the view of this metadata. */
function fieldId(metadata: ViewMetadata, position: number, variant: FieldVariant): string {
	return fieldBlockId({
		messageIndex: metadata.messageIndex ?? 0,
		fingerprint: metadata.fingerprint ?? '',
		position,
		variant,
		shownHash: variant === 'guessed' && metadata.withOptions.includes(position) ? metadata.shownHash : null,
	});
}

/** The title of an item as the view showed it. */
export function titleOf({ labels }: SubmittedView, metadata: ViewMetadata, position: number): string {
	const label = labels[fieldId(metadata, position, 'guessed')] ?? labels[fieldId(metadata, position, 'plain')];
	return label === undefined ? '' : withoutMarks(label);
}
