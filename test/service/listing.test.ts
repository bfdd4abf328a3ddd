import { expect, it } from 'vitest';
import { CANARY_STRINGS } from '../../fake-session-service/canaries.ts';
import { createHarness, failureOf, until } from './harness.ts';

type HarnessOptions = NonNullable<Parameters<typeof createHarness>[0]>;

/** The service has a list; `s1` of the harness waits, `s2` works. */
async function start(options: HarnessOptions = {}) {
	const harness = await createHarness({ ...options, service: { list: { mode: 'on' }, ...options.service } });
	harness.service.sessions.patch('s1', {
		startTime: '2026-01-05T08:00:00.000Z',
		files: [{ filename: 'cards.csv', timestamp: '2026-01-05T08:30:00.000Z' }],
	});
	harness.service.sessions.put('s2', { status: 'active', name: 'At work' });
	return harness;
}

const putWaiting = ({ service }: Awaited<ReturnType<typeof start>>, count: number) => {
	for (let number = 1; number <= count; number++) service.sessions.put(`w${number}`, { status: 'humanInput' });
};

/** Lists, and lets time pass until there are permits for all pages. */
async function listed({ client, clock }: Awaited<ReturnType<typeof start>>) {
	const listing = client.listWaiting();
	let isOver = false;
	const end = () => {
		isOver = true;
	};
	listing.then(end, end);
	while (!isOver) await clock.advance(100);
	return listing;
}

it('lists the sessions that wait, and keeps four fields of each', async () => {
	const { client, service, calls } = await start();
	const list = await client.listWaiting();
	expect(list).toMatchObject({ isComplete: true, requestCount: 1, tookMs: 0 });
	expect(list.sessions).toEqual([
		{ sessionId: 's1', name: 'Order cards', status: 'humanInput', updatedAt: expect.any(Number) },
	]);
	expect(calls[0]?.byteCount).toBeGreaterThan(100);
	expect(service.log.lists().map(({ path }) => path)).toEqual([
		'/v1/sessions/query?status=humanInput&source=&page=1&limit=200',
	]);
	const call = { operation: 'list', priority: 'background', outcome: 'ok', byteCount: expect.any(Number), tookMs: 0 };
	expect(calls).toEqual([call]);
	for (const canary of CANARY_STRINGS) expect(JSON.stringify([list, calls])).not.toContain(canary);
});

it('reads pages of 200 until all are there, each with a permit of watching, but five at most', async () => {
	const harness = await start();
	putWaiting(harness, 450);
	const list = await harness.client.listWaiting();
	expect(list).toMatchObject({ isComplete: true, requestCount: 3 });
	expect(new Set(list.sessions.map(({ sessionId }) => sessionId)).size).toBe(451);
	expect(harness.budget.left()).toBe(56);
	putWaiting(harness, 1_100);
	const cut = await listed(harness);
	expect(cut).toMatchObject({ isComplete: false, requestCount: 5 });
	expect(cut.sessions).toHaveLength(1_000);
});

it('gets no body for an unchanged list, and the same sessions; it is empty when nobody waits', async () => {
	const { client, service, calls } = await start();
	const first = await client.listWaiting();
	const again = await client.listWaiting();
	expect(again).toMatchObject({ sessions: first.sessions });
	expect(calls[1]).toMatchObject({ outcome: 'unchanged', byteCount: 0 });
	service.sessions.setStatus('s2', 'humanInput');
	expect((await client.listWaiting()).sessions).toHaveLength(2);
	expect(service.log.lists().map(({ status }) => status)).toEqual([200, 304, 200]);
	for (const id of ['s1', 's2']) service.sessions.setStatus(id, 'active');
	expect(await client.listWaiting()).toMatchObject({ sessions: [], isComplete: true });
});

const item = { sessionId: 's1', status: 'humanInput', name: 'Order cards', startTime: null };
const body = (fields: object) => JSON.stringify({ sessions: [item], totalPages: 1, totalSessions: 1, ...fields });

it.each([
	['sessions under another key', JSON.stringify({ data: [item], totalPages: 1, totalSessions: 1 })],
	['an array', JSON.stringify([item])],
	['a session', JSON.stringify({ session: { ...item, messages: [] } })],
	['a session beside a list', body({ session: item })],
	['sessions that are no array', body({ sessions: { 0: item } })],
	['an item without an id', body({ sessions: [{ ...item, sessionId: '' }] })],
	['another status than the one asked for', body({ sessions: [{ ...item, status: 'active' }] })],
	['no status', body({ sessions: [{ ...item, status: undefined }] })],
	['no counts', JSON.stringify({ sessions: [item] })],
	['a count below zero', body({ totalSessions: -1 })],
	['half a session', body({ totalSessions: 1.5 })],
	['more sessions than the limit', body({ sessions: Array(201).fill(item), totalPages: 2, totalSessions: 300 })],
	['no JSON', '{"sessions": ['],
	['an empty body', ''],
])('takes %s for something else than its list', async (_, text) => {
	const { client, service } = await start();
	service.faults.add({ kind: 'body', body: text, onlyLists: true });
	const error = await failureOf(client.listWaiting());
	expect(error).toMatchObject({ code: 'not_a_list', retryable: false });
});

const other = { ...item, sessionId: 's2' };
it.each([
	['more sessions than it counted', { sessions: [item, other] }, ['s1', 's2'], true],
	['fewer sessions than it counted', { totalSessions: 3 }, ['s1'], false],
	['sessions although it counted none', { totalSessions: 0, totalPages: 0 }, ['s1'], true],
	['no sessions although it counted some', { sessions: [], totalSessions: 3 }, [], false],
	['fewer pages than it counted', { totalPages: 2 }, ['s1'], true],
])('takes %s for a list: services count and find one after another', async (_, fields, ids, isComplete) => {
	const { client, service } = await start();
	service.faults.add({ kind: 'body', body: body(fields), onlyLists: true, times: 1 });
	service.faults.add({ kind: 'body', body: body({ ...fields, sessions: [] }), onlyLists: true });
	const found = await client.listWaiting();
	expect(found.sessions.map(({ sessionId }) => sessionId)).toEqual(ids);
	expect(found.isComplete).toBe(isComplete);
});

const shown = { sessionId: 's1', status: 'humanInput', name: 'Order cards', updatedAt: null };
it.each([
	[
		'leaves out sessions that cannot be read, and sessions that are listed twice',
		['query', '..', 'x'.repeat(201), 'a\u0000b', 's1', 's1'].map((sessionId) => ({ ...item, sessionId })),
		shown,
	],
	[
		'takes a list with what is only shown missing',
		[{ sessionId: 's1', status: 'humanInput', name: 7, files: 'none', updatedAt: 'soon' }],
		{ ...shown, name: '7' },
	],
	[
		'keeps a bounded part of a name',
		[{ ...item, name: '😀'.repeat(1_000_000) }],
		{ ...shown, name: `${'😀'.repeat(499)}…` },
	],
])('%s', async (_, sessions, expected) => {
	const { client, service } = await start();
	service.faults.add({ kind: 'body', body: body({ sessions, totalSessions: sessions.length }), onlyLists: true });
	expect(await client.listWaiting()).toMatchObject({ sessions: [expected], isComplete: true });
});

it('finds no list where other implementations have something else', async () => {
	const harness = await start({ service: { list: {} } });
	const { service } = harness;
	expect(await failureOf(listed(harness))).toMatchObject({ code: 'session_not_found', retryable: false });
	service.sessions.put('query', { status: 'humanInput', messages: [] });
	expect(await failureOf(listed(harness))).toMatchObject({ code: 'not_a_list' });
	service.list.mode = 'page';
	expect(await failureOf(listed(harness))).toMatchObject({ code: 'not_a_list' });
	service.list.mode = 'on';
	service.list.ignoresStatus = true;
	expect(await failureOf(listed(harness))).toMatchObject({ code: 'not_a_list' });
	service.faults.add({ kind: 'redirect', location: '/elsewhere', onlyLists: true });
	expect(await failureOf(listed(harness))).toMatchObject({ code: 'redirected', retryable: false });
	expect(service.log.list().filter(({ path }) => path === '/elsewhere')).toEqual([]);
});

it('fails in a way that may pass when the service does', async () => {
	const { client, service, clock } = await start();
	for (const [fault, code] of [
		[{ kind: 'error', status: 500, body: '{"error":"Failed to fetch browser sessions"}' }, 'unavailable'],
		[{ kind: 'reset' }, 'unavailable'],
		[{ kind: 'unauthorized' }, 'unauthorized'],
		[{ kind: 'rate-limited' }, 'rate_limited'],
	] as const) {
		const armed = service.faults.add({ ...fault, onlyLists: true });
		const error = await failureOf(client.listWaiting());
		expect(error).toMatchObject({ code, retryable: true, outcomeUnknown: false });
		expect(error.message).not.toContain('Failed to fetch');
		service.faults.clear(armed);
		await clock.advance(60_000);
	}
});

it('gives up a body of more than 10 MB without reading all of it, also without an announced length', async () => {
	const harness = await start();
	const { client, service, calls } = harness;
	service.list.bytes = 10_100_000;
	// Whatever the limit is: it is one session.
	expect(await failureOf(listed(harness))).toMatchObject({ code: 'body_too_large', retryable: false });
	service.list.bytes = 9_000_000;
	const list = await client.listWaiting();
	expect(list.sessions).toHaveLength(1);
	expect(calls.at(-1)?.byteCount).toBeGreaterThan(8_900_000);
	for (const canary of CANARY_STRINGS) expect(JSON.stringify(list)).not.toContain(canary);
	service.faults.add({ kind: 'huge', chunked: true, onlyLists: true });
	expect(await failureOf(listed(harness))).toMatchObject({ code: 'body_too_large' });
});

it('asks for pages half as large from then on when one is too large', async () => {
	const harness = await start();
	const { service, clock, calls } = harness;
	putWaiting(harness, 250);
	const limits = () => service.log.lists().map(({ path }) => Number(/limit=(\d+)/.exec(path)?.[1]));
	const next = async () => {
		await clock.advance(62_000);
		service.log.clear();
		const list = await listed(harness);
		expect(list).toMatchObject({ isComplete: true, requestCount: limits().length });
		expect(list.sessions).toHaveLength(251);
		return limits();
	};
	expect(await next()).toEqual([200, 200]);
	// Of the first page a few sessions do not fit, of smaller ones all do.
	service.list.bytesEach = 51_000;
	const before = calls.length;
	expect(await next()).toEqual([200, 100, 100, 100]);
	expect(calls.slice(before).map(({ byteCount }) => byteCount >= 10_000_000)).toEqual([true, false, false, false]);
	expect(await next()).toEqual([100, 100, 100]);
	service.list.bytesEach = 0;
	expect(await next()).toEqual([100, 100, 100]);
	expect(await next()).toEqual([100, 100, 100]);
});

it('asks for smaller pages when one has too many parts', async () => {
	const harness = await start();
	putWaiting(harness, 250);
	const page = JSON.stringify({ sessions: [], z: Array.from({ length: 100_000 }, () => 0) });
	harness.service.faults.add({ kind: 'body', body: page, onlyLists: true, times: 1 });
	expect((await listed(harness)).sessions).toHaveLength(251);
	expect(harness.service.log.lists().map(({ path }) => /limit=(\d+)/.exec(path)?.[1])).toEqual([
		'200',
		'100',
		'100',
		'100',
	]);
});

it('is given up when the call takes too long', async () => {
	const { client, service, clock } = await start();
	service.faults.add({ kind: 'hang', onlyLists: true });
	const failure = failureOf(client.listWaiting());
	await until(() => service.log.lists().length === 1);
	await clock.advance(20_000);
	expect(await failure).toMatchObject({ code: 'timed_out', retryable: true });
});

it('sends nothing while the budget is paused', async () => {
	const { client, service, budget } = await start();
	budget.observe({ retryAfterSeconds: 46 });
	expect(await failureOf(client.listWaiting())).toMatchObject({ code: 'rate_limited' });
	expect(service.log.lists()).toEqual([]);
});
