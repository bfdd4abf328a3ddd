import {
	type Accepted,
	accept,
	asMessage,
	asUpdate,
	type Edge,
	element,
	inHome,
	inMessage,
	inModal,
	type Json,
	many,
	type Refused,
	refuse,
	SECTION,
	type Subject,
	stricter,
	types,
	x,
} from './sample.ts';

const text = (words: string, style?: Json): Json => ({ type: 'text', text: words, ...(style && { style }) });
const block = (...elements: Json[]): Json => ({ type: 'rich_text', elements });
const section = (...elements: Json[]): Json => ({ type: 'rich_text_section', elements });
const quote = (...elements: Json[]): Json => ({ type: 'rich_text_quote', elements });
const preformatted = (...elements: Json[]): Json => ({ type: 'rich_text_preformatted', elements });

/** At /blocks/0/elements/0. */
const inBlock = (...elements: Json[]): Subject => inMessage(block(...elements));
/** At /blocks/0/elements/0/elements/0. */
const inSection = (...elements: Json[]): Subject => inBlock(section(...elements));

const user = { type: 'user', user_id: 'U1' };
const group = { type: 'usergroup', usergroup_id: 'S1' };
const channel = { type: 'channel', channel_id: 'C1' };
const here = { type: 'broadcast', range: 'here' };
const link = { type: 'link', url: 'https://example.com', text: 'Example' };
const date = { type: 'date', timestamp: 1720000000, format: '{date_short_pretty} {time}', fallback: '3 July, 9:46' };

const FIRST = '/blocks/0/elements/0/elements/0';
const nothing = stricter('it names or shows nothing');

/** Everything that this app may show, on every surface. */
const everything: Json = block(
	section(text('a', { bold: true, italic: true, strike: true }), text('b', { code: true }), text('\n'), link),
	quote(user, text(' waits\nsince '), date, text('\n'), channel),
	preformatted(text('x = 1\n'), { type: 'link', url: 'https://example.com' }),
	{ ...preformatted(text('y')), border: 1 },
	{ ...quote(group, here), border: 1 },
);

const tokens =
	'{date_num} {date_slash} {date_long} {date_long_full} {date_long_pretty} {date} {date_pretty} {date_short} ' +
	'{date_short_pretty} {day_divider_pretty} {time} {time_secs} {ago}';

export const richTextAccepted: Accepted[] = [
	accept('rich text in a message', inMessage(everything)),
	accept('rich text in a modal', inModal(everything)),
	accept('rich text in a home', inHome(everything)),
	accept(
		'rich text beside a table',
		inMessage(everything, { type: 'table', rows: [[{ type: 'raw_text', text: 'a' }]] }),
	),
	accept('every field of a date', inSection({ ...date, url: 'https://example.com', style: { underline: true } })),
	accept('every format of a date', inSection({ ...date, format: `On ${tokens}` })),
	// Views may be larger than messages.
	accept('a modal with much rich text', inModal(...many(5, () => block(section(text(x(3000))))))),
	accept('a home with much rich text', inHome(...many(5, () => block(section(text(x(3000))))))),
	accept('a date without words around it', inSection({ ...date, format: 'now' })),
];

const nesting: Refused[] = [
	refuse(
		'a text outside of a section',
		'docs.slack.dev/reference/block-kit/blocks/rich-text-block: the four sub-elements',
		{ says: 'unsupported type: text', pointer: '/blocks/0/elements/0/type' },
		inBlock(text('a')),
	),
	refuse(
		'a section in a section',
		element('rich-text-section'),
		{ says: 'unsupported type: rich_text_section', pointer: `${FIRST}/type` },
		inSection(section(text('a'))),
	),
	refuse(
		'a section in a quote',
		element('rich-text-quote'),
		{ says: 'unsupported type: rich_text_section', pointer: `${FIRST}/type` },
		inBlock(quote(section(text('a')))),
	),
	...[user, group, channel, here, date, { type: 'emoji', name: 'wave' }].map((one) =>
		refuse(
			`a ${one.type} in preformatted text`,
			`${element('rich-text-preformatted')}: "An array of text or link elements"`,
			{ says: `unsupported type: ${one.type}`, pointer: `${FIRST}/type` },
			inBlock(preformatted(one)),
		),
	),
];

const fields: Refused[] = [
	...[
		{ one: { type: 'user' }, field: 'user_id' },
		{ one: { type: 'usergroup' }, field: 'usergroup_id' },
		{ one: { type: 'channel' }, field: 'channel_id' },
		{ one: { type: 'broadcast' }, field: 'range' },
		{ one: { type: 'link', text: 'Example' }, field: 'url' },
		{ one: { type: 'emoji' }, field: 'name' },
		{ one: { type: 'text' }, field: 'text' },
		{ one: { ...date, timestamp: undefined }, field: 'timestamp' },
		{ one: { ...date, format: undefined }, field: 'format' },
	].map(({ one, field }) =>
		refuse(
			`a ${one.type} without ${field}`,
			element(one.type),
			{ says: `missing required field: ${field}`, pointer: FIRST },
			inSection(one),
		),
	),
	...[
		{ one: { ...user, user_id: '' }, field: 'user_id' },
		{ one: { ...group, usergroup_id: '' }, field: 'usergroup_id' },
		{ one: { ...channel, channel_id: ' ' }, field: 'channel_id' },
		{ one: { ...link, text: '' }, field: 'text' },
		{ one: { ...date, format: '' }, field: 'format' },
		{ one: { ...date, fallback: ' ' }, field: 'fallback' },
	].map(({ one, field }) =>
		refuse(
			`an empty ${field} of a ${one.type}`,
			nothing,
			{ says: 'must be more than 0 characters', pointer: `${FIRST}/${field}` },
			inSection(one),
		),
	),
	refuse(
		'a mention of a group with a wrong name',
		'nicklambourne/slackblocks #114',
		{ says: 'unsupported type: user_group', pointer: `${FIRST}/type` },
		inSection({ type: 'user_group', user_group_id: 'S1' }),
	),
	refuse(
		'a mention of nobody that Slack knows',
		types('RichTextBroadcastMention'),
		{ says: 'must be one of: here, channel, everyone', pointer: `${FIRST}/range` },
		inSection({ ...here, range: 'all' }),
	),
	refuse(
		'an address that is none in a link',
		stricter('Slack would show it as text'),
		{ says: 'must be a valid URL', pointer: `${FIRST}/url` },
		inSection({ ...link, url: 'javascript:alert(1)' }),
	),
];

const styles: Refused[] = [
	...['big', 'bolded', 'color'].map((style) =>
		refuse(
			`a text that is ${style}`,
			element('text'),
			{ says: `invalid additional property: ${style}`, pointer: `${FIRST}/style` },
			inSection(text('a', { [style]: true })),
		),
	),
	refuse(
		'a style with a word for yes',
		element('text'),
		{ says: 'must provide a boolean', pointer: `${FIRST}/style/bold` },
		inSection(text('a', { bold: 'true' })),
	),
	refuse(
		'a user as code',
		'soxtoby/SlackNet #196: invalid additional property: code',
		{ says: 'invalid additional property: code', pointer: `${FIRST}/style` },
		inSection({ ...user, style: { code: false } }),
	),
	...[group, channel, here, date].map((one) =>
		refuse(
			`a ${one.type} as code`,
			`${element(one.type)}: the page names all styles but code`,
			{ says: 'invalid additional property: code', pointer: `${FIRST}/style` },
			inSection({ ...one, style: { code: true } }),
		),
	),
	refuse(
		'a date that is unlinked',
		`${element('date')}: the page names all styles but unlink`,
		{ says: 'invalid additional property: unlink', pointer: `${FIRST}/style` },
		inSection({ ...date, style: { unlink: true } }),
	),
	...[preformatted(text('a')), quote(text('a'))].map((one) =>
		refuse(
			`a border of 2 around a ${one.type}`,
			'slackapi/deno-slack-sdk #488: 3 is refused; @slack/types 3.2, RichTextBorderable: 0 or 1',
			{ says: 'must be one of: 0, 1', pointer: '/blocks/0/elements/0/border' },
			inBlock({ ...one, border: 2 }),
		),
	),
	refuse(
		'a border around a section',
		element('rich-text-section'),
		{ says: 'invalid additional property: border', pointer: '/blocks/0/elements/0' },
		inBlock({ ...section(text('a')), border: 1 }),
	),
];

const dates: Refused[] = [
	refuse(
		'a date without fallback',
		stricter(`${element('date')} has it as optional, and without it a date that Slack cannot show is lost`),
		{ says: 'missing required field: fallback', pointer: FIRST },
		inSection({ ...date, fallback: undefined }),
	),
	refuse(
		'a date at a text',
		'slackapi/python-slack-sdk #1560',
		{ says: 'must provide a number', pointer: `${FIRST}/timestamp` },
		inSection({ ...date, timestamp: '1720000000' }),
	),
	refuse(
		'a date at a fraction of a second',
		'slackapi/python-slack-sdk #1560',
		{ says: 'must be a whole number', pointer: `${FIRST}/timestamp` },
		inSection({ ...date, timestamp: 1720000000.5 }),
	),
	...['{date_medium}', '{Time}', '{}'].map((token) =>
		refuse(
			`a date as ${token}`,
			`${element('date')}: "The following are the template strings allowed"`,
			{ says: `unknown date format: ${token}`, pointer: `${FIRST}/format` },
			inSection({ ...date, format: `${token} {time}` }),
		),
	),
	refuse(
		'a date that leads to no address',
		stricter('Slack would show it as text'),
		{ says: 'must be a valid URL', pointer: `${FIRST}/url` },
		inSection({ ...date, url: 'javascript:alert(1)' }),
	),
];

export const richTextRefused: Refused[] = [...nesting, ...fields, ...styles, ...dates];

/** Blocks with rich text, whose JSON has this many characters. */
function blocksOf(length: number): unknown[] {
	const withText = (words: string) => [SECTION, block(section(text(words)), quote(text('"q"\n')))];
	return withText(x(1 + length - JSON.stringify(withText('x')).length));
}
const tooLong = { says: 'the JSON of blocks with rich text must be less than 12001 characters', pointer: '/blocks' };
const bolt =
	'slackapi/bolt-js #2867: 11,341 characters of text are refused; that the JSON counts is the stricter reading';
/** JSON that nobody reads. */
const wide = {
	type: 'actions',
	elements: [{ type: 'button', text: { type: 'plain_text', text: 'a' }, value: x(2000) }],
};
const cell = { type: 'table', rows: [[block(section(text(x(900))))], [{ type: 'raw_text', text: x(99) }]] };

export const richTextEdges: Edge[] = [
	{
		accepted: accept('12,000 characters of JSON with rich text', asMessage({ text: 'a', blocks: blocksOf(12_000) })),
		refused: refuse(
			'more than 12,000 characters of JSON with rich text',
			bolt,
			tooLong,
			asMessage({ text: 'a', blocks: blocksOf(12_001) }),
		),
	},
	{
		accepted: accept('12,000 characters of JSON in an update', asUpdate({ text: 'a', blocks: blocksOf(12_000) })),
		refused: refuse(
			'more than 12,000 characters of JSON in an update',
			bolt,
			tooLong,
			asUpdate({ text: 'a', blocks: blocksOf(12_001) }),
		),
	},
	{
		accepted: accept('long blocks whose only rich text is in a table', inMessage(cell, ...many(6, () => wide))),
		refused: refuse(
			'long blocks with rich text beside the table',
			bolt,
			tooLong,
			inMessage(cell, ...many(6, () => wide), everything),
		),
	},
];
