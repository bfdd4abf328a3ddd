import { expect, it } from 'vitest';
import { createManualClock } from '../fake-slack/index.ts';
import { startForTest, type TestClient } from './test-client.ts';

async function control(client: TestClient, method: string, path: string, body?: unknown) {
	const reply = await client.send(method, `/control${path}`, {
		headers: { 'content-type': 'application/json' },
		...(body === undefined ? {} : { body: JSON.stringify(body) }),
	});
	return [reply.status, reply.json] as const;
}

it('lets another process start scenarios, see sessions, answer as the web page, add messages and set the status', async () => {
	await using client = await startForTest({ clock: createManualClock(), resumeAfterMs: null });
	const [, scenarios] = await control(client, 'GET', '/scenarios');
	expect(scenarios[0]).toEqual({ id: 'demo', summary: expect.any(String) });
	expect(await control(client, 'POST', '/start', { scenario: 'choices', id: 'c1' })).toEqual([200, { id: 'c1' }]);
	expect(await control(client, 'GET', '/sessions')).toEqual([
		200,
		[{ id: 'c1', name: 'Order new chairs', status: 'humanInput', messages: 3, askingIndex: 2 }],
	]);
	expect(await control(client, 'POST', '/sessions/c1/answer', { values: ['Sand'] })).toEqual([
		200,
		{ ok: true, messageIndex: 2 },
	]);
	expect(await control(client, 'POST', '/sessions/c1/answer', { values: ['Sand'] })).toEqual([
		409,
		{ ok: false, reason: 'already answered' },
	]);
	expect(await control(client, 'POST', '/sessions/c1/messages', { role: 'assistant', content: 'Hm.' })).toEqual([
		200,
		{ index: 3 },
	]);
	await control(client, 'POST', '/sessions/c1/status', { status: 'stopped' });
	await control(client, 'POST', '/sessions/c1/renew-links');
	const session = await client.session('c1');
	expect(session).toMatchObject({ status: 'stopped', userId: expect.any(String) });
	const [, stored] = await control(client, 'GET', '/sessions/c1');
	expect(stored.session.messages).toHaveLength(4);
});

it('adds, replaces and removes sessions', async () => {
	await using client = await startForTest();
	await control(client, 'PUT', '/sessions/x1', { session: { status: 'active', messages: [] } });
	expect((await client.read('x1')).status).toBe(200);
	await control(client, 'PUT', '/sessions/x1', { session: { status: 'active' }, foreign: true });
	expect((await client.read('x1')).status).toBe(404);
	await control(client, 'DELETE', '/sessions/x1');
	expect((await control(client, 'GET', '/sessions/x1'))[0]).toBe(404);
});

it('reads and clears the log, and arms and clears faults', async () => {
	await using client = await startForTest();
	const [, armed] = await control(client, 'POST', '/faults', { kind: 'error', times: 2, method: 'GET' });
	expect((await client.read('demo')).status).toBe(500);
	const [, faults] = await control(client, 'GET', '/faults');
	expect(faults).toMatchObject([{ id: armed.id, left: 1, hits: 1 }]);
	await control(client, 'DELETE', `/faults/${armed.id}`);
	expect((await client.read('demo')).status).toBe(200);
	const [, entries] = await control(client, 'GET', '/log?kind=read&sessionId=demo');
	expect(entries.map((entry: { status: number }) => entry.status)).toEqual([500, 200]);
	const [, newer] = await control(client, 'GET', `/log?since=${entries[0].seq}`);
	expect(newer).toHaveLength(1);
	await control(client, 'DELETE', '/log');
	expect(client.service.log.size).toBe(0);
	await control(client, 'POST', '/faults', { kind: 'reset' });
	await control(client, 'DELETE', '/faults');
	expect(client.service.faults.list()).toEqual([]);
});

it('uses up the budget as other programs behind the address do', async () => {
	await using client = await startForTest({ clock: createManualClock() });
	expect((await control(client, 'POST', '/budget', { requests: 250 }))[0]).toBe(200);
	expect((await client.read('demo')).status).toBe(429);
});

it('answers 400 or 404 to what it does not understand, and changes nothing', async () => {
	await using client = await startForTest();
	expect((await control(client, 'POST', '/faults', { kind: 'earthquake' }))[0]).toBe(400);
	expect((await control(client, 'POST', '/faults', { kind: 'slow' }))[0]).toBe(400);
	expect((await control(client, 'POST', '/faults', { kind: 'redirect' }))[0]).toBe(400);
	expect((await control(client, 'POST', '/start', { scenario: 'nothing' }))[0]).toBe(404);
	expect((await control(client, 'POST', '/start', {}))[0]).toBe(400);
	expect((await control(client, 'POST', '/sessions/none/status', { status: 'active' }))[0]).toBe(404);
	const notJson = await client.send('POST', '/control/start', { body: '{' });
	expect(notJson.status).toBe(400);
	expect(client.service.faults.list()).toEqual([]);
	expect(client.service.sessions.ids()).toEqual([]);
});

it('refuses pages of other origins, and names that only resolve to this machine', async () => {
	await using client = await startForTest();
	const origin = await client.send('GET', '/control/sessions', { headers: { origin: 'https://evil.example' } });
	expect(origin.status).toBe(403);
	const rebound = await client.send('GET', '/control/sessions', { headers: { host: 'evil.example' } });
	expect(rebound.status).toBe(403);
	const own = await client.send('GET', '/control/sessions', { headers: { origin: 'http://localhost:3000' } });
	expect(own.status).toBe(200);
});
