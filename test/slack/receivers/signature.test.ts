import { describe, expect, it } from 'vitest';
import { signedHeaders } from '../../../fake-slack/index.ts';
import { isSigned, readSignature } from '../../../src/slack/receivers/http.ts';

/** The example of docs.slack.dev, "Verifying requests from Slack". */
const SECRET = '8f742231b10e8888abcd99yyyzzz85a5';
const BODY =
	'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V' +
	'&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=' +
	'&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN' +
	'&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
const HEADERS = {
	'x-slack-request-timestamp': '1531420618',
	'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
};
const AT = 1_531_420_618_000;

function signatureOf(headers: Record<string, string>, nowMs: number) {
	const signature = readSignature(headers, nowMs);
	if (typeof signature === 'string') throw new Error(signature);
	return signature;
}

describe('a signature', () => {
	it("of Slack's own example is accepted", () => {
		expect(isSigned(SECRET, signatureOf(HEADERS, AT), Buffer.from(BODY))).toBe(true);
	});

	it('of another body, secret or time is not', () => {
		const signature = signatureOf(HEADERS, AT);
		expect(isSigned(SECRET, signature, Buffer.from(`${BODY} `))).toBe(false);
		expect(isSigned(`${SECRET}0`, signature, Buffer.from(BODY))).toBe(false);
		expect(isSigned(SECRET, { ...signature, timestamp: '1531420619' }, Buffer.from(BODY))).toBe(false);
	});

	it('counts the bytes as they came, not the text that they make', () => {
		const replaced = '�';
		const signature = signatureOf(signedHeaders(SECRET, replaced, AT), AT);
		expect(isSigned(SECRET, signature, Buffer.from(replaced))).toBe(true);
		expect(isSigned(SECRET, signature, Buffer.from([0xff]))).toBe(false);
	});

	it.each([
		['five minutes later', 300, null],
		['a second after that', 301, 'stale'],
		['five minutes earlier', -300, null],
		['a second before that', -301, 'ahead'],
	])('read %s is %s s old', (_, seconds, refused) => {
		const read = readSignature(HEADERS, AT + seconds * 1_000);
		expect(typeof read === 'string' ? read : null).toBe(refused);
	});

	it.each([
		['no headers', {}, 'unsigned'],
		['no signature', { 'x-slack-signature': undefined }, 'unsigned'],
		['no time', { 'x-slack-request-timestamp': undefined }, 'unsigned'],
		['another version', { 'x-slack-signature': `v1=${'a'.repeat(64)}` }, 'malformed_signature'],
		['a short signature', { 'x-slack-signature': `v0=${'a'.repeat(63)}` }, 'malformed_signature'],
		['two signatures', { 'x-slack-signature': `v0=${'a'.repeat(64)}, v0=${'b'.repeat(64)}` }, 'malformed_signature'],
		['a time in words', { 'x-slack-request-timestamp': 'now' }, 'malformed_signature'],
		['a negative time', { 'x-slack-request-timestamp': '-1531420618' }, 'malformed_signature'],
		['a time with a point', { 'x-slack-request-timestamp': '1531420618.0' }, 'malformed_signature'],
		['an endless time', { 'x-slack-request-timestamp': '9'.repeat(400) }, 'malformed_signature'],
	])('with %s is not looked at', (_, change, refused) => {
		const headers = Object.keys(change).length === 0 ? {} : { ...HEADERS, ...change };
		expect(readSignature(headers, AT)).toBe(refused);
	});
});
