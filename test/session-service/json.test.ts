import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
	jsonTextOf,
	parseJson,
	seemsIntricate,
	TooManyPartsError,
	withoutUnread,
} from '../../src/session-service/json.ts';
import { isPutSuccess, readSessionResponse } from '../../src/session-service/schema.ts';
import { anyCharacter } from '../support/any-text.ts';
import { anyResponse } from './any-response.ts';

const nested = (levels: number, inner = '') => `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`;
const sessionWith = (fields: string) => `{"session":{"status":"active","messages":[],${fields}}}`;

/** The same JSON with white space, and with escapes in its keys. */
function writtenOddly(value: unknown): string {
	return JSON.stringify(value, null, ' \n\t')
		.replaceAll('": ', '"\r\n : ')
		.replaceAll('"messages"', '"\\u006dessages"');
}

describe('removing parts that nobody reads', () => {
	it('does not change the session, however the JSON is written', () => {
		fc.assert(
			fc.property(anyResponse, (value) => {
				const session = readSessionResponse(value, 'x');
				for (const text of [JSON.stringify(value), writtenOddly(value)]) {
					const left: unknown = JSON.parse(withoutUnread(text));
					expect(readSessionResponse(left, 'x')).toEqual(session);
					expect(isPutSuccess(left)).toBe(isPutSuccess(value));
				}
			}),
			{ numRuns: 2_000 },
		);
	});

	it('removes arrays and objects under unknown keys, however deep, and keeps values that are sent back', () => {
		const item = '{"title":"A","value":{"state":[1,{"b":[2]}]}}';
		const text = `{"session":{"state":${nested(1_000_000)},"messages":[{"human_input":[${item}],"agent_data":{"action":[{"scroll":{"by":[1]},"done":{"text":"ok","x":[1]}}],"tree":{"a":"]}\\"]"}}}]}}`;
		expect(withoutUnread(text)).toBe(
			`{"session":{"state":{},"messages":[{"human_input":[${item}],"agent_data":{"action":[{"scroll":{},"done":{"text":"ok","x":{}}}],"tree":{}}}]}}`,
		);
	});

	it('does not make valid JSON of invalid JSON', () => {
		const text = JSON.stringify({
			session: { state: { a: ['\\"', '\\'] }, messages: [{ content: 'x"\\', human_input: [{ title: [{}] }] }] },
		});
		expect(() => JSON.parse(withoutUnread(text))).not.toThrow();
		for (let length = 0; length < text.length; length++) {
			expect(() => JSON.parse(withoutUnread(text.slice(0, length)))).toThrow(SyntaxError);
		}
	});

	it.each([
		['messages in messages', sessionWith(`"messages":${nested(200_000)}`)],
		['keys of a message', sessionWith(`"messages":[{${'"k":1,'.repeat(200_000)}"k":1}]`)],
		['a value that would be sent back', sessionWith(`"messages":[{"human_input":[{"value":${nested(200_000)}}]}]`)],
		['actions', sessionWith(`"messages":[{"agent_data":{"action":[${'{"a":1},'.repeat(200_000)}{}]}}]`)],
	])('refuses too many parts under keys that are read: %s', (_, text) => {
		expect(() => withoutUnread(text)).toThrow(TooManyPartsError);
	});
});

describe('the estimate of the number of parts', () => {
	const filled = (piece: string, bytes = 3_000_000) => piece.repeat(Math.ceil(bytes / piece.length));
	const texts = {
		prose: 'The page shows a list of orders, with prices: 5 €, 7 €. ',
		'a log': '12:04:55.120 INFO [main] order 17: shipped\n',
		Markdown: '## Orders\n\n- **Order 17** by "Ada": 12 items\n- see [x](https://e.example)\n',
		HTML: '<div class="row" style="color: red"><a href="/orders/17">Order "17"</a></div>\n',
		'JSON within a text': JSON.stringify({ tag: 'div', id: 17, children: { text: 'Order 17' } }),
	};

	it.each(Object.entries(texts))('finds few parts in %s', (_, piece) => {
		const body = Buffer.from(sessionWith(`"sessionDetails":${JSON.stringify(filled(piece))}`));
		expect(seemsIntricate(body)).toBe(false);
	});

	it.each([
		['arrays in arrays', nested(200_000)],
		['arrays in arrays, spaced', '[ '.repeat(200_000)],
		['empty objects', '{},'.repeat(200_000)],
		['objects with keys', '{"tag":"div","id":17},'.repeat(100_000)],
		['keys with space', '{"tag" : 1 ,\n"id"\t:\n2},'.repeat(100_000)],
		['keys that end in an escaped backslash', '"k\\\\":1,'.repeat(200_000)],
	])('finds many parts in %s in the middle of 8 MB of text', (_, parts) => {
		const prose = JSON.stringify(filled(texts.prose, 4_000_000));
		expect(seemsIntricate(Buffer.from(`[${prose},${parts},${prose}]`))).toBe(true);
	});

	it('leaves small bodies to the parser', () => {
		const body = Buffer.from(sessionWith(`"z":${nested(200_000)}`));
		expect(readSessionResponse(parseJson(body, body.toString()), 'x')?.status).toBe('active');
		expect(seemsIntricate(body)).toBe(false);
	});
});

it('a session with too many elements is not read, even if they have no parts', () => {
	const zeros = Array.from({ length: 60_000 }, () => 0);
	const messages = [{ human_input: zeros }, { agent_data: { action: zeros } }];
	expect(() => readSessionResponse({ session: { status: 'active', messages } }, 'x')).toThrow(TooManyPartsError);
	expect(readSessionResponse({ session: { status: 'active', messages: messages.slice(1) } }, 'x')).not.toBeNull();
});

describe('JSON of a value', () => {
	it('writes the JSON of JSON.stringify', () => {
		fc.assert(
			fc.property(fc.jsonValue({ depthSize: 'large', stringUnit: anyCharacter }), (value) => {
				expect(jsonTextOf(value)).toBe(JSON.stringify(value));
			}),
			{ numRuns: 1_000 },
		);
		expect(jsonTextOf(JSON.parse('{"__proto__":{"a":[]},"b":{}}'))).toBe('{"__proto__":{"a":[]},"b":{}}');
	});

	it('writes a value however deep it is nested, and keeps numbers that are too large for a double', () => {
		const text = `${'{"a":['.repeat(100_000)}1${']}'.repeat(100_000)}`;
		expect(jsonTextOf(JSON.parse(text)) === text).toBe(true);
		expect(jsonTextOf(JSON.parse('[1e400,-1e400]'))).toBe('[1e400,-1e400]');
	});
});
