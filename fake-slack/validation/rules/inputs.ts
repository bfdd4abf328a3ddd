import { at, type Part } from '../payload.ts';
import { lengthOf, partsOf, type Rule, reference, stricter, types } from '../rule.ts';

/** Rules over the values that elements are given to start with, and over their bounds. */

/** A rule over every part of one type: words for what is wrong with a field, or undefined. */
function fieldRule(
	id: string,
	source: string,
	{ type, path }: { type: string; path: string },
	wrong: (value: unknown, part: Part) => string | undefined,
): Rule {
	return {
		id,
		source,
		check: (payload, report) => {
			for (const part of partsOf(payload, type)) {
				for (const { value, pointer } of at(part, path)) {
					const words = wrong(value, part);
					if (words !== undefined) report(words, pointer);
				}
			}
		},
	};
}

const isDecimal = (value: unknown): value is string => typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value);

export function isDate(value: string): boolean {
	const date = new Date(`${value}T00:00:00Z`);
	return /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value);
}

export function isTime(value: string): boolean {
	return /^([01]\d|2[0-3]):[0-5]\d$/.test(value);
}

function isUrl(value: string, schemes: RegExp): boolean {
	return URL.canParse(value) && schemes.test(value);
}

const text = (isRight: (value: string) => boolean, words: string) => (value: unknown) =>
	typeof value === 'string' && value !== '' && !isRight(value) ? words : undefined;

const web = /^https?:\/\//i;
/** An address that Slack's client follows. */
export const isLink = (value: string) => isUrl(value, /^(https?:\/\/|mailto:|slack:|tel:)/i);
const link = text(isLink, 'must be a valid URL');
const picture = text((value) => isUrl(value, web), 'must be a valid URL');

export const inputTable: readonly Rule[] = [
	fieldRule(
		'value:number_input.initial_value',
		`${reference}/block-elements/number-input-element`,
		{ type: 'number_input', path: 'initial_value' },
		(value) => (value === '' || isDecimal(value) ? undefined : 'must be a valid number'),
	),
	fieldRule(
		'value:number_input.initial_value:whole',
		`${reference}/block-elements/number-input-element`,
		{ type: 'number_input', path: 'initial_value' },
		(value, part) =>
			part.value.is_decimal_allowed === false && isDecimal(value) && value.includes('.')
				? 'must be a whole number when is_decimal_allowed is false'
				: undefined,
	),
	fieldRule(
		'value:plain_text_input.initial_value:max',
		stricter,
		{ type: 'plain_text_input', path: 'initial_value' },
		(value, part) =>
			typeof value === 'string' && lengthOf(value) > Number(part.value.max_length ?? Number.POSITIVE_INFINITY)
				? `must be less than ${Number(part.value.max_length) + 1} characters`
				: undefined,
	),
	fieldRule(
		'value:email_text_input.initial_value',
		stricter,
		{ type: 'email_text_input', path: 'initial_value' },
		text((value) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value), 'must be a valid email address'),
	),
	fieldRule('value:url_text_input.initial_value', stricter, { type: 'url_text_input', path: 'initial_value' }, picture),
	fieldRule(
		'value:datepicker.initial_date',
		types,
		{ type: 'datepicker', path: 'initial_date' },
		text(isDate, 'must be a date as YYYY-MM-DD'),
	),
	fieldRule(
		'value:timepicker.initial_time',
		types,
		{ type: 'timepicker', path: 'initial_time' },
		text(isTime, 'must be a time as HH:mm'),
	),
	fieldRule('value:image.image_url', `${reference}/blocks/image-block`, { type: 'image', path: 'image_url' }, picture),
	fieldRule('value:button.url', `${reference}/block-elements/button-element`, { type: 'button', path: 'url' }, link),
	fieldRule(
		'value:overflow.options[].url',
		`${reference}/composition-objects/option-object`,
		{ type: 'overflow', path: 'options[].url' },
		link,
	),
	fieldRule('value:link.url', stricter, { type: 'link', path: 'url' }, link),
	fieldRule('value:url.empty', stricter, { type: '*', path: 'url' }, (value) =>
		value === '' ? 'must be more than 0 characters' : undefined,
	),
	fieldRule('value:image_url.empty', stricter, { type: '*', path: 'image_url' }, (value) =>
		value === '' ? 'must be more than 0 characters' : undefined,
	),
];
