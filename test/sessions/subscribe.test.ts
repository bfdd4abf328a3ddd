import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import { createEndings } from '../../src/sessions/endings.ts';
import { createSubscriptions, expectationFor } from '../../src/sessions/subscribe.ts';
import type { WatchLimits } from '../../src/store/watch.ts';
import { createRecordingLog, refreshed } from '../store/support.ts';
import { coreOf } from '../support/core.ts';
import {
	createFakeService,
	createRecordingMetrics,
	judgingBy,
	NO_LIMITS,
	openTestStore,
	plentiful,
	SERVICE,
	T0,
} from './support.ts';

async function createHarness(limits: Partial<WatchLimits> = {}) {
	const recorded = createRecordingMetrics();
	const clock = createManualClock(T0);
	const store = await openTestStore();
	const { answers, db } = store;
	const fake = createFakeService(clock);
	let changes = 0;
	store.posts.rows.onChange(() => {
		changes += 1;
	});
	const core = coreOf({
		store,
		serviceUrl: SERVICE,
		config: { watchLimits: { ...NO_LIMITS, ...limits } },
		metrics: { watches: recorded.metrics },
		clock,
		log: createRecordingLog(),
	});
	const subscriptions = createSubscriptions(core, {
		budget: plentiful,
		list: () => null,
		...judgingBy(answers),
		expectPost: () => async () => null,
		withGroups: async (userId) => ({ userId, groupIds: new Set() }),
	});
	const { unwatch, unwatchAll } = createEndings(core);
	const reads: string[] = [];
	const read = (sessionId: string) => {
		reads.push(sessionId);
		return fake.service.read(sessionId, { priority: 'background' });
	};
	const ann = { teamId: 'T1', channelId: 'C1', userId: 'U-ANN' };
	const watch = (sessionId: string, asks = {}) => subscriptions.watch({ ...ann, sessionId, read, ...asks });
	const stored = () => store.watches.find(ann, { service: SERVICE, sessionId: 's1' });
	return {
		store,
		db,
		subscriptions,
		watch,
		stored,
		unwatch,
		unwatchAll,
		ann,
		...fake,
		reads,
		recorded,
		changes: () => changes,
	};
}

describe('watching', () => {
	it('a second watch of the same session is no error', async () => {
		const { watch, put, reads, changes, stored } = await createHarness();
		put({});
		expect(await watch('s1')).toMatchObject({ kind: 'watching', expectation: { slow: false } });
		expect(await stored()).toMatchObject({ mode: 'card' });
		expect(await watch('s1')).toMatchObject({ kind: 'already' });
		expect(reads).toEqual(['s1', 's1']);
		expect(changes()).toBeGreaterThan(0);
	});

	it('tells when a session is unknown, over or cannot be read now', async () => {
		const { watch, put, failures, store } = await createHarness();
		put({ status: 'completed' });
		put({ sessionId: 's2' });
		failures.set('s2', 'unavailable');
		expect(await watch('s1')).toEqual({ kind: 'over', status: 'completed' });
		expect(await watch('nothing')).toEqual({ kind: 'unknownSession' });
		expect(await watch('s2')).toEqual({ kind: 'unreadable', code: 'unavailable' });
		expect(await store.sessions.count(SERVICE)).toBe(0);
	});

	it.each(['unavailable', 'session_not_found'])('an existing watch goes on while reads fail with %s', async (code) => {
		const { watch, put, failures } = await createHarness();
		put({});
		await watch('s1');
		failures.set('s1', code);
		expect(await watch('s1')).toMatchObject({ kind: 'already' });
	});

	it('tells which limit is reached, and counts it', async () => {
		const { db, watch, put, recorded } = await createHarness({ person: 1 });
		const posts = () => db.read.selectFrom('posts').selectAll().execute();
		put({});
		put({ sessionId: 's2' });
		await watch('s1');
		const before = await posts();
		expect(await watch('s2')).toEqual({ kind: 'limit', limit: 'person', count: 1, most: 1 });
		expect(await watch('s1')).toMatchObject({ kind: 'already' });
		expect(recorded.of('limit person')).toBe(1);
		expect(await posts()).toEqual(before);
	});

	it('knows how slow watching will be when many sessions are watched', () => {
		expect(expectationFor(300, 3)).toEqual({
			roundSeconds: 100,
			typicalSeconds: expect.closeTo(100 / 12),
			longestSeconds: 250,
			slow: true,
		});
		expect(expectationFor(300, 3, true)).toMatchObject({ slow: false });
	});
});

it('unwatching ends one watch or all of a channel, and tells when there is none', async () => {
	const { watch, put, subscriptions, ann, ...harness } = await createHarness();
	for (const sessionId of ['s1', 's2', 's3']) {
		put({ sessionId });
		await watch(sessionId);
	}
	put({ sessionId: 'elsewhere' });
	await watch('elsewhere', { channelId: 'C2' });
	expect(await harness.unwatch(ann, 's1')).toEqual(['s1']);
	expect(await harness.unwatch(ann, 's1')).toEqual([]);
	expect(await harness.unwatchAll(ann)).toBe(2);
	expect(await harness.unwatchAll(ann)).toBe(0);
	expect((await subscriptions.list({ ...ann, channelId: 'C2' }, { offset: 0, limit: 9 })).total).toBe(1);
});

it('a refresh updates the cards, and reads the session early if asked to', async () => {
	const { watch, put, store } = await createHarness();
	put({});
	await watch('s1');
	await store.sessions.takeDue(SERVICE, { token: 'x', ms: 1 }, 1, T0);
	await store.sessions.release(['x']);
	const key = { service: SERVICE, sessionId: 's1' };
	await refreshed(store, key, { now: T0, earlyReadAt: null });
	expect(
		(await store.posts.takeDue({ token: 'x', ms: 1 }, 1, T0)).map(({ post }) => [post.content.kind, post.wanted]),
	).toEqual([['card', 1]]);
	expect((await store.sessions.watched(key))?.earlyReadAskedAt).toBeNull();
	await refreshed(store, key, { now: T0, earlyReadAt: T0 + 2_000 });
	expect((await store.sessions.watched(key))?.earlyReadAskedAt).toBe(T0);
});
