import { request as httpRequest } from 'node:http';
import { expect, it } from 'vitest';
import { createManualClock } from '../fake-slack/index.ts';
import { skipUnless } from '../test/support/skip-unless.ts';
import { BODY_LIMIT_BYTES } from './operations.ts';
import { startForTest } from './test-client.ts';

const small = { limit: 3, windowMs: 60_000 };

it('gives the limit and what is left in every response, 401, 404 and 304 included', async () => {
	const clock = createManualClock();
	await using client = await startForTest({ clock });
	client.service.sessions.put('s1', { status: 'active', messages: [] });
	const first = await client.read('s1');
	expect(first.headers).toMatchObject({
		'ratelimit-policy': '250;w=60',
		'ratelimit-limit': '250',
		'ratelimit-remaining': '249',
		'ratelimit-reset': '60',
	});
	const left = [
		await client.read('s1', { 'if-none-match': String(first.headers.etag) }),
		await client.read('s1', { 'x-api-key': 'wrong' }),
		await client.read('nowhere'),
		await client.send('GET', '/elsewhere'),
	].map((reply) => [reply.status, reply.headers['ratelimit-remaining']]);
	expect(left).toEqual([
		[304, '248'],
		[401, '247'],
		[404, '246'],
		[404, '245'],
	]);
});

it('answers 429 over the limit, in plain words whose seconds disagree with the header', async () => {
	const clock = createManualClock();
	await using client = await startForTest({ clock, rateLimit: small });
	client.service.sessions.put('s1', { status: 'active', messages: [] });
	for (let n = 0; n < 3; n++) expect((await client.read('s1')).status).toBe(200);
	await clock.advance(32_000);
	const over = await client.read('s1');
	expect(over.status).toBe(429);
	expect(over.headers['content-type']).toMatch(/^text\/html/);
	expect(over.headers).toMatchObject({ 'retry-after': '28', 'ratelimit-remaining': '0', 'ratelimit-reset': '28' });
	expect(over.text).toBe('Too many requests, please try again in 57 seconds.');
	await clock.advance(27_999);
	expect((await client.read('s1')).status).toBe(429);
	await clock.advance(1);
	expect((await client.read('s1')).status).toBe(200);
});

it('does not do what is over the limit', async () => {
	await using client = await startForTest({ clock: createManualClock(), rateLimit: { limit: 0, windowMs: 60_000 } });
	client.service.sessions.start('choices');
	expect((await client.answer('choices', 2, ['Sand'])).status).toBe(429);
	expect(client.service.log.savedPuts()).toEqual([]);
});

it(
	'it counts by client address, whatever the key',
	skipUnless(process.platform === 'linux', 'only Linux has the whole of 127/8 on its loopback interface'),
	async () => {
		await using client = await startForTest({ clock: createManualClock(), rateLimit: small });
		const statusFrom = (localAddress: string, key: string) =>
			new Promise<number | undefined>((resolve, reject) => {
				const headers = { 'x-api-key': key };
				httpRequest(`${client.service.url}/v1/sessions/none`, { localAddress, headers, agent: false }, (response) => {
					response.resume();
					resolve(response.statusCode);
				})
					.on('error', reject)
					.end();
			});
		for (const key of ['a', 'b', 'c']) expect(await statusFrom('127.0.0.1', key)).toBe(401);
		expect(await statusFrom('127.0.0.1', client.service.apiKey)).toBe(429);
		expect(await statusFrom('127.0.0.2', client.service.apiKey)).toBe(404);
	},
);

it('shares the budget with others behind the address, and forgets it at a restart', async () => {
	await using client = await startForTest({ clock: createManualClock() });
	client.service.useBudget(249);
	expect((await client.read('none')).status).toBe(404);
	expect((await client.read('none')).status).toBe(429);
	await client.service.goDown();
	await client.service.comeBack();
	// On a new connection: the client's pool may not have noticed that its old one is closed.
	const reply = await fetch(`${client.service.url}/v1/sessions/none`, { redirect: 'manual' });
	expect(reply.headers.get('ratelimit-remaining')).toBe('249');
});

it('does not count bodies that do not parse or are too large, and says nothing of the limit', async () => {
	await using client = await startForTest({ clock: createManualClock(), rateLimit: { limit: 1, windowMs: 60_000 } });
	for (const body of ['{"messageIndex":', 'x'.repeat(BODY_LIMIT_BYTES + 1)]) {
		const headers = { 'x-api-key': client.service.apiKey, 'content-type': 'application/json' };
		const reply = await client.send('PUT', '/v1/sessions/s1/update-human-input', { headers, body });
		expect([reply.status, reply.headers['ratelimit-limit']]).toEqual([500, undefined]);
	}
	expect((await client.read('none')).headers['ratelimit-remaining']).toBe('0');
});

it('does not count files and control paths', async () => {
	await using client = await startForTest({ clock: createManualClock(), rateLimit: { limit: 1, windowMs: 60_000 } });
	client.service.sessions.start('completed');
	const session = await client.session('completed');
	expect((await client.send('GET', String(session.lastScreenshotUrl))).status).toBe(200);
	expect((await client.send('GET', '/control/sessions')).status).toBe(200);
	expect((await client.read('completed')).status).toBe(429);
});
