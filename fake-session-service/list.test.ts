import { expect, it } from 'vitest';
import { createManualClock } from '../fake-slack/index.ts';
import { CANARIES } from './canaries.ts';
import { startForTest } from './test-client.ts';

type Client = Awaited<ReturnType<typeof startForTest>>;

const KEY = { 'x-api-key': 'sandbox-key' };
const list = (client: Client, path: string, headers: Record<string, string> = KEY) =>
	client.send('GET', `/v1/sessions${path}`, { headers });
const idsOf = ({ json }: { json: { sessions: { sessionId: string }[] } }) =>
	json.sessions.map(({ sessionId }) => sessionId);

/** Sessions s1 to s5, each started an hour after the one before; s4 waits, s5 was started in the service's web page. */
async function start(options: Parameters<typeof startForTest>[0] = {}) {
	const client = await startForTest({ list: { mode: 'on' }, ...options });
	for (const hour of [1, 2, 3, 4, 5]) {
		client.service.sessions.put(
			`s${hour}`,
			{
				status: hour === 4 ? 'humanInput' : 'active',
				name: `Order (${hour})`,
				startTime: `2026-01-05T0${hour}:00:00.000Z`,
				files: [{ filename: 'list.csv', timestamp: '2026-01-05T09:00:00.000Z' }],
			},
			{ source: hour === 5 ? 'client' : 'api' },
		);
	}
	client.service.sessions.put('foreign', { status: 'humanInput' }, { foreign: true });
	return client;
}

it('lists sessions of its key that were started through the API, newest first, with links and costs', async () => {
	await using client = await start();
	const reply = await list(client, '');
	expect(reply.status).toBe(200);
	expect(idsOf(reply)).toEqual(['s4', 's3', 's2', 's1']);
	expect(reply.json).toMatchObject({ currentPage: 1, totalPages: 1, totalSessions: 4 });
	expect(Object.keys(reply.json.sessions[0])).toEqual([
		'name',
		'sessionId',
		'status',
		'startTime',
		'files',
		'cost',
		'updatedAt',
	]);
	expect(reply.text).toContain(CANARIES.listLink);
	expect(reply.text).toContain(CANARIES.cost);
	expect(idsOf(await list(client, '?source=client'))).toEqual(['s5']);
});

it('queries sessions of every source, by status and by a regular expression over names and ids', async () => {
	await using client = await start();
	const all = await list(client, '/query?status=&searchTerm=&source=');
	expect(idsOf(all)).toEqual(['s5', 's4', 's3', 's2', 's1']);
	expect(all.json).not.toHaveProperty('currentPage');
	expect(idsOf(await list(client, '/query?status=humanInput'))).toEqual(['s4']);
	expect(idsOf(await list(client, '/query?searchTerm=s[12]'))).toEqual(['s2', 's1']);
	expect(idsOf(await list(client, '/query?searchTerm=order%20.3'))).toEqual(['s3']);
	expect(idsOf(await list(client, '/query?source=client'))).toEqual(['s5']);
});

it('fails for queries that its database refuses, each operation in its own words', async () => {
	await using client = await start();
	for (const query of ['searchTerm=(', 'limit=abc', 'page=0', 'page=x', 'limit=2&page=-1']) {
		const { status, json } = await list(client, `/query?${query}`);
		expect([query, status, json]).toEqual([query, 500, { error: 'Failed to query documents' }]);
	}
	const { status, json } = await list(client, '?page=0');
	expect([status, json]).toEqual([500, { error: 'Failed to fetch browser sessions' }]);
});

it('counts pages from 1 and takes any limit', async () => {
	await using client = await start();
	const second = await list(client, '/query?limit=2&page=2');
	expect(idsOf(second)).toEqual(['s3', 's2']);
	expect(second.json).toMatchObject({ totalPages: 3, totalSessions: 5 });
	expect(idsOf(await list(client, '/query?limit=2&page=9'))).toEqual([]);
	expect((await list(client, '?page=1')).json.currentPage).toBe('1');
	const all = await list(client, '/query?limit=0');
	expect(idsOf(all)).toHaveLength(5);
	expect(all.json).toMatchObject({ totalPages: null, totalSessions: 5 });
	expect(idsOf(await list(client, '/query?limit=100000'))).toHaveLength(5);
});

it('checks the key, counts in the rate limit and answers an unchanged list with 304', async () => {
	await using client = await start({ rateLimit: { limit: 5, windowMs: 60_000 } });
	expect((await list(client, '/query', {})).headers.location).toBe('/');
	expect((await list(client, '/query', { 'x-api-key': 'wrong' })).json).toEqual({
		success: false,
		error: 'Invalid API key',
	});
	const first = await list(client, '/query');
	expect(first.headers['ratelimit-remaining']).toBe('2');
	const again = await list(client, '/query', { ...KEY, 'if-none-match': String(first.headers.etag) });
	expect([again.status, again.text]).toEqual([304, '']);
	await list(client, '');
	const tooMany = await list(client, '/query');
	expect([tooMany.status, tooMany.headers['retry-after']]).toEqual([429, '60']);
	expect(client.service.log.lists().map(({ path, status }) => `${status} ${path}`)).toEqual([
		'302 /v1/sessions/query',
		'401 /v1/sessions/query',
		'200 /v1/sessions/query',
		'304 /v1/sessions/query',
		'200 /v1/sessions',
		'429 /v1/sessions/query',
	]);
});

it('changes `updatedAt` with an answer, not with what the agent does', async () => {
	const clock = createManualClock();
	await using client = await start({ clock });
	client.service.sessions.put('asks', {
		status: 'active',
		startTime: '2026-01-06T00:00:00.000Z',
		messages: [{ role: 'assistant', content: '', human_input: [{ title: 'Colour', value: '' }] }],
	});
	const updatedAt = async () => (await list(client, '/query?searchTerm=asks')).json.sessions[0].updatedAt;
	const created = await updatedAt();
	await clock.advance(5_000);
	client.service.sessions.setStatus('asks', 'humanInput');
	expect(await updatedAt()).toBe(created);
	await client.answer('asks', 0, ['blue']);
	expect(await updatedAt()).not.toBe(created);
});

it('lacks lists on other implementations: 404, a session called "query", or a web page', async () => {
	await using client = await start({ list: {} });
	expect((await list(client, '/query')).json).toEqual({ message: 'Session not found' });
	expect((await list(client, '')).text).toContain('Cannot GET');
	client.service.sessions.put('query', { status: 'active', name: 'Another' });
	expect((await list(client, '/query')).json.session).toMatchObject({ sessionId: 'query', name: 'Another' });
	client.service.list.mode = 'page';
	expect((await list(client, '/query')).text).toContain('<!DOCTYPE html>');
	expect((await list(client, '')).text).toContain('<!DOCTYPE html>');
});

it('lies on request: sessions missing, statuses late, the status filter ignored', async () => {
	const clock = createManualClock();
	await using client = await start({ clock });
	const { list: settings, sessions } = client.service;
	const waiting = async () => idsOf(await list(client, '/query?status=humanInput'));
	settings.hidden.add('s4');
	expect(await waiting()).toEqual([]);
	settings.hidden.clear();
	settings.lateMs = 10_000;
	await clock.advance(60_000);
	sessions.setStatus('s4', 'active');
	sessions.setStatus('s3', 'humanInput');
	await clock.advance(9_000);
	expect(await waiting()).toEqual(['s4']);
	await clock.advance(2_000);
	expect(await waiting()).toEqual(['s3']);
	settings.ignoresStatus = true;
	expect(await waiting()).toHaveLength(5);
});

it('gives as many bytes as wanted, late, and meets faults that are armed for lists', async () => {
	const clock = createManualClock();
	await using client = await start({ clock });
	const { list: settings, faults, log } = client.service;
	settings.bytes = 3_000_000;
	expect((await list(client, '/query')).text.length).toBeGreaterThanOrEqual(3_000_000);
	faults.add({ kind: 'late', ms: 4_000, onlyLists: true });
	const late = list(client, '/query');
	await expect.poll(() => clock.sleeping).toBe(1);
	expect((await client.read('s1')).status).toBe(200);
	await clock.advance(4_000);
	expect((await late).status).toBe(200);
	faults.clear();
	faults.add({ kind: 'error', times: 1 });
	expect((await list(client, '/query')).status).toBe(200);
	expect((await client.read('s1')).status).toBe(500);
	faults.add({ kind: 'error', onlyLists: true, status: 500 });
	expect((await list(client, '/query')).status).toBe(500);
	expect((await client.read('s1')).status).toBe(200);
	expect(log.reads().map(({ status }) => status)).toEqual([200, 500, 200]);
});
