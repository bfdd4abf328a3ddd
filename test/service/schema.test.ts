import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gated, type ReadSession } from '../../src/domain/gate.ts';
import { runSync } from '../../src/kernel/slices.ts';
import { readBody } from '../../src/service/response-body.ts';
import { isPutSuccess, readSessionResponse, sourcesIn } from '../../src/service/schema.ts';
import { anyCharacter, anyWebUrl } from '../support/any-text.ts';
import { runs } from '../support/runs.ts';
import { readResponse } from '../support/sessions.ts';

const FIELDS = [
	'sessionId',
	'status',
	'name',
	'startTime',
	'endTime',
	'sessionDetails',
	'lastScreenshotUrl',
	'lastScreenshotTimestamp',
	'files',
	'sessionVariables',
	'messages',
];

/** JSON with the service's own keys, so that every reader gets every type. */
const serviceKeys = fc.constantFrom(
	...'session sessionId status name messages role content agent_data action human_input title description value'.split(
		' ',
	),
	...'files filename signedUrl timestamp sessionVariables maxSteps startTime go_to_url url done text'.split(' '),
	...'save_to_file file_path click __proto__ constructor'.split(' '),
);
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
	json: fc.oneof(
		{ maxDepth: 7, withCrossShrink: true },
		fc.constantFrom(null, true, 0, -1, 1e308, ''),
		fc.string({ unit: anyCharacter, maxLength: 20 }),
		anyWebUrl,
		fc.array(tie('json'), { maxLength: 4 }),
		fc.array(fc.tuple(serviceKeys, tie('json')), { maxLength: 8 }).map((pairs) => JSON.parse(toJson(pairs)) as unknown),
	),
}));

/** The service's own shape with any values in its fields, so that most of it is readable. */
const action = fc.record(
	{ go_to_url: json, done: json, save_to_file: json, click: json, ['x'.repeat(99)]: json },
	{ requiredKeys: [] },
);
const message = fc.record(
	{
		role: json,
		content: json,
		agent_data: fc.oneof(json, fc.record({ action: fc.oneof(json, fc.array(action, { maxLength: 4 })) })),
		human_input: fc.oneof(
			json,
			fc.array(fc.record({ title: json, description: json, value: json }, { requiredKeys: [] }), { maxLength: 4 }),
		),
	},
	{ requiredKeys: [] },
);
const shaped = fc.record(
	{
		...Object.fromEntries(FIELDS.map((key) => [key, json])),
		messages: fc.array(fc.oneof(json, message), { maxLength: 6 }),
		status: fc.oneof(json, fc.constant('humanInput')),
	},
	{ requiredKeys: [] },
);

/** Written by hand, because `__proto__` in an object would be an assignment and no key. */
function toJson(pairs: readonly (readonly [string, unknown])[]): string {
	return `{${pairs.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value) ?? 'null'}`).join(',')}}`;
}

/** Any response to a read, most of them readable. */
const anyResponse = fc.oneof(
	json,
	fc.oneof(json, shaped, shaped).map((session) => ({ session })),
);

function read(session: unknown): ReadSession {
	const result = readResponse({ session }, 'asked-for');
	if (result === null) throw new Error('unreadable');
	return result;
}

/** The actions of a session whose one message has this `agent_data`, as people see them. */
function actionsOf(agentData: unknown) {
	const session = read({ status: 'active', messages: [{ role: 'assistant', agent_data: agentData }] });
	return runSync(gated(session)).messages[0]?.actions;
}

const whole = {
	sessionId: '3f9a2c1d',
	status: 'humanInput',
	name: 'Order cards',
	startTime: '2026-01-05T09:00:00Z',
	endTime: null,
	maxSteps: 40,
	sessionDetails: 'From the shop',
	lastScreenshotUrl: 'https://files.example/s.png?sig=1',
	lastScreenshotTimestamp: '2026-01-05T09:01:00Z',
	files: [{ filename: 'a.csv', signedUrl: 'https://files.example/a.csv?sig=2', timestamp: '2026-01-05T09:02:00Z' }],
	sessionVariables: [{ name: 'password', value: 'hunter2' }],
	messages: [
		{ role: 'user', content: 'Order the cards' },
		{
			role: 'assistant',
			content: 'Which?',
			agent_data: { action: [{ click: { index: 3 } }] },
			human_input: [
				{ title: 'Colour', description: 'Which one?', value: 'red' },
				{ title: '', description: '' },
			],
		},
	],
};

describe('a session', () => {
	it('reads a session with known fields only, under the id that it says, or else the requested one', () => {
		const secrets = { userId: 'u', vncPassword: 'pw', costs: { total: 3 }, account: { plan: 'x' } };
		const session = read({
			...whole,
			...secrets,
			messages: whole.messages.map((message) => ({ ...message, internal: 'pw' })),
			files: whole.files.map((file) => ({ ...file, bucket: 'pw' })),
			sessionVariables: whole.sessionVariables.map((variable) => ({ ...variable, owner: 'pw' })),
		});
		const { lastScreenshotTimestamp: _dropped, maxSteps: _unread, sessionVariables: _values, ...known } = whole;
		expect(session).toEqual({
			...known,
			files: [{ filename: 'a.csv', signedUrl: 'https://files.example/a.csv?sig=2' }],
			messages: [
				{ role: 'user', content: 'Order the cards', actions: [], humanInput: [] },
				{
					role: 'assistant',
					content: 'Which?',
					actions: [{ kind: 'click', text: '' }],
					humanInput: [
						{ title: 'Colour', description: 'Which one?', value: 'red' },
						{ title: '', description: '', value: '' },
					],
				},
			],
		});
	});

	it('reads a session of nulls, or with few fields, with defaults', () => {
		const empty = {
			sessionId: 'asked-for',
			status: 'active',
			name: '',
			messages: [],
			files: [],
			startTime: null,
			endTime: null,
			lastScreenshotUrl: null,
			sessionDetails: '',
		};
		expect(read({ status: 'active', messages: [] })).toEqual(empty);
		const nulls = Object.fromEntries(Object.keys(empty).map((key) => [key, null]));
		expect(read({ ...nulls, status: 'active', messages: [] })).toEqual(empty);
	});

	it('a session with odd values in single fields loses only those fields', () => {
		const session = read({
			...whole,
			name: { first: 'x' },
			status: 7,
			startTime: Date.parse('2026-01-05T09:00:00Z'),
			endTime: 1e300,
			files: [null, 'x', { filename: 3 }],
			sessionVariables: { name: 'x' },
		});
		expect(session).toMatchObject({
			name: '',
			status: '7',
			startTime: '2026-01-05T09:00:00.000Z',
			endTime: null,
			files: [{ filename: '3', signedUrl: null }],
		});
		expect(session.messages).toHaveLength(2);
	});

	it('keeps unknown roles and statuses', () => {
		const session = read({ status: 'hibernating', messages: [{ role: 'critic', content: 'Hm' }] });
		expect(session).toMatchObject({ status: 'hibernating', messages: [{ role: 'critic', content: 'Hm' }] });
	});

	it.each([
		null,
		[],
		'text',
		5,
		{},
		{ session: null },
		{ session: [] },
		{ session: 'x' },
		{ session: {} },
		{ session: { theme: 'dark' } },
		{ session: { theme: 'dark', messages: [] } },
		{ sessions: [whole] },
		{ data: whole },
		{ session: { ...whole, messages: { role: 'assistant' } } },
		{ session: { ...whole, messages: 'none' } },
		{ session: { ...whole, messages: null } },
		// As in the service's list of sessions: their questions would look closed.
		{ session: { sessionId: '3f9a2c1d', name: 'Order cards', status: 'humanInput' } },
	])('finds no session in %j', (value) => {
		expect(readResponse(value, 'x')).toBeNull();
	});
});

describe('messages and questions', () => {
	it('messages keep their index, whatever the other elements are', () => {
		const odd = [null, 'text', 5, [], true];
		const session = read({ messages: [...odd, { role: 'assistant', content: 'I am number five' }] });
		expect(session.messages).toHaveLength(6);
		expect(session.messages[5]?.content).toBe('I am number five');
		expect(session.messages[0]).toEqual({ role: 'unknown', content: '', actions: [], humanInput: [] });
	});

	it('items keep their position', () => {
		const human_input = [null, 'Colour?', { title: 5, description: null }, { title: 'Size', value: 0 }];
		expect(read({ messages: [{ role: 'assistant', human_input }] }).messages[0]?.humanInput).toEqual([
			{ title: '', description: '', value: '' },
			{ title: 'Colour?', description: '', value: '' },
			{ title: '5', description: '', value: '', raw: { title: '5', description: 'null' } },
			{ title: 'Size', description: '', value: '', raw: { value: '0' } },
		]);
	});

	it('keeps fields that are no text as the service sent them, beside their text', () => {
		const item = { title: ['a'], description: { b: [1] }, value: { cm: 5 }, secret: 'x' };
		expect(read({ messages: [{ role: 'assistant', human_input: [item] }] }).messages[0]?.humanInput).toEqual([
			{
				title: '',
				description: '',
				value: '{"cm":5}',
				raw: { title: '["a"]', description: '{"b":[1]}', value: '{"cm":5}' },
			},
		]);
	});

	it.each([
		[{ cm: 5 }, '{"cm":5}'],
		[[], '[]'],
		[5, '5'],
		[true, 'true'],
		['0', '0'],
	])('reads the value %j as an answer, so that it is not overwritten', (value, text) => {
		expect(read({ messages: [{ human_input: [{ value }] }] }).messages[0]?.humanInput[0]?.value).toBe(text);
	});

	it.each([0, false, null, ''])('reads the value %j as open, like the page of the service', (value) => {
		expect(read({ messages: [{ human_input: [{ value }] }] }).messages[0]?.humanInput[0]?.value).toBe('');
	});

	it('reads content in parts as text', () => {
		const content = [{ type: 'text', text: 'One' }, 'Two', { type: 'image', url: 'x' }, null];
		expect(read({ messages: [{ content }] }).messages[0]?.content).toBe('One\nTwo');
	});
});

describe('actions', () => {
	it.each<[unknown, unknown]>([
		[{ click: { index: 1, text: 'secret' } }, { kind: 'click', text: '' }],
		[{ go_to_url: { url: 'https://shop.example/a?token=1' } }, { kind: 'open', text: 'shop.example' }],
		[{ go_to_url: 'http://Shop.Example:8080/a' }, { kind: 'open', text: 'shop.example:8080' }],
		[{ go_to_url: { url: 'https://user:pw@shop.example/' } }, { kind: 'open', text: 'shop.example' }],
		[{ go_to_url: { url: 'https://good.example\\@evil.example/' } }, { kind: 'open', text: 'good.example' }],
		[{ go_to_url: { url: 'https://good.example:80@evil.example/' } }, { kind: 'open', text: 'evil.example' }],
		[{ go_to_url: { url: 'shop.example/a' } }, { kind: 'open', text: 'shop.example' }],
		[{ go_to_url: { url: 'shop.example:8080/a' } }, { kind: 'open', text: 'shop.example:8080' }],
		[{ go_to_url: { url: 'https://bücher.example/' } }, { kind: 'open', text: 'xn--bcher-kva.example' }],
		[{ go_to_url: { url: `https://user:${'p'.repeat(9_000)}@shop.example/` } }, { kind: 'open', text: 'shop.example' }],
		[{ go_to_url: { url: `https://${'書'.repeat(400)}.example/` } }, { kind: 'open', text: '' }],
		[{ go_to_url: { url: 'javascript:alert(1)' } }, { kind: 'open', text: '' }],
		[{ go_to_url: { url: 'file:///etc/passwd' } }, { kind: 'open', text: '' }],
		[{ go_to_url: { url: 'data:text/html,token' } }, { kind: 'open', text: '' }],
		[{ go_to_url: { url: 'the page with my token' } }, { kind: 'open', text: '' }],
		[{ go_to_url: {} }, { kind: 'open', text: '' }],
		[{ done: '# Done' }, { kind: 'done', text: '# Done' }],
		[{ done: { text: '# Done', success: true } }, { kind: 'done', text: '# Done' }],
		[{ done: null }, { kind: 'done', text: '' }],
		[{ save_to_file: { file_path: '/tmp/x/a.csv', filename: 'a.csv' } }, { kind: 'saveFile', text: 'a.csv' }],
		[{ save_to_file: { file_path: '/tmp/x/a.csv', status: 'deleted' } }, { kind: 'deleteFile', text: 'a.csv' }],
		[{ save_to_file: { file_path: 'C:\\x\\a.csv' } }, { kind: 'saveFile', text: 'a.csv' }],
		[{ save_to_file: 'a.csv' }, { kind: 'saveFile', text: 'a.csv' }],
		[{ scroll_down: { amount: 3, password: 'pw' } }, { kind: 'other', text: 'scroll_down' }],
	])('%j', (action, expected) => {
		expect(actionsOf({ action: [action] })).toEqual([expected]);
	});

	it('reads one action for each key with a value', () => {
		expect(actionsOf({ action: [{ click: null, done: 'x', wait: {} }, {}, null, 'x', { click: null }] })).toEqual([
			{ kind: 'done', text: 'x' },
			{ kind: 'other', text: 'wait' },
			{ kind: 'click', text: '' },
		]);
		expect(actionsOf({ action: { click: {} } })).toEqual([{ kind: 'click', text: '' }]);
		for (const none of [null, 'x', [], {}, { action: null }, { action: 'x' }]) expect(actionsOf(none)).toEqual([]);
	});

	it('cuts unknown action names between characters', () => {
		const [long] = actionsOf({ action: [{ ['x'.repeat(500)]: {} }] }) ?? [];
		expect(long).toEqual({ kind: 'other', text: `${'x'.repeat(63)}…` });
		const [emoji] = actionsOf({ action: [{ [`${'x'.repeat(62)}🙂🙂`]: {} }] }) ?? [];
		expect(emoji).toEqual({ kind: 'other', text: `${'x'.repeat(62)}…` });
		const [joined] = actionsOf({ action: [{ [`${'x'.repeat(58)}👩‍👩‍👧‍👦`]: {} }] }) ?? [];
		expect(joined).toEqual({ kind: 'other', text: `${'x'.repeat(58)}…` });
	});

	it('finds the host that a browser finds, with and without the fast path', () => {
		const label = fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,5}[a-z0-9])?$/);
		const host = fc
			.tuple(label, label, fc.constantFrom('com', 'example', 'xn--p1ai', '1', 'c0m'))
			.map((parts) => parts.join('.'));
		const rest = fc.constantFrom('', '/', '/a?b=c', '?q', '#x', ':8443/', ':80', '@evil.example/', '\\x');
		fc.assert(
			fc.property(fc.constantFrom('http://', 'https://'), host, rest, (scheme, name, tail) => {
				const address = `${scheme}${name}${tail}`;
				expect(actionsOf({ action: [{ go_to_url: { url: address } }] })).toEqual([
					{ kind: 'open', text: URL.parse(address)?.host ?? '' },
				]);
			}),
			{ numRuns: runs(500) },
		);
	});
});

describe('the response to a PUT', () => {
	it('a status text, the updated message, or both mean that a PUT succeeded', () => {
		for (const answer of [
			{ message: 'Updated successfully' },
			{ updatedMessage: {} },
			{ message: 'x', updatedMessage: { role: 'assistant' } },
		]) {
			expect(isPutSuccess(answer)).toBe(true);
		}
		for (const answer of [undefined, null, {}, [], 'Updated', { message: 5 }, { updatedMessage: [] }, { error: 'x' }]) {
			expect(isPutSuccess(answer)).toBe(false);
		}
	});
});

function isSession(session: ReadSession): boolean {
	const text = (value: unknown) => typeof value === 'string';
	const textOrNull = (value: unknown) => value === null || typeof value === 'string';
	return (
		[session.sessionId, session.status, session.name, session.sessionDetails].every(text) &&
		session.sessionId !== '' &&
		[session.startTime, session.endTime, session.lastScreenshotUrl].every(textOrNull) &&
		session.files.every((file) => text(file.filename) && textOrNull(file.signedUrl)) &&
		session.messages.every(
			(message) =>
				text(message.role) &&
				text(message.content) &&
				message.actions.every((action) => text(action.kind)) &&
				message.humanInput.every(({ title, description, value }) => [title, description, value].every(text)),
		)
	);
}

it('any JSON is a whole session or none, and never throws', () => {
	let readable = 0;
	fc.assert(
		fc.property(anyResponse, (value) => {
			const session = readResponse(value, 'asked-for');
			isPutSuccess(value);
			if (session === null) return;
			readable++;
			expect(isSession(session)).toBe(true);
			const given = (value as { session: { messages?: unknown } }).session.messages;
			if (Array.isArray(given)) expect(session.messages).toHaveLength(given.length);
		}),
		{ numRuns: runs(3_000) },
	);
	expect(readable).toBeGreaterThan(runs(300));
});

const nested = (levels: number, inner = '') => `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`;
const sessionWith = (fields: string) => `{"session":{"status":"active","messages":[],${fields}}}`;

describe('a body with too many parts', () => {
	const many = (piece: string) => piece.repeat(100_000);
	const read = (text: string) => {
		const response = { status: 200, headers: new Map(), body: Buffer.from(text), arrivedAt: 0 };
		return readBody(response, 'read', (value, json) => runSync(readSessionResponse(value, json, 'x')));
	};

	it.each([
		['messages in messages', sessionWith(`"messages":${nested(100_000)}`)],
		['keys of a message', sessionWith(`"messages":[{${many('"k":1,')}"k":1}]`)],
		['a value that would be sent back', sessionWith(`"messages":[{"human_input":[{"value":${nested(100_000)}}]}]`)],
		['numbers instead of messages', sessionWith(`"messages":[${many('0,')}0]`)],
		['spaced arrays in a field that nobody reads', sessionWith(`"z":${'[ '.repeat(100_000)}`)],
		['keys that end in an escaped backslash', sessionWith(`"z":{${many('"k\\\\":1,')}"k":1}`)],
	])('is refused before it is parsed: %s', async (_, text) => {
		await expect(read(text)).rejects.toThrow(expect.objectContaining({ code: 'body_too_complex' }));
	});

	it.each([
		['prose', 'The page shows a list of orders, with prices: 5 €, 7 €. '],
		['HTML', '<div class="row" style="color: red">["a", {"b": 1}]</div>\\'],
		['JSON within a text', JSON.stringify({ tag: 'div', id: [17, 18], children: { text: 'Order 17' } })],
	])('is not one with long texts: %s', async (_, piece) => {
		const details = many(piece);
		expect((await read(sessionWith(`"sessionDetails":${JSON.stringify(details)}`))).sessionDetails).toBe(details);
	});
});

describe('the sources of items', () => {
	const spaces = fc.array(fc.constantFrom(' ', '\t', '\n', '\r'), { maxLength: 2 }).map((all) => all.join(''));

	/** The JSON with white space wherever it may be, and its own way to write a key. */
	const spaced = fc.tuple(anyResponse, fc.array(spaces, { minLength: 1, maxLength: 9 })).map(([value, all]) => {
		let count = 0;
		const space = () => all[count++ % all.length] ?? '';
		return JSON.stringify(value).replace(/"(?:[^"\\]|\\.)*"|[[\]{},:]/g, (part) => `${space()}${part}${space()}`);
	});

	interface Sources {
		messages?: Record<number, { human_input?: Record<number, Record<string, string>> }>;
	}
	const messageSources = (json: string) => (runSync(sourcesIn(json)).session as Sources | undefined)?.messages;

	it('are those of the values that JSON.parse finds', () => {
		fc.assert(
			fc.property(spaced, (json) => {
				const value = JSON.parse(json) as { session?: { messages?: unknown } } | null;
				const sources = messageSources(json);
				const messages = value?.session?.messages;
				const all = Array.isArray(messages) ? messages : [];
				for (const [at, message] of all.entries()) {
					const items = (message as { human_input?: unknown } | null)?.human_input;
					for (const [position, item] of (Array.isArray(items) ? items : []).entries()) {
						if (typeof item !== 'object' || item === null || Array.isArray(item)) continue;
						for (const name of ['title', 'description', 'value'] as const) {
							const field = (item as Record<string, unknown>)[name];
							const source = sources?.[at]?.human_input?.[position]?.[name];
							expect(source === undefined ? undefined : JSON.parse(source)).toEqual(field);
						}
					}
				}
			}),
			{ numRuns: runs(1_000) },
		);
	});

	it('takes the last of a repeated key, as JSON.parse does', () => {
		const item = '{"value":1.0,"value":"x","title":2.0,"t\\u0069tle":3.0}';
		const messages = `"messages":[{"human_input":[{"title":9}],"human_input":[${item}]}]`;
		expect(messageSources(`{"session":{"messages":[7]},"session":{"messages":[1],${messages}}}`)).toEqual({
			0: { human_input: { 0: { value: '"x"', title: '3.0' } } },
		});
	});

	it('finds them behind what is nested deeply', () => {
		const deep = `${'{"a":['.repeat(100_000)}1${']}'.repeat(100_000)}`;
		const json = `{"z":${deep},"session":{"messages":[{"state":${deep},"human_input":[{"value":${deep}}]}]}}`;
		expect(messageSources(json)?.[0]?.human_input?.[0]?.value === deep).toBe(true);
	});
});
