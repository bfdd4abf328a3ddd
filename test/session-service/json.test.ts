import { describe, expect, it } from 'vitest';
import { readSessionResponse } from '../../src/session-service/schema.ts';
import { readBody } from '../../src/session-service/transport.ts';

const nested = (levels: number, inner = '') => `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`;
const sessionWith = (fields: string) => `{"session":{"status":"active","messages":[],${fields}}}`;

const readOf = (text: string) => () => {
	const response = { status: 200, headers: new Map(), body: Buffer.from(text), arrivedAt: 0 };
	return readBody(response, 'read', (value) => readSessionResponse(value, 'x'));
};

describe('a body with too many parts', () => {
	const many = (piece: string) => piece.repeat(100_000);

	it.each([
		['messages in messages', sessionWith(`"messages":${nested(100_000)}`)],
		['keys of a message', sessionWith(`"messages":[{${many('"k":1,')}"k":1}]`)],
		['a value that would be sent back', sessionWith(`"messages":[{"human_input":[{"value":${nested(100_000)}}]}]`)],
		['numbers instead of messages', sessionWith(`"messages":[${many('0,')}0]`)],
		['spaced arrays in a field that nobody reads', sessionWith(`"z":${'[ '.repeat(100_000)}`)],
		['keys that end in an escaped backslash', sessionWith(`"z":{${many('"k\\\\":1,')}"k":1}`)],
	])('is refused before it is parsed: %s', (_, text) => {
		expect(readOf(text)).toThrow(expect.objectContaining({ code: 'body_too_complex' }));
	});

	it.each([
		['prose', 'The page shows a list of orders, with prices: 5 €, 7 €. '],
		['HTML', '<div class="row" style="color: red">["a", {"b": 1}]</div>\\'],
		['JSON within a text', JSON.stringify({ tag: 'div', id: [17, 18], children: { text: 'Order 17' } })],
	])('is not one with long texts: %s', (_, piece) => {
		const details = many(piece);
		expect(readOf(sessionWith(`"sessionDetails":${JSON.stringify(details)}`))().sessionDetails).toBe(details);
	});
});

it('a value that is nested too deep to be sent back makes a session unreadable', () => {
	const items = `[{"title":"","description":"","value":${nested(45_000)}}]`;
	const read = readOf(sessionWith(`"messages":[{"role":"assistant","human_input":${items}}]`));
	expect(read).toThrow(expect.objectContaining({ code: 'unreadable_answer' }));
});
