import { expect, it } from 'vitest';
import { createManualClock } from '../fake-slack/index.ts';
import { askingSession } from './builders.ts';
import type { Fault } from './faults.ts';
import { startForTest, type TestClient } from './test-client.ts';

const waiting = askingSession(['A']);

/** A service with the session `s1`, which asks in message 1, and one fault for one request. */
async function withFault(fault: Fault, options: Parameters<typeof startForTest>[0] = {}): Promise<TestClient> {
	const client = await startForTest({ resumeAfterMs: null, ...options });
	client.service.sessions.put('s1', waiting);
	client.service.faults.add({ times: 1, ...fault });
	return client;
}

it.each<[string, Fault, number]>([
	['500 before saving', { kind: 'error' }, 0],
	['500 after saving', { kind: 'error', saves: true }, 1],
	['a proxy’s page before saving', { kind: 'html' }, 0],
	['a proxy’s page after saving', { kind: 'html', status: 504, saves: true }, 1],
	['429', { kind: 'rate-limited' }, 0],
	['401', { kind: 'unauthorized' }, 0],
	['garbage after saving', { kind: 'garbage' }, 1],
	['garbage before saving', { kind: 'garbage', saves: false }, 0],
	['a cut answer', { kind: 'truncated' }, 1],
	['foreign JSON', { kind: 'foreign-json' }, 0],
	['wrong types after saving', { kind: 'wrong-types', saves: true }, 1],
])('%s: answered, stored %3$s times', async (_name, fault, stored) => {
	await using client = await withFault(fault);
	const reply = await client.answer('s1', 1, ['one']);
	const { log, sessions } = client.service;
	expect(log.puts('s1')[0]).toMatchObject({ status: reply.status, faults: [fault.kind] });
	expect(log.savedPuts('s1', 1)).toHaveLength(stored);
	expect(sessions.values('s1', 1)).toEqual([stored === 1 ? 'one' : '']);
	expect((await client.answer('s1', 1, ['two'])).json).toEqual({ message: 'Updated successfully' });
});

it.each<[string, Fault, number]>([
	['bytes that are no HTTP', { kind: 'broken-http' }, 1],
	['a connection cut within the body', { kind: 'cut-off' }, 1],
])('%s: no answer arrives, stored %3$s times', async (_name, fault, stored) => {
	await using client = await withFault(fault);
	await expect(client.answer('s1', 1, ['one'])).rejects.toThrow();
	expect(client.service.log.savedPuts('s1', 1)).toHaveLength(stored);
});

it.each([
	['before', false],
	['after', true],
])('a connection is reset %s saving', async (_name, saves) => {
	await using client = await withFault({ kind: 'reset', saves });
	await expect(client.answer('s1', 1, ['one'])).rejects.toMatchObject({ code: 'ECONNRESET' });
	expect(client.service.log.savedPuts('s1', 1)).toHaveLength(saves ? 1 : 0);
	expect(client.service.log.puts('s1')[0]).toMatchObject({ status: null, reset: true, clientGone: false });
});

it('applies two faults for the same requests one after the other', async () => {
	await using client = await withFault({ kind: 'error', status: 503 });
	client.service.faults.add({ kind: 'html', times: 1 });
	const statuses = [];
	for (let n = 0; n < 3; n++) statuses.push((await client.read('s1')).status);
	expect(statuses).toEqual([503, 502, 200]);
});

it('stores a hanging request or not, as told, and ends it when the client gives up', async () => {
	await using client = await withFault({ kind: 'hang', saves: true });
	const saved = new Promise<void>((resolve) => {
		client.service.hooks.onSaved = () => resolve();
	});
	const abort = new AbortController();
	const hanging = fetch(`${client.service.url}/v1/sessions/s1/update-human-input`, {
		method: 'PUT',
		signal: abort.signal,
		headers: { 'x-api-key': client.service.apiKey, 'content-type': 'application/json' },
		body: JSON.stringify({ messageIndex: 1, humanInputResponse: [{ title: 'A', description: '', value: 'one' }] }),
	});
	await saved;
	abort.abort();
	await expect(hanging).rejects.toThrow();
	expect(client.service.log.puts('s1')[0]).toMatchObject({ status: null, effective: true });
});

it('answers a read with an HTML page, JSON of another service, wrong types or half a body', async () => {
	await using client = await withFault({ kind: 'html' });
	const { faults } = client.service;
	const page = await client.read('s1');
	expect([page.status, page.text.slice(0, 15)]).toEqual([502, '<!DOCTYPE html>']);
	faults.add({ kind: 'foreign-json', times: 1 });
	expect((await client.read('s1')).json).not.toHaveProperty('session');
	faults.add({ kind: 'wrong-types', times: 1 });
	expect((await client.read('s1')).json.session.messages).toEqual({ role: 'assistant' });
	faults.add({ kind: 'truncated', times: 1 });
	const half = await client.read('s1');
	expect([half.status, half.json]).toEqual([200, null]);
	expect(half.text.startsWith('{"session":')).toBe(true);
});

it('answers 429 on request with the given headers, and other words', async () => {
	await using client = await withFault({ kind: 'rate-limited', retryAfterSeconds: 7 });
	const reply = await client.read('s1');
	expect(reply.status).toBe(429);
	expect(reply.headers).toMatchObject({ 'retry-after': '7', 'ratelimit-reset': '7', 'ratelimit-remaining': '0' });
	expect(reply.text).not.toContain('7 seconds in');
	expect(reply.text).toContain('36 seconds');
});

it('redirects to the given address', async () => {
	await using client = await withFault({ kind: 'redirect', location: 'http://127.0.0.1:1/elsewhere' });
	const reply = await client.read('s1');
	expect([reply.status, reply.headers.location]).toEqual([302, 'http://127.0.0.1:1/elsewhere']);
});

it.each([true, false])('a body over 32 MiB, chunked: %s', async (chunked) => {
	await using client = await withFault({ kind: 'huge', chunked });
	const reply = await client.read('s1');
	expect(reply.text.length).toBe(33 * 1024 * 1024);
	expect(reply.json.session.sessionId).toBe('huge');
	expect(reply.headers['content-length']).toBe(chunked ? undefined : String(33 * 1024 * 1024));
});

it('selects requests by method and session, for a number of them or until cleared', async () => {
	await using client = await startForTest();
	const { faults, sessions } = client.service;
	sessions.put('s1', waiting);
	sessions.put('s2', waiting);
	const lasting = faults.add({ kind: 'error', method: 'GET', sessionId: 's1' });
	faults.add({ kind: 'error', status: 503, method: 'PUT', times: 2 });
	expect((await client.read('s2')).status).toBe(200);
	expect((await client.read('s1')).status).toBe(500);
	expect((await client.read('s1')).status).toBe(500);
	const puts = [];
	for (let n = 0; n < 3; n++) puts.push((await client.answer('s2', 1, ['x'])).status);
	expect(puts).toEqual([503, 503, 200]);
	expect(faults.list().map((armed) => [armed.id, armed.hits])).toEqual([[lasting, 2]]);
	faults.clear(lasting);
	expect((await client.read('s1')).status).toBe(200);
});

/** Sends a PUT, gives up while the service waits, and resolves when the service has noticed. */
async function abandonedPut(client: TestClient): Promise<void> {
	const arrived = new Promise<void>((resolve) => {
		client.service.hooks.onRequest = () => resolve();
	});
	const abort = new AbortController();
	const sent = fetch(`${client.service.url}/v1/sessions/s1/update-human-input`, {
		method: 'PUT',
		signal: abort.signal,
		headers: { 'x-api-key': client.service.apiKey, 'content-type': 'application/json' },
		body: JSON.stringify({ messageIndex: 1, humanInputResponse: [{ title: 'A', description: '', value: 'late' }] }),
	});
	await arrived;
	abort.abort();
	await expect(sent).rejects.toThrow();
	await expect.poll(() => client.service.log.puts('s1')[0]?.clientGone, { interval: 5 }).toBe(true);
}

it('saves a late PUT although the client has gone', async () => {
	const clock = createManualClock();
	await using client = await withFault({ kind: 'late', ms: 20_000 }, { clock });
	await abandonedPut(client);
	await clock.advance(19_999);
	expect(client.service.sessions.values('s1', 1)).toEqual(['']);
	await clock.advance(1);
	expect(client.service.sessions.values('s1', 1)).toEqual(['late']);
	const [entry] = client.service.log.effectivePuts('s1', 1);
	expect((entry?.savedAt ?? 0) - (entry?.at ?? 0)).toBe(20_000);
});

it('drops a request that is slow in front of the service when the client has gone', async () => {
	const clock = createManualClock();
	await using client = await withFault({ kind: 'slow', ms: 20_000 }, { clock });
	await abandonedPut(client);
	await clock.advance(60_000);
	expect(client.service.sessions.values('s1', 1)).toEqual(['']);
	expect(client.service.log.savedPuts()).toEqual([]);
});

it('answers 504 at once and saves the PUT later', async () => {
	const clock = createManualClock();
	await using client = await withFault({ kind: 'html', status: 504, saves: true, saveAfterMs: 3000 }, { clock });
	expect((await client.answer('s1', 1, ['one'])).status).toBe(504);
	expect(client.service.sessions.values('s1', 1)).toEqual(['']);
	await clock.advance(3000);
	expect(client.service.sessions.values('s1', 1)).toEqual(['one']);
});

it('applies a delay and another fault to the same request', async () => {
	const clock = createManualClock();
	await using client = await withFault({ kind: 'slow', ms: 1000 }, { clock });
	client.service.faults.add({ kind: 'error', times: 1 });
	const reply = client.read('s1');
	await expect.poll(() => clock.sleeping, { interval: 5 }).toBe(1);
	await clock.advance(1000);
	expect((await reply).status).toBe(500);
	expect(client.service.log.reads('s1')[0]?.faults).toEqual(['slow', 'error']);
});
