import {
	actions,
	button,
	home,
	inMessage,
	inModal,
	input,
	modal,
	mrkdwn,
	option,
	options,
	plain,
	richSection,
	richText,
	type Sample,
	saying,
	section,
	textInput,
} from './build.ts';

/** Payloads that Slack refuses, limits written out as its documentation and its answers give them. */

const x = (length: number): string => 'x'.repeat(length);
const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const view = (name: string, value: unknown): Sample => ({ name, subject: { kind: 'view', value } });
const asMessage = (name: string, value: unknown): Sample => ({ name, subject: { kind: 'message', value } });

/** Answers that live Slack gave, as its users report them. */
const reported: Sample[] = [
	saying(
		'no more than 25 items allowed [json-pointer:/blocks/1/elements]',
		inMessage('26 buttons', section(), actions(...many(26, () => button()))),
	),
	saying(
		'must be less than 3001 characters [json-pointer:/blocks/0/text/text]',
		inMessage('3001 characters', section(x(3001))),
	),
	saying('must be more than 0 characters [json-pointer:/blocks/0/text/text]', inMessage('an empty text', section(''))),
	saying(
		'must be less than 25 characters [json-pointer:/view/title/text]',
		view('a title of 25', { ...modal(section()), title: plain(x(25)) }),
	),
	saying(
		'must be less than 3001 characters [json-pointer:/view/private_metadata]',
		view('metadata of 3001', { ...modal(section()), private_metadata: x(3001) }),
	),
	saying(
		'invalid additional property: submit_disabled [json-pointer:/view]',
		view('a field of another view', { ...modal(section()), submit_disabled: true }),
	),
	saying(
		'must define `submit` to use an `input` block in modals [json-pointer:/view/blocks/1/input]',
		view('an input nobody can send', { type: 'modal', title: plain('T'), blocks: [section(), input(textInput())] }),
	),
	saying('no more than 50 items allowed [json-pointer:/blocks]', inMessage('51 blocks', ...many(51, () => section()))),
	saying(
		'no more than 100 items allowed [json-pointer:/view/blocks]',
		inModal('101 blocks', ...many(101, () => section())),
	),
	saying(
		'no more than 10 items allowed [json-pointer:/view/blocks/0/fields]',
		inModal('11 fields', { type: 'section', fields: many(11, () => plain('f')) }),
	),
	saying(
		'no more than 10 items allowed [json-pointer:/view/blocks/0/element/options]',
		inModal('11 checkboxes', input({ type: 'checkboxes', options: options(11) })),
	),
	saying(
		'unsupported type: markdown [json-pointer:/view/blocks/0/type]',
		inModal('markdown', { type: 'markdown', text: 'a' }),
	),
	saying(
		'must provide an object [json-pointer:/view/blocks/0/element/initial_option]',
		inModal('null for a choice', input({ type: 'static_select', options: options(2), initial_option: null })),
	),
	saying(
		'must provide an object [json-pointer:/blocks/0/title]',
		inMessage('a string for a text object', { type: 'card', title: 'T' }),
	),
	saying(
		'`action_id` "vote" already exists [json-pointer:/blocks/0/elements/1/action_id]',
		inMessage('an action_id twice in a block', actions(button({ action_id: 'vote' }), button({ action_id: 'vote' }))),
	),
	saying(
		'missing required field: element [json-pointer:/view/blocks/0]',
		inModal('an input without element', { type: 'input', label: plain('L') }),
	),
	saying(
		'unsupported type: multi_static_select [json-pointer:/blocks/0/elements/0/type]',
		inMessage('a choice of several in actions', actions({ type: 'multi_static_select', options: options(2) })),
	),
	saying(
		'unsupported type: plain_text_input [json-pointer:/blocks/0/elements/0/type]',
		inMessage('a text input in actions', actions(textInput())),
	),
	saying(
		'unsupported type: number_input [json-pointer:/blocks/0/elements/0/type]',
		inMessage('a number in actions', actions({ type: 'number_input', is_decimal_allowed: true })),
	),
	saying(
		'invalid additional property: max_selected_items [json-pointer:/blocks/0/elements/0]',
		inMessage(
			'max_selected_items on checkboxes',
			actions({ type: 'checkboxes', options: options(2), max_selected_items: 1 }),
		),
	),
	saying('no fewer than 1 items allowed [json-pointer:/blocks/0/elements]', inMessage('empty rich text', richText())),
	saying(
		'must be more than 0 characters [json-pointer:/blocks/0/elements/0/elements/0/text]',
		inMessage('rich text of nothing', richText(richSection({ type: 'text', text: '' }))),
	),
	saying(
		'[json-pointer:/blocks]',
		inMessage(
			'13,201 characters in all',
			section(x(3000)),
			section(x(3000)),
			section(x(3000)),
			section(x(3000)),
			section(x(1201)),
		),
	),
];

const shapes: Sample[] = [
	saying(
		'missing required field: event_type',
		asMessage('empty metadata on a new message', { text: 'a', metadata: {} }),
	),
	saying(
		'missing required field: alt_text',
		inMessage('a picture without description', { type: 'image', image_url: 'https://example.com/a.png' }),
	),
	saying(
		'missing required field: type [json-pointer:/blocks/0]',
		inMessage('a block without type', { text: plain('a') }),
	),
	saying(
		'missing required field: is_decimal_allowed',
		inModal('a number input that does not say which', input({ type: 'number_input' })),
	),
	saying('unsupported type: plain_text_area', inModal('an unknown element', input({ type: 'plain_text_area' }))),
	saying('unsupported type: call', inMessage('an unknown block', { type: 'call', call_id: 'R1' })),
	saying('must be one of: plain_text', inMessage('markup in a header', { type: 'header', text: mrkdwn('*a*') })),
	saying('must be one of: plain_text', inModal('markup in a label', input(textInput(), { label: mrkdwn('a') }))),
	saying('must be one of: primary, danger', inMessage('an unknown style', actions(button({ style: 'huge' })))),
	saying(
		'invalid additional property: emoji',
		inMessage('emoji on mrkdwn', { type: 'section', text: { ...mrkdwn('a'), emoji: true } }),
	),
	saying(
		'invalid additional property: min_lines',
		inModal('lines on a plain input', input(textInput({ min_lines: 3 }))),
	),
	saying('invalid additional property: title', view('a title on a home', { ...home(section()), title: plain('T') })),
	saying('must provide a string', inMessage('a number for a text', section(5 as unknown as string))),
	saying('must provide an array', asMessage('blocks that are no list', { text: 'a', blocks: {} })),
	saying('must provide an object [json-pointer:/view]', view('null for a view', null)),
	saying('unsupported type: workflow_step', view('a view for workflow steps', { type: 'workflow_step', blocks: [] })),
	saying(
		'must provide a string [json-pointer:/text]',
		asMessage('null for the text', { text: null, blocks: [section()] }),
	),
	saying(
		'failed to match all allowed schemas',
		asMessage('null in metadata', { text: 'a', metadata: { event_type: 'a', event_payload: { b: null } } }),
	),
	saying(
		'missing required field: event_payload [json-pointer:/metadata]',
		asMessage('metadata without payload', { text: 'a', metadata: { event_type: 'a' } }),
	),
	saying(
		'unsupported type: nope [json-pointer:/attachments/0/blocks/0/type]',
		asMessage('an unknown block in an attachment', { attachments: [{ blocks: [{ type: 'nope' }] }] }),
	),
	saying('unsupported type: file', inMessage('a file block', { type: 'file', source: 'remote', external_id: 'a' })),
];

const choices: Sample[] = [
	saying(
		'missing required field: value',
		inModal('an option without value', input({ type: 'static_select', options: [{ text: plain('a') }] })),
	),
	saying(
		'already exists',
		inModal(
			'two options with one value',
			input({ type: 'radio_buttons', options: [option('a'), { ...option('a'), text: plain('b') }] }),
		),
	),
	saying(
		'must exactly match',
		inModal(
			'a choice that is not offered',
			input({
				type: 'static_select',
				options: options(2),
				initial_option: { ...option('option 0'), text: plain('Option 0') },
			}),
		),
	),
	saying(
		'must exactly match',
		inModal(
			'choices that are not offered',
			input({ type: 'checkboxes', options: options(2), initial_options: [option('c')] }),
		),
	),
	saying(
		'must not repeat',
		inModal(
			'a choice made twice',
			input({ type: 'checkboxes', options: options(2), initial_options: [option('option 0'), option('option 0')] }),
		),
	),
	saying(
		'exactly one of `options` or `option_groups`',
		inModal('a select without options', input({ type: 'static_select' })),
	),
	saying(
		'exactly one of `options` or `option_groups`',
		inModal(
			'a select with both',
			input({
				type: 'static_select',
				options: options(1),
				option_groups: [{ label: plain('G'), options: [option('b')] }],
			}),
		),
	),
	saying(
		'invalid additional property: url',
		inModal(
			'a link in a select',
			input({ type: 'static_select', options: [option('a', { url: 'https://example.com' })] }),
		),
	),
];

const values: Sample[] = [
	saying(
		'greater than max_length',
		inModal('more at least than at most', input(textInput({ min_length: 5, max_length: 4 }))),
	),
	saying(
		'greater than max_value',
		inModal(
			'a least number above the greatest',
			input({ type: 'number_input', is_decimal_allowed: true, min_value: '10', max_value: '9' }),
		),
	),
	saying(
		'greater than max_lines',
		inModal('more lines at least than at most', input({ type: 'rich_text_input', min_lines: 9, max_lines: 3 })),
	),
	...['initial_value', 'min_value', 'max_value'].flatMap((field) => [
		saying(
			'must be a valid number',
			inModal(`words for ${field}`, input({ type: 'number_input', is_decimal_allowed: true, [field]: 'ten' })),
		),
		saying(
			'must be a whole number',
			inModal(`a fraction for ${field}`, input({ type: 'number_input', is_decimal_allowed: false, [field]: '1.5' })),
		),
	]),
	saying(
		'between min_value and max_value',
		inModal(
			'a number below the least',
			input({ type: 'number_input', is_decimal_allowed: false, initial_value: '0', min_value: '1' }),
		),
	),
	saying(
		'between min_value and max_value',
		inModal(
			'a number above the greatest',
			input({ type: 'number_input', is_decimal_allowed: false, initial_value: '10', max_value: '9' }),
		),
	),
	saying(
		'must be less than 5 characters',
		inModal('a value longer than max_length', input(textInput({ max_length: 4, initial_value: 'abcde' }))),
	),
	saying(
		'must be more than 4 characters',
		inModal('a value shorter than min_length', input(textInput({ min_length: 5, initial_value: 'abcd' }))),
	),
	saying('valid email', inModal('no e-mail address', input({ type: 'email_text_input', initial_value: 'ann' }))),
	saying('valid URL', inModal('no address', input({ type: 'url_text_input', initial_value: 'example' }))),
	saying('YYYY-MM-DD', inModal('February 30', input({ type: 'datepicker', initial_date: '2026-02-30' }))),
	saying('HH:mm', inModal('24:00', input({ type: 'timepicker', initial_time: '24:00' }))),
	saying('IANA', inModal('an unknown time zone', input({ type: 'timepicker', timezone: 'Mars/Olympus' }))),
	saying(
		'valid URL',
		inMessage('a picture from a file', { type: 'image', image_url: 'file:///etc/passwd', alt_text: 'a' }),
	),
	saying('valid URL', inMessage('script in a button', actions(button({ url: 'javascript:alert(1)' })))),
	saying(
		'valid URL',
		inMessage('script in a menu', {
			...section(),
			accessory: { type: 'overflow', options: [option('a', { url: 'javascript:1' })] },
		}),
	),
	saying('valid URL', inMessage('script in rich text', richText(richSection({ type: 'link', url: 'javascript:1' })))),
	...['video_url', 'title_url'].map((field) =>
		saying(
			'valid https URL',
			inMessage(`a bare ${field}`, {
				type: 'video',
				video_url: 'https://example.com',
				thumbnail_url: 'https://example.com/t',
				alt_text: 'v',
				title: plain('v'),
				[field]: 'http://example.com',
			}),
		),
	),
	saying('must be more than 0 characters', inMessage('an empty link', actions(button({ url: '' })))),
	saying(
		'must be more than 0 characters',
		inMessage('an empty picture address', { type: 'image', image_url: '', alt_text: 'a' }),
	),
];

const wholes: Sample[] = [
	saying(
		'already exists [json-pointer:/blocks/1/block_id]',
		inMessage('a block_id twice', { ...section(), block_id: 'a' }, { ...section(), block_id: 'a' }),
	),
	saying(
		'only one element',
		inModal(
			'two fields with the focus',
			input(textInput({ focus_on_load: true })),
			input(textInput({ focus_on_load: true })),
		),
	),
	saying('250 KB', inModal('a view of 280 KB', ...many(94, () => section('\u{1F600}'.repeat(750))))),
	saying('no_text', asMessage('nothing at all', { text: '', blocks: [] })),
	saying(
		'markdown blocks',
		inMessage(
			'12,001 characters of markdown',
			{ type: 'markdown', text: x(6000) },
			{ type: 'markdown', text: x(6001) },
		),
	),
	{
		name: 'an update with 4,001 characters',
		subject: { kind: 'message', value: { text: x(4001) }, method: 'chat.update' },
		says: 'must be less than 4001',
	},
	saying(
		'16 KB',
		asMessage('metadata of 17 kB', { text: 'a', metadata: { event_type: 'a', event_payload: { b: x(17_000) } } }),
	),
	saying('must define one of `text`, `fields`', inMessage('an empty section', { type: 'section' })),
	saying(
		'must define one of `hero_image`',
		inMessage('a card with a subtitle alone', { type: 'card', subtitle: mrkdwn('S') }),
	),
	saying(
		'must define one of `title`',
		inMessage('a container without title', { type: 'container', child_blocks: [section()] }),
	),
	saying(
		'is_collapsible',
		inMessage('a closed container that cannot be opened', {
			type: 'container',
			title: plain('T'),
			child_blocks: [section()],
			default_collapsed: true,
		}),
	),
	saying(
		'only one table',
		inMessage('two tables', ...many(2, () => ({ type: 'table', rows: [[{ type: 'raw_text', text: 'a' }]] }))),
	),
	saying('[json-pointer:/blocks]', {
		name: '51 bare blocks',
		subject: { kind: 'blocks', surface: 'message', value: many(51, () => section()) },
	}),
];

const form = modal(section(), { ...section(), block_id: 'text' }, input(textInput(), { block_id: 'q0' }));
const errors = (name: string, value: unknown, says: string): Sample => ({
	name,
	says,
	subject: { kind: 'errors', view: form, value },
});

const submissions: Sample[] = [
	errors('errors at a section', { text: 'No' }, '"text"'),
	errors('errors at an unknown block', { q1: 'No' }, '"q1"'),
	errors('errors without a word', { q0: ' ' }, 'must provide a string'),
	errors('no errors', {}, 'no fewer than 1'),
	errors('errors that are a list', ['No'], 'must provide an object'),
];

export const refused: Sample[] = [...reported, ...shapes, ...choices, ...values, ...wholes, ...submissions];
