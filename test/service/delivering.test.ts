import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { itemsOf } from '../../fake-session-service/log.ts';
import { mergeForPut } from '../../src/domain/compare.ts';
import { ANSWERS, clientFor, createHarness, failureOf, send, serve, until } from './harness.ts';

it('a PUT sends every item in order as JSON, with the id and the index', async () => {
	const { service, client } = await createHarness();
	const extra = ANSWERS.map((item) => ({ ...item, secret: 'not ours to send' }));
	await send(client, 's1', 1, extra);
	const [entry] = service.log.puts('s1');
	expect(entry).toMatchObject({
		contentType: 'application/json',
		body: { sessionId: 's1', messageIndex: 1, humanInputResponse: ANSWERS },
	});
	expect(entry && itemsOf(entry)).toEqual(ANSWERS);
	expect(service.sessions.values('s1', 1)).toEqual(['red', 'blue']);
});

it('a response with the updated message is a success too', async () => {
	const { service, client } = await createHarness({ service: { echoMessage: true } });
	await send(client, 's1', 1, ANSWERS);
	expect(service.log.savedPuts('s1')).toHaveLength(1);
});

it('a reserved delivery reads and sends at once although the budget is empty', async () => {
	const { service, client, budget } = await createHarness();
	budget.took(50);
	const permit = await client.reserveDelivery();
	await budget.acquire('delivery', { count: 20 });
	budget.observe({ limit: 250, remaining: 0, resetSeconds: 60 });
	expect(budget.left()).toBe(0);
	const { session } = await permit.read('s1');
	expect(session.status).toBe('humanInput');
	await permit.putAnswers('s1', 1, ANSWERS);
	expect(service.log.list().map((entry) => entry.method)).toEqual(['GET', 'PUT']);
	expect(budget.background.freeAt()).not.toBeNull();
});

it('the read and the PUT of a delivery share one connection', async () => {
	const sockets = new Set<Socket>();
	const address = await serve((request, response) => {
		sockets.add(request.socket);
		const isRead = request.method === 'GET';
		const body = isRead ? '{"session":{"sessionId":"s1","messages":[]}}' : '{"message":"Updated successfully"}';
		request.resume().once('end', () => response.setHeader('content-type', 'application/json').end(body));
	});
	const { client } = clientFor(address);
	const permit = await client.reserveDelivery();
	await permit.read('s1');
	await permit.putAnswers('s1', 0, []);
	expect(sockets.size).toBe(1);
});

it('a delivery whose read is repeated takes a new pair of permits', async () => {
	const { service, client, clock, calls, budget } = await createHarness();
	service.faults.add({ kind: 'error', times: 1 });
	const permit = await client.reserveDelivery();
	const reading = permit.read('s1');
	await until(() => calls.length === 1 && clock.sleeping === 1);
	await clock.advance(500);
	await reading;
	// 4 of 59, and 1.5 came in half a second.
	expect(budget.left()).toBe(56);
	await permit.putAnswers('s1', 1, ANSWERS);
	expect(budget.left()).toBe(56);
});

it('a delivery that waits to repeat its read keeps nobody waiting while the service is slow', async () => {
	const { service, client, clock, calls, budget } = await createHarness();
	for (let count = 0; count < 3; count++) budget.took(4_000);
	service.faults.add({ kind: 'error', times: 1 });
	const permit = await client.reserveDelivery();
	const reading = permit.read('s1');
	await until(() => calls.length === 1 && clock.sleeping === 1);
	expect(await client.read('s1', { priority: 'person' })).toMatchObject({ session: { status: 'humanInput' } });
	await clock.advance(500);
	await reading;
});

it('a delivery during a long pause fails with the time of the next try', async () => {
	const { client, clock, budget } = await createHarness();
	budget.observe({ retryAfterSeconds: 45 });
	expect(await failureOf(client.reserveDelivery())).toMatchObject({
		code: 'rate_limited',
		retryAt: clock.now() + 45_000,
	});
});

it('a delivery reads conditionally and sees changes', async () => {
	const { service, client, calls } = await createHarness();
	await client.read('s1', { priority: 'person' });
	await (await client.reserveDelivery()).read('s1');
	expect(calls.at(-1)?.outcome).toBe('unchanged');
	service.sessions.answerAsPage('s1', ['green', 'white']);
	const changed = await (await client.reserveDelivery()).read('s1');
	expect(changed.session.messages[1]?.humanInput.map((item) => item.value)).toEqual(['green', 'white']);
});

it('a PUT is sent once, whatever its outcome', async () => {
	const { service, client } = await createHarness();
	service.faults.add({ kind: 'reset', saves: true });
	expect((await failureOf(send(client, 's1', 1, ANSWERS))).outcomeUnknown).toBe(true);
	expect(service.log.puts('s1')).toHaveLength(1);
});

it('a PUT whose time is over right before it is written is certainly not sent', async () => {
	const { service, client } = await createHarness();
	const permit = await client.reserveDelivery();
	await permit.read('s1');
	const asked: string[] = [];
	const tooLate = () => {
		asked.push('at the last moment');
		return false;
	};
	const failure = await failureOf(permit.putAnswers('s1', 1, ANSWERS, tooLate));
	expect(failure).toMatchObject({ code: 'timed_out', outcomeUnknown: false });
	expect(asked).toHaveLength(1);
	expect(service.log.puts('s1')).toEqual([]);
	await (await client.reserveDelivery()).putAnswers('s1', 1, ANSWERS, () => true);
	expect(service.log.savedPuts('s1')).toHaveLength(1);
});

it('we close idle connections before the service does, so that no PUT uses a closing one', async () => {
	let ended = false;
	const server = createServer((_request, response) => response.end('{"session":{"sessionId":"s1","messages":[]}}'));
	// The server sends `Keep-Alive: timeout=2`; the real service sends 5.
	server.keepAliveTimeout = 2_000;
	server.on('connection', (socket) =>
		socket.once('end', () => {
			ended = true;
		}),
	);
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	onTestFinished(() => void server.close());
	const { client } = clientFor(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
	await client.read('s1', { priority: 'person' });
	// `end` means that the client closed the socket: the server's own time-out causes none.
	await until(() => ended);
});

it('fields that are no strings are sent back as they were read', async () => {
	const { service, client } = await createHarness();
	const deep = `${'[{"a":'.repeat(100)}1${'}]'.repeat(100)}`;
	const human_input = `[{"title":null,"description":"","value":${deep}},{"title":"B","description":"","value":""}]`;
	const body = `{"session":{"status":"humanInput","messages":[{"role":"assistant","human_input":${human_input}}]}}`;
	service.faults.add({ kind: 'body', body, method: 'GET' });
	service.sessions.put('s1', { status: 'humanInput', messages: [{ role: 'assistant' }] });
	const { session } = await client.read('s1', { priority: 'delivery' });
	await send(client, 's1', 0, mergeForPut(session.messages[0]?.sent ?? [], [null, 'blue']));
	const sent = service.log.puts('s1')[0]?.body as { humanInputResponse: unknown[] };
	const [before, after] = sent.humanInputResponse as { title: unknown; value: unknown }[];
	expect([before?.title, JSON.stringify(before?.value) === deep, after]).toEqual([
		null,
		true,
		{ title: 'B', description: '', value: 'blue' },
	]);
});
