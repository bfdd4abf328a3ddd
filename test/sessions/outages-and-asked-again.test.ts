import { describe, expect, it } from 'vitest';
import type { ReadMessage } from '../../src/domain/gate.ts';
import { saying } from '../support/sessions.ts';
import {
	assistant,
	createPollerHarness,
	createWatchedHarness,
	FakeServiceError,
	newWatch,
	pass,
	plentiful,
	session,
	setStyle,
	T0,
} from './support.ts';

const sessions = (count: number) => Array.from({ length: count }, (_, index) => ({ sessionId: `s${index}` }));

describe('a service that is down', () => {
	it('reads all sessions soon after an outage', async () => {
		const { store, clock, put, failures, reads } = await createWatchedHarness({ watches: sessions(12), ms: 5_000 });
		failures.set('*', 'unavailable');
		await pass(clock, 300_000);
		for (let index = 12; index < 18; index += 1) {
			put({ sessionId: `s${index}` });
			await store.watches.add(newWatch({ sessionId: `s${index}`, createdAt: clock.now() }));
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
	const budget = { ...plentiful, freeAt: () => until };
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
		await store.watches.add(newWatch());
		await store.watches.add(newWatch({ sessionId: 's2' }));
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
		await store.watches.add(newWatch());
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

const started = session().messages;
const note = saying('A summary', 'system');

function code(value = ''): ReadMessage {
	return { ...assistant('Which one?'), humanInput: [{ title: 'Colour', description: '', value }] };
}

const asking = { status: 'humanInput', messages: [...started, code()] };
const answered = { messages: [...started, code('blue')] };
const gone = { messages: started };
const moved = { status: 'humanInput', messages: [note, ...started, code()] };
const answeredThere = { messages: [note, ...started, code('blue')] };
const askedTwice = { status: 'humanInput', messages: [...started, code('blue'), code()] };

/** A watched session. `heardAfter` changes it and returns what is announced. */
async function watched() {
	const harness = await createWatchedHarness({ ms: 5_000 });
	const { clock, put, announced } = harness;
	await announced();
	async function heardAfter(change: Parameters<typeof put>[0]) {
		put(change);
		await pass(clock, 45_000);
		// First posts and updates come in any order.
		return (await announced())
			.map((content) => (content.kind === 'settled' ? `${content.how} ${content.messageIndex}` : content.kind))
			.toSorted();
	}
	return { ...harness, heardAfter };
}

it.each<[string, [change: Parameters<Awaited<ReturnType<typeof watched>>['heardAfter']>[0], heard: string][]]>([
	[
		'a question each time its answer is cleared and it is asked again',
		[
			[asking, 'question'],
			[answered, 'answered 2'],
			[asking, 'question'],
			[answered, 'answered 2'],
			[asking, 'question'],
		],
	],
	[
		'an answer once, although its message is missing in one read',
		[
			[asking, 'question'],
			[answered, 'answered 2'],
			[gone, ''],
			[answered, ''],
		],
	],
	[
		'an open question that moves only once, and its answer at the new index',
		[
			[asking, 'question'],
			[moved, 'redraw'],
			[asking, 'redraw'],
			[moved, 'redraw'],
			[answeredThere, 'answered 3'],
			[answered, ''],
		],
	],
	[
		// As if it had moved there, with the answer.
		'that a removed question is settled although an older one with the same words remains',
		[
			[answered, ''],
			[askedTwice, 'question'],
			[answered, 'answered 2'],
		],
	],
])('announces %s', async (_, steps) => {
	const { heardAfter } = await watched();
	for (const [change, heard] of steps) expect((await heardAfter(change)).join()).toBe(heard);
});

it('reads a session on, as rarely as before, when no message of it asks any more', async () => {
	const { heardAfter, clock, readsOf, store } = await watched();
	await setStyle(store, { progress: true });
	const rarely = readsOf('s1').length;
	await pass(clock, 30_000);
	const most = readsOf('s1').length - rarely + 2;
	expect(await heardAfter(asking)).toEqual(['question']);
	expect(await heardAfter(answered)).toEqual(['answered 2']);
	expect(await heardAfter(gone)).toEqual([]);
	expect(await heardAfter({ ...gone, status: 'paused' })).toEqual(['status']);
	await pass(clock, 120_000);
	const before = readsOf('s1').length;
	await pass(clock, 30_000);
	expect(readsOf('s1').length - before).toBeLessThanOrEqual(most);
});

it('a question that moves updates the card', async () => {
	const { heardAfter, db, watch } = await watched();
	await heardAfter(asking);
	const wanted = async () => {
		const card = db.read
			.selectFrom('posts')
			.select('wanted')
			.where('watchId', '=', watch.id)
			.where('kind', '=', 'card');
		return (await card.executeTakeFirstOrThrow()).wanted;
	};
	const before = await wanted();
	await heardAfter(moved);
	expect(await wanted()).toBeGreaterThan(before);
	const open = await db.read.selectFrom('questions').selectAll().where('settledAt', 'is', null).executeTakeFirst();
	expect(open).toMatchObject({ messageIndex: 3 });
});

it('announces no question again after the digest was damaged', async () => {
	const { heardAfter, db } = await watched();
	await heardAfter(asking);
	const forget = () => db.write((trx) => trx.updateTable('watched_sessions').set({ digest: '{"v":9}' }).execute());
	await forget();
	expect(await heardAfter(asking)).toEqual([]);
	expect(await heardAfter(answered)).toEqual(['answered 2']);
	await forget();
	// Asked again, this question is announced.
	expect(await heardAfter(asking)).toEqual(['question']);
	await forget();
	// What became of it cannot be told, but its post is not open any more.
	expect(await heardAfter(answered)).toEqual(['answered 2']);
});
