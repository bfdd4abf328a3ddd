import {
	asMessage,
	asView,
	BUTTON,
	block,
	composition,
	element,
	inActions,
	inInput,
	inMessage,
	inModal,
	LABEL,
	method,
	modal,
	options,
	type Refused,
	refuse,
	SECTION,
	types,
} from './sample.ts';

const actionsAnswers = 'agentconnect-md/agentconnect #1836';
const emptyAnswers = 'NousResearch/hermes-agent #69317: empty and null fields are refused';
const unknownField = 'CopilotKit/CopilotKit #6454: an unknown field makes Slack refuse the whole';
const metadata = 'docs.slack.dev/messaging/message-metadata';
const notAList = 'slackapi/node-slack-sdk #1027, jolicode/slack-php-api #114: invalid_blocks_format';

/** Of the wrong shape: what a schema says of a payload. */
export const shapeRefused: Refused[] = [
	refuse(
		'empty metadata on a new message',
		metadata,
		{ says: 'missing required field: event_type', pointer: '/metadata' },
		{
			kind: 'message',
			value: { text: 'a', metadata: { event_payload: {} } },
		},
	),
	refuse(
		'metadata without payload',
		metadata,
		{ says: 'missing required field: event_payload', pointer: '/metadata' },
		asMessage({ text: 'a', metadata: { event_type: 'a' } }),
	),
	refuse(
		'a picture without description',
		block('image'),
		{ says: 'missing required field: alt_text', pointer: '/blocks/0' },
		inMessage({ type: 'image', image_url: 'https://example.com/a.png' }),
	),
	refuse(
		'a block without type',
		block('section'),
		{ says: 'missing required field: type', pointer: '/blocks/0' },
		inMessage({ text: { type: 'plain_text', text: 'a' } }),
	),
	refuse(
		'an input without element',
		block('input'),
		{ says: 'missing required field: element', pointer: '/view/blocks/0' },
		inModal({ type: 'input', label: LABEL }),
	),
	refuse(
		'a number input that does not say which',
		element('number-input'),
		{ says: 'missing required field: is_decimal_allowed', pointer: '/view/blocks/0/element' },
		inInput({ type: 'number_input' }),
	),
	refuse(
		'a chart without title',
		block('data-visualization'),
		{ says: 'missing required field: title', pointer: '/blocks/0' },
		inMessage({ type: 'data_visualization', chart: { type: 'pie', segments: [{ label: 'Kit Kat', value: 45 }] } }),
	),
	refuse(
		'a task in a plan without task_id',
		block('plan'),
		{ says: 'missing required field: task_id', pointer: '/blocks/0/tasks/0' },
		inMessage({ type: 'plan', title: 'Plan', tasks: [{ title: 'Search' }] }),
	),
	refuse(
		'an unknown element',
		block('input'),
		{ says: 'unsupported type: plain_text_area', pointer: '/view/blocks/0/element/type' },
		inInput({ type: 'plain_text_area' }),
	),
	refuse(
		'an unknown block',
		'docs.slack.dev/reference/block-kit/blocks',
		{ says: 'unsupported type: call', pointer: '/blocks/0/type' },
		inMessage({ type: 'call', call_id: 'R1' }),
	),
	refuse(
		'an unknown block in an attachment',
		'docs.slack.dev/reference/block-kit/blocks',
		{ says: 'unsupported type: nope', pointer: '/attachments/0/blocks/0/type' },
		asMessage({ attachments: [{ blocks: [{ type: 'nope' }] }] }),
	),
	refuse(
		'an unknown chart',
		block('data-visualization'),
		{ says: 'unsupported type: radar', pointer: '/blocks/0/chart/type' },
		inMessage({ type: 'data_visualization', title: 'Runs', chart: { type: 'radar' } }),
	),
	refuse(
		'a datetimepicker beside a text',
		`${element('datetime-picker')}: "must be used inside the actions block or input block"`,
		{ says: 'unsupported type: datetimepicker', pointer: '/blocks/0/accessory/type' },
		inMessage({ ...SECTION, accessory: { type: 'datetimepicker' } }),
	),
	refuse(
		'a file input in actions',
		`${element('file-input')}: "must be used inside the input block"`,
		{ says: 'unsupported type: file_input', pointer: '/view/blocks/0/elements/0/type' },
		inModal({ type: 'actions', elements: [{ type: 'file_input' }] }),
	),
	refuse(
		'an unknown icon on a card',
		composition('slack-icon'),
		{
			says: `must be one of: ${'archive, book, bookmark, bot, bug, calendar, call, caret-left, caret-right, check, clipboard, code, comment, compass, copy, cube, download, edit, email, eye-closed, eye-open, file, flag, folder, gear, globe, heart, help, image, info, key, lightbulb, link, map, mobile, new-window, pin, plus, refine, refresh, rocket, save, screen, share, sparkle, star, star-filled, tag, thumbs-down, thumbs-up, trash, upload, user, warning'}`,
			pointer: '/blocks/0/slack_icon/name',
		},
		inMessage({ type: 'card', title: LABEL, slack_icon: { type: 'icon', name: 'unicorn' } }),
	),
	refuse(
		'an unknown view',
		method('views.open'),
		{ says: 'unsupported type: workflow_step', pointer: '/view/type' },
		asView({ type: 'workflow_step', blocks: [] }),
	),
	refuse(
		'markup in a header',
		block('header'),
		{ says: 'must be one of: plain_text', pointer: '/blocks/0/text/type' },
		inMessage({ type: 'header', text: { type: 'mrkdwn', text: '*a*' } }),
	),
	refuse(
		'markup in a label',
		block('input'),
		{ says: 'must be one of: plain_text', pointer: '/view/blocks/0/label/type' },
		inModal({ type: 'input', label: { type: 'mrkdwn', text: '*a*' }, element: { type: 'plain_text_input' } }),
	),
	refuse(
		'an unknown style',
		element('button'),
		{ says: 'must be one of: primary, danger', pointer: '/blocks/0/elements/0/style' },
		inActions({ ...BUTTON, style: 'huge' }),
	),
	refuse(
		'emoji on mrkdwn',
		composition('text'),
		{ says: 'invalid additional property: emoji', pointer: '/blocks/0/text' },
		inMessage({ type: 'section', text: { type: 'mrkdwn', text: 'a', emoji: true } }),
	),
	refuse(
		'lines on a plain input',
		types('PlainTextInput'),
		{ says: 'invalid additional property: min_lines', pointer: '/view/blocks/0/element' },
		inInput({ type: 'plain_text_input', min_lines: 3 }),
	),
	refuse(
		'max_selected_items on checkboxes',
		actionsAnswers,
		{ says: 'invalid additional property: max_selected_items', pointer: '/blocks/0/elements/0' },
		inActions({ type: 'checkboxes', options: options(2), max_selected_items: 1 }),
	),
	refuse(
		'a date on a datetimepicker',
		element('datetime-picker'),
		{ says: 'invalid additional property: initial_date', pointer: '/view/blocks/0/element' },
		inInput({ type: 'datetimepicker', initial_date: '2026-02-28' }),
	),
	refuse(
		'a value on a file input',
		element('file-input'),
		{ says: 'invalid additional property: initial_value', pointer: '/view/blocks/0/element' },
		inInput({ type: 'file_input', initial_value: 'a.pdf' }),
	),
	refuse(
		'a title on a home',
		'docs.slack.dev/reference/views/home-tab-views',
		{ says: 'invalid additional property: title', pointer: '/view' },
		asView({ type: 'home', blocks: [SECTION], title: LABEL }),
	),
	refuse(
		'a field of another view',
		unknownField,
		{ says: 'invalid additional property: submit_disabled', pointer: '/view' },
		asView({ ...modal(SECTION), submit_disabled: true }),
	),
	refuse(
		'a number for a text',
		composition('text'),
		{ says: 'must provide a string', pointer: '/blocks/0/text/text' },
		inMessage({ type: 'section', text: { type: 'mrkdwn', text: 5 } }),
	),
	refuse(
		'words for a date and time',
		`${element('datetime-picker')}: Integer`,
		{ says: 'must provide a number', pointer: '/view/blocks/0/element/initial_date_time' },
		inInput({ type: 'datetimepicker', initial_date_time: '1628633820' }),
	),
	refuse(
		'a string for a text object',
		block('card'),
		{ says: 'must provide an object', pointer: '/blocks/0/title' },
		inMessage({ type: 'card', title: 'T' }),
	),
	refuse(
		'null for a choice',
		emptyAnswers,
		{ says: 'must provide an object', pointer: '/view/blocks/0/element/initial_option' },
		inInput({ type: 'external_select', initial_option: null }),
	),
	refuse('null for a view', method('views.open'), { says: 'must provide an object', pointer: '/view' }, asView(null)),
	refuse(
		'null for the text',
		emptyAnswers,
		{ says: 'must provide a string', pointer: '/text' },
		asMessage({ text: null, blocks: [SECTION] }),
	),
	refuse(
		'blocks that are no list',
		notAList,
		{ says: 'must provide an array', pointer: '/blocks' },
		asMessage({ text: 'a', blocks: {} }),
	),
	refuse(
		'a list of blocks inside an object',
		notAList,
		{ says: 'must provide an array', pointer: '/blocks' },
		asMessage({ text: 'a', blocks: { blocks: [SECTION] } }),
	),
	refuse(
		'broken JSON in blocks',
		notAList,
		{ says: 'must provide an array', pointer: '/blocks' },
		asMessage({ text: 'a', blocks: '[{' }),
	),
	refuse(
		'broken JSON in bare blocks',
		notAList,
		{ says: 'must provide an array', pointer: '/blocks' },
		{
			kind: 'blocks',
			surface: 'message',
			value: '[{',
		},
	),
	refuse(
		'null in metadata',
		metadata,
		{ says: 'failed to match all allowed schemas', pointer: '/metadata/event_payload/b' },
		asMessage({ text: 'a', metadata: { event_type: 'a', event_payload: { b: null } } }),
	),
];
