import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonTextOf, readSessionResponse } from '../../src/session-service/schema.ts';
import { readBody } from '../../src/session-service/transport.ts';
import { anyCharacter } from '../support/any-text.ts';

const nested = (levels: number, inner = '') => `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`;
const sessionWith = (fields: string) => `{"session":{"status":"active","messages":[],${fields}}}`;

describe('a body with too many parts', () => {
	const many = (piece: string) => piece.repeat(100_000);
	const read = (text: string) => {
		const response = { status: 200, headers: new Map(), body: Buffer.from(text), arrivedAt: 0 };
		return readBody(response, 'read', (value) => readSessionResponse(value, 'x'));
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
