import { expect, it } from 'vitest';
import { createManualClock } from '../fake-slack/index.ts';
import { CANARIES, CANARY_STRINGS } from './canaries.ts';
import { startForTest } from './test-client.ts';

const plain = { status: 'active', name: 'Plain', messages: [{ role: 'user', content: 'Do it.' }] };

it('gives the session under one key, with a weak tag', async () => {
	await using client = await startForTest();
	client.service.sessions.put('s1', plain);
	const reply = await client.read('s1');
	expect(reply.status).toBe(200);
	expect(Object.keys(reply.json)).toEqual(['session']);
	expect(reply.json.session).toMatchObject({ sessionId: 's1', status: 'active', name: 'Plain' });
	expect(reply.headers.etag).toMatch(/^W\/"[0-9a-f]+-.{27}"$/);
	expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
	expect(reply.headers['keep-alive']).toBe('timeout=5');
});

it('answers 304 without a body for an unchanged session, and a whole one with another tag for a changed one', async () => {
	await using client = await startForTest();
	client.service.sessions.put('s1', plain);
	const first = await client.read('s1');
	const etag = String(first.headers.etag);
	const again = await client.read('s1', { 'if-none-match': etag });
	expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag]);
	expect((await client.read('s1', { 'if-none-match': `"other", ${etag.slice(2)}` })).status).toBe(304);
	client.service.sessions.push('s1', { role: 'assistant', content: 'A step.' });
	const changed = await client.read('s1', { 'if-none-match': etag });
	expect(changed.status).toBe(200);
	expect(changed.headers.etag).not.toBe(etag);
});

it('gives the whole response for Cache-Control: no-cache, which fetch adds to conditional requests', async () => {
	await using client = await startForTest();
	client.service.sessions.put('s1', plain);
	const etag = String((await client.read('s1')).headers.etag);
	expect((await client.read('s1', { 'if-none-match': etag, 'cache-control': 'no-cache' })).status).toBe(200);
});

it('redirects to its front page without a key, and answers a JSON 401 with a wrong one', async () => {
	await using client = await startForTest();
	client.service.sessions.put('s1', plain);
	const without = await client.send('GET', '/v1/sessions/s1');
	expect([without.status, without.headers.location]).toEqual([302, '/']);
	const wrong = await client.read('s1', { 'x-api-key': 'wrong' });
	expect([wrong.status, wrong.json]).toEqual([401, { success: false, error: 'Invalid API key' }]);
	expect(client.service.log.list().map((entry) => entry.hasKey)).toEqual([false, true]);
	expect(JSON.stringify(client.service.log.list())).not.toContain('wrong');
});

it('answers 404 alike for an unknown session and one of another account', async () => {
	await using client = await startForTest();
	client.service.sessions.put('theirs', plain, { foreign: true });
	for (const id of ['nowhere', 'theirs']) {
		const read = await client.read(id);
		expect([read.status, read.json]).toEqual([404, { message: 'Session not found' }]);
	}
});

it('shows an action without parameters as an empty object', async () => {
	await using client = await startForTest();
	const action = [{ go_back: {} }, { click: { index: 1, options: {} } }, { wait: null }];
	client.service.sessions.put('s1', { messages: [{ role: 'assistant', content: '', agent_data: { action } }] });
	const { messages } = await client.session('s1');
	expect(messages?.[0]).toMatchObject({ agent_data: { action: [{}, { click: { index: 1 } }, { wait: null }] } });
	expect(JSON.stringify(messages)).not.toMatch(/go_back|options/);
});

it('tells of the machine in the response of a renewal only', async () => {
	await using client = await startForTest();
	client.service.sessions.put('s1', { ...plain, podStatus: 'stopped' });
	expect((await client.read('s1')).json.session).not.toHaveProperty('podStatus');
	client.service.sessions.renewLinks('s1');
	expect((await client.read('s1')).json.session.podStatus).toBe('stopped');
});

it('carries undocumented secrets in every response, and the user id only with renewed links', async () => {
	await using client = await startForTest({ list: { mode: 'on' } });
	client.service.sessions.start('demo');
	const usual = (await client.read('demo')).text;
	for (const canary of [CANARIES.desktopPassword, CANARIES.cost, CANARIES.accountToken, CANARIES.agentMemory]) {
		expect(usual).toContain(canary);
	}
	expect(usual).not.toContain(CANARIES.userId);
	client.service.sessions.start('completed');
	client.service.sessions.renewLinks('completed');
	const list = await client.send('GET', '/v1/sessions/query', { headers: { 'x-api-key': client.service.apiKey } });
	const everything = usual + (await client.read('completed')).text + list.text;
	expect(CANARY_STRINGS.filter((canary) => !everything.includes(canary))).toEqual([]);
});

it('takes an encoded id with odd characters as one path segment', async () => {
	await using client = await startForTest();
	client.service.sessions.put('a/b ü?', plain);
	expect((await client.read(encodeURIComponent('a/b ü?'))).json.session.sessionId).toBe('a/b ü?');
	expect((await client.read('a/b')).status).toBe(404);
});

it('takes the given time for the check of a key, on the clock', async () => {
	const clock = createManualClock();
	await using client = await startForTest({ clock, keyCheckMs: 300 });
	client.service.sessions.put('s1', plain);
	const arrived = new Promise<void>((resolve) => {
		client.service.hooks.onRequest = () => {
			setImmediate(resolve);
		};
	});
	const reply = client.read('s1');
	await arrived;
	await clock.advance(299);
	expect(client.service.log.reads('s1')[0]?.status).toBeNull();
	await clock.advance(1);
	expect((await reply).status).toBe(200);
	const [entry] = client.service.log.reads('s1');
	expect((entry?.answeredAt ?? 0) - (entry?.at ?? 0)).toBe(300);
});

it('finds an id in other letter case only where it ignores that, and says the id that the session has', async () => {
	await using client = await startForTest();
	client.service.sessions.put('3f9a2c1d', plain);
	expect((await client.read('3F9A2C1D')).status).toBe(404);
	client.service.ids.ignoreCase = true;
	expect((await client.read('3F9A2C1D')).json.session.sessionId).toBe('3f9a2c1d');
	client.service.sessions.put('3F9A2C1D', { ...plain, name: 'Its own' });
	expect((await client.read('3F9A2C1D')).json.session).toMatchObject({ sessionId: '3F9A2C1D', name: 'Its own' });
});
