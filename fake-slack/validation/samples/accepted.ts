import {
	type Accepted,
	accept,
	type Json,
	modal,
	option,
	options,
	SECTION,
	inMessage as toMessage,
	inModal as toModal,
} from './sample.ts';

/** Small payloads that Slack takes; together they hold every block, element and field that a limit is known for. */

const plain = (text: string): Json => ({ type: 'plain_text', text });
const mrkdwn = (text: string): Json => ({ type: 'mrkdwn', text });
const button = (extra: Json = {}): Json => ({ type: 'button', text: plain('Press'), ...extra });
const actions = (...elements: Json[]): Json => ({ type: 'actions', elements });
const input = (element: Json, extra: Json = {}): Json => ({ type: 'input', label: plain('Label'), element, ...extra });
const textInput = (extra: Json = {}): Json => ({ type: 'plain_text_input', ...extra });
const richText = (...elements: Json[]): Json => ({ type: 'rich_text', elements });
const richSection = (...elements: Json[]): Json => ({ type: 'rich_text_section', elements });
const inMessage = (name: string, ...blocks: unknown[]): Accepted => accept(name, toMessage(...blocks));
const inModal = (name: string, ...blocks: unknown[]): Accepted => accept(name, toModal(...blocks));

const image = { type: 'image', image_url: 'https://example.com/a.png', alt_text: 'A chart' };
const confirm = {
	title: plain('Sure?'),
	text: plain('It is sent.'),
	confirm: plain('Yes'),
	deny: plain('No'),
	style: 'danger',
};
const task = { type: 'task_card', task_id: 't1', title: 'Search', status: 'complete' };
const selects = ['users', 'channels', 'conversations', 'external'];

const layout: Accepted[] = [
	inMessage('a section with text', SECTION),
	inMessage('a section with plain text', { type: 'section', text: plain('Hello') }),
	inMessage('a section with fields', { type: 'section', fields: [mrkdwn('*a*'), plain('b')], expand: true }),
	inMessage('a section with a picture', { ...SECTION, accessory: image }),
	inMessage('a choice described in mrkdwn', {
		...SECTION,
		accessory: { type: 'checkboxes', options: [{ ...option('a'), text: mrkdwn('*a*'), description: mrkdwn('_b_') }] },
	}),
	inMessage('a divider', { type: 'divider', block_id: 'line' }),
	inMessage('a header', { type: 'header', text: { ...plain('Head'), emoji: true } }),
	inMessage('a context', { type: 'context', elements: [mrkdwn('a'), plain('b'), image] }),
	inMessage('a picture by address', { ...image, title: plain('Chart') }),
	inMessage('a picture from Slack', { type: 'image', alt_text: 'A', slack_file: { url: 'https://files.slack.com/a' } }),
	inMessage('a picture by its id', { type: 'image', alt_text: 'A', slack_file: { id: 'F1' } }),
	inMessage('markdown', { type: 'markdown', text: '# Report' }),
	inMessage('a video', {
		type: 'video',
		video_url: 'https://example.com/v',
		thumbnail_url: 'https://example.com/t.png',
		alt_text: 'V',
		title: plain('Video'),
		title_url: 'https://example.com/v',
		author_name: 'Ann',
	}),
	inMessage('a table', {
		type: 'table',
		rows: [[{ type: 'raw_text', text: 'a' }, richText(richSection({ type: 'text', text: 'b' }))]],
		column_settings: [{ align: 'left', is_wrapped: true }],
	}),
	inMessage('a data table', {
		type: 'data_table',
		caption: 'Runs',
		page_size: 5,
		row_header_column_index: 0,
		rows: [
			[
				{ type: 'raw_text', text: 'Run' },
				{ type: 'raw_text', text: 'Result' },
			],
			[
				{ type: 'raw_number', value: 1, text: '1' },
				richText(richSection({ type: 'text', text: 'passed', style: { bold: true } })),
			],
		],
	}),
	inMessage('a pie', {
		type: 'data_visualization',
		block_id: 'pie',
		title: 'My favourite bars',
		chart: {
			type: 'pie',
			segments: [
				{ label: 'Kit Kat', value: 45 },
				{ label: 'Twix', value: 28.5 },
			],
		},
	}),
	...['bar', 'area', 'line'].map((type) =>
		inMessage(`a chart with a ${type}`, {
			type: 'data_visualization',
			title: 'Runs',
			chart: {
				type,
				series: [{ name: 'Passed', data: [{ label: 'Mon', value: -3 }] }],
				axis_config: { categories: ['Mon'], x_label: 'Day', y_label: 'Runs' },
			},
		}),
	),
	inMessage('a task card', task),
	inMessage('a plan without tasks', { type: 'plan', title: 'Plan' }),
	inMessage('a task card without status', { type: 'task_card', task_id: 't1', title: 'Search' }),
	inMessage('a plan of tasks without type', {
		type: 'plan',
		title: 'Plan',
		tasks: [{ task_id: 't1', title: 'Search', status: 'complete' }],
	}),
	inMessage('a plan', { type: 'plan', title: 'Plan', tasks: [task] }),
	inMessage('a card', {
		type: 'card',
		hero_image: image,
		title: mrkdwn('T'),
		subtitle: mrkdwn('S'),
		body: mrkdwn('B'),
		actions: [button()],
	}),
	inMessage('a card with an icon of Slack', {
		type: 'card',
		slack_icon: { type: 'icon', name: 'rocket' },
		title: mrkdwn('T'),
	}),
	inMessage('a card with a subtext', { type: 'card', body: mrkdwn('B'), subtext: mrkdwn('S') }),
	inMessage('a card in plain text', { type: 'card', title: plain('T'), subtitle: plain('S'), body: plain('B') }),
	inMessage('a carousel', { type: 'carousel', elements: [{ type: 'card', body: mrkdwn('B') }] }),
	inMessage('a container', {
		type: 'container',
		title: plain('T'),
		subtitle: plain('S'),
		child_blocks: [SECTION],
		is_collapsible: true,
		default_collapsed: true,
	}),
	inModal('an alert', { type: 'alert', text: plain('Careful'), level: 'warning' }),
	inMessage(
		'rich text of every kind',
		richText(
			richSection(
				{ type: 'text', text: 'a', style: { bold: true } },
				{ type: 'text', text: ' ' },
				{ type: 'link', url: 'https://example.com' },
				{ type: 'emoji', name: 'wave' },
				{ type: 'user', user_id: 'U1' },
				{ type: 'date', timestamp: 1720000000, format: '{date}', fallback: '3 July' },
			),
			{ type: 'rich_text_list', style: 'bullet', indent: 1, elements: [richSection({ type: 'text', text: 'b' })] },
			{
				type: 'rich_text_list',
				style: 'ordered',
				offset: 4,
				elements: [richSection({ type: 'text', text: 'fifth' })],
			},
			{ type: 'rich_text_quote', elements: [{ type: 'text', text: 'c' }] },
			{ type: 'rich_text_preformatted', language: 'json', elements: [{ type: 'text', text: 'd' }] },
		),
	),
	inMessage(
		"rich text with today's styles and fields",
		richText(
			richSection(
				...[
					{ type: 'text', text: 'a' },
					{ type: 'link', url: 'https://example.com', from_llm: true, is_slack_url: false, truncated: true },
					{ type: 'user', user_id: 'U1', from_llm: true },
					{ type: 'usergroup', usergroup_id: 'S1' },
					{ type: 'broadcast', range: 'here' },
					{ type: 'canvas_user_mention', user_id: 'U1', thread_id: 'T1' },
				].map((one) => ({ ...one, style: { highlight: true, client_highlight: true, underline: true, unlink: true } })),
			),
		),
	),
];

const buttons: Accepted[] = [
	inMessage('a button', actions(button({ action_id: 'go', value: 'v', style: 'primary', accessibility_label: 'Go' }))),
	inMessage('a button that asks', actions(button({ confirm }))),
	inMessage('a button with a link', actions(button({ url: 'https://example.com' }))),
	inMessage('a workflow button', {
		...SECTION,
		accessory: {
			type: 'workflow_button',
			text: plain('Run'),
			accessibility_label: 'Run',
			workflow: { trigger: { url: 'https://slack.com/shortcuts/a' } },
		},
	}),
	inMessage('context actions', {
		type: 'context_actions',
		elements: [
			{
				type: 'feedback_buttons',
				positive_button: { text: plain('Good'), value: '1', accessibility_label: 'Good' },
				negative_button: { text: plain('Bad'), value: '0', accessibility_label: 'Bad' },
			},
			{ type: 'icon_button', icon: 'trash', text: plain('Delete'), value: 'x', accessibility_label: 'Delete' },
		],
	}),
	inMessage('an overflow menu', {
		...SECTION,
		accessory: {
			type: 'overflow',
			options: [{ ...option('a'), url: 'https://example.com', description: plain('d') }, option('b')],
		},
	}),
];

const inputs: Accepted[] = [
	inModal('a text input', input(textInput({ initial_value: 'a', placeholder: plain('p') }), { hint: plain('h') })),
	inModal('a short text', input(textInput({ max_length: 10 }))),
	inModal('a long text', input(textInput({ min_length: 2, multiline: true }), { optional: true })),
	inModal(
		'an input that reports typing',
		input(
			textInput({ dispatch_action_config: { trigger_actions_on: ['on_character_entered'] }, focus_on_load: true }),
			{
				dispatch_action: true,
			},
		),
	),
	inModal(
		'a number',
		input({ type: 'number_input', is_decimal_allowed: false, initial_value: '2', min_value: '1', max_value: '9' }),
	),
	inModal('a decimal number', input({ type: 'number_input', is_decimal_allowed: true, initial_value: '-2.5' })),
	inModal('an e-mail address', input({ type: 'email_text_input', initial_value: 'a@example.com' })),
	inModal('an address', input({ type: 'url_text_input', initial_value: 'https://example.com' })),
	inModal('a date', input({ type: 'datepicker', initial_date: '2026-02-28' })),
	inModal('a time', input({ type: 'timepicker', initial_time: '23:59', timezone: 'Europe/Berlin' })),
	inModal('a date and time', input({ type: 'datetimepicker', initial_date_time: 1628633820 })),
	inModal('a file', input({ type: 'file_input', filetypes: ['pdf'], max_files: 2 })),
	inModal(
		'rich text',
		input({ type: 'rich_text_input', initial_value: richText(richSection({ type: 'text', text: 'a' })) }),
	),
	inModal('rich text with a least height', input({ type: 'rich_text_input', min_lines: 2 })),
	inModal('rich text with a greatest height', input({ type: 'rich_text_input', max_lines: 9 })),
	...['radio_buttons', 'static_select'].map((type) =>
		inModal(
			`${type} with a choice made`,
			input({ type, options: [{ ...option('a'), description: plain('d') }, option('b')], initial_option: option('b') }),
		),
	),
	...['checkboxes', 'multi_static_select'].map((type) =>
		inModal(
			`${type} with choices made`,
			input({
				type,
				options: [{ ...option('a'), description: plain('d') }, option('b')],
				initial_options: [option('b')],
			}),
		),
	),
	...['static_select', 'multi_static_select'].map((type) =>
		inModal(
			`${type} with groups`,
			input({ type, option_groups: [{ label: plain('G'), options: [{ ...option('a'), description: plain('d') }] }] }),
		),
	),
	inModal(
		'radio buttons with markup',
		input({ type: 'radio_buttons', options: [{ text: mrkdwn('*a*'), value: 'a' }] }),
	),
	...selects.flatMap((name) => [
		inModal(`a select of ${name}`, input({ type: `${name}_select`, placeholder: plain('Choose') })),
		inModal(`a choice of several ${name}`, input({ type: `multi_${name}_select`, max_selected_items: 2 })),
	]),
	inMessage(
		'elements in actions',
		actions(
			{ type: 'static_select', action_id: 'a', options: options(2) },
			{ type: 'checkboxes', action_id: 'b', options: options(2) },
			{ type: 'radio_buttons', action_id: 'c', options: options(2) },
			{ type: 'datepicker', action_id: 'd' },
			{ type: 'datetimepicker', action_id: 'e' },
		),
	),
	inMessage('an input', input(textInput())),
];

const wholes: Accepted[] = [
	{ name: 'a text alone', subject: { kind: 'message', value: { text: 'Hi', channel: 'C1', unknown_argument: 1 } } },
	{
		name: 'an update that takes the blocks away',
		subject: { kind: 'message', value: { text: 'Hi', blocks: [] }, method: 'chat.update' },
	},
	{
		name: 'an update that takes the metadata away',
		subject: { kind: 'message', value: { text: 'Hi', metadata: {} }, method: 'chat.update' },
	},
	{ name: 'blocks without text', subject: { kind: 'message', value: { blocks: [SECTION] } } },
	{
		name: 'attachments',
		subject: { kind: 'message', value: { attachments: [{ color: '#fff', blocks: [SECTION] }] } },
	},
	{
		name: 'metadata',
		subject: {
			kind: 'message',
			value: {
				text: 'What notifications say',
				blocks: [SECTION],
				metadata: { event_type: 'question', event_payload: { id: 'a', n: 1, deep: { b: true } } },
			},
		},
	},
	{
		name: 'a modal with everything around it',
		subject: {
			kind: 'view',
			value: {
				...modal(SECTION),
				private_metadata: '{}',
				callback_id: 'answer',
				external_id: 'e1',
				clear_on_close: true,
				notify_on_close: true,
			},
		},
	},
	{ name: 'a home', subject: { kind: 'view', value: { type: 'home', blocks: [SECTION, input(textInput())] } } },
	{
		name: 'fields that JSON leaves out',
		subject: toMessage({ ...SECTION, accessory: undefined }),
	},
	{ name: 'bare blocks in a modal', subject: { kind: 'blocks', value: [input(textInput())], surface: 'modal' } },
	{
		name: '100 bare blocks in a home',
		subject: { kind: 'blocks', value: Array.from({ length: 100 }, () => SECTION), surface: 'home' },
	},
	{
		name: 'the same action_id in two blocks',
		subject: toMessage(actions(button({ action_id: 'a' })), actions(button({ action_id: 'a' }))),
	},
];

export const accepted: readonly Accepted[] = [...layout, ...buttons, ...inputs, ...wholes];
