import { type Core, nextId, personOf } from '../core.ts';
import { heldKey, type Placed, placedElements } from '../elements.ts';
import { isRecord, type Json, records, text } from '../json.ts';
import type { InputState } from '../state.ts';
import { readText } from './visible-text.ts';

/** A field as a person sees it. */
export interface Field {
	/** The label; for a control outside an input block its placeholder, or its action_id without one. */
	label: string;
	/** The element's type: plain_text_input, static_select, radio_buttons … */
	kind: string;
	/** Its value: typed text, the texts of chosen options, ids of people and channels. */
	value: string | string[] | null;
	optional: boolean;
	multiline: boolean;
	placeholder: string;
	hint: string;
	options: string[];
	error: string | null;
	blockId: string;
	actionId: string;
}

function shown(core: Core, placed: Placed, input: InputState): string | string[] | null {
	const held = input.values[placed.blockId]?.[placed.actionId]?.[heldKey(placed.type) ?? ''];
	const read = (one: unknown) => (isRecord(one) ? readText(core, one.text) : String(one));
	if (Array.isArray(held)) return held.map(read);
	return held === null || held === undefined ? null : read(held);
}

/** The elements that hold a value, in the order a person sees. */
export function fieldsOf(
	core: Core,
	blocks: readonly Json[],
	input: InputState,
	errors: Record<string, string> = {},
): Field[] {
	return placedElements(blocks)
		.filter((placed) => heldKey(placed.type) !== undefined)
		.map((placed) => {
			const placeholder = readText(core, placed.element.placeholder);
			const label = placed.isInput ? readText(core, placed.block.label) : placeholder || placed.actionId;
			return {
				label,
				kind: placed.type,
				value: shown(core, placed, input),
				optional: placed.isInput && placed.block.optional === true,
				multiline: placed.element.multiline === true,
				placeholder,
				hint: readText(core, placed.block.hint),
				options: records(placed.element, 'options').map((option) => readText(core, option.text)),
				error: errors[placed.blockId] ?? null,
				blockId: placed.blockId,
				actionId: placed.actionId,
			};
		});
}

/** Finds the field by its label or position. The error names the labels that exist. */
export function findField(fields: readonly Field[], which: string | number): Field {
	const found = typeof which === 'number' ? fields[which] : fields.find((field) => field.label === which);
	if (found) return found;
	throw new Error(`There is no field ${JSON.stringify(which)}. Fields: ${fields.map((one) => one.label).join(' | ')}`);
}

/** Something that a person can press. */
export interface Press {
	label: string;
	placed: Placed;
	/** What the action carries beside its ids. */
	chosen: Json;
	/** Where a button with a URL leads. */
	url: string | null;
}

/** The buttons and overflow entries, in order. */
export function pressesOf(core: Core, blocks: readonly Json[]): Press[] {
	return placedElements(blocks).flatMap((placed): Press[] => {
		const { element } = placed;
		if (placed.type === 'button') {
			const label = readText(core, element.text);
			const url = text(element, 'url') ?? null;
			return [{ label, placed, chosen: {}, url }];
		}
		if (placed.type === 'overflow') {
			return records(element, 'options').map((option) => ({
				label: readText(core, option.text),
				placed,
				chosen: { selected_option: option },
				url: text(option, 'url') ?? null,
			}));
		}
		return [];
	});
}

/** Finds what to press by its text. The error names the buttons that exist. */
export function findPress(presses: readonly Press[], label: string, index = 0): Press {
	const found = presses.filter((press) => press.label === label)[index];
	if (found) return found;
	throw new Error(`There is no button "${label}". Buttons: ${presses.map((press) => press.label).join(' | ')}`);
}

/** A file as a message holds it, from its name (docs.slack.dev, file object). */
export function fileOf(core: Core, name: string): Json {
	return { id: nextId(core, 'F'), name, title: name, mimetype: 'application/octet-stream', mode: 'hosted' };
}

/** The value that a client holds where the app gives no options; `people/pickers.ts` says whether Slack offers it. */
function freeChoice(core: Core, placed: Placed, wish: string): unknown {
	switch (placed.type.replace(/^multi_/, '')) {
		case 'users_select':
			return personOf(core, wish).id;
		case 'datepicker':
		case 'timepicker':
			return wish;
		default:
			throw new Error(`Nothing can be chosen in a ${placed.type}: fill it.`);
	}
}

/** The value of a typed text, in an input of one line without its line ends, as in a browser. Throws for a field without typing: a client would never send a text for it. */
export function typing(field: Field, typed: string): string {
	if (heldKey(field.kind) === 'value') return field.multiline ? typed : typed.replace(/[\r\n]+/g, '');
	throw new Error(`Nothing can be typed into "${field.label}", a ${field.kind}: choose in it.`);
}

/**
 * What `state.values` holds for a choice by visible texts; people by name or id, dates as YYYY-MM-DD, times as HH:mm.
 */
export function choice(core: Core, placed: Placed, wanted: string | readonly string[]): unknown {
	const multiple = placed.type === 'checkboxes' || placed.type.startsWith('multi_');
	const wishes = typeof wanted === 'string' ? [wanted] : wanted;
	const options = records(placed.element, 'options');
	const values = wishes.map((wish) => {
		if (placed.element.options === undefined) return freeChoice(core, placed, wish);
		const option = options.find((one) => readText(core, one.text) === wish);
		if (option) return option;
		throw new Error(
			`There is no option "${wish}". Options: ${options.map((one) => readText(core, one.text)).join(' | ')}`,
		);
	});
	const most = Number(placed.element.max_selected_items ?? Number.POSITIVE_INFINITY);
	if (values.length > most) throw new Error(`${values.length} cannot be chosen: the limit is ${most}.`);
	return multiple ? values : (values[0] ?? null);
}
