import { describe, expect, it } from 'vitest';
import {
	createPollerHarness,
	createWatchedHarness,
	FakeServiceError,
	newWatch,
	pass,
	plentiful,
	T0,
} from './support.ts';

const sessions = (count: number) => Array.from({ length: count }, (_, index) => ({ sessionId: `s${index}` }));

describe('a service that is down', () => {
	it('announces an outage once for each channel, and its end', async () => {
		const watches = sessions(12).map((watch, index) => ({ ...watch, channelId: index % 2 === 0 ? 'C1' : 'C2' }));
		const { clock, failures, announced } = await createWatchedHarness({ watches, ms: 10_000 });
		await announced();
		failures.set('*', 'unavailable');
		await pass(clock, 90_000);
		expect((await announced()).map(({ kind }) => kind)).toEqual(['serviceDown', 'serviceDown']);
		await pass(clock, 300_000);
		expect(await announced()).toEqual([]);
		failures.clear();
		await pass(clock, 130_000);
		expect((await announced()).map(({ kind }) => kind)).toEqual(['serviceBack', 'serviceBack']);
	});

	it('reads all sessions soon after an outage', async () => {
		const { store, clock, put, failures, reads } = await createWatchedHarness({ watches: sessions(12), ms: 5_000 });
		failures.set('*', 'unavailable');
		await pass(clock, 300_000);
		for (let index = 12; index < 18; index += 1) {
			put({ sessionId: `s${index}` });
			await store.add(newWatch({ sessionId: `s${index}`, createdAt: clock.now() }));
			await pass(clock, 19_000);
		}
		await pass(clock, 300_000);
		failures.clear();
		const before = reads.length;
		for (let waited = 0; reads.length === before && waited < 130; waited += 1) await pass(clock, 1_000);
		await pass(clock, 12_000);
		expect(new Set(reads.slice(before).map(({ sessionId }) => sessionId)).size).toBe(18);
	});

	it('announces a long rate limit as an outage, and counts no failure of a session', async () => {
		const limited = { failure: 'rate_limited', ms: 29_000 };
		const { clock, failures, announced, recorded } = await createWatchedHarness(limited);
		expect((await announced()).map(({ kind }) => kind)).toEqual(['card']);
		await pass(clock, 600_000);
		expect(await announced()).toEqual([
			{ kind: 'serviceDown', since: expect.toSatisfy((at: number) => at < T0 + 1_000), code: 'rate_limited' },
		]);
		expect(recorded.of('read failed')).toBe(0);
		failures.clear();
		await pass(clock, 25_000);
		expect((await announced()).map(({ kind }) => kind)).toContain('serviceBack');
		expect(recorded.of('read changed') + recorded.of('read unchanged')).toBeGreaterThan(0);
	});
});

it('announces a rate limit after half a minute, although nothing is read meanwhile', async () => {
	let until = 0;
	const budget = { ...plentiful, pausedUntil: () => until };
	const { clock, failures, reads, announced } = await createWatchedHarness({ budget, ms: 5_000 });
	await announced();
	failures.set('*', 'rate_limited');
	const before = reads.length;
	while (reads.length === before) await pass(clock, 200);
	until = clock.now() + 120_000;
	await pass(clock, 28_000);
	expect(await announced()).toEqual([]);
	await pass(clock, 4_000);
	expect(reads).toHaveLength(before + 1);
	expect((await announced()).map(({ kind }) => kind)).toEqual(['serviceDown']);
});

describe('a service that works again', () => {
	it('reads failed sessions at once after any successful call', async () => {
		const watched = await createWatchedHarness({ watches: sessions(5), ms: 5_000 });
		const { clock, failures, health, reads, announced } = watched;
		await announced();
		failures.set('*', 'unavailable');
		await pass(clock, 300_000);
		expect((await announced()).map(({ kind }) => kind)).toEqual(['serviceDown']);
		failures.clear();
		const before = reads.length;
		// The read of a person succeeds.
		health.succeeded();
		await pass(clock, 2_000);
		expect(new Set(reads.slice(before).map(({ sessionId }) => sessionId)).size).toBe(5);
		expect((await announced()).map(({ kind }) => kind)).toEqual(['serviceBack']);
	});

	it('reads failed sessions at once after an outage that was too short to announce', async () => {
		const { clock, failures, health, readsOf, announced } = await createWatchedHarness({ ms: 5_000 });
		failures.set('*', 'unavailable');
		await pass(clock, 18_000);
		failures.clear();
		health.succeeded();
		const before = readsOf('s1').length;
		await pass(clock, 1_000);
		expect(readsOf('s1').length).toBeGreaterThan(before);
		expect((await announced()).map(({ kind }) => kind)).toEqual(['card']);
	});

	it('other sessions that work do not end the back-off of a failing session', async () => {
		const { store, clock, put, start, service, failures, readsOf } = await createPollerHarness();
		put({});
		put({ sessionId: 's2' });
		await store.add(newWatch());
		await store.add(newWatch({ sessionId: 's2' }));
		failures.set('s1', 'timed_out');
		start({
			sessionService: {
				async read(id, options) {
					if (id === 's1') await clock.sleep(300, options.signal);
					return service.read(id, options);
				},
			},
		});
		await pass(clock, 60_000);
		expect(readsOf('s2').length).toBeGreaterThan(15);
		expect(readsOf('s1').length).toBeLessThanOrEqual(6);
	});

	it('reads again within minutes when the service asks for a pause of a day', async () => {
		const { store, clock, put, start, service, readsOf } = await createPollerHarness();
		put({});
		await store.add(newWatch());
		let answer: 'fine' | 'fails' | 'in a day' = 'fine';
		start({
			sessionService: {
				async read(id, options) {
					if (answer === 'fine') return service.read(id, options);
					if (answer === 'fails') throw new FakeServiceError('unavailable');
					answer = 'fine';
					throw new FakeServiceError('rate_limited', clock.now() + 86_400_000);
				},
			},
		});
		await pass(clock, 5_000);
		answer = 'fails';
		await pass(clock, 6_000);
		answer = 'in a day';
		const before = readsOf('s1').length;
		await pass(clock, 30_000);
		expect(answer).toBe('fine');
		expect(readsOf('s1').length).toBe(before);
		await pass(clock, 300_000);
		expect(readsOf('s1').length).toBeGreaterThan(before);
	});
});
