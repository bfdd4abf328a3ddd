import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { signedHeaders } from '../../../fake-slack/index.ts';
import { startApp } from '../../support/app.ts';
import type { App } from '../support/open-session.ts';

let app: App;
const sockets: Socket[] = [];
beforeAll(async () => {
	app = await startApp({ transport: 'http' });
});
afterEach(() => {
	for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => app[Symbol.asyncDispose]());

const FORM = 'application/x-www-form-urlencoded';
const BODY = new URLSearchParams({
	command: '/session',
	text: 'help',
	user_id: 'U0ADA',
	team_id: 'T0ACME',
	channel_id: 'C0AGENTS',
	trigger_id: '1.1.1',
}).toString();
const MB = 1024 * 1024;

const sign = (body: string, at = Date.now()) => signedHeaders(app.slack.tokens.signingSecret, body, at);
const post = (headers: Record<string, string>, path = '/slack/events', body = BODY) =>
	fetch(`${app.url}${path}`, { method: 'POST', body, headers: { 'content-type': FORM, ...headers } });
const calls = () => app.slack.traffic.calls().length;

/** A request whose body does not follow by itself; what came back so far is in `received()`. */
async function open(headers: Record<string, string | number>) {
	const { hostname, port } = new URL(app.url);
	const socket = connect(Number(port), hostname);
	sockets.push(socket);
	let received = '';
	socket.on('data', (data) => {
		received += data;
	});
	socket.on('error', () => {});
	await once(socket, 'connect');
	const lines = Object.entries({ host: hostname, 'content-type': FORM, ...headers });
	socket.write(`POST /slack/events HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
	return {
		socket,
		received: () => received,
		/** Resolves when there is a response. */
		async answered(): Promise<string> {
			while (!received.includes('\r\n\r\n')) await Promise.race([once(socket, 'data'), once(socket, 'close')]);
			return received;
		},
	};
}

async function refused(reason: string): Promise<number> {
	const metrics = await fetch(`${app.url}/metrics`).then((response) => response.text());
	return Number(
		new RegExp(`^handraise_http_refused_total\\{reason="${reason}"\\} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0,
	);
}

describe('signed HTTP', () => {
	it("passes Slack's check of the request URL", async () => {
		expect(await app.slack.verifyRequestUrl()).toBe(true);
	});

	it.each([
		['no signature', 'unsigned', () => ({})],
		['a signature that is none', 'malformed_signature', () => ({ ...sign(BODY), 'x-slack-signature': 'v0=1' })],
		['a time that is none', 'malformed_signature', () => ({ ...sign(BODY), 'x-slack-request-timestamp': 'now' })],
		['a signature of another secret', 'wrong_signature', () => signedHeaders('another-secret', BODY, Date.now())],
		['a signature of another body', 'wrong_signature', () => sign(`${BODY}&x=1`)],
		['a signature six minutes old', 'stale', () => sign(BODY, Date.now() - 360_000)],
		['a signature six minutes ahead', 'ahead', () => sign(BODY, Date.now() + 360_000)],
	])('refuses %s and does nothing', async (_, reason, headers) => {
		const before = calls();
		const counted = await refused(reason);
		expect((await post(headers())).status).toBe(401);
		expect(calls()).toBe(before);
		expect(await refused(reason)).toBe(counted + 1);
	});

	it('answers other paths and methods', async () => {
		expect((await post(sign(BODY), '/elsewhere')).status).toBe(404);
		const read = await fetch(`${app.url}/slack/events`);
		expect([read.status, read.headers.get('allow')]).toEqual([405, 'POST']);
	});

	it.each([
		['null', 'application/json', 400],
		['3', 'application/json', 400],
		['"text"', 'application/json', 400],
		['[{}]', 'application/json', 400],
		['{"type":', 'application/json', 400],
		['', 'application/json', 400],
		['payload=%7B', FORM, 400],
		['payload=null', FORM, 400],
		['payload=', FORM, 400],
		[BODY, 'text/plain', 400],
		[BODY, '', 400],
		['{}', 'application/json', 404],
		['command=%2Funknown', FORM, 404],
		['', FORM, 404],
	])('answers a signed %j of type %j with %i', async (body, type, status) => {
		const errors = app.log.filter((line) => line.includes('"level":"error"')).length;
		expect((await post({ ...sign(body), 'content-type': type }, '/slack/events', body)).status).toBe(status);
		expect(app.log.filter((line) => line.includes('"level":"error"'))).toHaveLength(errors);
	});

	it('takes a content type with a parameter', async () => {
		const body = JSON.stringify({ type: 'url_verification', challenge: 'echo' });
		const response = await post({ ...sign(body), 'content-type': 'application/json; charset=utf-8' }, undefined, body);
		expect(await response.json()).toEqual({ challenge: 'echo' });
	});

	it("answers Slack's unsigned check of the certificate, and does nothing else that stands in it", async () => {
		const before = calls();
		expect((await post({}, '/slack/events', 'ssl_check=1&token=x')).status).toBe(200);
		expect((await post({}, '/slack/events', `ssl_check=1&${BODY}`)).status).toBe(200);
		expect((await post({}, '/slack/events', 'ssl_check=0&token=x')).status).toBe(401);
		expect((await post({}, '/slack/events', `ssl_check=1&x=${'x'.repeat(300)}`)).status).toBe(401);
		expect(calls()).toBe(before);
	});
});

describe('a body that nobody has proved to be of Slack', () => {
	it.each([
		['unsigned', 3.9 * MB, () => ({}), '401'],
		['stale', 3.9 * MB, () => sign(BODY, Date.now() - 360_000), '401'],
		['too large', 4 * MB + 1, () => sign(BODY), '413'],
	])('is refused before it is sent when it is %s', async (_, length, headers, status) => {
		const request = await open({ 'content-length': Math.floor(length), ...headers() });
		expect(await request.answered()).toContain(`HTTP/1.1 ${status} `);
	});

	it('is refused when it grows over 4 MB', async () => {
		const request = await open({ 'transfer-encoding': 'chunked', ...sign(BODY) });
		const size = 4 * MB + 1;
		request.socket.write(`${size.toString(16)}\r\n${'x'.repeat(size)}`);
		expect(await request.answered()).toContain('HTTP/1.1 413 ');
	});

	it('gives way to newer ones when all that arrive hold 16 MB, and Slack and health checks get their answers', async () => {
		const held = await Promise.all(Array.from({ length: 12 }, () => open({ 'content-length': 4 * MB, ...sign(BODY) })));
		for (const request of held) request.socket.write(Buffer.alloc(3 * MB));
		expect(await Promise.any(held.map((request) => request.answered()))).toMatch(
			/^HTTP\/1\.1 503 .*\r\n(.+\r\n)*retry-after: 1\r\n/i,
		);
		await app.slack.as('ada').command('#agents', '/session help');
		expect(app.slack.traffic.deliveries('slash_commands').at(-1)?.acked).toBe(true);
		expect(await (await fetch(`${app.url}/healthz`)).text()).toBe('ok\n');
		const answered = held.filter((request) => request.received() !== '').length;
		expect(answered).toBeLessThan(held.length);
		expect(await refused('crowded')).toBe(answered);
	});
});
