import {
	accept,
	asMessage,
	BUTTON,
	block,
	changedPlace,
	composition,
	type Edge,
	element,
	fewest,
	greatest,
	inAccessory,
	inActions,
	inInput,
	inMessage,
	inModal,
	type Json,
	LABEL,
	many,
	method,
	most,
	option,
	options,
	type Refused,
	refuse,
	SECTION,
	type Subject,
	smallest,
	stricter,
	types,
} from './sample.ts';

const card = { type: 'card', body: { type: 'mrkdwn', text: 'B' } };
const cell = { type: 'raw_text', text: 'a' };
const text = { type: 'text', text: 'a' };
const noOptions = 'yhatt/jsx-slack #85: "options must provide at least 1 items"';
const nothingToShow = stricter('the page gives no least number; an empty one would show nothing');

const dataTable = (rows: number, columns: number): Subject =>
	inMessage({ type: 'data_table', caption: 'Runs', rows: many(rows, () => many(columns, () => cell)) });

const chart = (series: number, categories: number): Subject =>
	inMessage({
		type: 'data_visualization',
		title: 'Runs',
		chart: {
			type: 'line',
			series: many(series, (index) => ({
				name: `Series ${index}`,
				data: many(categories, (day) => ({ label: `Day ${day}`, value: -day })),
			})),
			axis_config: { categories: many(categories, (day) => `Day ${day}`) },
		},
	});

const pie = (segments: number): Subject =>
	inMessage({
		type: 'data_visualization',
		title: 'Bars',
		chart: { type: 'pie', segments: many(segments, (index) => ({ label: `Bar ${index}`, value: 1 })) },
	});

const lists: Edge[] = [
	most('blocks in a message', 'grafana-cold-storage/oncall #210', 50, (count) =>
		inMessage(...many(count, () => SECTION)),
	),
	most('bare blocks for a message', method('blocks.validate'), 50, (count) => ({
		kind: 'blocks',
		surface: 'message',
		value: many(count, () => SECTION),
	})),
	most('attachments', `${method('chat.postMessage')}: too_many_attachments`, 100, (count) =>
		asMessage({ text: 'a', attachments: many(count, () => ({ color: '#fff' })) }),
	),
	most('blocks in a modal', 'grafana-cold-storage/oncall #210', 100, (count) => inModal(...many(count, () => SECTION))),
	most('fields', block('section'), 10, (count) => inMessage({ type: 'section', fields: many(count, () => LABEL) })),
	most('elements in actions', 'adobe/spacecat-api-service #176', 25, (count) =>
		inActions(...many(count, () => BUTTON)),
	),
	most('elements in a context', block('context'), 10, (count) =>
		inMessage({ type: 'context', elements: many(count, () => LABEL) }),
	),
	most('elements in context_actions', block('context-actions'), 5, (count) =>
		inMessage({
			type: 'context_actions',
			elements: many(count, () => ({ type: 'icon_button', icon: 'trash', text: LABEL })),
		}),
	),
	most('buttons on a card', block('card'), 3, (count) => inMessage({ ...card, actions: many(count, () => BUTTON) })),
	most('cards in a carousel', block('carousel'), 10, (count) =>
		inMessage({ type: 'carousel', elements: many(count, () => card) }),
	),
	most('blocks in a container', block('container'), 10, (count) =>
		inMessage({ type: 'container', title: LABEL, child_blocks: many(count, () => SECTION) }),
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
	most('rows in a data table', block('data-table'), 101, (count) => dataTable(count, 1)),
	most('segments', 'docs.openclaw.ai/channels/slack/rich-messages', 12, pie),
	most('series', 'docs.rs/slack-morphism 2.30, SlackSeriesChart', 12, (count) => chart(count, 2)),
	most(
		'categories',
		'CopilotKit/CopilotKit #6342',
		{ limit: 20, pointer: '/blocks/0/chart/axis_config/categories' },
		(count) => chart(1, count),
	),
	most('tasks in a plan', 'docs.rs/slack-morphism 2.30, SlackPlanBlock', 50, (count) =>
		inMessage({
			type: 'plan',
			title: 'Plan',
			tasks: many(count, (index) => ({ task_id: `task ${index}`, title: 'Search', status: 'pending' })),
		}),
	),
	...['static_select', 'multi_static_select'].flatMap((type) => {
		const page = type === 'static_select' ? element('select-menu') : element('multi-select-menu');
		return [
			most(`options of ${type}`, page, 100, (count) => inInput({ type, options: options(count) })),
			most(`groups of ${type}`, page, 100, (count) =>
				inInput({
					type,
					option_groups: many(count, (index) => ({ label: LABEL, options: [option(`option ${index}`)] })),
				}),
			),
			most(`options in a group of ${type}`, page, 100, (count) =>
				inInput({ type, option_groups: [{ label: LABEL, options: options(count) }] }),
			),
		];
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

	fewest('kind of conversation', composition('conversation-filter'), 1, (count) =>
		inActions({ type: 'conversations_select', filter: { include: many(count, () => 'im') } }),
	),
	fewest('field', block('section'), 1, (count) => inMessage({ ...SECTION, fields: many(count, () => LABEL) })),
	fewest('element in actions', nothingToShow, 1, (count) => inActions(...many(count, () => BUTTON))),
	fewest('element in a context', nothingToShow, 1, (count) =>
		inMessage({ type: 'context', elements: many(count, () => LABEL) }),
	),
	fewest('element in context_actions', nothingToShow, 1, (count) =>
		inMessage({
			type: 'context_actions',
			elements: many(count, () => ({ type: 'icon_button', icon: 'trash', text: LABEL })),
		}),
	),
	fewest('button on a card', nothingToShow, 1, (count) => inMessage({ ...card, actions: many(count, () => BUTTON) })),
	fewest('card in a carousel', block('carousel'), 1, (count) =>
		inMessage({ type: 'carousel', elements: many(count, () => card) }),
	),
	fewest('block in a container', nothingToShow, 1, (count) =>
		inMessage({ type: 'container', title: LABEL, child_blocks: many(count, () => SECTION) }),
	),
	fewest('row in a table', nothingToShow, 1, (count) => inMessage({ type: 'table', rows: many(count, () => [cell]) })),
	fewest('cell in a row of a table', nothingToShow, 1, (count) =>
		inMessage({ type: 'table', rows: [many(count, () => cell)] }),
	),
	fewest('rows in a data table', block('data-table'), 2, (count) => dataTable(count, 1)),
	fewest('segment', block('data-visualization'), 1, pie),
	fewest('series', block('data-visualization'), 1, (count) => chart(count, 2)),
	fewest(
		'category',
		block('data-visualization'),
		{ limit: 1, pointer: '/blocks/0/chart/axis_config/categories' },
		(count) => chart(1, count),
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
	fewest('element in a rich_text_list', nothingToShow, 1, (count) =>
		inMessage({
			type: 'rich_text',
			elements: [
				{
					type: 'rich_text_list',
					style: 'bullet',
					elements: many(count, () => ({ type: 'rich_text_section', elements: [text] })),
				},
			],
		}),
	),
	...['static_select', 'multi_static_select'].flatMap((type) => [
		fewest(`option of ${type}`, noOptions, 1, (count) => inInput({ type, options: options(count) })),
		fewest(`group of ${type}`, noOptions, 1, (count) =>
			inInput({ type, option_groups: many(count, () => ({ label: LABEL, options: [option('a')] })) }),
		),
		fewest(`option in a group of ${type}`, noOptions, 1, (count) =>
			inInput({ type, option_groups: [{ label: LABEL, options: options(count) }] }),
		),
	]),
	...['radio_buttons', 'checkboxes'].map((type) =>
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
	fewest('file type', stricter('no page says so; leaving the list out takes every file'), 1, (count) =>
		inInput({ type: 'file_input', filetypes: many(count, () => 'pdf') }),
	),
];

function triggers(count: number): string[] {
	return ['on_enter_pressed', 'on_character_entered', 'on_enter_pressed'].slice(0, count);
}

/** Rows of a data table are of one width, so that too wide a one is too wide in every row. */
const width: Refused[] = [
	refuse(
		'two empty rows in a data table',
		block('data-table'),
		{ says: 'no fewer than 1 items allowed', pointer: ['/blocks/0/rows/0', '/blocks/0/rows/1'] },
		dataTable(2, 0),
	),
	refuse(
		'21 columns in a data table',
		block('data-table'),
		{ says: 'no more than 20 items allowed', pointer: ['/blocks/0/rows/0', '/blocks/0/rows/1'] },
		dataTable(2, 21),
	),
];

const list = (changed: Json): Subject =>
	inMessage({
		type: 'rich_text',
		elements: [
			{
				type: 'rich_text_list',
				style: 'ordered',
				elements: [{ type: 'rich_text_section', elements: [text] }],
				...changed,
			},
		],
	});

type NumberField = {
	name: string;
	source: string;
	min: number;
	max?: number;
	subject: (value: number) => Subject;
};

const fields: NumberField[] = [
	{
		name: 'a min_length',
		source: element('plain-text-input'),
		min: 0,
		max: 3000,
		subject: (min_length) => inInput({ type: 'plain_text_input', min_length }),
	},
	{
		name: 'a max_length',
		source: element('plain-text-input'),
		min: 1,
		max: 3000,
		subject: (max_length) => inInput({ type: 'plain_text_input', max_length }),
	},
	{
		name: 'min_lines',
		source: types('RichTextInput'),
		min: 1,
		max: 100,
		subject: (min_lines) => inInput({ type: 'rich_text_input', min_lines }),
	},
	{
		name: 'max_lines',
		source: types('RichTextInput'),
		min: 1,
		max: 100,
		subject: (max_lines) => inInput({ type: 'rich_text_input', max_lines }),
	},
	{
		name: 'max_files',
		source: element('file-input'),
		min: 1,
		max: 10,
		subject: (max_files) => inInput({ type: 'file_input', max_files }),
	},
	{
		name: 'max_selected_items',
		source: element('multi-select-menu'),
		min: 1,
		subject: (max_selected_items) => inInput({ type: 'multi_users_select', max_selected_items }),
	},
	{
		name: 'a page_size',
		source: block('data-table'),
		min: 1,
		max: 100,
		subject: (page_size) => inMessage({ type: 'data_table', caption: 'Runs', rows: [[cell], [cell]], page_size }),
	},
	{
		name: 'a row_header_column_index',
		source: `${block('data-table')}: 0-based`,
		min: 0,
		subject: (index) =>
			inMessage({ type: 'data_table', caption: 'Runs', rows: [[cell], [cell]], row_header_column_index: index }),
	},
	{
		name: 'an indent',
		source: types('RichTextList'),
		min: 0,
		max: 8,
		subject: (indent) => list({ indent }),
	},
	{
		name: 'an offset',
		source: stricter('the page gives no range; lists begin at 1'),
		min: 0,
		subject: (offset) => list({ offset }),
	},
	{
		name: 'an initial_date_time',
		source: `${element('datetime-picker')}: 10 digits`,
		min: 1_000_000_000,
		max: 9_999_999_999,
		subject: (initial_date_time) => inInput({ type: 'datetimepicker', initial_date_time }),
	},
];

const numbers: Edge[] = fields.flatMap(({ name, source, min, max, subject }) => [
	smallest(name, source, min, subject),
	...(max === undefined ? [] : [greatest(name, source, max, subject)]),
]);

const fractions: Refused[] = fields.map(({ name, source, min, subject }) =>
	refuse(
		`${name} with a fraction`,
		source,
		{ says: 'must be a whole number', pointer: changedPlace(subject(min), subject(min + 0.5)) },
		subject(min + 0.5),
	),
);

export const countEdges: Edge[] = [...lists, ...numbers];
export const countAccepted = [
	accept('20 columns in a data table', dataTable(2, 20)),
	accept('one column in a data table', dataTable(2, 1)),
];
export const countRefused: Refused[] = [...width, ...fractions];
