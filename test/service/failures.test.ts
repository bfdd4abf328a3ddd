import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { inspect } from 'node:util';
import { Pool } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Fault } from '../../fake-session-service/faults.ts';
import type { SessionServiceError } from '../../src/service/service.ts';
import { sentItems } from '../support/sessions.ts';
import { ANSWERS, clientFor, createHarness, failureOf, send, serve, until } from './harness.ts';

/** One attempt. */
const once = { priority: 'background' } as const;

function summary(error: SessionServiceError) {
	return { code: error.code, outcomeUnknown: error.outcomeUnknown, retryable: error.retryable };
}

describe('a fault of the service', () => {
	type Code = SessionServiceError['code'];
	/** `put`: the code of a PUT, where that is another one. */
	const table: readonly (readonly [Fault, Code, { unknown: boolean; saved: boolean; put?: Code }])[] = [
		[{ kind: 'unauthorized' }, 'unauthorized', { unknown: false, saved: false }],
		[{ kind: 'error', status: 403 }, 'unauthorized', { unknown: false, saved: false }],
		[{ kind: 'rate-limited' }, 'rate_limited', { unknown: false, saved: false }],
		[{ kind: 'error' }, 'unavailable', { unknown: true, saved: false }],
		[{ kind: 'error', saves: true }, 'unavailable', { unknown: true, saved: true }],
		[{ kind: 'error', body: 'Something went wrong!' }, 'unavailable', { unknown: true, saved: false }],
		[{ kind: 'html' }, 'unavailable', { unknown: true, saved: false }],
		[{ kind: 'html', status: 200 }, 'unreadable_answer', { unknown: true, saved: false }],
		[{ kind: 'reset' }, 'unavailable', { unknown: true, saved: false }],
		[{ kind: 'reset', saves: true }, 'unavailable', { unknown: true, saved: true }],
		[{ kind: 'broken-http' }, 'unavailable', { unknown: true, saved: true }],
		[{ kind: 'cut-off' }, 'unavailable', { unknown: true, saved: true }],
		[{ kind: 'garbage' }, 'unreadable_answer', { unknown: true, saved: true }],
		[{ kind: 'truncated' }, 'unreadable_answer', { unknown: true, saved: true }],
		[{ kind: 'foreign-json' }, 'unreadable_answer', { unknown: true, saved: false }],
		[{ kind: 'wrong-types' }, 'unreadable_answer', { unknown: true, saved: false }],
		[{ kind: 'error', status: 413 }, 'refused', { unknown: false, saved: false }],
		...[400, 405, 410, 418, 422].map(
			(status) => [{ kind: 'error', status }, 'refused', { unknown: false, saved: false }] as const,
		),
		[{ kind: 'error', status: 404 }, 'session_not_found', { unknown: false, saved: false, put: 'refused' }],
		[{ kind: 'html', status: 404 }, 'session_not_found', { unknown: false, saved: false, put: 'refused' }],
		[{ kind: 'error', status: 503 }, 'unavailable', { unknown: true, saved: false }],
		[{ kind: 'huge' }, 'body_too_large', { unknown: true, saved: true }],
		[{ kind: 'huge', chunked: true }, 'body_too_large', { unknown: true, saved: true }],
		[{ kind: 'redirect', location: 'http://127.0.0.2:1/', status: 302 }, 'redirected', { unknown: true, saved: false }],
		[{ kind: 'redirect', location: '/v1/sessions/s2', status: 307 }, 'redirected', { unknown: false, saved: false }],
	];

	it.each(table)('a read with fault %o fails with %s', async (fault, read) => {
		const { service, client, clock } = await createHarness();
		service.faults.add({ ...fault, times: 1 });
		const error = await failureOf(client.read('s1', once));
		expect(error.code).toBe(read);
		expect(error.outcomeUnknown).toBe(false);
		// The next read works: the connection is still usable. (After a 429 it waits for the pause to end.)
		await clock.advance(28_000);
		expect((await client.read('s1', once)).session.name).toBe('Order cards');
	});

	it.each(table)('a PUT with fault %o fails with %s', async (fault, code, { unknown, saved, put = code }) => {
		const { service, client } = await createHarness();
		service.faults.add({ ...fault, times: 1 });
		const error = await failureOf(send(client, 's1', 1, ANSWERS));
		expect(summary(error)).toMatchObject({ code: put, outcomeUnknown: unknown });
		expect(service.log.savedPuts('s1').length > 0).toBe(saved);
		expect(service.log.puts('s1')).toHaveLength(1);
	});
});

it('an unknown session is not found by a read, and its PUT is refused', async () => {
	const { client } = await createHarness();
	expect(summary(await failureOf(client.read('nobody', once)))).toMatchObject({ code: 'session_not_found' });
	expect(summary(await failureOf(send(client, 'nobody', 1, ANSWERS)))).toEqual({
		code: 'refused',
		outcomeUnknown: false,
		retryable: false,
	});
});

it('a 500 to a PUT tells nothing of its outcome: a stopped machine, a message that does not exist, another save', async () => {
	const { service, client } = await createHarness();
	const unknown = { code: 'unavailable', status: 500, outcomeUnknown: true, retryable: true };
	expect(await failureOf(send(client, 's1', 99, ANSWERS))).toMatchObject(unknown);
	service.hooks.onLoaded = () => void service.sessions.answerAsPage('s1', ['green', '']);
	expect(await failureOf(send(client, 's1', 1, ANSWERS))).toMatchObject(unknown);
	delete service.hooks.onLoaded;
	expect(service.sessions.values('s1', 1)).toEqual(['green', '']);
	service.sessions.patch('s1', { podStatus: 'stopped' });
	expect(await failureOf(send(client, 's1', 1, ANSWERS))).toMatchObject(unknown);
	expect(service.sessions.values('s1', 1)).toEqual(['red', 'blue']);
});

it('a service that does not listen is unavailable and certainly saved nothing', async () => {
	const { service, client } = await createHarness();
	await service.goDown();
	expect(summary(await failureOf(client.read('s1', once)))).toMatchObject({ code: 'unavailable' });
	expect(summary(await failureOf(send(client, 's1', 1, ANSWERS)))).toEqual({
		code: 'unavailable',
		outcomeUnknown: false,
		retryable: true,
	});
});

it('a host name that does not resolve certainly saved nothing', async () => {
	const { client } = clientFor('http://nowhere.invalid');
	expect(summary(await failureOf(send(client, 's1', 1, ANSWERS)))).toMatchObject({
		code: 'unavailable',
		outcomeUnknown: false,
	});
});

it('a hanging read and a hanging PUT end at the call time-out, the PUT with unknown outcome', async () => {
	const { service, client, clock } = await createHarness();
	service.faults.add({ kind: 'hang' });
	const read = failureOf(client.read('s1', once));
	await until(() => service.log.reads('s1').length === 1);
	await clock.advance(19_999);
	expect(clock.sleeping).toBe(1);
	await clock.advance(1);
	expect(summary(await read)).toMatchObject({ code: 'timed_out', outcomeUnknown: false });
	const put = failureOf(send(client, 's1', 1, ANSWERS));
	await until(() => service.log.puts('s1').length === 1);
	await clock.advance(19_999);
	expect(clock.sleeping).toBe(1);
	await clock.advance(1);
	expect(summary(await put)).toEqual({ code: 'timed_out', outcomeUnknown: true, retryable: true });
});

it('a PUT that times out while it waits for a connection is certainly not sent, also once one is free', async () => {
	const methods: unknown[] = [];
	const { promise: over, resolve: free } = Promise.withResolvers<void>();
	const address = await serve(async ({ method }, response) => {
		methods.push(method);
		await over;
		response.end('{"session":{"sessionId":"s1","messages":[]}}');
	});
	const pool = new Pool(address, { connections: 1 });
	const { client, clock } = clientFor(address, { proxy: pool });
	const first = pool.request({ path: '/', method: 'HEAD' });
	await until(() => methods.length === 1);
	const put = failureOf(send(client, 's1', 1, ANSWERS));
	await until(() => clock.sleeping === 1);
	await clock.advance(20_000);
	expect(summary(await put)).toEqual({ code: 'timed_out', outcomeUnknown: false, retryable: true });
	free();
	await (await first).body.dump();
	await client.read('s1', once);
	expect(methods).toEqual(['HEAD', 'GET']);
});

it('a connection that does not open in time certainly saved nothing', async () => {
	const neverResponds = createTcpServer(() => undefined);
	await new Promise<void>((resolve) => neverResponds.listen(0, '127.0.0.1', resolve));
	onTestFinished(() => void neverResponds.close());
	// undici times the connection, with its TLS handshake, on the machine's clock.
	const { client } = clientFor(`https://127.0.0.1:${(neverResponds.address() as AddressInfo).port}`);
	expect(summary(await failureOf(send(client, 's1', 1, ANSWERS)))).toMatchObject({
		code: 'timed_out',
		outcomeUnknown: false,
	});
});

it('a stalled body ends at the time-out of the call', async () => {
	let written = false;
	const address = await serve((_request, response) => {
		response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
		response.write('{"session":', () => {
			written = true;
		});
	});
	const { client, clock } = clientFor(address);
	const read = failureOf(client.read('s1', once));
	await until(() => written);
	await clock.advance(20_000);
	expect((await read).code).toBe('timed_out');
});

it('a 429 uses the header and not the sentence in the body, as seconds or a date', async () => {
	const { service, client, clock } = await createHarness();
	service.faults.add({ kind: 'rate-limited', retryAfterSeconds: 28, times: 1 });
	expect(await failureOf(send(client, 's1', 1, ANSWERS))).toMatchObject({
		code: 'rate_limited',
		retryAt: clock.now() + 28_000,
	});
	const dated = await serve((_request, response) => {
		response.writeHead(429, { 'retry-after': new Date(clock.now() + 45_000).toUTCString() }).end('57 seconds');
	});
	const other = clientFor(dated, { clock });
	expect(await failureOf(other.client.read('s1', once))).toMatchObject({ retryAt: clock.now() + 45_000 });
});

it('a PUT over the size limit is refused before it is sent', async () => {
	const { service, client, budget } = await createHarness();
	const long = sentItems([{ title: '', description: 'x'.repeat(100_000), value: 'y' }]);
	expect(await failureOf(send(client, 's1', 1, long))).toMatchObject({
		code: 'request_too_large',
		message: expect.stringContaining('100000'),
		outcomeUnknown: false,
		retryable: false,
	});
	expect(service.log.puts()).toHaveLength(0);
	// Only the permit was charged.
	expect(budget.left()).toBe(57);
});

it.each([
	'',
	' ',
	'.',
	'..',
	'x'.repeat(201),
	'a\nb',
	'\ud800',
	'query',
	'QUERY',
	' New ',
	'%71uery',
	'file',
	'files',
	'list',
])('the id %j is refused before a request is sent', async (id) => {
	const { service, client, budget } = await createHarness();
	expect((await failureOf(client.read(id, once))).code).toBe('invalid_session_id');
	expect(budget.left()).toBe(59);
	expect((await failureOf(send(client, id, 0, ANSWERS))).code).toBe('invalid_session_id');
	expect(service.log.size).toBe(0);
});

it('an aborted read rejects with the reason of its signal', async () => {
	const { service, client } = await createHarness();
	service.faults.add({ kind: 'hang' });
	const leaving = new AbortController();
	const read = client.read('s1', { ...once, signal: leaving.signal });
	await until(() => service.log.reads('s1').length === 1);
	leaving.abort(new Error('modal closed'));
	await expect(read).rejects.toThrow('modal closed');
});

describe('a response whose content coding is', () => {
	const READABLE = '{"session":{"sessionId":"s1","messages":[]}}';
	async function coded(coding: string, body = READABLE) {
		const address = await serve((request, response) => {
			expect(request.headers['accept-encoding']).toBe('identity');
			response.writeHead(200, { 'content-encoding': coding }).end(body);
		});
		return clientFor(address).client;
	}

	it.each(['identity', 'Identity', 'none', '', ' , identity', 'UTF-8', 'utf8', 'aws-chunked'])(
		'%j is read',
		async (coding) => {
			expect((await (await coded(coding)).read('s1', once)).session.sessionId).toBe('s1');
		},
	);

	it.each([
		['gzip', 'coded_gzip'],
		['X-GZIP', 'coded_gzip'],
		['identity, br', 'coded_br'],
		['zstd', 'coded_zstd'],
		['deflate', 'coded_deflate'],
		['secret-4711', 'coded_other'],
	])('%s is not decompressed, and named', async (coding, code) => {
		const body = code === 'coded_other' ? 'not readable' : READABLE;
		const failure = await failureOf((await coded(coding, body)).read('s1', once));
		expect(failure.code).toBe(code);
		expect(failure.message).toMatch(new RegExp(`content coding ${code.replace('coded_', '')}$`));
	});
});

it('no error shows the key or text of the service', async () => {
	const secret = 'hr-key-4711';
	const said = 'password=hunter2';
	const address = await serve((request, response) => {
		response
			.writeHead(request.method === 'GET' ? 200 : 500)
			.end(`<html>${said} ${String(request.headers['x-api-key'])}`);
	});
	const { client } = clientFor(address, { apiKey: () => secret });
	for (const call of [client.read('s1', once), send(client, 's1', 1, ANSWERS)]) {
		const shown = inspect(await failureOf(call), { depth: 20, showHidden: true });
		expect(shown).not.toContain(secret);
		expect(shown).not.toContain('hunter2');
	}
});
