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
		'a string for a text object',
		block('header'),
		{ says: 'must provide an object', pointer: '/blocks/0/text' },
		inMessage({ type: 'header', text: 'T' }),
	),
	refuse(
		'null for the words of a button',
		emptyAnswers,
		{ says: 'must provide an object', pointer: '/blocks/0/elements/0/text' },
		inActions({ ...BUTTON, text: null }),
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
		'null in metadata',
		metadata,
		{ says: 'failed to match all allowed schemas', pointer: '/metadata/event_payload/b' },
		asMessage({ text: 'a', metadata: { event_type: 'a', event_payload: { b: null } } }),
	),
];
