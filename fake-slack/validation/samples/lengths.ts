import {
	asMessage,
	asView,
	BUTTON,
	block,
	composition,
	type Edge,
	element,
	inAccessory,
	inActions,
	inInput,
	inMessage,
	inModal,
	type Json,
	LABEL,
	longest,
	method,
	modal,
	option,
	type Refused,
	refuse,
	SECTION,
	type Subject,
	stricter,
	url,
} from './sample.ts';

const plain = (text: string): Json => ({ type: 'plain_text', text });
const view = 'docs.slack.dev/reference/views/modal-views';
const identifier = 'the block reference pages: maximum length is 255 characters';

const around: Edge[] = [
	longest(
		'a message text',
		`${method('chat.postMessage')}: cut at 40,000; nobody here wants that`,
		{ limit: 40_000, pointer: '/text' },
		(text) => asMessage({ text }),
	),
	longest('a markdown_text', method('chat.postMessage'), { limit: 12_000, pointer: '/markdown_text' }, (text) =>
		asMessage({ markdown_text: text }),
	),
	longest('a title', view, { limit: 24, pointer: '/view/title/text' }, (text) =>
		asView({ ...modal(SECTION), title: plain(text) }),
	),
	longest('a submit button', view, { limit: 24, pointer: '/view/submit/text' }, (text) =>
		asView({ ...modal(SECTION), submit: plain(text) }),
	),
	longest('a close button', view, { limit: 24, pointer: '/view/close/text' }, (text) =>
		asView({ ...modal(SECTION), close: plain(text) }),
	),
	longest('private_metadata', view, { limit: 3000, pointer: '/view/private_metadata' }, (text) =>
		asView({ ...modal(SECTION), private_metadata: text }),
	),
	longest('a callback_id', view, { limit: 255, pointer: '/view/callback_id' }, (text) =>
		asView({ ...modal(SECTION), callback_id: text }),
	),
	longest('an external_id', method('views.open'), { limit: 255, pointer: '/view/external_id' }, (text) =>
		asView({ ...modal(SECTION), external_id: text }),
	),
	longest('a block_id', identifier, { limit: 255, pointer: '/blocks/0/block_id' }, (text) =>
		inMessage({ type: 'divider', block_id: text }),
	),
	longest('an action_id', identifier, { limit: 255, pointer: '/blocks/0/elements/0/action_id' }, (text) =>
		inActions({ ...BUTTON, action_id: text }),
	),
];

const layout: Edge[] = [
	longest('a plain_text', composition('text'), { limit: 3000, pointer: '/blocks/0/text/text' }, (text) =>
		inMessage({ type: 'section', text: { type: 'plain_text', text } }),
	),
	longest('a mrkdwn text', composition('text'), { limit: 3000, pointer: '/blocks/0/text/text' }, (text) =>
		inMessage({ type: 'section', text: { type: 'mrkdwn', text } }),
	),
	longest('a field', block('section'), { limit: 2000, pointer: '/blocks/0/fields/0/text' }, (text) =>
		inMessage({ type: 'section', fields: [{ type: 'mrkdwn', text }] }),
	),
	longest('a header', block('header'), { limit: 150, pointer: '/blocks/0/text/text' }, (text) =>
		inMessage({ type: 'header', text: { type: 'plain_text', text } }),
	),
	longest('a label', block('input'), { limit: 2000, pointer: '/view/blocks/0/label/text' }, (text) =>
		inModal({ type: 'input', label: { type: 'plain_text', text }, element: { type: 'plain_text_input' } }),
	),
	longest('a hint', block('input'), { limit: 2000, pointer: '/view/blocks/0/hint/text' }, (text) =>
		inModal({
			type: 'input',
			label: LABEL,
			hint: { type: 'plain_text', text },
			element: { type: 'plain_text_input' },
		}),
	),
	longest(
		'a placeholder',
		element('plain-text-input'),
		{ limit: 150, pointer: '/view/blocks/0/element/placeholder/text' },
		(text) => inInput({ type: 'plain_text_input', placeholder: { type: 'plain_text', text } }),
	),
	longest('an alt_text', block('image'), { limit: 2000, pointer: '/blocks/0/alt_text' }, (text) =>
		inMessage({ type: 'image', image_url: 'https://example.com/a.png', alt_text: text }),
	),
	longest('an image_url', block('image'), { limit: 3000, pointer: '/blocks/0/image_url', text: url }, (text) =>
		inMessage({ type: 'image', image_url: text, alt_text: 'A chart' }),
	),
	longest(
		'the url of a slack_file',
		block('image'),
		{ limit: 3000, pointer: '/blocks/0/slack_file/url', text: url },
		(text) => inMessage({ type: 'image', slack_file: { url: text }, alt_text: 'A chart' }),
	),
	longest('the title of an image', block('image'), { limit: 2000, pointer: '/blocks/0/title/text' }, (text) =>
		inMessage({
			type: 'image',
			image_url: 'https://example.com/a.png',
			alt_text: 'A chart',
			title: { type: 'plain_text', text },
		}),
	),
	longest('an alert', block('alert'), { limit: 200, pointer: '/view/blocks/0/text/text' }, (text) =>
		inModal({ type: 'alert', text: { type: 'mrkdwn', text } }),
	),
	longest('the title of a card', block('card'), { limit: 150, pointer: '/blocks/0/title/text' }, (text) =>
		inMessage({ type: 'card', title: { type: 'mrkdwn', text } }),
	),
	longest('the subtitle of a card', block('card'), { limit: 150, pointer: '/blocks/0/subtitle/text' }, (text) =>
		inMessage({ type: 'card', title: { type: 'mrkdwn', text: 'T' }, subtitle: { type: 'mrkdwn', text } }),
	),
	longest('the body of a card', block('card'), { limit: 200, pointer: '/blocks/0/body/text' }, (text) =>
		inMessage({ type: 'card', body: { type: 'plain_text', text } }),
	),
	longest('the subtext of a card', block('card'), { limit: 200, pointer: '/blocks/0/subtext/text' }, (text) =>
		inMessage({ type: 'card', body: { type: 'mrkdwn', text: 'B' }, subtext: { type: 'mrkdwn', text } }),
	),
	longest('the title of a container', block('container'), { limit: 150, pointer: '/blocks/0/title/text' }, (text) =>
		inMessage({ type: 'container', title: { type: 'plain_text', text }, child_blocks: [SECTION] }),
	),
	longest(
		'the subtitle of a container',
		block('container'),
		{ limit: 150, pointer: '/blocks/0/subtitle/text' },
		(text) =>
			inMessage({ type: 'container', title: LABEL, subtitle: { type: 'mrkdwn', text }, child_blocks: [SECTION] }),
	),
	longest('the title of a video', block('video'), { limit: 199, pointer: '/blocks/0/title/text' }, (text) =>
		inMessage({
			type: 'video',
			video_url: 'https://example.com/v',
			thumbnail_url: 'https://example.com/t.png',
			alt_text: 'V',
			title: { type: 'plain_text', text },
		}),
	),
	longest('the author of a video', block('video'), { limit: 49, pointer: '/blocks/0/author_name' }, (text) =>
		inMessage({
			type: 'video',
			video_url: 'https://example.com/v',
			thumbnail_url: 'https://example.com/t.png',
			alt_text: 'V',
			title: LABEL,
			author_name: text,
		}),
	),
];

const confirm = { title: plain('Sure?'), text: plain('It is sent.'), confirm: plain('Yes'), deny: plain('No') };

const dialogs: Edge[] = [
	longest(
		'the title of a confirmation',
		composition('confirmation-dialog'),
		{ limit: 100, pointer: '/blocks/0/elements/0/confirm/title/text' },
		(text) => inActions({ ...BUTTON, confirm: { ...confirm, title: { type: 'plain_text', text } } }),
	),
	longest(
		'the text of a confirmation',
		composition('confirmation-dialog'),
		{ limit: 300, pointer: '/blocks/0/elements/0/confirm/text/text' },
		(text) => inActions({ ...BUTTON, confirm: { ...confirm, text: { type: 'plain_text', text } } }),
	),
	longest(
		'the Yes of a confirmation',
		composition('confirmation-dialog'),
		{ limit: 30, pointer: '/blocks/0/elements/0/confirm/confirm/text' },
		(text) => inActions({ ...BUTTON, confirm: { ...confirm, confirm: { type: 'plain_text', text } } }),
	),
	longest(
		'the No of a confirmation',
		composition('confirmation-dialog'),
		{ limit: 30, pointer: '/blocks/0/elements/0/confirm/deny/text' },
		(text) => inActions({ ...BUTTON, confirm: { ...confirm, deny: { type: 'plain_text', text } } }),
	),
];

const workflow = { trigger: { url: 'https://slack.com/shortcuts/a' } };
const feedback = (changed: Json): Json => ({
	type: 'context_actions',
	elements: [
		{
			type: 'feedback_buttons',
			positive_button: { text: { type: 'plain_text', text: 'Good' }, value: 'good' },
			negative_button: { text: { type: 'plain_text', text: 'Bad' }, value: 'bad' },
			...changed,
		},
	],
});
const icon = (changed: Json): Json => ({
	type: 'context_actions',
	elements: [{ type: 'icon_button', icon: 'trash', text: { type: 'plain_text', text: 'Delete' }, ...changed }],
});

const buttons: Edge[] = [
	longest('the text of a button', element('button'), { limit: 75, pointer: '/blocks/0/elements/0/text/text' }, (text) =>
		inActions({ type: 'button', text: { type: 'plain_text', text } }),
	),
	longest('the value of a button', element('button'), { limit: 2000, pointer: '/blocks/0/elements/0/value' }, (text) =>
		inActions({ ...BUTTON, value: text }),
	),
	longest(
		'the url of a button',
		element('button'),
		{ limit: 3000, pointer: '/blocks/0/elements/0/url', text: url },
		(text) => inActions({ ...BUTTON, url: text }),
	),
	longest(
		'the accessibility_label of a button',
		element('button'),
		{ limit: 75, pointer: '/blocks/0/elements/0/accessibility_label' },
		(text) => inActions({ ...BUTTON, accessibility_label: text }),
	),
	longest(
		'the text of a workflow button',
		element('workflow-button'),
		{ limit: 75, pointer: '/blocks/0/accessory/text/text' },
		(text) => inAccessory({ type: 'workflow_button', text: { type: 'plain_text', text }, workflow }),
	),
	longest(
		'the accessibility_label of a workflow button',
		element('workflow-button'),
		{ limit: 75, pointer: '/blocks/0/accessory/accessibility_label' },
		(text) => inAccessory({ type: 'workflow_button', text: LABEL, workflow, accessibility_label: text }),
	),
	longest(
		'the text of an icon button',
		stricter('its page gives no limit, every other button has this one'),
		{ limit: 75, pointer: '/blocks/0/elements/0/text/text' },
		(text) => inMessage(icon({ text: { type: 'plain_text', text } })),
	),
	longest(
		'the accessibility_label of an icon button',
		element('icon-button'),
		{ limit: 75, pointer: '/blocks/0/elements/0/accessibility_label' },
		(text) => inMessage(icon({ accessibility_label: text })),
	),
	longest(
		'the value of an icon button',
		element('icon-button'),
		{ limit: 2000, pointer: '/blocks/0/elements/0/value' },
		(text) => inMessage(icon({ value: text })),
	),
	...['positive_button', 'negative_button'].flatMap((name) => {
		const place = `/blocks/0/elements/0/${name}`;
		return [
			longest(
				`the text of a ${name}`,
				element('feedback-buttons'),
				{ limit: 75, pointer: `${place}/text/text` },
				(text) => inMessage(feedback({ [name]: { text: { type: 'plain_text', text }, value: 'a' } })),
			),
			longest(
				`the value of a ${name}`,
				element('feedback-buttons'),
				{ limit: 2000, pointer: `${place}/value` },
				(text) => inMessage(feedback({ [name]: { text: LABEL, value: text } })),
			),
			longest(
				`the accessibility_label of a ${name}`,
				element('feedback-buttons'),
				{ limit: 75, pointer: `${place}/accessibility_label` },
				(text) => inMessage(feedback({ [name]: { text: LABEL, value: 'a', accessibility_label: text } })),
			),
		];
	}),
];

const inputs: Edge[] = [
	longest(
		'an initial_value',
		element('plain-text-input'),
		{ limit: 3000, pointer: '/view/blocks/0/element/initial_value' },
		(text) => inInput({ type: 'plain_text_input', initial_value: text }),
	),
	...['static_select', 'multi_static_select', 'radio_buttons', 'checkboxes'].flatMap((type) => {
		const place = '/view/blocks/0/element/options/1';
		return [
			longest(
				`the text of an option of ${type}`,
				composition('option'),
				{ limit: 75, pointer: `${place}/text/text` },
				(text) => inInput({ type, options: [option('a'), { text: { type: 'plain_text', text }, value: 'b' }] }),
			),
			longest(
				`the value of an option of ${type}`,
				composition('option'),
				{ limit: 150, pointer: `${place}/value` },
				(text) => inInput({ type, options: [option('a'), { text: LABEL, value: text }] }),
			),
			longest(
				`the description of an option of ${type}`,
				composition('option'),
				{ limit: 75, pointer: `${place}/description/text` },
				(text) =>
					inInput({
						type,
						options: [option('a'), { text: LABEL, value: 'b', description: { type: 'plain_text', text } }],
					}),
			),
		];
	}),
	...['static_select', 'multi_static_select'].flatMap((type) => {
		const place = '/view/blocks/0/element/option_groups/0';
		return [
			longest(
				`the label of a group of ${type}`,
				composition('option-group'),
				{ limit: 75, pointer: `${place}/label/text` },
				(text) => inInput({ type, option_groups: [{ label: { type: 'plain_text', text }, options: [option('a')] }] }),
			),
			longest(
				`the text of a grouped option of ${type}`,
				composition('option'),
				{ limit: 75, pointer: `${place}/options/0/text/text` },
				(text) =>
					inInput({
						type,
						option_groups: [{ label: LABEL, options: [{ text: { type: 'plain_text', text }, value: 'b' }] }],
					}),
			),
			longest(
				`the value of a grouped option of ${type}`,
				composition('option'),
				{ limit: 150, pointer: `${place}/options/0/value` },
				(text) => inInput({ type, option_groups: [{ label: LABEL, options: [{ text: LABEL, value: text }] }] }),
			),
			longest(
				`the description of a grouped option of ${type}`,
				composition('option'),
				{ limit: 75, pointer: `${place}/options/0/description/text` },
				(text) =>
					inInput({
						type,
						option_groups: [
							{ label: LABEL, options: [{ text: LABEL, value: 'b', description: { type: 'plain_text', text } }] },
						],
					}),
			),
		];
	}),
	longest(
		'the text of an overflow option',
		composition('option'),
		{ limit: 75, pointer: '/blocks/0/accessory/options/0/text/text' },
		(text) => inAccessory({ type: 'overflow', options: [{ text: { type: 'plain_text', text }, value: 'a' }] }),
	),
	longest(
		'the value of an overflow option',
		composition('option'),
		{ limit: 150, pointer: '/blocks/0/accessory/options/0/value' },
		(text) => inAccessory({ type: 'overflow', options: [{ text: LABEL, value: text }] }),
	),
	longest(
		'the description of an overflow option',
		composition('option'),
		{ limit: 75, pointer: '/blocks/0/accessory/options/0/description/text' },
		(text) =>
			inAccessory({
				type: 'overflow',
				options: [{ text: LABEL, value: 'a', description: { type: 'plain_text', text } }],
			}),
	),
	longest(
		'the url of an overflow option',
		composition('option'),
		{ limit: 3000, pointer: '/blocks/0/accessory/options/0/url', text: url },
		(text) => inAccessory({ type: 'overflow', options: [{ text: LABEL, value: 'a', url: text }] }),
	),
];

const bar = (changed: { name?: string; label?: string; axis?: Json }): Json => ({
	type: 'data_visualization',
	title: 'Runs',
	chart: {
		type: 'bar',
		series: [{ name: changed.name ?? 'Passed', data: [{ label: changed.label ?? 'Mon', value: 3 }] }],
		axis_config: { categories: [changed.label ?? 'Mon'], ...changed.axis },
	},
});

const charts: Edge[] = [
	longest('the title of a chart', block('data-visualization'), { limit: 50, pointer: '/blocks/0/title' }, (title) =>
		inMessage({
			type: 'data_visualization',
			title,
			chart: { type: 'pie', segments: [{ label: 'Kit Kat', value: 45 }] },
		}),
	),
	longest(
		'the label of a segment',
		block('data-visualization'),
		{ limit: 20, pointer: '/blocks/0/chart/segments/0/label' },
		(label) =>
			inMessage({
				type: 'data_visualization',
				title: 'Bars',
				chart: { type: 'pie', segments: [{ label, value: 45 }] },
			}),
	),
	longest(
		'the name of a series',
		block('data-visualization'),
		{ limit: 20, pointer: '/blocks/0/chart/series/0/name' },
		(name) => inMessage(bar({ name })),
	),
	longest(
		'a category',
		block('data-visualization'),
		{ limit: 20, pointer: '/blocks/0/chart/axis_config/categories/0' },
		(label) => inMessage(bar({ label })),
	),
	longest(
		'the x_label of a chart',
		block('data-visualization'),
		{ limit: 50, pointer: '/blocks/0/chart/axis_config/x_label' },
		(text) => inMessage(bar({ axis: { x_label: text } })),
	),
	longest(
		'the y_label of a chart',
		block('data-visualization'),
		{ limit: 50, pointer: '/blocks/0/chart/axis_config/y_label' },
		(text) => inMessage(bar({ axis: { y_label: text } })),
	),
];

export const lengthEdges: Edge[] = [...around, ...layout, ...dialogs, ...buttons, ...inputs, ...charts];

const nothing = (name: string, source: string, pointer: string, subject: (text: string) => Subject) => [
	refuse(`${name} of nothing`, source, { says: 'must be more than 0 characters', pointer }, subject('')),
];
const neither = (name: string, source: string, pointer: string, subject: (text: string) => Subject) => [
	...nothing(name, source, pointer, subject),
	refuse(`${name} of a blank`, source, { says: 'must be more than 0 characters', pointer }, subject(' ')),
];

const identifiers = stricter('the pages give a greatest length only; an empty name names nothing');
const shown = stricter('required, and an empty one would show nothing');

export const emptyTexts: Refused[] = [
	...neither('a plain_text', `${composition('text')}: minimum length 1`, '/blocks/0/text/text', (text) =>
		inMessage({ type: 'section', text: { type: 'plain_text', text } }),
	),
	...neither('a mrkdwn text', 'NousResearch/hermes-agent #69317', '/blocks/0/text/text', (text) =>
		inMessage({ type: 'section', text: { type: 'mrkdwn', text } }),
	),
	...neither('a markdown block', 'NousResearch/hermes-agent #69317', '/blocks/0/text', (text) =>
		inMessage({ type: 'markdown', text }),
	),
	...neither('a raw_text', `${block('data-table')}: minLength 1`, '/blocks/0/rows/0/0/text', (text) =>
		inMessage({ type: 'table', rows: [[{ type: 'raw_text', text }]] }),
	),
	...neither('a raw_number', `${block('data-table')}: minLength 1`, '/blocks/0/rows/0/0/text', (text) =>
		inMessage({ type: 'table', rows: [[{ type: 'raw_number', value: 1, text }]] }),
	),
	...neither('a block_id', identifiers, '/blocks/0/block_id', (text) => inMessage({ type: 'divider', block_id: text })),
	...neither('an action_id', identifiers, '/blocks/0/elements/0/action_id', (text) =>
		inActions({ ...BUTTON, action_id: text }),
	),
	...neither('an alt_text', shown, '/blocks/0/alt_text', (text) =>
		inMessage({ type: 'image', image_url: 'https://example.com/a.png', alt_text: text }),
	),
	...neither('the value of a button', identifiers, '/blocks/0/elements/0/value', (text) =>
		inActions({ ...BUTTON, value: text }),
	),
	...neither('the value of an option', identifiers, '/view/blocks/0/element/options/0/value', (text) =>
		inInput({ type: 'radio_buttons', options: [{ text: LABEL, value: text }] }),
	),
	...neither(
		'the value of a grouped option',
		identifiers,
		'/view/blocks/0/element/option_groups/0/options/0/value',
		(text) =>
			inInput({ type: 'static_select', option_groups: [{ label: LABEL, options: [{ text: LABEL, value: text }] }] }),
	),
	...neither(
		'an initial_value',
		stricter('no page says so; leaving it out means the same'),
		'/view/blocks/0/element/initial_value',
		(text) => inInput({ type: 'plain_text_input', initial_value: text }),
	),
	...neither('the name of an emoji', shown, '/blocks/0/elements/0/elements/0/name', (name) =>
		inMessage({
			type: 'rich_text',
			elements: [{ type: 'rich_text_section', elements: [{ type: 'emoji', name }] }],
		}),
	),
	...neither('the title of a task card', shown, '/blocks/0/title', (title) =>
		inMessage({ type: 'task_card', task_id: 't1', title, status: 'pending' }),
	),
	...neither('the task_id of a task card', identifiers, '/blocks/0/task_id', (text) =>
		inMessage({ type: 'task_card', task_id: text, title: 'Search', status: 'pending' }),
	),
	...neither('the title of a plan', shown, '/blocks/0/title', (title) => inMessage({ type: 'plan', title })),
	...neither('the title of a task in a plan', shown, '/blocks/0/tasks/0/title', (title) =>
		inMessage({ type: 'plan', title: 'Plan', tasks: [{ task_id: 't1', title, status: 'pending' }] }),
	),
	...neither('the task_id of a task in a plan', identifiers, '/blocks/0/tasks/0/task_id', (text) =>
		inMessage({ type: 'plan', title: 'Plan', tasks: [{ task_id: text, title: 'Search', status: 'pending' }] }),
	),
	...neither('the caption of a data table', shown, '/blocks/0/caption', (caption) =>
		inMessage({
			type: 'data_table',
			caption,
			rows: [[{ type: 'raw_text', text: 'Run' }], [{ type: 'raw_text', text: '1' }]],
		}),
	),
	...neither('a file type', element('file-input'), '/view/blocks/0/element/filetypes/0', (text) =>
		inInput({ type: 'file_input', filetypes: [text] }),
	),
	...neither('the title of a chart', shown, '/blocks/0/title', (title) =>
		inMessage({
			type: 'data_visualization',
			title,
			chart: { type: 'pie', segments: [{ label: 'Kit Kat', value: 45 }] },
		}),
	),
	...neither('the label of a segment', shown, '/blocks/0/chart/segments/0/label', (label) =>
		inMessage({ type: 'data_visualization', title: 'Bars', chart: { type: 'pie', segments: [{ label, value: 45 }] } }),
	),
	...neither('the name of a series', shown, '/blocks/0/chart/series/0/name', (name) => inMessage(bar({ name }))),
	...neither('a category', shown, '/blocks/0/chart/axis_config/categories/0', (label) => inMessage(bar({ label }))),
	...nothing('rich text', 'NousResearch/hermes-agent #69317', '/blocks/0/elements/0/elements/0/text', (text) =>
		inMessage({
			type: 'rich_text',
			elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }],
		}),
	),
	...nothing(
		'the url of a button',
		stricter('an address that is given must lead somewhere'),
		'/blocks/0/elements/0/url',
		(text) => inActions({ ...BUTTON, url: text }),
	),
	...nothing('an image_url', stricter('an address that is given must lead somewhere'), '/blocks/0/image_url', (text) =>
		inMessage({ type: 'image', image_url: text, alt_text: 'A chart' }),
	),
];
