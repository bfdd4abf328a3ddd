import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { readSignature } from '../../../src/slack/receivers/http.ts';
import { type App, afterEach, describe, expect, signedHeaders, startApp, withApp } from '../../kit.ts';

const it = withApp(() => startApp({ transport: 'http' }));
const sockets: Socket[] = [];
afterEach(() => {
	for (const socket of sockets.splice(0)) socket.destroy();
});

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

const sign = (app: App, body: string, at = Date.now()) => signedHeaders(app.slack.tokens.signingSecret, body, at);
const TIME = 'x-slack-request-timestamp';
const secondsAgo = (seconds: number) => String(Math.floor(Date.now() / 1_000) - seconds);
const post = (app: App, headers: Record<string, string>, path = '/slack/events', body: string | Buffer = BODY) =>
	fetch(`${app.url}${path}`, { method: 'POST', body, headers: { 'content-type': FORM, ...headers } });
const calls = (app: App) => app.slack.traffic.calls().length;

/** A request whose body the test sends in parts; `received()` is the response so far. */
async function open(app: App, headers: Record<string, string | number>) {
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

async function refused(app: App, reason: string): Promise<number> {
	const metrics = await fetch(`${app.url}/metrics`).then((response) => response.text());
	return Number(
		new RegExp(`^handraise_http_refused_total\\{reason="${reason}"\\} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0,
	);
}

describe('signed HTTP', () => {
	it("passes Slack's check of the request URL", async ({ app }) => {
		expect(await app.slack.verifyRequestUrl()).toBe(true);
	});

	it.for<[string, string, (app: App) => Record<string, string>, body?: string | Buffer]>([
		['no signature', 'unsigned', () => ({})],
		['a signature of another body', 'wrong_signature', (app) => sign(app, `${BODY}&x=1`)],
		['a signature with another secret', 'wrong_signature', () => signedHeaders('another', BODY, Date.now())],
		['a signature of another time', 'wrong_signature', (app) => ({ ...sign(app, BODY), [TIME]: secondsAgo(1) })],
		['a signature six minutes old', 'stale', (app) => sign(app, BODY, Date.now() - 360_000)],
		['a signature six minutes ahead', 'ahead', (app) => sign(app, BODY, Date.now() + 360_000)],
		[
			'bytes that are no text',
			'wrong_signature',
			(app) => sign(app, 'text=\ufffd'),
			Buffer.from('text=\xff', 'latin1'),
		],
		['a wrongly signed check of the certificate', 'wrong_signature', (app) => sign(app, BODY), `ssl_check=1&${BODY}`],
	])('refuses %s and does nothing', async ([, reason, headers, body = BODY], { app }) => {
		const before = calls(app);
		const counted = await refused(app, reason);
		expect((await post(app, headers(app), '/slack/events', body)).status).toBe(401);
		expect(calls(app)).toBe(before);
		expect(await refused(app, reason)).toBe(counted + 1);
	});

	it('responds to other paths and methods', async ({ app }) => {
		expect((await post(app, sign(app, BODY), '/elsewhere')).status).toBe(404);
		const read = await fetch(`${app.url}/slack/events`);
		expect([read.status, read.headers.get('allow')]).toEqual([405, 'POST']);
	});

	it('responds to what is signed and no request of Slack, and logs no error', async ({ app }) => {
		const errors = app.log.filter((line) => line.includes('"level":"error"')).length;
		const JSON_TYPE = 'application/json';
		for (const [status, type, bodies] of [
			[400, JSON_TYPE, ['null', '3', '"text"', '[{}]', '{"type":', '']],
			[400, FORM, ['payload=%7B', 'payload=null', 'payload=']],
			[400, 'text/plain', [BODY]],
			[400, '', [BODY]],
			[404, JSON_TYPE, ['{}']],
			[404, FORM, ['command=%2Funknown', '']],
		] as const) {
			for (const body of bodies) {
				const response = await post(app, { ...sign(app, body), 'content-type': type }, '/slack/events', body);
				expect([body, type, response.status]).toEqual([body, type, status]);
			}
		}
		expect(app.log.filter((line) => line.includes('"level":"error"'))).toHaveLength(errors);
	});

	it.for([
		['application/json; charset=utf-8', '{"type":"url_verification","challenge":"echo"}'],
		['Application/X-WWW-Form-Urlencoded;charset=utf-8', 'type=url_verification&challenge=echo'],
	] as const)('accepts the content type %s', async ([type, body], { app }) => {
		const response = await post(app, { ...sign(app, body), 'content-type': type }, '/slack/events', body);
		expect(await response.json()).toEqual({ challenge: 'echo' });
	});

	it("responds to Slack's unsigned check of the certificate, and ignores its other fields", async ({ app }) => {
		const before = calls(app);
		expect((await post(app, {}, '/slack/events', 'ssl_check=1&token=x')).status).toBe(200);
		expect((await post(app, {}, '/slack/events', `ssl_check=1&${BODY}`)).status).toBe(200);
		expect((await post(app, sign(app, 'ssl_check=1'), '/slack/events', 'ssl_check=1')).status).toBe(200);
		expect((await post(app, {}, '/slack/events', 'ssl_check=0&token=x')).status).toBe(401);
		expect((await post(app, {}, '/slack/events', `ssl_check=1&x=${'x'.repeat(300)}`)).status).toBe(401);
		expect(calls(app)).toBe(before);
	});
});

describe('a body that nobody has proved to be of Slack', () => {
	it.for([
		{ what: 'unsigned', length: 3.9 * MB, headers: () => ({}), status: '401' },
		{ what: 'stale', length: 3.9 * MB, headers: (app: App) => sign(app, BODY, Date.now() - 360_000), status: '401' },
		{ what: 'too large', length: 4 * MB + 1, headers: (app: App) => sign(app, BODY), status: '413' },
	])('refuses an unverified body before it is sent when it is $what', async ({ length, headers, status }, { app }) => {
		const request = await open(app, { 'content-length': Math.floor(length), ...headers(app) });
		expect(await request.answered()).toContain(`HTTP/1.1 ${status} `);
	});

	it('refuses an unverified body that grows over 4 MB', async ({ app }) => {
		const request = await open(app, { 'transfer-encoding': 'chunked', ...sign(app, BODY) });
		const size = 4 * MB + 1;
		request.socket.write(`${size.toString(16)}\r\n${'x'.repeat(size)}`);
		expect(await request.answered()).toContain('HTTP/1.1 413 ');
	});

	it('drops the oldest unverified body at 16 MB in total, and still serves Slack and health checks', async ({
		app,
	}) => {
		const held = await Promise.all(
			Array.from({ length: 12 }, () => open(app, { 'content-length': 4 * MB, ...sign(app, BODY) })),
		);
		for (const request of held) request.socket.write(Buffer.alloc(3 * MB));
		expect(await Promise.any(held.map((request) => request.answered()))).toMatch(
			/^HTTP\/1\.1 503 .*\r\n(.+\r\n)*retry-after: 1\r\n/i,
		);
		await app.slack.as('ada').command('#agents', '/session help');
		expect(app.slack.traffic.deliveries('slash_commands').at(-1)?.acked).toBe(true);
		expect(await (await fetch(`${app.url}/healthz`)).text()).toBe('ok\n');
		// Five bodies of 3 MB stay. The others are refused as bytes arrive, some of them after the first response.
		await expect.poll(() => held.filter((request) => request.received() !== '').length).toBe(held.length - 5);
		expect(await refused(app, 'crowded')).toBe(held.length - 5);
	});
});

const HEADERS = {
	'x-slack-request-timestamp': '1531420618',
	'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
};
const AT = 1_531_420_618_000;

describe('the headers of a signature', () => {
	it.each([
		['five minutes later', 300, null],
		['a second after that', 301, 'stale'],
		['five minutes earlier', -300, null],
		['a second before that', -301, 'ahead'],
	])('reads a signature %s: %s s old', (_, seconds, refused) => {
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
		['zeros before the time', { 'x-slack-request-timestamp': '01531420618' }, 'malformed_signature'],
		['a negative time', { 'x-slack-request-timestamp': '-1531420618' }, 'malformed_signature'],
		['a time with a point', { 'x-slack-request-timestamp': '1531420618.0' }, 'malformed_signature'],
		['an endless time', { 'x-slack-request-timestamp': '9'.repeat(400) }, 'malformed_signature'],
	])('refuses the headers of a signature with %s', (_, change, refused) => {
		const headers = Object.keys(change).length === 0 ? {} : { ...HEADERS, ...change };
		expect(readSignature(headers, AT)).toBe(refused);
	});
});
