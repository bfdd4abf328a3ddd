import {
	asMessage,
	asView,
	BUTTON,
	block,
	changedPlace,
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
	longest('a message text', `${method('chat.postMessage')}: cut at 40,000; nobody here wants that`, 40_000, (text) =>
		asMessage({ text }),
	),
	longest('a markdown_text', method('chat.postMessage'), 12_000, (text) => asMessage({ markdown_text: text })),
	longest('a title', view, 24, (text) => asView({ ...modal(SECTION), title: plain(text) })),
	longest('a submit button', view, 24, (text) => asView({ ...modal(SECTION), submit: plain(text) })),
	longest('a close button', view, 24, (text) => asView({ ...modal(SECTION), close: plain(text) })),
	longest('private_metadata', view, 3000, (text) => asView({ ...modal(SECTION), private_metadata: text })),
	longest('a callback_id', view, 255, (text) => asView({ ...modal(SECTION), callback_id: text })),
	longest('an external_id', method('views.open'), 255, (text) => asView({ ...modal(SECTION), external_id: text })),
	longest('a block_id', identifier, 255, (text) => inMessage({ type: 'divider', block_id: text })),
	longest('an action_id', identifier, 255, (text) => inActions({ ...BUTTON, action_id: text })),
];

const layout: Edge[] = [
	longest('a plain_text', composition('text'), 3000, (text) => inMessage({ type: 'section', text: plain(text) })),
	longest('a mrkdwn text', composition('text'), 3000, (text) =>
		inMessage({ type: 'section', text: { type: 'mrkdwn', text } }),
	),
	longest('a field', block('section'), 2000, (text) =>
		inMessage({ type: 'section', fields: [{ type: 'mrkdwn', text }] }),
	),
	longest('a header', block('header'), 150, (text) => inMessage({ type: 'header', text: plain(text) })),
	longest('a label', block('input'), 2000, (text) =>
		inModal({ type: 'input', label: plain(text), element: { type: 'plain_text_input' } }),
	),
	longest('a hint', block('input'), 2000, (text) =>
		inModal({
			type: 'input',
			label: LABEL,
			hint: plain(text),
			element: { type: 'plain_text_input' },
		}),
	),
	longest('a placeholder', element('plain-text-input'), 150, (text) =>
		inInput({ type: 'plain_text_input', placeholder: plain(text) }),
	),
	longest('an alt_text', block('image'), 2000, (text) =>
		inMessage({ type: 'image', image_url: 'https://example.com/a.png', alt_text: text }),
	),
	longest('an image_url', block('image'), { limit: 3000, text: url }, (text) =>
		inMessage({ type: 'image', image_url: text, alt_text: 'A chart' }),
	),
	longest('the url of a slack_file', block('image'), { limit: 3000, text: url }, (text) =>
		inMessage({ type: 'image', slack_file: { url: text }, alt_text: 'A chart' }),
	),
	longest('the title of an image', block('image'), 2000, (text) =>
		inMessage({
			type: 'image',
			image_url: 'https://example.com/a.png',
			alt_text: 'A chart',
			title: plain(text),
		}),
	),
	longest('an alert', block('alert'), 200, (text) => inModal({ type: 'alert', text: { type: 'mrkdwn', text } })),
	longest('the title of a card', block('card'), 150, (text) =>
		inMessage({ type: 'card', title: { type: 'mrkdwn', text } }),
	),
	longest('the subtitle of a card', block('card'), 150, (text) =>
		inMessage({ type: 'card', title: { type: 'mrkdwn', text: 'T' }, subtitle: { type: 'mrkdwn', text } }),
	),
	longest('the body of a card', block('card'), 200, (text) => inMessage({ type: 'card', body: plain(text) })),
	longest('the subtext of a card', block('card'), 200, (text) =>
		inMessage({ type: 'card', body: { type: 'mrkdwn', text: 'B' }, subtext: { type: 'mrkdwn', text } }),
	),
	longest('the title of a container', block('container'), 150, (text) =>
		inMessage({ type: 'container', title: plain(text), child_blocks: [SECTION] }),
	),
	longest('the subtitle of a container', block('container'), 150, (text) =>
		inMessage({ type: 'container', title: LABEL, subtitle: { type: 'mrkdwn', text }, child_blocks: [SECTION] }),
	),
	longest('the title of a video', block('video'), 199, (text) =>
		inMessage({
			type: 'video',
			video_url: 'https://example.com/v',
			thumbnail_url: 'https://example.com/t.png',
			alt_text: 'V',
			title: plain(text),
		}),
	),
	longest('the author of a video', block('video'), 49, (text) =>
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
	longest('the title of a confirmation', composition('confirmation-dialog'), 100, (text) =>
		inActions({ ...BUTTON, confirm: { ...confirm, title: plain(text) } }),
	),
	longest('the text of a confirmation', composition('confirmation-dialog'), 300, (text) =>
		inActions({ ...BUTTON, confirm: { ...confirm, text: plain(text) } }),
	),
	longest('the Yes of a confirmation', composition('confirmation-dialog'), 30, (text) =>
		inActions({ ...BUTTON, confirm: { ...confirm, confirm: plain(text) } }),
	),
	longest('the No of a confirmation', composition('confirmation-dialog'), 30, (text) =>
		inActions({ ...BUTTON, confirm: { ...confirm, deny: plain(text) } }),
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
	longest('the text of a button', element('button'), 75, (text) => inActions({ type: 'button', text: plain(text) })),
	longest('the value of a button', element('button'), 2000, (text) => inActions({ ...BUTTON, value: text })),
	longest('the url of a button', element('button'), { limit: 3000, text: url }, (text) =>
		inActions({ ...BUTTON, url: text }),
	),
	longest('the accessibility_label of a button', element('button'), 75, (text) =>
		inActions({ ...BUTTON, accessibility_label: text }),
	),
	longest('the text of a workflow button', element('workflow-button'), 75, (text) =>
		inAccessory({ type: 'workflow_button', text: plain(text), workflow }),
	),
	longest('the accessibility_label of a workflow button', element('workflow-button'), 75, (text) =>
		inAccessory({ type: 'workflow_button', text: LABEL, workflow, accessibility_label: text }),
	),
	longest(
		'the text of an icon button',
		stricter('its page gives no limit, every other button has this one'),
		75,
		(text) => inMessage(icon({ text: plain(text) })),
	),
	longest('the accessibility_label of an icon button', element('icon-button'), 75, (text) =>
		inMessage(icon({ accessibility_label: text })),
	),
	longest('the value of an icon button', element('icon-button'), 2000, (text) => inMessage(icon({ value: text }))),
	...['positive_button', 'negative_button'].flatMap((name) => [
		longest(`the text of a ${name}`, element('feedback-buttons'), 75, (text) =>
			inMessage(feedback({ [name]: { text: plain(text), value: 'a' } })),
		),
		longest(`the value of a ${name}`, element('feedback-buttons'), 2000, (text) =>
			inMessage(feedback({ [name]: { text: LABEL, value: text } })),
		),
		longest(`the accessibility_label of a ${name}`, element('feedback-buttons'), 75, (text) =>
			inMessage(feedback({ [name]: { text: LABEL, value: 'a', accessibility_label: text } })),
		),
	]),
];

const inputs: Edge[] = [
	longest('an initial_value', element('plain-text-input'), 3000, (text) =>
		inInput({ type: 'plain_text_input', initial_value: text }),
	),
	...['static_select', 'multi_static_select', 'radio_buttons', 'checkboxes'].flatMap((type) => [
		longest(`the text of an option of ${type}`, composition('option'), 75, (text) =>
			inInput({ type, options: [option('a'), { text: plain(text), value: 'b' }] }),
		),
		longest(`the value of an option of ${type}`, composition('option'), 150, (text) =>
			inInput({ type, options: [option('a'), { text: LABEL, value: text }] }),
		),
		longest(`the description of an option of ${type}`, composition('option'), 75, (text) =>
			inInput({
				type,
				options: [option('a'), { text: LABEL, value: 'b', description: plain(text) }],
			}),
		),
	]),
	...['static_select', 'multi_static_select'].flatMap((type) => [
		longest(`the label of a group of ${type}`, composition('option-group'), 75, (text) =>
			inInput({ type, option_groups: [{ label: plain(text), options: [option('a')] }] }),
		),
		longest(`the text of a grouped option of ${type}`, composition('option'), 75, (text) =>
			inInput({
				type,
				option_groups: [{ label: LABEL, options: [{ text: plain(text), value: 'b' }] }],
			}),
		),
		longest(`the value of a grouped option of ${type}`, composition('option'), 150, (text) =>
			inInput({ type, option_groups: [{ label: LABEL, options: [{ text: LABEL, value: text }] }] }),
		),
		longest(`the description of a grouped option of ${type}`, composition('option'), 75, (text) =>
			inInput({
				type,
				option_groups: [{ label: LABEL, options: [{ text: LABEL, value: 'b', description: plain(text) }] }],
			}),
		),
	]),
	longest('the text of an overflow option', composition('option'), 75, (text) =>
		inAccessory({ type: 'overflow', options: [{ text: plain(text), value: 'a' }] }),
	),
	longest('the value of an overflow option', composition('option'), 150, (text) =>
		inAccessory({ type: 'overflow', options: [{ text: LABEL, value: text }] }),
	),
	longest('the description of an overflow option', composition('option'), 75, (text) =>
		inAccessory({
			type: 'overflow',
			options: [{ text: LABEL, value: 'a', description: plain(text) }],
		}),
	),
	longest('the url of an overflow option', composition('option'), { limit: 3000, text: url }, (text) =>
		inAccessory({ type: 'overflow', options: [{ text: LABEL, value: 'a', url: text }] }),
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
	longest('the title of a chart', block('data-visualization'), 50, (title) =>
		inMessage({
			type: 'data_visualization',
			title,
			chart: { type: 'pie', segments: [{ label: 'Kit Kat', value: 45 }] },
		}),
	),
	longest('the label of a segment', block('data-visualization'), 20, (label) =>
		inMessage({
			type: 'data_visualization',
			title: 'Bars',
			chart: { type: 'pie', segments: [{ label, value: 45 }] },
		}),
	),
	longest('the name of a series', block('data-visualization'), 20, (name) => inMessage(bar({ name }))),
	longest(
		'a category',
		block('data-visualization'),
		{ limit: 20, pointer: '/blocks/0/chart/axis_config/categories/0' },
		(label) => inMessage(bar({ label })),
	),
	longest('the x_label of a chart', block('data-visualization'), 50, (text) =>
		inMessage(bar({ axis: { x_label: text } })),
	),
	longest('the y_label of a chart', block('data-visualization'), 50, (text) =>
		inMessage(bar({ axis: { y_label: text } })),
	),
];

export const lengthEdges: Edge[] = [...around, ...layout, ...dialogs, ...buttons, ...inputs, ...charts];

/** `pointer` as in `longest`. */
const nothing = (name: string, source: string, subject: (text: string) => Subject, pointer?: string): Refused[] => [
	refuse(
		`${name} of nothing`,
		source,
		{ says: 'must be more than 0 characters', pointer: pointer ?? changedPlace(subject('x'), subject('')) },
		subject(''),
	),
];
const neither = (name: string, source: string, subject: (text: string) => Subject, pointer?: string): Refused[] => [
	...nothing(name, source, subject, pointer),
	refuse(
		`${name} of a blank`,
		source,
		{ says: 'must be more than 0 characters', pointer: pointer ?? changedPlace(subject('x'), subject(' ')) },
		subject(' '),
	),
];

const identifiers = stricter('the pages give a greatest length only; an empty name names nothing');
const shown = stricter('required, and an empty one would show nothing');

export const emptyTexts: Refused[] = [
	...neither('a plain_text', `${composition('text')}: minimum length 1`, (text) =>
		inMessage({ type: 'section', text: plain(text) }),
	),
	...neither('a mrkdwn text', 'NousResearch/hermes-agent #69317', (text) =>
		inMessage({ type: 'section', text: { type: 'mrkdwn', text } }),
	),
	...neither('a markdown block', 'NousResearch/hermes-agent #69317', (text) => inMessage({ type: 'markdown', text })),
	...neither('a raw_text', `${block('data-table')}: minLength 1`, (text) =>
		inMessage({ type: 'table', rows: [[{ type: 'raw_text', text }]] }),
	),
	...neither('a raw_number', `${block('data-table')}: minLength 1`, (text) =>
		inMessage({ type: 'table', rows: [[{ type: 'raw_number', value: 1, text }]] }),
	),
	...neither('a block_id', identifiers, (text) => inMessage({ type: 'divider', block_id: text })),
	...neither('an action_id', identifiers, (text) => inActions({ ...BUTTON, action_id: text })),
	...neither('an alt_text', shown, (text) =>
		inMessage({ type: 'image', image_url: 'https://example.com/a.png', alt_text: text }),
	),
	...neither('the value of a button', identifiers, (text) => inActions({ ...BUTTON, value: text })),
	...neither('the value of an option', identifiers, (text) =>
		inInput({ type: 'radio_buttons', options: [{ text: LABEL, value: text }] }),
	),
	...neither('the value of a grouped option', identifiers, (text) =>
		inInput({ type: 'static_select', option_groups: [{ label: LABEL, options: [{ text: LABEL, value: text }] }] }),
	),
	...neither('an initial_value', stricter('no page says so; leaving it out means the same'), (text) =>
		inInput({ type: 'plain_text_input', initial_value: text }),
	),
	...neither('the name of an emoji', shown, (name) =>
		inMessage({
			type: 'rich_text',
			elements: [{ type: 'rich_text_section', elements: [{ type: 'emoji', name }] }],
		}),
	),
	...neither('the title of a task card', shown, (title) =>
		inMessage({ type: 'task_card', task_id: 't1', title, status: 'pending' }),
	),
	...neither('the task_id of a task card', identifiers, (text) =>
		inMessage({ type: 'task_card', task_id: text, title: 'Search', status: 'pending' }),
	),
	...neither('the title of a plan', shown, (title) => inMessage({ type: 'plan', title })),
	...neither('the title of a task in a plan', shown, (title) =>
		inMessage({ type: 'plan', title: 'Plan', tasks: [{ task_id: 't1', title, status: 'pending' }] }),
	),
	...neither('the task_id of a task in a plan', identifiers, (text) =>
		inMessage({ type: 'plan', title: 'Plan', tasks: [{ task_id: text, title: 'Search', status: 'pending' }] }),
	),
	...neither('the caption of a data table', shown, (caption) =>
		inMessage({
			type: 'data_table',
			caption,
			rows: [[{ type: 'raw_text', text: 'Run' }], [{ type: 'raw_text', text: '1' }]],
		}),
	),
	...neither('a file type', element('file-input'), (text) => inInput({ type: 'file_input', filetypes: [text] })),
	...neither('the title of a chart', shown, (title) =>
		inMessage({
			type: 'data_visualization',
			title,
			chart: { type: 'pie', segments: [{ label: 'Kit Kat', value: 45 }] },
		}),
	),
	...neither('the label of a segment', shown, (label) =>
		inMessage({ type: 'data_visualization', title: 'Bars', chart: { type: 'pie', segments: [{ label, value: 45 }] } }),
	),
	...neither('the name of a series', shown, (name) => inMessage(bar({ name }))),
	...neither('a category', shown, (label) => inMessage(bar({ label })), '/blocks/0/chart/axis_config/categories/0'),
	...nothing('rich text', 'NousResearch/hermes-agent #69317', (text) =>
		inMessage({
			type: 'rich_text',
			elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }],
		}),
	),
	...nothing('the url of a button', stricter('an address that is given must lead somewhere'), (text) =>
		inActions({ ...BUTTON, url: text }),
	),
	...nothing('an image_url', stricter('an address that is given must lead somewhere'), (text) =>
		inMessage({ type: 'image', image_url: text, alt_text: 'A chart' }),
	),
];
