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
};

const places: Place[] = [
	at('markdown', { text: '# Report' }, ['message'], { modal: block('markdown'), home: block('markdown') }),
	at('table', { rows: [[cell]] }, ['message'], { modal: block('table'), home: notRendered('table', 'Home') }),
	...Object.entries(everywhere).map(([type, value]) => at(type, value, ['message', 'modal', 'home'], {})),
	inInput('plain_text_input', {}, ['message', 'modal', 'home']),
	inInput('datepicker', {}, ['message', 'modal', 'home']),
	inInput('email_text_input', {}, ['modal'], { source: element('email-input'), notOn: ['message', 'home'] }),
	inInput('url_text_input', {}, ['modal'], { source: element('url-input'), notOn: ['message', 'home'] }),
	inInput('number_input', { is_decimal_allowed: false }, ['modal'], {
		source: element('number-input'),
		notOn: ['message', 'home'],
	}),
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
	...[
		{
			source: 'slackapi/python-slack-sdk #1631',
			value: { type: 'multi_static_select', options: [{ text: LABEL, value: 'a' }] },
		},
		{ source: 'slackapi/java-slack-sdk #680', value: { type: 'multi_users_select' } },
		{ source: 'agentconnect-md/agentconnect #1836', value: { type: 'plain_text_input' } },
		{ source: 'agentconnect-md/agentconnect #1836', value: { type: 'number_input', is_decimal_allowed: true } },
	].map(({ source, value }) => inActions(source, value)),
];

function inActions(source: string, value: Json): Refused {
	return refuse(
		`${value.type} in actions`,
		source,
		{ says: `unsupported type: ${value.type}`, pointer: '/blocks/0/elements/0/type' },
		inMessage({ type: 'actions', elements: [value] }),
	);
}
