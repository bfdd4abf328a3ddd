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

const layout: Accepted[] = [
	inMessage('a section with text', SECTION),
	inMessage('a section with plain text', { type: 'section', text: plain('Hello') }),
	inMessage('a section with fields', { type: 'section', fields: [mrkdwn('*a*'), plain('b')], expand: true }),
	inMessage('a section with a picture', { ...SECTION, accessory: image }),
	inMessage('a divider', { type: 'divider', block_id: 'line' }),
	inMessage('a header', { type: 'header', text: { ...plain('Head'), emoji: true } }),
	inMessage('a context', { type: 'context', elements: [mrkdwn('a'), plain('b'), image] }),
	inMessage('a picture by address', { ...image, title: plain('Chart') }),
	inMessage('markdown', { type: 'markdown', text: '# Report' }),
	inMessage('a table', {
		type: 'table',
		rows: [[{ type: 'raw_text', text: 'a' }, richText(richSection({ type: 'text', text: 'b' }))]],
		column_settings: [{ align: 'left', is_wrapped: true }],
	}),
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
			{ type: 'rich_text_quote', elements: [{ type: 'text', text: 'c' }] },
			{ type: 'rich_text_preformatted', elements: [{ type: 'text', text: 'd' }] },
		),
	),
];

const buttons: Accepted[] = [
	inMessage('a button', actions(button({ action_id: 'go', value: 'v', style: 'primary', accessibility_label: 'Go' }))),
	inMessage('a button with a link', actions(button({ url: 'https://example.com' }))),
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
	inModal('a long text', input(textInput({ multiline: true }), { optional: true })),
	inModal(
		'an input that reports typing',
		input(textInput({ dispatch_action_config: { trigger_actions_on: ['on_character_entered'] } }), {
			dispatch_action: true,
		}),
	),
	inModal('a number', input({ type: 'number_input', is_decimal_allowed: false, initial_value: '2' })),
	inModal('a decimal number', input({ type: 'number_input', is_decimal_allowed: true, initial_value: '-2.5' })),
	inModal('an e-mail address', input({ type: 'email_text_input', initial_value: 'a@example.com' })),
	inModal('an address', input({ type: 'url_text_input', initial_value: 'https://example.com' })),
	inModal('a date', input({ type: 'datepicker', initial_date: '2026-02-28' })),
	inModal('a time', input({ type: 'timepicker', initial_time: '23:59' })),
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
	inModal(
		'radio buttons with markup',
		input({ type: 'radio_buttons', options: [{ text: mrkdwn('*a*'), value: 'a' }] }),
	),
	inModal('a person', input({ type: 'users_select', placeholder: plain('Choose') })),
	inModal('several people', input({ type: 'multi_users_select', max_selected_items: 2 })),
	inMessage(
		'elements in actions',
		actions(
			{ type: 'static_select', action_id: 'a', options: options(2) },
			{ type: 'checkboxes', action_id: 'b', options: options(2) },
			{ type: 'radio_buttons', action_id: 'c', options: options(2) },
			{ type: 'datepicker', action_id: 'd' },
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
	{
		name: '100 blocks in a home',
		subject: { kind: 'view', value: { type: 'home', blocks: Array.from({ length: 100 }, () => SECTION) } },
	},
	{
		name: 'the same action_id in two blocks',
		subject: toMessage(actions(button({ action_id: 'a' })), actions(button({ action_id: 'a' }))),
	},
];

export const accepted: readonly Accepted[] = [...layout, ...buttons, ...inputs, ...wholes];
