import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import { signedHeaders } from './http-delivery.ts';
import type { Json } from './json.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';

interface Received {
	headers: IncomingHttpHeaders;
	body: string;
	response: ServerResponse;
}

let slack: FakeSlack;
let clock: ManualClock;
let server: Server;
let received: Received[];
let answer: (request: Received) => void;

beforeEach(async () => {
	received = [];
	answer = ({ response }) => response.end();
	server = createServer((request, response) => {
		const chunks: Buffer[] = [];
		request.on('data', (chunk: Buffer) => chunks.push(chunk));
		request.on('end', () => {
			const one = { headers: request.headers, body: Buffer.concat(chunks).toString('utf8'), response };
			received.push(one);
			answer(one);
		});
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	clock = createManualClock();
	slack = await createFakeSlack({ clock, signingSecret: 'shh' });
	slack.setRequestUrl(`http://127.0.0.1:${(server.address() as AddressInfo).port}/slack/events`);
});
afterEach(async () => {
	await slack.close();
	server.closeAllConnections();
	server.close();
});

describe('signed HTTP', () => {
	it('sends commands as a form, signed over the exact body', async () => {
		slack.settings.commands = [{ command: '/demo', escaped: true }];
		expect(await slack.as('ada').command('#secret', '/demo 3f9a2c1d for @grace')).toMatchObject({ ok: true });
		const [request] = received;
		const form = new URLSearchParams(request?.body);
		expect(Object.fromEntries(form)).toMatchObject({
			command: '/demo',
			text: '3f9a2c1d for <@U0GRACE|grace>',
			user_id: 'U0ADA',
			channel_id: 'C0SECRET',
			channel_name: 'privategroup',
			team_id: 'T0ACME',
			trigger_id: expect.stringMatching(/^\w+\.\d+\.\d+$/),
			response_url: expect.stringContaining(slack.origin),
		});
		const stamp = Number(request?.headers['x-slack-request-timestamp']);
		const signature = createHmac('sha256', 'shh').update(`v0:${stamp}:${request?.body}`).digest('hex');
		expect(request?.headers['x-slack-signature']).toBe(`v0=${signature}`);
		expect(Math.abs(Date.now() / 1000 - stamp)).toBeLessThan(60);
	});

	it('sends interactions in a payload field and events as JSON', async () => {
		const said = await slack.as('ada').say('dm', 'hello <there>');
		await slack.as('ada').shortcut(said, 'start');
		const payload = JSON.parse(new URLSearchParams(received[1]?.body).get('payload') ?? '') as Json;
		expect(payload).toMatchObject({
			type: 'message_action',
			callback_id: 'start',
			user: { id: 'U0ADA', team_id: 'T0ACME' },
		});
		const event = JSON.parse(received[0]?.body ?? '') as Json;
		expect(event).toMatchObject({
			type: 'event_callback',
			event_id: expect.stringMatching(/^Ev/),
			event: { type: 'message', channel_type: 'im', text: 'hello &lt;there&gt;', user: 'U0ADA' },
		});
		expect(received[0]?.headers['x-slack-retry-num']).toBeUndefined();
	});

	it('takes any 2xx for an event and only 200 for anything else, and names a failure in the redelivery', async () => {
		answer = ({ response }) => {
			response.statusCode = received.length === 1 ? 500 : 299;
			response.end();
		};
		await slack.as('ada').say('dm', 'hello');
		await clock.advance(0);
		await slack.changes.until(
			() => slack.traffic.deliveries('message').at(-1)?.acked,
			() => 'Nothing came again.',
		);
		expect(received[1]?.headers).toMatchObject({ 'x-slack-retry-num': '1', 'x-slack-retry-reason': 'http_error' });
		expect(slack.traffic.deliveries('message').map((one) => one.status)).toEqual([500, 299]);
		expect(await slack.as('ada').command('#agents', '/demo')).toEqual({ ok: false, error: 'http_service_error' });
	});

	it('follows no redirect, and names a timeout in the redelivery', async () => {
		answer = ({ response }) => response.writeHead(302, { location: '/elsewhere' }).end();
		expect(await slack.as('ada').command('#agents', '/demo')).toEqual({ ok: false, error: 'http_service_error' });
		expect(received).toHaveLength(1);
		const arrived = Promise.withResolvers<void>();
		answer = ({ response }) => {
			if (received.length > 2) response.end();
			else arrived.resolve();
		};
		const said = slack.as('ada').say('dm', 'hello');
		await arrived.promise;
		await clock.advance(3000);
		await said;
		await slack.changes.until(
			() => slack.traffic.deliveries('message').at(-1)?.acked,
			() => 'Nothing came again.',
		);
		expect(received[2]?.headers).toMatchObject({ 'x-slack-retry-reason': 'http_timeout' });
	});

	it('does not show a command’s response that is not a message', async () => {
		answer = ({ response }) => response.end(JSON.stringify({ text: 'x', blocks: [{ type: 'section' }] }));
		const typed = await slack.as('ada').command('#agents', '/demo');
		expect(typed).toEqual({ ok: false, error: 'invalid_command_response' });
		const [shown] = slack.as('ada').messages('#agents');
		expect(shown?.text()).toContain('failed with the error "invalid_command_response"');
	});

	it('gives up a command after three seconds, and at once when nobody listens', async () => {
		const arrived = Promise.withResolvers<void>();
		answer = () => arrived.resolve();
		const typed = slack.as('ada').command('#agents', '/demo');
		await arrived.promise;
		await clock.advance(3000);
		expect(await typed).toEqual({ ok: false, error: 'operation_timeout' });
		slack.setRequestUrl('http://127.0.0.1:1/slack/events');
		expect(await slack.as('ada').command('#agents', '/demo')).toEqual({ ok: false, error: 'http_client_error' });
	});

	it('shows a command’s response in the channel when it asks for that', async () => {
		answer = ({ response }) => response.end(JSON.stringify({ response_type: 'in_channel', text: 'For all' }));
		await slack.as('ada').command('#agents', '/demo');
		expect(slack.as('grace').messages('#agents')[0]?.text()).toBe('For all');
		answer = ({ response }) => response.end('Just text');
		await slack.as('ada').command('#agents', '/demo');
		expect(
			slack
				.as('ada')
				.messages('#agents')
				.map((one) => one.text()),
		).toEqual(['For all', 'Just text']);
		expect(slack.as('grace').messages('#agents')).toHaveLength(1);
	});

	it('verifies a request URL by its challenge', async () => {
		answer = ({ body, response }) => response.end(String((JSON.parse(body) as Json).challenge));
		expect(await slack.verifyRequestUrl()).toBe(true);
		answer = ({ response }) => response.end('something else');
		expect(await slack.verifyRequestUrl()).toBe(false);
	});

	it('delivers an envelope twice on request', async () => {
		slack.faults.duplicateNext('slash_commands');
		await slack.as('ada').command('#agents', '/demo');
		expect(received).toHaveLength(2);
		expect(received[1]?.body).toBe(received[0]?.body);
	});
});

it("signs as Slack's own example (docs.slack.dev, “Verifying requests from Slack”)", () => {
	const body =
		'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V' +
		'&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=' +
		'&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN' +
		'&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
	expect(signedHeaders('8f742231b10e8888abcd99yyyzzz85a5', body, 1_531_420_618_000)).toEqual({
		'x-slack-request-timestamp': '1531420618',
		'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
	});
});
