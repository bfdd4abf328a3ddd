import { expect, it } from 'vitest';
import { readRateLimit } from '../../src/service/rate-limit-headers.ts';
import { createHarness } from './harness.ts';

const now = Date.parse('2026-01-05T09:00:00Z');

function said(status: number, headers: Record<string, string>, elapsedMs = 0) {
	return readRateLimit({ status, headers: new Map(Object.entries(headers)) }, now, elapsedMs);
}

it('reads the rate limit headers, counted from when the request was sent', () => {
	const headers = { 'ratelimit-limit': '250', 'ratelimit-remaining': '12', 'ratelimit-reset': '28' };
	expect(said(200, headers)).toEqual({ limit: 250, remaining: 12, resetSeconds: 28 });
	expect(said(200, headers, 5_000)).toMatchObject({ resetSeconds: 23 });
	expect(said(200, headers, 60_000)).toMatchObject({ resetSeconds: 0 });
});

it.each<[Record<string, string>, number | undefined]>([
	[{ 'ratelimit-limit': '100', 'ratelimit-policy': '100;w=3600' }, 1],
	[{ 'ratelimit-limit': '5', 'ratelimit-policy': '5;w=1' }, 300],
	[{ 'ratelimit-limit': '100;w=30' }, 200],
	[{ 'ratelimit-limit': '10, 10;w=1;burst=20, 50;w=60' }, 50],
	[{ 'ratelimit-limit': '10', 'ratelimit-policy': '100;w=60, 10;w=1' }, 100],
	[{ 'ratelimit-limit': '50', 'ratelimit-policy': '10;w=1, 50;w=120' }, 25],
	[{ 'ratelimit-limit': '5', 'ratelimit-policy': '5;w=3600' }, 1],
	[{ 'ratelimit-limit': '250', 'ratelimit-policy': '250;w=0' }, 250],
	[{ 'ratelimit-limit': '0' }, undefined],
])('takes the limit of %j for %s requests a minute', (headers, limit) => {
	expect(said(200, headers).limit).toBe(limit);
});

it.each<[Record<string, string>, number]>([
	[{ 'retry-after': '28', 'ratelimit-reset': '40' }, 28],
	[{ 'retry-after': 'Mon, 05 Jan 2026 09:00:45 GMT' }, 45],
	[{ 'retry-after': 'Mon, 05 Jan 2026 08:00:00 GMT' }, 0],
	[{ 'ratelimit-reset': '40' }, 40],
	[{ 'retry-after': 'soon', 'ratelimit-reset': '17' }, 17],
	[{ 'retry-after': '-5' }, 0],
	[{}, 60],
	[{ 'retry-after': '86400' }, 300],
	[{ 'retry-after': 'Tue, 05 Jan 2027 09:00:00 GMT' }, 300],
	[{ 'ratelimit-reset': '86400' }, 300],
])('a 429 with %j means a pause of %i s', (headers, wait) => {
	expect(said(429, headers).retryAfterSeconds).toBe(wait);
});

it('ignores invalid headers', () => {
	expect(said(200, { 'ratelimit-limit': 'many', 'ratelimit-remaining': '1e9', 'retry-after': '5' })).toEqual({});
});

it('requests of others behind the same address leave less for us', async () => {
	const { service, client, budget } = await createHarness({ service: { rateLimit: { limit: 250, windowMs: 60_000 } } });
	for (let n = 0; n < 230; n++) await fetch(`${service.url}/v1/sessions/s1`, { redirect: 'manual' });
	await client.read('s1', { priority: 'person' });
	expect(budget.left()).toBe(19);
});

it('keeps to a lower limit of the service without a single 429', async () => {
	const { service, client, clock, calls } = await createHarness({
		service: { rateLimit: { limit: 30, windowMs: 60_000 } },
	});
	await client.read('s1', { priority: 'person' });
	const reads = Array.from({ length: 40 }, (_, n) =>
		client.read(`none-${n}`, { priority: 'person' }).catch((error: { code: string }) => error.code),
	);
	const asked = Promise.all(reads);
	let over = false;
	void asked.then(() => {
		over = true;
	});
	while (!over) await clock.advance(100);
	expect(service.log.reads().filter((entry) => entry.status === 429)).toEqual([]);
	// 4 or 5 at once, and 3 more within a person's patience.
	expect(calls.filter((call) => call.outcome === 'session_not_found').length).toBeGreaterThanOrEqual(7);
	expect(await asked).toContain('rate_limited');
});
