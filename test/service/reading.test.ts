import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import { createRequestBudget } from '../../src/service/budget.ts';
import { ANSWERS, clientFor, createHarness, failureOf, orderSession, send, serve, until } from './harness.ts';

const person = { priority: 'person' } as const;

it('reads a session with the API key and keeps the order of questions', async () => {
	const { service, client, clock, calls } = await createHarness();
	const reading = await client.read('s1', person);
	expect(reading).toMatchObject({ readAt: clock.now() });
	expect(calls.map((call) => call.outcome)).toEqual(['ok']);
	expect(reading.session.messages[1]?.humanInput.map((item) => item.description)).toEqual([
		'Which one?',
		'And the second?',
	]);
	expect(service.log.reads('s1')[0]).toMatchObject({ hasKey: true, status: 200 });
});

it('an id becomes exactly one path segment, after the path of the address', async () => {
	const paths: (string | undefined)[] = [];
	const address = await serve((request, response) => {
		paths.push(request.url);
		response.end('{"session":{"status":"active","messages":[]}}');
	});
	const { client } = clientFor(`${address}/behind/proxy/`);
	for (const id of ['a/../b', 'ü?x#y', '%2e%2e', '...']) await client.read(id, person);
	expect(paths).toEqual([
		'/behind/proxy/v1/sessions/a%2F..%2Fb',
		'/behind/proxy/v1/sessions/%C3%BC%3Fx%23y',
		'/behind/proxy/v1/sessions/%252e%252e',
		'/behind/proxy/v1/sessions/...',
	]);
});

describe('conditional reads', () => {
	it('returns the same session object after a 304, and reads a changed session whole', async () => {
		const { service, client, calls } = await createHarness();
		const first = await client.read('s1', person);
		const second = await client.read('s1', { priority: 'background' });
		expect(second.session).toBe(first.session);
		service.sessions.setStatus('s1', 'active');
		expect(await client.read('s1', person)).toMatchObject({ session: { status: 'active' } });
		expect(service.log.reads('s1').map((entry) => entry.status)).toEqual([200, 304, 200]);
		expect(calls.map((call) => call.outcome)).toEqual(['ok', 'unchanged', 'ok']);
	});

	it('keeps the sessions that were used last, as many as have 32 MB together, and the newest of any size', async () => {
		const { service, client } = await createHarness();
		const large = {
			status: 'active',
			messages: [{ role: 'assistant', agent_data: { state: 'x'.repeat(12_000_000) } }],
		};
		for (const id of ['one', 'two', 'three']) service.sessions.put(id, large);
		for (const id of ['one', 'two']) await client.read(id, person);
		// Unchanged, its body is as large as before.
		expect((await client.read('one', { priority: 'background' })).byteCount).toBe(0);
		await client.read('three', person);
		expect(client.latest('two')).toBeNull();
		for (const id of ['one', 'three']) expect(client.latest(id), id).not.toBeNull();
		await client.read('two', person);
		expect(service.log.reads('two').map((entry) => entry.ifNoneMatch)).toEqual([null, null]);
	});

	it('keeps the newest 1,000 sessions', async () => {
		const { client, clock, service } = await createHarness({
			client: { budget: createRequestBudget({ clock: createManualClock(), requestsPerMinute: 100_000 }) },
		});
		const ids = Array.from({ length: 1_001 }, (_, n) => `small-${n}`);
		for (const id of ids) service.sessions.put(id, { status: 'active', messages: [] });
		for (const id of ids) await client.read(id, person);
		expect(clock.sleeping).toBe(0);
		expect(ids.filter((id) => client.latest(id) === null)).toEqual(['small-0']);
	});

	it('keeps the latest reading available for 10 minutes', async () => {
		const { service, client, clock, calls } = await createHarness();
		expect(client.latest('s1')).toBeNull();
		const first = await client.read('s1', person);
		expect(client.latest('s1')).toMatchObject({ session: first.session, readAt: first.readAt, since: first.readAt });
		await clock.advance(400_000);
		const second = await client.read('s1', { priority: 'background' });
		expect(second).toMatchObject({ since: first.readAt, readAt: first.readAt + 400_000 });
		expect(client.latest('s1')).toMatchObject({ since: first.readAt, readAt: second.readAt });
		service.sessions.setStatus('s1', 'active');
		const third = await client.read('s1', { priority: 'delivery' });
		expect(client.latest('s1')).toMatchObject({ session: { status: 'active' }, since: third.readAt });
		await clock.advance(600_000);
		expect(client.latest('s1')).not.toBeNull();
		await clock.advance(1);
		expect(client.latest('s1')).toBeNull();
		await client.read('s1', person);
		expect(calls.at(-1)?.outcome).toBe('unchanged');
	});

	it('does not replace a later reading by one that began earlier', async () => {
		const { service, client, clock } = await createHarness();
		let release = () => {};
		const held = new Promise<void>((resolve) => {
			release = resolve;
		});
		service.hooks.onWorkedOut = () => held;
		const early = client.read('s1', { priority: 'delivery' });
		await until(() => service.log.reads('s1').length === 1);
		service.hooks.onWorkedOut = () => {};
		await clock.advance(1);
		service.sessions.setStatus('s1', 'active');
		await client.read('s1', person);
		release();
		expect((await early).session.status).toBe('humanInput');
		expect(client.latest('s1')?.session.status).toBe('active');
	});

	it('keeps a session without an ETag, reads it whole the next time, and rejects a 304 to that', async () => {
		const asked: (string | undefined)[] = [];
		let saysUnchanged = false;
		const address = await serve((request, response) => {
			asked.push(request.headers['if-none-match']);
			if (saysUnchanged) response.writeHead(304).end();
			else response.end(`{"session":{"status":"active","messages":[]}}`);
		});
		const { client, calls } = clientFor(address);
		for (const _ of [1, 2]) await client.read('s1', person);
		expect(calls.map((call) => call.outcome)).toEqual(['ok', 'ok']);
		expect(asked).toEqual([undefined, undefined]);
		expect(client.latest('s1')?.session.status).toBe('active');
		saysUnchanged = true;
		expect((await failureOf(client.read('s1', { priority: 'background' }))).code).toBe('unreadable_answer');
		expect(asked.at(-1)).toBeUndefined();
	});
});

describe('redirects', () => {
	it.each([301, 302, 308])('a read follows no redirect within the origin: %i', async (status) => {
		const { service, client } = await createHarness();
		for (const location of ['/', '/v1/sessions/s1']) {
			service.faults.add({ kind: 'redirect', location, status, times: 1 });
			expect((await failureOf(client.read('s1', person))).code).toBe('redirected');
		}
		expect(service.log.size).toBe(2);
	});

	it('neither a read nor a PUT follows a redirect to another origin and sends the key there', async () => {
		const asked: unknown[] = [];
		const elsewhere = await serve((request, response) => {
			asked.push(request.headers);
			response.end();
		});
		const { service, client } = await createHarness();
		service.faults.add({ kind: 'redirect', location: `${elsewhere}/v1/sessions/s1` });
		expect((await failureOf(client.read('s1', person))).code).toBe('redirected');
		expect((await failureOf(send(client, 's1', 1, ANSWERS))).code).toBe('redirected');
		expect(asked).toEqual([]);
	});
});

describe('repeated reads', () => {
	it('repeats a failed read after growing random waits until it succeeds', async () => {
		const { service, client, clock, calls } = await createHarness();
		service.faults.add({ kind: 'error', times: 1 });
		service.faults.add({ kind: 'reset', times: 1 });
		service.faults.add({ kind: 'garbage', times: 1 });
		const reading = client.read('s1', person);
		for (const [attempt, longest] of [
			[1, 250],
			[2, 500],
			[3, 1_000],
		] as const) {
			await until(() => calls.length === attempt && clock.sleeping === 1);
			const wait = (clock.nextWake ?? 0) - clock.now();
			expect(wait).toBeGreaterThanOrEqual(longest / 2);
			expect(wait).toBeLessThanOrEqual(longest);
			await clock.advance(wait);
		}
		expect((await reading).session.status).toBe('humanInput');
	});

	it('repeats a read when a 429 says, if the caller has that time', async () => {
		const { service, client, clock, calls } = await createHarness();
		service.faults.add({ kind: 'rate-limited', retryAfterSeconds: 5, times: 1 });
		const reading = client.read('s1', person);
		await until(() => calls.length === 1 && clock.sleeping === 1);
		expect((clock.nextWake ?? 0) - clock.now()).toBe(5_000);
		await clock.advance(5_000);
		await reading;
		expect(calls.at(-1)?.outcome).toBe('ok');
	});

	it('fails at once when a 429 asks a person to wait too long', async () => {
		const { service, client, clock, calls } = await createHarness();
		service.faults.add({ kind: 'rate-limited', retryAfterSeconds: 40, times: 1 });
		expect(await failureOf(client.read('s1', person))).toMatchObject({
			code: 'rate_limited',
			retryAt: clock.now() + 40_000,
		});
		// The next person's read fails without a request.
		expect(await failureOf(client.read('s1', person))).toMatchObject({
			code: 'rate_limited',
			retryAt: clock.now() + 40_000,
		});
		expect(calls).toHaveLength(1);
	});

	it.each([
		['a wrong key', { kind: 'unauthorized' }, 'person'],
		['a redirect', { kind: 'redirect', location: 'http://127.0.0.2/' }, 'person'],
		['a failure in the background', { kind: 'error' }, 'background'],
	] as const)('does not repeat a read after %s', async (_, fault, priority) => {
		const { service, client } = await createHarness();
		service.faults.add(fault);
		await failureOf(client.read('s1', { priority }));
		expect(service.log.reads('s1')).toHaveLength(1);
	});

	it('a caller can abort a read between two attempts', async () => {
		const { service, client, clock, calls } = await createHarness();
		service.faults.add({ kind: 'error' });
		const leaving = new AbortController();
		const reading = client.read('s1', { ...person, signal: leaving.signal });
		await until(() => calls.length === 1 && clock.sleeping === 1);
		leaving.abort(new Error('modal closed'));
		await expect(reading).rejects.toThrow('modal closed');
		expect(clock.sleeping).toBe(0);
	});
});

describe('a service that is slow with its headers', () => {
	/** A client and a service on one clock; the service takes `ms` for each read. */
	async function createSlowHarness(ms: number) {
		const clock = createManualClock();
		const found = await createHarness({ service: { clock }, client: { clock, callTimeoutMs: 60_000 } });
		found.service.faults.add({ kind: 'slow', ms, method: 'GET' });
		return found;
	}

	it.each([
		['person', 0],
		['person', 7_000],
		['delivery', 0],
		['background', 0],
	] as const)(
		'a read waits for slow headers until the call time-out: %s, after a wait for a permit of %i ms',
		async (priority, wait) => {
			const { service, client, clock, budget } = await createSlowHarness(59_000);
			if (wait > 0) budget.observe({ retryAfterSeconds: wait / 1_000 });
			const reading = client.read('s1', { priority });
			await clock.advance(wait);
			await until(() => service.log.reads('s1').length === 1);
			await clock.advance(59_000);
			expect((await reading).session.name).toBe('Order cards');
			expect(service.log.reads('s1')).toHaveLength(1);
		},
	);

	it('a reserved delivery and its PUT wait for slow headers until the call time-out', async () => {
		const { service, client, clock } = await createSlowHarness(59_000);
		service.faults.add({ kind: 'slow', ms: 59_000, method: 'PUT' });
		const permit = await client.reserveDelivery();
		const reading = permit.read('s1');
		await until(() => service.log.reads('s1').length === 1);
		await clock.advance(59_000);
		await reading;
		const sending = permit.putAnswers('s1', 1, ANSWERS);
		await until(() => service.log.puts('s1').length === 1);
		await clock.advance(59_000);
		await sending;
		expect(service.log.savedPuts('s1')).toHaveLength(1);
	});

	it('does not repeat a read when no time is left', async () => {
		const { service, client, clock } = await createSlowHarness(61_000);
		const error = failureOf(client.read('s1', { priority: 'delivery' }));
		await until(() => service.log.reads('s1').length === 1);
		await clock.advance(60_000);
		expect((await error).code).toBe('timed_out');
		expect(service.log.reads('s1')).toHaveLength(1);
	});
});

describe('shared reads', () => {
	it('people and background who ask at the same time share one request', async () => {
		const { service, client } = await createHarness();
		const [one, other, poll] = await Promise.all([
			client.read('s1', person),
			client.read('s1', person),
			client.read('s1', { priority: 'background' }),
		]);
		expect(other.session).toBe(one.session);
		expect(poll.session).toBe(one.session);
		expect(service.log.reads('s1')).toHaveLength(1);
	});

	it('a delivery reads by itself, and nobody joins a read that has run for a while', async () => {
		const { service, client, clock } = await createHarness();
		service.faults.add({ kind: 'slow', ms: 30, times: 3 });
		const early = client.read('s1', person);
		const delivery = client.read('s1', { priority: 'delivery' });
		await clock.advance(251);
		const late = client.read('s1', person);
		await Promise.all([early, delivery, late]);
		expect(service.log.reads('s1')).toHaveLength(3);
	});

	it('a person does not wait for a background read', async () => {
		const { service, client } = await createHarness();
		await Promise.all([client.read('s1', { priority: 'background' }), client.read('s1', person)]);
		expect(service.log.reads('s1')).toHaveLength(2);
	});

	it('a shared read goes on when one reader leaves, and ends when all have left', async () => {
		const { service, client, calls } = await createHarness();
		service.faults.add({ kind: 'slow', ms: 50, times: 1 });
		const leaving = new AbortController();
		const gone = client.read('s1', { ...person, signal: leaving.signal });
		const stays = client.read('s1', person);
		await until(() => service.log.reads('s1').length === 1);
		leaving.abort(new Error('modal closed'));
		await expect(gone).rejects.toThrow('modal closed');
		expect((await stays).session.name).toBe('Order cards');

		service.faults.add({ kind: 'hang', times: 1 });
		const last = new AbortController();
		const alone = client.read('s1', { ...person, signal: last.signal });
		await until(() => service.log.reads('s1').length === 2);
		last.abort(new Error('modal closed'));
		await expect(alone).rejects.toThrow('modal closed');
		await until(() => calls.at(-1)?.outcome === 'cancelled');
	});
});

it('a large response waits for a slot, and an abort frees the slot', async () => {
	const { service, client, clock } = await createHarness();
	const large = { ...orderSession(), sessionDetails: 'x'.repeat(2_000_000) };
	for (let n = 0; n < 6; n++) service.sessions.put(`big${n}`, large);
	const leaving = new AbortController();
	const gone = client.read('big0', { priority: 'delivery', signal: leaving.signal });
	leaving.abort(new Error('stopping'));
	await expect(gone).rejects.toThrow('stopping');
	const readings = await Promise.all(
		Array.from({ length: 6 }, (_, n) => client.read(`big${n}`, { priority: n % 2 ? 'person' : 'delivery' })),
	);
	for (const { session } of readings) expect(session.sessionDetails).toMatch(/^x+… \(1,98\d,\d{3} more characters\)$/);
	expect(clock.sleeping).toBe(0);
});

it('closing aborts hanging calls and refuses new ones', async () => {
	const { service, client } = await createHarness();
	service.faults.add({ kind: 'hang' });
	const running = failureOf(send(client, 's1', 1, ANSWERS));
	await until(() => service.log.puts('s1').length === 1);
	await client.close();
	expect(await running).toMatchObject({ code: 'unavailable', outcomeUnknown: true });
	expect(await failureOf(send(client, 's1', 1, ANSWERS))).toMatchObject({ code: 'unavailable', outcomeUnknown: false });
});
