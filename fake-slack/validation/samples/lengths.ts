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
	longest('an image_url', block('image'), 3000, (text) =>
		inMessage({ type: 'image', image_url: url(text.length), alt_text: 'A chart' }),
	),
	longest('the title of an image', block('image'), 2000, (text) =>
		inMessage({
			type: 'image',
			image_url: 'https://example.com/a.png',
			alt_text: 'A chart',
			title: plain(text),
		}),
	),
];

const buttons: Edge[] = [
	longest('the text of a button', element('button'), 75, (text) => inActions({ type: 'button', text: plain(text) })),
	longest('the value of a button', element('button'), 2000, (text) => inActions({ ...BUTTON, value: text })),
	longest('the url of a button', element('button'), 3000, (text) => inActions({ ...BUTTON, url: url(text.length) })),
	longest('the accessibility_label of a button', element('button'), 75, (text) =>
		inActions({ ...BUTTON, accessibility_label: text }),
	),
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
	longest('the url of an overflow option', composition('option'), 3000, (text) =>
		inAccessory({ type: 'overflow', options: [{ text: LABEL, value: 'a', url: url(text.length) }] }),
	),
];

export const lengthEdges: Edge[] = [...around, ...layout, ...buttons, ...inputs];

const nothing = (name: string, source: string, subject: (text: string) => Subject): Refused[] => [
	refuse(
		`${name} of nothing`,
		source,
		{ says: 'must be more than 0 characters', pointer: changedPlace(subject('x'), subject('')) },
		subject(''),
	),
];
const neither = (name: string, source: string, subject: (text: string) => Subject): Refused[] => [
	...nothing(name, source, subject),
	refuse(
		`${name} of a blank`,
		source,
		{ says: 'must be more than 0 characters', pointer: changedPlace(subject('x'), subject(' ')) },
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
	...neither('a raw_text', `${block('table')}: minLength 1`, (text) =>
		inMessage({ type: 'table', rows: [[{ type: 'raw_text', text }]] }),
	),
	...neither('a raw_number', `${block('table')}: minLength 1`, (text) =>
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
	...neither('an initial_value', stricter('no page says so; leaving it out means the same'), (text) =>
		inInput({ type: 'plain_text_input', initial_value: text }),
	),
	...neither('the name of an emoji', shown, (name) =>
		inMessage({
			type: 'rich_text',
			elements: [{ type: 'rich_text_section', elements: [{ type: 'emoji', name }] }],
		}),
	),
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
