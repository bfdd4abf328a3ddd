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
		case 'context_actions':
			return records(block, 'elements');
		case 'card':
			return records(block, 'actions');
		default:
			return [];
	}
}

/** The blocks, with those inside carousels and containers after the block that holds them. */
function withInner(blocks: readonly Json[]): Json[] {
	return blocks.flatMap((block) => {
		const inner = block.type === 'carousel' ? 'elements' : block.type === 'container' ? 'child_blocks' : undefined;
		return inner === undefined ? [block] : [block, ...withInner(records(block, inner))];
	});
}

/** Every interactive element of the blocks, in order. */
export function placedElements(blocks: readonly Json[]): Placed[] {
	return withInner(blocks).flatMap((block) =>
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
	for (const block of withInner(copies)) {
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
	rich_text_input: ['initial_value', 'rich_text_value', null],
	static_select: ['initial_option', 'selected_option', null],
	external_select: ['initial_option', 'selected_option', null],
	radio_buttons: ['initial_option', 'selected_option', null],
	users_select: ['initial_user', 'selected_user', null],
	conversations_select: ['initial_conversation', 'selected_conversation', null],
	channels_select: ['initial_channel', 'selected_channel', null],
	checkboxes: ['initial_options', 'selected_options', []],
	multi_static_select: ['initial_options', 'selected_options', []],
	multi_external_select: ['initial_options', 'selected_options', []],
	multi_users_select: ['initial_users', 'selected_users', []],
	multi_conversations_select: ['initial_conversations', 'selected_conversations', []],
	multi_channels_select: ['initial_channels', 'selected_channels', []],
	datepicker: ['initial_date', 'selected_date', null],
	timepicker: ['initial_time', 'selected_time', null],
	datetimepicker: ['initial_date_time', 'selected_date_time', null],
	// There are no initial files: the key is never set.
	file_input: ['initial_files', 'files', []],
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

/** The options of a select, radio group, checkboxes or overflow menu, without their groups. */
export function optionsOf(element: Json): Json[] {
	return [
		...records(element, 'options'),
		...records(element, 'option_groups').flatMap((group) => records(group, 'options')),
	];
}

export function isEmpty(value: InputValue | undefined): boolean {
	const held = value?.[heldKey(value.type) ?? ''];
	return held === undefined || held === null || held === '' || (Array.isArray(held) && held.length === 0);
}
