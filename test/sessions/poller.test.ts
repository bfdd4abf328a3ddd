import { describe, expect, it, vi } from 'vitest';
import { snapshotOf } from '../../src/domain/session-snapshot.ts';
import { createReadNotes } from '../../src/sessions/read-notes.ts';
import { homeOf } from '../../src/slack/request.ts';
import { ANN, createRecordingLog, LEASE } from '../store/support.ts';
import { coreOf } from '../support/core.ts';
import {
	assistant,
	createPollerHarness,
	createWatchedHarness,
	NO_LIMITS,
	newWatch,
	pass,
	plentiful,
	SERVICE,
	session,
	sessionView,
	setStyle,
	T0,
} from './support.ts';

const KEY = { service: SERVICE, sessionId: 's1' };
const WEEK_MS = 7 * 86_400_000;
const started = session().messages;
const asking = { status: 'humanInput', messages: [...started, assistant('Which one?', 'Colour')] };
const answered = {
	messages: [
		...started,
		{ ...assistant('Which one?'), humanInput: [{ title: 'Colour', description: '', value: 'blue' }] },
		assistant('Blue it is'),
	],
};

describe('posts', () => {
	it('announces a question, its answer and the end, in that order and once each', async () => {
		const { store, clock, put, announced } = await createWatchedHarness({ ms: 5_000 });
		expect(await announced()).toMatchObject([{ kind: 'card' }]);
		put(asking);
		await pass(clock, 30_000);
		expect(await announced()).toMatchObject([{ kind: 'question' }]);
		put(answered);
		await pass(clock, 120_000);
		expect(await announced()).toEqual([{ kind: 'settled', messageIndex: 2, how: 'answered' }]);
		put({ ...answered, status: 'completed' });
		await pass(clock, 60_000);
		expect(await announced()).toEqual([{ kind: 'sessionEnded', status: 'completed' }]);
		expect(await store.watches.find({ teamId: 'T1', channelId: 'C1' }, KEY)).toBeNull();
	});

	it('announces a question to every channel that watches, after one read', async () => {
		const watches = ['C1', 'C2', 'C3'].map((channelId) => ({ channelId }));
		const { clock, put, announced, readsOf } = await createWatchedHarness({ watches });
		put(asking);
		const before = readsOf('s1').length;
		await pass(clock, 2_500);
		expect((await announced()).filter(({ kind }) => kind === 'question')).toHaveLength(3);
		expect(readsOf('s1').length - before).toBeLessThanOrEqual(3);
	});

	it('tells a watch that begins while a read is under way what that read found, also one that was a raised hand', async () => {
		const { store, clock, put, start, announced, db, ourAnswers } = await createPollerHarness();
		const now = clock.now();
		const hand = { teamId: 'T1', channelId: 'C3' };
		await store.discoveries.begin({ ...hand, service: SERVICE, createdBy: 'U-ANN', createdAt: now }, []);
		put(asking);
		await store.watches.add(newWatch());
		const raised = { ...hand, id: 'hand', createdAt: now, ahead: true, newsAt: now, limits: NO_LIMITS };
		await store.watches.raiseHand({ ...raised, session: KEY });
		let addsNow = false;
		const judgedLate: typeof ourAnswers = async (...read) => {
			const fields = { createdAt: clock.now(), snapshot: snapshotOf(session(asking), clock.now()), news: [] };
			if (addsNow) {
				addsNow = false;
				for (const channelId of ['C2', 'C3']) await store.watches.add(newWatch({ ...fields, channelId }));
			}
			return ourAnswers(...read);
		};
		start({ ourAnswers: judgedLate });
		await pass(clock, 5_000);
		expect((await announced()).map(({ kind }) => kind).toSorted()).toEqual(['card', 'question', 'question']);
		addsNow = true;
		put({ status: 'humanInput', messages: [...answered.messages, assistant('And?', 'Size')] });
		await pass(clock, 60_000);
		expect((await announced()).filter(({ kind }) => kind === 'question')).toHaveLength(3);
		const posted = db.read.selectFrom('posts').innerJoin('questions', 'questions.id', 'posts.questionId');
		expect(await posted.select('posts.id').where('messageIndex', '=', 4).execute()).toHaveLength(3);
	});

	it('tells of no end, and of nothing new, when a session that was over goes on', async () => {
		const { clock, put, announced } = await createWatchedHarness();
		await announced();
		put({ status: 'completed' });
		await pass(clock, 2_200);
		put({});
		await pass(clock, 60_000);
		expect(await announced()).toEqual([]);
	});

	it('tells pauses only where the channel wants progress', async () => {
		const { store, clock, put, announced } = await createWatchedHarness({ watches: [{}, { channelId: 'C2' }] });
		await setStyle(store, { progress: true }, 'C2');
		await announced();
		put({ status: 'paused' });
		await pass(clock, 30_000);
		expect(await announced()).toEqual([{ kind: 'status', from: 'active', to: 'paused' }]);
	});

	it('never contains a value that looks like a secret', async () => {
		const { store, clock, put } = await createWatchedHarness({
			state: { status: 'humanInput', messages: [...started, assistant('?', 'Password for the shop')] },
		});
		const value = 'hunter2-canary';
		const item = { title: 'Password for the shop', description: '', value };
		put({ messages: [...started, { ...assistant('?'), humanInput: [item] }] });
		await pass(clock, 120_000);
		const [due] = await store.posts.takeDue({ token: 'x', ms: 1 }, 10, clock.now());
		expect(due?.question).toMatchObject({
			settledHow: 'answered',
			asked: { answered: [{ secret: true, value: null }] },
		});
		expect(JSON.stringify(due)).not.toContain(value);
	});
});

it('takes nothing back because of a read for somebody that began before one of the watch', async () => {
	const { store, clock, put, service, announced, ourAnswers } = await createWatchedHarness();
	const slow = await service.read('s1', { priority: 'person' });
	put(asking);
	await pass(clock, 30_000);
	expect((await announced()).map(({ kind }) => kind)).toContain('question');
	const core = coreOf({ store, serviceUrl: SERVICE, clock, log: createRecordingLog() });
	await createReadNotes(core, () => ourAnswers(slow))(slow);
	expect(await announced()).toEqual([]);
});

describe('a session', () => {
	it('reads a session that is over once more for the result, and then no more', async () => {
		const { store, clock, put, announced, readsOf } = await createWatchedHarness();
		put({ status: 'completed' });
		await pass(clock, 2_200);
		expect((await announced()).map(({ kind }) => kind)).toEqual(['card']);
		const done = { ...assistant(''), actions: [{ kind: 'done', text: 'All is well' } as const] };
		put({ status: 'completed', messages: [...started, done] });
		await pass(clock, 6_000);
		await store.marks.spread(clock.now());
		const due = await store.posts.takeDue({ token: 'test', ms: 1 }, 10, clock.now());
		const snapshot = { status: 'completed', result: 'All is well', step: 2 };
		expect(due).toMatchObject([
			{ post: { key: 'card' }, snapshot },
			{ post: { key: 'sessionEnded' }, snapshot },
		]);
		const reads = readsOf('s1').length;
		await pass(clock, 60_000);
		expect(readsOf('s1')).toHaveLength(reads);
	});

	it('ends a watch when its session could not be read for days', async () => {
		const long = T0 - WEEK_MS + 30_000;
		const watches = [{ createdAt: long, snapshot: sessionView('s1', long) }];
		const failing = { failure: 'unreadable_answer', watches };
		const { announced } = await createWatchedHarness({ ...failing, ms: 90_000 });
		expect(await announced()).toEqual([{ kind: 'card' }, { kind: 'watchEnded', reason: 'noChange' }]);
	});
});

describe('replicas', () => {
	it('two replicas announce a question once', async () => {
		const watches = Array.from({ length: 10 }, (_, index) => ({ sessionId: `s${index}` }));
		const { clock, put, start, announced } = await createWatchedHarness({ watches, ms: 0 });
		start();
		await pass(clock, 10_000);
		for (let index = 0; index < 10; index += 1) put({ ...asking, sessionId: `s${index}` });
		await pass(clock, 30_000);
		expect((await announced()).filter(({ kind }) => kind === 'question')).toHaveLength(10);
	});
});

describe('reads under way', () => {
	const ids = ['s1', 's2', 's3', 's4', 's5', 's6'];
	const watches = ids.map((sessionId) => ({ sessionId }));

	it.each([
		[4, false],
		[1, true],
	])('are at most %i; each of the newest calls takes half a second: %s', async (most, isLong) => {
		const budget = { ...plentiful, isSlow: (ms?: number) => isLong && ms === 500 };
		const { clock, put, start, store, failures, service } = await createPollerHarness({ budget });
		for (const sessionId of ids) {
			put({ sessionId });
			failures.set(sessionId, 'hangs');
			await store.watches.add(newWatch({ sessionId }));
		}
		const read = vi.spyOn(service, 'read');
		start();
		await pass(clock, 30_000);
		expect(read).toHaveBeenCalledTimes(most);
	});

	it('are followed by a pause as long as each took', async () => {
		const { clock, put, start, store, reads, service } = await createPollerHarness();
		for (const sessionId of ids) {
			put({ sessionId });
			await store.watches.add(newWatch({ sessionId }));
		}
		const slow: typeof service.read = async (id, options) => {
			const found = await service.read(id, options);
			await clock.sleep(5_000, options.signal);
			return { ...found, tookMs: 5_000 };
		};
		start({ sessionService: { read: slow } });
		await pass(clock, 15_000);
		expect(reads[3]?.at).toBeLessThan(T0 + 5_000);
		expect(reads[4]?.at).toBeGreaterThanOrEqual(T0 + 10_000);
	});

	it('need one timer, which ends when the next read is due', async () => {
		const { clock, put, start, store, reads, service } = await createPollerHarness();
		put({ sessionId: 's1' });
		await store.watches.add(newWatch({ sessionId: 's1' }));
		start({ sessionService: { read: async (id, options) => ({ ...(await service.read(id, options)), tookMs: 500 }) } });
		await pass(clock, 100);
		expect(reads).toHaveLength(1);
		expect(clock.sleeping).toBe(1);
	});

	it.each([
		['somebody waits for the service', null],
		['the request budget is paused', T0 + 20_500],
	])('do not begin while %s, and soon after', async (_, freeAt) => {
		let isWaiting = true;
		const budget = { ...plentiful, freeAt: () => (isWaiting ? freeAt : 0) };
		const { clock, reads } = await createWatchedHarness({ budget, watches, ms: 20_000 });
		expect(reads).toEqual([]);
		isWaiting = false;
		await pass(clock, 1_500);
		expect(reads.length).toBeGreaterThanOrEqual(6);
	});
});

it('has inboxes follow questions, but not the steps after them', async () => {
	const { store, clock, put } = await createWatchedHarness({ state: asking });
	const home = homeOf(ANN);
	/** Whether marks have it drawn again. */
	async function isDue(): Promise<boolean> {
		await store.views.ask(home, 0, clock.now());
		const [due] = await store.views.takeDue(LEASE, 1, { now: clock.now(), least: 'follows' });
		if (due === undefined) throw new Error('Home was opened');
		await store.views.end(due, LEASE.token, { shownKey: 'shown', nextAt: null }, clock.now());
		await store.marks.spread(clock.now());
		return (await store.views.nextDueAt('follows', clock.now())) !== null;
	}
	await isDue();
	put(answered);
	await pass(clock, 60_000);
	expect(await isDue()).toBe(true);
	await store.views.remove(home);
	for (const step of [1, 2, 3]) {
		put({ messages: [...answered.messages, ...Array.from({ length: step }, () => assistant('Going on'))] });
		await pass(clock, 30_000);
	}
	expect(await isDue()).toBe(false);
});
