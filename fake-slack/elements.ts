import { type Core, nextId } from './core.ts';
import { isRecord, type Json, record, records, text } from './json.ts';
import type { InputValue } from './state.ts';

/** An interactive element and its place. */
export interface Placed {
	block: Json;
	blockId: string;
	element: Json;
	actionId: string;
	type: string;
	/** Only elements of input blocks have labels, the optional flag and field errors. */
	isInput: boolean;
}

function elementsIn(block: Json): Json[] {
	switch (block.type) {
		case 'input': {
			const element = record(block, 'element');
			return element ? [element] : [];
		}
		case 'section': {
			const accessory = record(block, 'accessory');
			return accessory && accessory.type !== 'image' ? [accessory] : [];
		}
		case 'actions':
			return records(block, 'elements');
		default:
			return [];
	}
}

/** Every interactive element of the blocks, in order. */
export function placedElements(blocks: readonly Json[]): Placed[] {
	return blocks.flatMap((block) =>
		elementsIn(block).map((element) => ({
			block,
			blockId: text(block, 'block_id') ?? '',
			element,
			actionId: text(element, 'action_id') ?? '',
			type: text(element, 'type') ?? '',
			isInput: block.type === 'input',
		})),
	);
}

/** A copy of the blocks with the ids that Slack generates where the app gave none. */
export function withIds(core: Core, blocks: unknown): Json[] {
	if (!Array.isArray(blocks)) return [];
	const copies = (structuredClone(blocks) as unknown[]).filter(isRecord);
	for (const block of copies) {
		block.block_id ??= nextId(core, 'b');
		for (const element of elementsIn(block)) element.action_id ??= nextId(core, 'a');
	}
	return copies;
}

/** By element type: the key in `initial_…` and in `state.values`. Buttons and menus hold no value. */
const VALUE_KEYS: Record<string, readonly [initial: string, held: string, empty: null | readonly never[]]> = {
	plain_text_input: ['initial_value', 'value', null],
	number_input: ['initial_value', 'value', null],
	email_text_input: ['initial_value', 'value', null],
	url_text_input: ['initial_value', 'value', null],
	static_select: ['initial_option', 'selected_option', null],
	radio_buttons: ['initial_option', 'selected_option', null],
	users_select: ['initial_user', 'selected_user', null],
	checkboxes: ['initial_options', 'selected_options', []],
	multi_static_select: ['initial_options', 'selected_options', []],
	multi_users_select: ['initial_users', 'selected_users', []],
	datepicker: ['initial_date', 'selected_date', null],
	timepicker: ['initial_time', 'selected_time', null],
};

/** The key of an element's value in `state.values`, or undefined when it holds none. */
export function heldKey(type: string): string | undefined {
	return VALUE_KEYS[type]?.[1];
}

/** Whether the app gave the element an initial value. */
export function hasInitial(element: Json): boolean {
	const keys = VALUE_KEYS[text(element, 'type') ?? ''];
	return keys !== undefined && element[keys[0]] !== undefined;
}

/** What the element shows before anybody changes it, in the form of `state.values`. */
export function initialValue(element: Json): InputValue | undefined {
	const type = text(element, 'type') ?? '';
	const keys = VALUE_KEYS[type];
	if (!keys) return undefined;
	const [initial, held, empty] = keys;
	const given = element[initial];
	return { type, [held]: given === undefined ? empty : typeof given === 'number' ? String(given) : given };
}

export function isEmpty(value: InputValue | undefined): boolean {
	const held = value?.[heldKey(value.type) ?? ''];
	return held === undefined || held === null || held === '' || (Array.isArray(held) && held.length === 0);
}
