import {
	type Accepted,
	accept,
	asMessage,
	asUpdate,
	asView,
	BUTTON,
	block,
	type Edge,
	inActions,
	inMessage,
	LABEL,
	longest,
	many,
	method,
	modal,
	type Refusal,
	type Refused,
	refuse,
	SECTION,
	type Subject,
	stricter,
	x,
} from './sample.ts';

const section = (length: number) => ({ type: 'section', text: { type: 'mrkdwn', text: x(length) } });
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** A modal whose JSON has exactly this many bytes; an emoji is four of them in UTF-8. */
function modalOf(bytes: number): Subject {
	const withLast = (length: number) =>
		modal(
			{ type: 'section', text: { type: 'mrkdwn', text: '\u{1F600}'.repeat(100) } },
			...many(81, () => section(3000)),
			section(length),
		);
	return asView(withLast(1 + bytes - bytesOf(withLast(1))));
}

function metadataOf(bytes: number): Subject {
	const metadata = (length: number) => ({ event_type: 'question', event_payload: { id: x(length) } });
	return asMessage({ text: 'a', metadata: metadata(1 + bytes - bytesOf(metadata(1))) });
}

const table = (length: number) => ({
	type: 'table',
	rows: [[{ type: 'raw_text', text: x(length) }]],
});

const edge = (
	name: string,
	source: string,
	refusal: Refusal,
	{ fits, bursts }: { fits: Subject; bursts: Subject },
): Edge => ({
	accepted: accept(name, fits),
	refused: refuse(`more than ${name}`, source, refusal, bursts),
});

const onlyOne: Refusal = { says: 'only_one_table_allowed', pointer: '' };
const cells = 'the text of all table cells must be less than 10001 characters';

/** As much as a message or view may hold, and a little more. */
export const wholeEdges: Edge[] = [
	edge(
		'250,000 bytes in a view',
		`${method('views.open')}: view_too_large; ${stricter('250 KB may also be 256,000')}`,
		{ says: 'must be at most 250 KB', pointer: '/view' },
		{ fits: modalOf(250_000), bursts: modalOf(250_001) },
	),
	edge(
		'13,200 characters in all',
		'slackapi/bolt-js #2509',
		{ says: 'the text of all blocks must be less than 13201 characters', pointer: '/blocks' },
		{
			fits: inMessage(...[3000, 3000, 3000, 3000, 1200].map(section)),
			bursts: inMessage(...[3000, 3000, 3000, 3000, 1201].map(section)),
		},
	),
	edge(
		'12,000 characters of markdown',
		block('markdown'),
		{ says: 'the text of all markdown blocks must be less than 12001 characters', pointer: '/blocks' },
		{
			fits: inMessage({ type: 'markdown', text: x(6000) }, { type: 'markdown', text: x(6000) }),
			bursts: inMessage({ type: 'markdown', text: x(6000) }, { type: 'markdown', text: x(6001) }),
		},
	),
	edge(
		'10,000 characters in a table',
		stricter(`${block('data-table')} says it of data tables`),
		{ says: cells, pointer: '/blocks' },
		{ fits: inMessage(table(10_000)), bursts: inMessage(table(10_001)) },
	),
	longest('the text of an update', `${method('chat.update')}: msg_too_long`, 4000, (text) => asUpdate({ text })),
	edge(
		'16,000 bytes of metadata',
		`docs.slack.dev/messaging/message-metadata: 16 KB; ${stricter('which may also be 16,384')}`,
		{ says: 'must be at most 16 KB', pointer: '/metadata' },
		{ fits: metadataOf(16_000), bursts: metadataOf(16_001) },
	),
	edge('one table', block('table'), onlyOne, { fits: inMessage(table(1)), bursts: inMessage(table(1), table(1)) }),
];

const wholePair = 'erikdarlingdata/PerformanceMonitor #3622: half a surrogate pair makes the payload invalid';
const field = { type: 'input', label: LABEL, element: { type: 'plain_text_input' } };

export const wholeAccepted: Accepted[] = [
	accept('a whole surrogate pair', asMessage({ text: '\u{1F511}', blocks: [section(1)] })),
];

export const wholeRefused: Refused[] = [
	refuse(
		'a block_id twice',
		'docs.slack.dev/reference/block-kit/blocks: "should be unique for each message"; reported as refused',
		{ says: '`block_id` "a" already exists', pointer: '/blocks/1/block_id' },
		inMessage({ ...SECTION, block_id: 'a' }, { type: 'divider', block_id: 'a' }),
	),
	refuse(
		'an action_id twice in a block',
		'docs.slack.dev/reference/block-kit/block-elements: "unique among all other action_ids in the containing block"',
		{ says: '`action_id` "vote" already exists', pointer: '/blocks/0/elements/1/action_id' },
		inActions({ ...BUTTON, action_id: 'vote' }, { ...BUTTON, action_id: 'vote' }),
	),
	refuse(
		'an input that nobody can send',
		'docs.slack.dev/reference/views/modal-views: submit is required with an input block',
		{ says: 'must define `submit` to use an `input` block in modals', pointer: '/view/blocks/1/input' },
		asView({ type: 'modal', title: LABEL, blocks: [SECTION, field] }),
	),
	refuse(
		'nothing at all',
		method('chat.postMessage'),
		{ says: 'no_text', pointer: '' },
		asMessage({ text: '', blocks: [] }),
	),
	refuse(
		'half a surrogate pair in a block',
		wholePair,
		{ says: 'must be valid JSON text', pointer: '/blocks/0/text/text' },
		inMessage({ type: 'section', text: { type: 'plain_text', text: 'key \ud83d' } }),
	),
	refuse(
		'half a surrogate pair in a view',
		wholePair,
		{ says: 'must be valid JSON text', pointer: '/view/private_metadata' },
		asView({ ...modal(SECTION), private_metadata: '\udd11' }),
	),
	refuse(
		'half a surrogate pair in a text',
		wholePair,
		{ says: 'must be valid JSON text', pointer: '/text' },
		asMessage({ text: '\ud83d' }),
	),
];
