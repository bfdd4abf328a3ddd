import {
	BUTTON,
	block,
	type Edge,
	element,
	fewest,
	greatest,
	inAccessory,
	inActions,
	inInput,
	inMessage,
	inModal,
	LABEL,
	many,
	most,
	options,
	type Refused,
	refuse,
	SECTION,
	smallest,
	stricter,
} from './sample.ts';

const cell = { type: 'raw_text', text: 'a' };
const text = { type: 'text', text: 'a' };
const noOptions = 'yhatt/jsx-slack #85: "options must provide at least 1 items"';
const nothingToShow = stricter('the page gives no least number; an empty one would show nothing');

const lists: Edge[] = [
	most('blocks in a message', 'grafana-cold-storage/oncall #210', 50, (count) =>
		inMessage(...many(count, () => SECTION)),
	),
	most('blocks in a modal', 'grafana-cold-storage/oncall #210', 100, (count) => inModal(...many(count, () => SECTION))),
	most('fields', block('section'), 10, (count) => inMessage({ type: 'section', fields: many(count, () => LABEL) })),
	most('elements in actions', 'adobe/spacecat-api-service #176', 25, (count) =>
		inActions(...many(count, () => BUTTON)),
	),
	most('elements in a context', block('context'), 10, (count) =>
		inMessage({ type: 'context', elements: many(count, () => LABEL) }),
	),
	most('rows in a table', block('table'), 100, (count) =>
		inMessage({ type: 'table', rows: many(count, () => [cell]) }),
	),
	most('cells in a row of a table', block('table'), 20, (count) =>
		inMessage({ type: 'table', rows: [many(count, () => cell)] }),
	),
	most('column_settings', block('table'), 20, (count) =>
		inMessage({ type: 'table', rows: [[cell]], column_settings: many(count, () => ({ align: 'left' })) }),
	),
	...['static_select', 'multi_static_select'].map((type) => {
		const page = type === 'static_select' ? element('select-menu') : element('multi-select-menu');
		return most(`options of ${type}`, page, 100, (count) => inInput({ type, options: options(count) }));
	}),
	most('radio buttons', element('radio-button-group'), 10, (count) =>
		inInput({ type: 'radio_buttons', options: options(count) }),
	),
	most('checkboxes', 'agentconnect-md/agentconnect #1836', 10, (count) =>
		inActions({ type: 'checkboxes', options: options(count) }),
	),
	most('options in a menu', element('overflow-menu'), 5, (count) =>
		inAccessory({ type: 'overflow', options: options(count) }),
	),

	fewest('field', block('section'), 1, (count) => inMessage({ ...SECTION, fields: many(count, () => LABEL) })),
	fewest('element in actions', nothingToShow, 1, (count) => inActions(...many(count, () => BUTTON))),
	fewest('element in a context', nothingToShow, 1, (count) =>
		inMessage({ type: 'context', elements: many(count, () => LABEL) }),
	),
	fewest('row in a table', nothingToShow, 1, (count) => inMessage({ type: 'table', rows: many(count, () => [cell]) })),
	fewest('cell in a row of a table', nothingToShow, 1, (count) =>
		inMessage({ type: 'table', rows: [many(count, () => cell)] }),
	),
	fewest('part of a rich text', 'NousResearch/hermes-agent #69317', 1, (count) =>
		inMessage({
			type: 'rich_text',
			elements: many(count, () => ({ type: 'rich_text_section', elements: [text] })),
		}),
	),
	...['rich_text_section', 'rich_text_quote', 'rich_text_preformatted'].map((type) =>
		fewest(`element in a ${type}`, nothingToShow, 1, (count) =>
			inMessage({ type: 'rich_text', elements: [{ type, elements: many(count, () => text) }] }),
		),
	),
	...['static_select', 'multi_static_select', 'radio_buttons', 'checkboxes'].map((type) =>
		fewest(`option of ${type}`, noOptions, 1, (count) => inInput({ type, options: options(count) })),
	),
	fewest('option in a menu', noOptions, 1, (count) => inAccessory({ type: 'overflow', options: options(count) })),
	fewest('initial option', stricter('no page says so; leaving the list out means the same'), 1, (count) =>
		inInput({ type: 'checkboxes', options: options(2), initial_options: options(count) }),
	),
	fewest(
		'trigger of a dispatch_action_config',
		'docs.slack.dev/reference/block-kit/composition-objects/dispatch-action-configuration-object',
		1,
		(count) => inInput({ type: 'plain_text_input', dispatch_action_config: { trigger_actions_on: triggers(count) } }),
	),
	most(
		'triggers of a dispatch_action_config',
		'docs.slack.dev/reference/block-kit/composition-objects/dispatch-action-configuration-object',
		2,
		(count) => inInput({ type: 'plain_text_input', dispatch_action_config: { trigger_actions_on: triggers(count) } }),
	),
];

function triggers(count: number): string[] {
	return ['on_enter_pressed', 'on_character_entered', 'on_enter_pressed'].slice(0, count);
}

const maxLength = (max_length: number) => inInput({ type: 'plain_text_input', max_length });
const mostSelected = (max_selected_items: number) => inInput({ type: 'multi_users_select', max_selected_items });

export const countEdges: Edge[] = [
	...lists,
	smallest('a max_length', element('plain-text-input'), 1, maxLength),
	greatest('a max_length', element('plain-text-input'), 3000, maxLength),
	smallest('max_selected_items', element('multi-select-menu'), 1, mostSelected),
];

const whole = 'must be a whole number';

export const countRefused: Refused[] = [
	refuse(
		'a max_length with a fraction',
		element('plain-text-input'),
		{ says: whole, pointer: '/view/blocks/0/element/max_length' },
		maxLength(1.5),
	),
	refuse(
		'max_selected_items with a fraction',
		element('multi-select-menu'),
		{ says: whole, pointer: '/view/blocks/0/element/max_selected_items' },
		mostSelected(1.5),
	),
];
