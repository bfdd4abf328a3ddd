import { hasInitial, heldKey, initialValue, isEmpty, type Placed, placedElements } from './elements.ts';
import { type Json, records, text } from './json.ts';
import type { InputState, InputValue, InputValues } from './state.ts';

const key = (placed: Placed) => `${placed.blockId}/${placed.actionId}`;

/** What a surface's inputs show when it appears. */
export function freshInput(blocks: readonly Json[]): InputState {
	const values: InputValues = {};
	for (const placed of placedElements(blocks)) {
		const value = initialValue(placed.element);
		if (value) {
			values[placed.blockId] ??= {};
			(values[placed.blockId] as Record<string, InputValue>)[placed.actionId] = value;
		}
	}
	return { values, touched: [] };
}

/** Whether a kept choice is still among the offered options. */
function stillOffered(element: Json, value: InputValue): boolean {
	if (!('options' in element)) return true;
	const offered = new Set(records(element, 'options').map((option) => option.value));
	const held = value[heldKey(value.type) ?? ''];
	const chosen = Array.isArray(held) ? held : held === null ? [] : [held];
	return chosen.every((option) => offered.has(text(option, 'value')));
}

/**
 * What the inputs show after the app replaced the blocks: an element with the same block_id and action_id keeps its
 * value and ignores a new initial value (bolt-js #290); every other one starts anew.
 */
export function carryOver(before: InputState, blocks: readonly Json[]): InputState {
	const after = freshInput(blocks);
	for (const placed of placedElements(blocks)) {
		const kept = before.values[placed.blockId]?.[placed.actionId];
		const fresh = after.values[placed.blockId];
		if (!kept || !fresh || kept.type !== placed.type || !stillOffered(placed.element, kept)) continue;
		fresh[placed.actionId] = kept;
		if (before.touched.includes(key(placed))) after.touched.push(key(placed));
	}
	return after;
}

/** Stores a value in an element. */
export function setValue(input: InputState, placed: Placed, held: unknown): void {
	const heldAs = heldKey(placed.type);
	if (heldAs === undefined) throw new Error(`A ${placed.type} holds no value.`);
	input.values[placed.blockId] ??= {};
	(input.values[placed.blockId] as Record<string, InputValue>)[placed.actionId] = {
		type: placed.type,
		[heldAs]: held === '' ? null : held,
	};
	if (!input.touched.includes(key(placed))) input.touched.push(key(placed));
}

/**
 * `state.values` as Slack sends it. With `omitUntouched`, initial values of unchanged plain-text inputs are omitted,
 * what unchanged checkboxes and multi-selects begin with is an empty list, and every other initial value null, although
 * the client shows it (bolt-js #1073, #1258, bolt-python #572).
 */
export function stateValues(blocks: readonly Json[], input: InputState, omitUntouched: boolean): InputValues {
	const values: InputValues = {};
	for (const placed of placedElements(blocks)) {
		const value = input.values[placed.blockId]?.[placed.actionId];
		if (!value) continue;
		const untouched = hasInitial(placed.element) && !isEmpty(value) && !input.touched.includes(key(placed));
		const isOmitted = omitUntouched && untouched;
		if (isOmitted && placed.type === 'plain_text_input') continue;
		const held = heldKey(placed.type) ?? '';
		const empty = isOmitted && { [held]: Array.isArray(value[held]) ? [] : null };
		values[placed.blockId] ??= {};
		(values[placed.blockId] as Record<string, InputValue>)[placed.actionId] = structuredClone({ ...value, ...empty });
	}
	return values;
}
