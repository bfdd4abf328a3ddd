import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import type { Json } from './json.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { callSlack } from './test-calls.ts';

let slack: FakeSlack;
let clock: ManualClock;
let clients: Client[];

/** A bare Socket Mode client that keeps what it is told and acknowledges only when asked to. */
interface Client {
	frames: Json[];
	socket: WebSocket;
	ack(frame: Json, payload?: Json): void;
	/** The next frame of this type that was not taken before. */
	next(type: string): Promise<Json>;
	closed: Promise<void>;
}

async function ticket(): Promise<string> {
	const answer = await callSlack(slack, 'apps.connections.open', {}, slack.tokens.app);
	return String(answer.url);
}

async function connect(): Promise<Client> {
	const socket = new WebSocket(await ticket());
	const frames: Json[] = [];
	const waiting = new Set<() => void>();
	let taken = 0;
	socket.on('message', (data: Buffer) => {
		frames.push(JSON.parse(data.toString('utf8')) as Json);
		for (const wake of waiting) wake();
	});
	socket.on('error', () => {});
	const client: Client = {
		frames,
		socket,
		ack: (frame, payload) =>
			socket.send(JSON.stringify({ envelope_id: frame.envelope_id, ...(payload ? { payload } : {}) })),
		next: (type) =>
			new Promise((resolve) => {
				const look = () => {
					const index = frames.findIndex((frame, at) => at >= taken && frame.type === type);
					if (index < 0) return;
					taken = index + 1;
					waiting.delete(look);
					resolve(frames[index] as Json);
				};
				waiting.add(look);
				look();
			}),
		closed: new Promise((resolve) => socket.once('close', () => resolve())),
	};
	clients.push(client);
	return client;
}

beforeEach(async () => {
	clients = [];
	clock = createManualClock();
	slack = await createFakeSlack({ clock });
});
afterEach(async () => {
	for (const client of clients) client.socket.terminate();
	await slack.close();
});

describe('a connection', () => {
	it('greets a connection with the number of connections, and takes its address only once', async () => {
		const url = await ticket();
		const socket = new WebSocket(url);
		await new Promise((resolve) => socket.once('message', resolve));
		const again = new WebSocket(url);
		const refused = await new Promise<Error>((resolve) => again.once('error', resolve));
		expect(refused.message).toContain('404');
		socket.terminate();
		await slack.changes.until(
			() => slack.sockets.count() === 0,
			() => 'the socket stays',
		);
		const client = await connect();
		expect(await client.next('hello')).toMatchObject({
			num_connections: 1,
			debug_info: { host: expect.any(String) },
			connection_info: { app_id: 'A0APP' },
		});
		expect(await (await connect()).next('hello')).toMatchObject({ num_connections: 2 });
	});

	it('refuses an eleventh connection', async () => {
		for (let count = 0; count < 10; count++) await (await connect()).next('hello');
		const eleventh = await connect();
		expect(await eleventh.next('disconnect')).toMatchObject({ reason: 'too_many_websockets' });
		await eleventh.closed;
		expect(slack.sockets.count()).toBe(10);
	});
});

describe('payloads', () => {
	it('sends payloads to exactly one connection, in turn', async () => {
		const [one, two] = [await connect(), await connect()];
		await Promise.all([one.next('hello'), two.next('hello')]);
		const ada = slack.as('ada');
		const first = ada.command('#agents', '/demo one');
		const second = ada.command('#agents', '/demo two');
		const frames = await Promise.all([one.next('slash_commands'), two.next('slash_commands')]);
		expect(frames.map((frame) => (frame.payload as Json).text)).toEqual(['one', 'two']);
		expect(frames[0]).toMatchObject({ accepts_response_payload: true, envelope_id: expect.any(String) });
		one.ack(frames[0] as Json);
		two.ack(frames[1] as Json, { text: 'Done' });
		expect(await first).toEqual({ ok: true, error: null });
		expect(await second).toEqual({ ok: true, error: null });
		expect(ada.messages('#agents').map((message) => [message.text(), message.isEphemeral()])).toEqual([['Done', true]]);
		expect(slack.as('grace').messages('#agents')).toEqual([]);
	});

	it('shows the person a failure when nobody acknowledges within three seconds', async () => {
		const client = await connect();
		await client.next('hello');
		const typed = slack.as('ada').command('#agents', '/demo demo');
		const frame = await client.next('slash_commands');
		expect(clock.nextWake).toBe(clock.now() + 3000);
		await clock.advance(3000);
		expect(await typed).toEqual({ ok: false, error: 'operation_timeout' });
		const [said] = slack.as('ada').messages('#agents');
		expect(said?.text()).toBe('/demo failed with the error "operation_timeout"');
		expect(said?.author()).toBe('slackbot');
		client.ack(frame);
		expect(slack.traffic.deliveries('slash_commands')[0]).toMatchObject({ acked: false, answer: 'timeout' });
	});

	it('accepts an acknowledgement that is on its way while a test moves the clock', async () => {
		const client = await connect();
		await client.next('hello');
		const typed = slack.as('ada').command('#agents', '/demo demo');
		const frame = await client.next('slash_commands');
		await clock.advance(600_000);
		await callSlack(slack, 'auth.test', {});
		client.ack(frame);
		expect(await typed).toMatchObject({ ok: true });
	});

	it('fails at once without a connection', async () => {
		expect(await slack.as('ada').command('#agents', '/demo demo')).toEqual({ ok: false, error: 'dispatch_failed' });
	});

	it('matches acknowledgements by envelope_id, in any order', async () => {
		const client = await connect();
		await client.next('hello');
		const early = slack.as('ada').command('#agents', '/demo early');
		const first = await client.next('slash_commands');
		const late = slack.as('grace').command('#agents', '/demo late');
		client.ack(await client.next('slash_commands'));
		expect(await late).toMatchObject({ ok: true });
		expect(slack.traffic.deliveries('slash_commands')[0]).toMatchObject({ acked: null });
		client.ack(first);
		expect(await early).toMatchObject({ ok: true });
	});

	it('sends a payload twice with the same envelope_id on request', async () => {
		const client = await connect();
		await client.next('hello');
		slack.faults.duplicateNext('slash_commands');
		const typed = slack.as('ada').command('#agents', '/demo demo');
		const [first, second] = [await client.next('slash_commands'), await client.next('slash_commands')];
		expect(second).toEqual(first);
		client.ack(first);
		client.ack(second);
		expect(await typed).toMatchObject({ ok: true });
	});
});

describe('an app that goes away', () => {
	it('leaves the payload of a lost app unanswered and continues', async () => {
		const client = await connect();
		await client.next('hello');
		const typed = slack.as('ada').command('#agents', '/demo demo');
		await client.next('slash_commands');
		client.socket.terminate();
		await slack.changes.until(
			() => slack.sockets.count() === 0,
			() => 'The socket stays.',
		);
		await clock.advance(3000);
		expect(await typed).toEqual({ ok: false, error: 'operation_timeout' });
		const again = await connect();
		await again.next('hello');
		const second = slack.as('ada').command('#agents', '/demo demo');
		again.ack(await again.next('slash_commands'));
		expect(await second).toMatchObject({ ok: true });
	});

	it('logs a frame that is not an acknowledgement as a violation', async () => {
		const client = await connect();
		await client.next('hello');
		client.socket.send('hello?');
		client.socket.send('{"payload":{}}');
		await slack.changes.until(
			() => slack.violations().length === 2,
			() => `There are ${slack.violations().length} violations.`,
		);
	});
});

describe('events', () => {
	it('sends an event again, marked, until it is acknowledged', async () => {
		const client = await connect();
		await client.next('hello');
		const said = slack.as('ada').mention('#agents', 'help');
		const first = await client.next('events_api');
		expect(first).toMatchObject({
			accepts_response_payload: false,
			retry_attempt: 0,
			payload: { event: { type: 'app_mention', text: '<@U0BOT> help' } },
		});
		await clock.advance(3000);
		await said;
		const second = await client.next('events_api');
		expect(second).toMatchObject({ retry_attempt: 1, retry_reason: 'timeout' });
		expect((second.payload as Json).event_id).toBe((first.payload as Json).event_id);
		await clock.advance(3000);
		await slack.changes.until(
			() => slack.traffic.deliveries('app_mention').at(-1)?.acked === false,
			() => 'The second is not given up.',
		);
		await clock.advance(59_999);
		expect(slack.traffic.deliveries('app_mention')).toHaveLength(2);
		await clock.advance(1);
		const third = await client.next('events_api');
		expect(third).toMatchObject({ retry_attempt: 2 });
		client.ack(third);
		await slack.changes.until(
			() => slack.traffic.deliveries('app_mention').at(-1)?.acked,
			() => 'The third is not acknowledged.',
		);
		await clock.advance(600_000);
		expect(slack.traffic.deliveries('app_mention')).toHaveLength(3);
	});
});

describe('events without a connection', () => {
	it('sends an event again when a connection is there', async () => {
		await slack.as('ada').mention('#agents', 'help');
		await slack.changes.until(
			() => slack.traffic.deliveries('app_mention').length === 2,
			() => 'It was not tried at once.',
		);
		const client = await connect();
		await client.next('hello');
		await clock.advance(60_000);
		const frame = await client.next('events_api');
		expect(frame).toMatchObject({ retry_attempt: 2, retry_reason: 'no_connection' });
		client.ack(frame);
	});
});

describe('a disconnect', () => {
	it.each(['warning', 'refresh_requested', 'link_disabled'] as const)(
		'%s takes one connection out of service',
		async (reason) => {
			const [one, two] = [await connect(), await connect()];
			await Promise.all([one.next('hello'), two.next('hello')]);
			slack.sockets.disconnect(reason);
			expect(await one.next('disconnect')).toMatchObject({ reason });
			expect(slack.sockets.count()).toBe(1);
			const typed = slack.as('ada').command('#agents', '/demo demo');
			two.ack(await two.next('slash_commands'));
			expect(await typed).toMatchObject({ ok: true });
			await clock.advance(10_000);
			await one.closed;
		},
	);

	it('cuts a connection without a frame', async () => {
		const client = await connect();
		await client.next('hello');
		slack.sockets.drop();
		await client.closed;
		expect(client.frames.map((frame) => frame.type)).toEqual(['hello']);
	});
});
