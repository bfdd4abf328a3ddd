import {
	type Accepted,
	accept,
	block,
	element,
	inHome,
	inMessage,
	inModal,
	type Json,
	LABEL,
	type Refused,
	refuse,
	SECTION,
	type Subject,
	stricter,
} from './sample.ts';

const surfaces = {
	message: { put: inMessage, root: '' },
	modal: { put: inModal, root: '/view' },
	home: { put: inHome, root: '/view' },
} satisfies Record<string, { put: (block: Json) => Subject; root: string }>;

type Surface = keyof typeof surfaces;

type Place = {
	type: string;
	value: Json;
	/** The type's place below /blocks/0. */
	path: string;
	on: readonly Surface[];
	notOn: Partial<Record<Surface, string>>;
};

const cell = { type: 'raw_text', text: 'a' };
const card = { type: 'card', body: { type: 'mrkdwn', text: 'B' } };
/** The page of every block names its surfaces; docs.slack.dev/blocks.json has all of them in one place. */
const notRendered = (type: string, surface: string) =>
	stricter(`the page names it for ${surface}, but users report that a ${type} is not shown there`);

const at = (type: string, value: Json, on: readonly Surface[], notOn: Place['notOn']): Place => ({
	type,
	value: { type, ...value },
	path: '/type',
	on,
	notOn,
});

const inInput = (
	type: string,
	value: Json,
	on: readonly Surface[],
	{ source, notOn }: { source: string; notOn: readonly Surface[] } = { source: '', notOn: [] },
): Place => ({
	type,
	value: { type: 'input', label: LABEL, element: { type, ...value } },
	path: '/element/type',
	on,
	notOn: Object.fromEntries(notOn.map((surface) => [surface, source])),
});

/** Without a type; what follows is taken on every surface. */
const everywhere: Record<string, Json> = {
	section: { text: { type: 'mrkdwn', text: 'Hello' } },
	divider: {},
	header: { text: LABEL },
	context: { elements: [LABEL] },
	image: { image_url: 'https://example.com/a.png', alt_text: 'A chart' },
	actions: { elements: [{ type: 'button', text: LABEL }] },
	rich_text: { elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'a' }] }] },
	video: {
		video_url: 'https://example.com/v',
		thumbnail_url: 'https://example.com/t.png',
		alt_text: 'V',
		title: LABEL,
	},
};

const places: Place[] = [
	at('markdown', { text: '# Report' }, ['message'], { modal: block('markdown'), home: block('markdown') }),
	at('plan', { title: 'Plan' }, ['message'], { modal: block('plan'), home: block('plan') }),
	at('task_card', { task_id: 't1', title: 'Search', status: 'pending' }, ['message'], {
		modal: block('task-card'),
		home: block('task-card'),
	}),
	at('context_actions', { elements: [{ type: 'icon_button', icon: 'trash', text: LABEL }] }, ['message'], {
		modal: block('context-actions'),
		home: block('context-actions'),
	}),
	at('container', { title: LABEL, child_blocks: [SECTION] }, ['message'], {
		modal: block('container'),
		home: block('container'),
	}),
	at(
		'data_visualization',
		{ title: 'Bars', chart: { type: 'pie', segments: [{ label: 'Kit Kat', value: 45 }] } },
		['message'],
		{ modal: block('data-visualization'), home: block('data-visualization') },
	),
	at('carousel', { elements: [card] }, ['message', 'home'], { modal: block('carousel') }),
	at('data_table', { caption: 'Runs', rows: [[cell], [cell]] }, ['message', 'home'], { modal: block('data-table') }),
	at('alert', { text: LABEL, level: 'warning' }, ['modal'], { message: block('alert'), home: block('alert') }),
	at('card', { body: { type: 'mrkdwn', text: 'B' } }, ['message', 'home'], { modal: notRendered('card', 'modals') }),
	at('table', { rows: [[cell]] }, ['message'], { modal: block('table'), home: notRendered('table', 'Home') }),
	at('file', { source: 'remote', external_id: 'a' }, [], {
		message: block('file'),
		modal: block('file'),
		home: block('file'),
	}),
	...Object.entries(everywhere).map(([type, value]) => at(type, value, ['message', 'modal', 'home'], {})),
	inInput('plain_text_input', {}, ['message', 'modal', 'home']),
	inInput('datepicker', {}, ['message', 'modal', 'home']),
	inInput('datetimepicker', {}, ['message', 'modal'], { source: element('datetime-picker'), notOn: ['home'] }),
	inInput('rich_text_input', {}, ['modal', 'home'], { source: element('rich-text-input'), notOn: ['message'] }),
	inInput('email_text_input', {}, ['modal'], { source: element('email-input'), notOn: ['message', 'home'] }),
	inInput('url_text_input', {}, ['modal'], { source: element('url-input'), notOn: ['message', 'home'] }),
	inInput('number_input', { is_decimal_allowed: false }, ['modal'], {
		source: element('number-input'),
		notOn: ['message', 'home'],
	}),
	inInput('file_input', {}, ['modal'], { source: element('file-input'), notOn: ['message', 'home'] }),
];

export const surfaceAccepted: Accepted[] = places.flatMap(({ type, value, on }) =>
	on.map((surface) => accept(`${type} in a ${surface}`, surfaces[surface].put(value))),
);

export const surfaceRefused: Refused[] = [
	...places.flatMap(({ type, value, path, notOn }) =>
		Object.entries(notOn).map(([surface, source]) => {
			const { put, root } = surfaces[surface as Surface];
			return refuse(
				`${type} in a ${surface}`,
				source,
				{ says: `unsupported type: ${type}`, pointer: `${root}/blocks/0${path}` },
				put(value),
			);
		}),
	),
	refuse(
		'a file in a container',
		block('container'),
		{ says: 'unsupported type: file', pointer: '/blocks/0/child_blocks/0/type' },
		{
			kind: 'blocks',
			surface: 'message',
			value: [
				{ type: 'container', title: LABEL, child_blocks: [{ type: 'file', source: 'remote', external_id: 'a' }] },
			],
		},
	),
	...[
		{
			source: 'slackapi/python-slack-sdk #1631',
			value: { type: 'multi_static_select', options: [{ text: LABEL, value: 'a' }] },
		},
		{ source: 'slackapi/java-slack-sdk #680', value: { type: 'multi_users_select' } },
		{ source: 'slackapi/node-slack-sdk #1299', value: { type: 'multi_external_select' } },
		{ source: 'slackapi/node-slack-sdk #1299', value: { type: 'multi_conversations_select' } },
		{ source: 'slackapi/node-slack-sdk #1299', value: { type: 'multi_channels_select' } },
		{ source: 'agentconnect-md/agentconnect #1836', value: { type: 'plain_text_input' } },
		{ source: 'agentconnect-md/agentconnect #1836', value: { type: 'number_input', is_decimal_allowed: true } },
	].map(({ source, value }) => inActions(source, value, inMessage, '')),
	inActions(
		stricter(`${element('rich-text-input')} shows it in input blocks only`),
		{ type: 'rich_text_input' },
		inModal,
		'/view',
	),
];

function inActions(source: string, value: Json, put: (block: Json) => Subject, root: string): Refused {
	const type = String(value.type);
	const at = `${root}/blocks/0/elements/0/type`;
	return refuse(
		`${type} in actions`,
		source,
		{ says: `unsupported type: ${type}`, pointer: at },
		put({ type: 'actions', elements: [value] }),
	);
}
