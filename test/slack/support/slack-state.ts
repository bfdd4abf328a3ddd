import type { InputBlock, ModalView } from '@slack/types';

/** What Slack returns for fields that nobody touched. */
export type Untouched =
	/** With their initial values, as documented. */
	| 'kept'
	/** As null, or not at all, as it happens after views.update. */
	| 'null'
	| 'absent';

type State = Record<string, Record<string, unknown>>;

/** `view.state.values` of a view in which nobody touched anything. */
export function stateOf(view: Pick<ModalView, 'blocks'>, untouched: Untouched): State {
	const state: State = {};
	for (const block of view.blocks) {
		if (block.type !== 'input' || untouched === 'absent') continue;
		const { block_id: id = '', element } = block as InputBlock;
		const { action_id: action = '' } = element as { action_id?: string };
		state[id] = { [action]: { type: element.type, ...heldBy(element, untouched === 'kept') } };
	}
	return state;
}

function heldBy(element: InputBlock['element'], kept: boolean): Record<string, unknown> {
	const initial = (name: string): unknown =>
		kept ? ((element as unknown as Record<string, unknown>)[name] ?? null) : null;
	switch (element.type) {
		case 'radio_buttons':
		case 'static_select':
			return { selected_option: initial('initial_option') };
		case 'checkboxes':
		case 'multi_static_select':
			// An empty list, where other inputs have null (bolt-js #1258).
			return { selected_options: initial('initial_options') ?? [] };
		case 'datepicker':
			return { selected_date: initial('initial_date') };
		case 'timepicker':
			return { selected_time: initial('initial_time') };
		default:
			return { value: initial('initial_value') };
	}
}
