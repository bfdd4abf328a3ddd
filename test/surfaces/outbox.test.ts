import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/stores.ts';
import type { Hold, SendOutcome } from '../../src/surfaces/post.ts';
import { pass, T0 } from '../sessions/support.ts';
import { settableClock } from '../support/settable-clock.ts';
import { createOutboxHarness, fail, questionOf, recordRead, statusOf } from './outbox-harness.ts';

/** Since when the reminders of each question's post count. */
async function remindedFrom({ read }: Store['db']): Promise<(number | null)[]> {
	const posts = read.selectFrom('posts').select('remindSince').where('kind', '=', 'question');
	return (await posts.execute()).map(({ remindSince }) => remindSince);
}

describe('posts', () => {
	it('posts at most one message a second in a channel, independent of other channels', async () => {
		const { clock, start, add, sent } = await createOutboxHarness();
		for (let index = 0; index < 8; index += 1)
			await add({ sessionId: `s${index}`, channelId: index < 6 ? 'C1' : 'C2' });
		start();
		await pass(clock, 15_000);
		const times = (channel: string) => sent.filter((entry) => entry.channel === channel).map(({ at }) => at);
		const [first, ...later] = times('C1');
		expect(later).toHaveLength(5);
		later.reduce((before, at) => {
			expect(at - before).toBeGreaterThanOrEqual(1_000);
			return at;
		}, first ?? 0);
		expect(times('C2')[0]).toBeLessThan(T0 + 1_000);
	});

	it('finds and does not repeat a post after a crash between Slack and our note', async () => {
		const { clock, store, start, add, texts, answer, recorded } = await createOutboxHarness();
		const watch = await add();
		await recordRead(store, watch.id, T0, { posts: [statusOf(watch, 'asked'), statusOf(watch, 'answered')] });
		answer((what) => (what === 'asked' ? 'hang' : null));
		const { stop } = start();
		await pass(clock, 5_000);
		await stop();
		answer(() => null);
		start();
		await pass(clock, 10_000);
		expect(texts()).toEqual(['card', 'asked', 'answered']);
		expect(recorded.of('post found')).toBe(1);
	});

	it('counts reminders from the attempt that Slack confirmed', async () => {
		const { clock, store, db, start, add, answer, hideHistory, sent } = await createOutboxHarness();
		const watch = await add();
		await recordRead(store, watch.id, T0, { posts: [questionOf(watch)] });
		hideHistory();
		answer((what) => (what === 'question' ? { kind: 'unknown', code: 'timed_out' } : null));
		start();
		await pass(clock, 10 * 60_000);
		answer(() => null);
		await pass(clock, 10 * 60_000);
		const { at } = sent.find(({ what }) => what === 'question') ?? fail();
		expect(at).toBeGreaterThan(T0 + 10 * 60_000);
		expect(await remindedFrom(db)).toEqual([at]);
	});

	it('counts reminders from the former attempt when its post is found', async () => {
		const { clock, store, db, start, add, answer, sent } = await createOutboxHarness();
		const watch = await add();
		await recordRead(store, watch.id, T0, { posts: [questionOf(watch)] });
		answer((what) => (what === 'question' ? 'lost' : null));
		start();
		await pass(clock, 60_000);
		const { at } = sent.find(({ what }) => what === 'question') ?? fail();
		expect(await remindedFrom(db)).toEqual([at]);
	});

	it('posts once when the process stands still between the note of the attempt and the call', async () => {
		const { clock, start, add, texts, store } = await createOutboxHarness();
		const watch = await add();
		await recordRead(store, watch.id, T0, { posts: [statusOf(watch, 'asked')] });
		const frozen = Promise.withResolvers<void>();
		let begun = 0;
		const freezing = new Proxy(store.posts, {
			get(target, name) {
				if (name !== 'beginAttempt') return Reflect.get(target, name);
				return async (...given: Parameters<typeof store.posts.beginAttempt>) => {
					const isBegun = await store.posts.beginAttempt(...given);
					begun += 1;
					// The first attempt is the card's.
					if (begun === 2) await frozen.promise;
					return isBegun;
				};
			},
		});
		start({ store: { ...store, posts: freezing } });
		await pass(clock, 30_000);
		frozen.resolve();
		await pass(clock, 5_000);
		expect(texts()).toEqual(['card', 'asked']);
	});

	it('posts once when it takes longer than the lease to prepare the post', async () => {
		const { clock, start, add, texts, store, announcer } = await createOutboxHarness();
		const watch = await add();
		await recordRead(store, watch.id, T0, { posts: [statusOf(watch, 'asked')] });
		let isSlow = true;
		start({
			announcer: {
				...announcer,
				async draw(...given) {
					if (isSlow) {
						isSlow = false;
						await clock.sleep(30_000);
					}
					return announcer.draw(...given);
				},
			},
		});
		await pass(clock, 40_000);
		expect(texts()).toEqual(['card', 'asked']);
	});

	it('finds a post after a crash although the clock was ahead when it was sent', async () => {
		const { clock, db, store, start, add, texts, answer } = await createOutboxHarness();
		const machine = await settableClock(clock, { db }, 3_600_000);
		const watch = await add();
		await recordRead(store, watch.id, machine.now(), { posts: [statusOf(watch, 'asked')] });
		answer((what) => (what === 'asked' ? 'hang' : null));
		const { stop } = start({ clock: machine });
		await pass(clock, 5_000);
		await stop();
		machine.set(0);
		// As for a new process, whose clock has the right time.
		await pass(clock, 60_000);
		answer(() => null);
		start({ clock: machine });
		await pass(clock, 30_000);
		expect(texts()).toEqual(['card', 'asked']);
	});

	/** A post was sent but not noted before a crash. */
	async function withUnnotedPost() {
		const harness = await createOutboxHarness();
		const { clock, start, add, answer, sent, store } = harness;
		const watch = await add();
		await recordRead(store, watch.id, T0, { posts: [statusOf(watch, 'asked')] });
		answer((what) => (what === 'asked' ? 'hang' : null));
		const first = start();
		await pass(clock, 3_000);
		await first.stop();
		/** Whether each of its posts is marked as a possible repeat. */
		const marks = () => sent.filter(({ what }) => what === 'asked').map(({ maybeRepeat }) => maybeRepeat);
		return { ...harness, marks };
	}

	it('marks a repeated post only where history cannot be read', async () => {
		const { clock, start, answer, hideHistory, forget, marks } = await withUnnotedPost();
		forget();
		const second = start();
		await pass(clock, 3_000);
		await second.stop();
		answer(() => null);
		hideHistory();
		start();
		await pass(clock, 3_000);
		expect(marks()).toEqual([false, false, true]);
	});

	it('marks a repeated post after Slack limited the repeat', async () => {
		const { clock, start, answer, hideHistory, marks } = await withUnnotedPost();
		hideHistory();
		const limits: SendOutcome[] = [{ kind: 'later', ms: 5_000, code: 'ratelimited', limited: true }];
		answer(() => limits.shift() ?? null);
		start();
		await pass(clock, 30_000);
		expect(marks()).toEqual([false, true]);
	});

	it('finds a post when history can be read again, however long the repeats have failed', async () => {
		const { clock, start, texts, answer, hideHistory, showHistory } = await withUnnotedPost();
		hideHistory();
		let isOut = true;
		answer(() => (isOut ? { kind: 'unknown', code: 'timed_out' } : null));
		start();
		await pass(clock, 10 * 60_000);
		isOut = false;
		showHistory();
		await pass(clock, 10 * 60_000);
		expect(texts()).toEqual(['card', 'asked']);
	});

	it('searches for a post after an unknown outcome, and not after a certain failure', async () => {
		const { clock, start, add, texts, answer, recorded } = await createOutboxHarness();
		await add();
		const failures: SendOutcome[] = [
			{ kind: 'later', ms: null, code: 'internal_error', limited: false },
			{ kind: 'unknown', code: 'timed_out' },
		];
		answer(() => failures.shift() ?? null);
		start();
		await pass(clock, 30_000);
		expect(texts()).toEqual(['card']);
		expect(recorded.of('post retried')).toBe(2);
		expect(recorded.of('post found')).toBe(0);
	});

	it('counts no repeats for a person who has left, whose receipt comes when they are back', async () => {
		const { clock, store, start, texts, answer, recorded } = await createOutboxHarness();
		const target = { kind: 'person', teamId: 'T1', userId: 'U1' } as const;
		await store.posts.planOnce({ target, key: 'told', content: { kind: 'receipt', answerId: 'a1' } }, T0);
		let tries = 0;
		answer(() => {
			tries += 1;
			return { kind: 'refused', code: 'user_disabled' };
		});
		start();
		await pass(clock, 30 * 60_000);
		expect(tries).toBeGreaterThan(8);
		expect(recorded.of('post retried')).toBe(0);
		answer(() => null);
		await pass(clock, 6 * 60_000);
		expect(texts()).toEqual(['receipt']);
	});

	it.each(['answers late', 'does not answer before a crash'])(
		'keeps a question that is settled while Slack posts it, and %s',
		async (how) => {
			const { clock, db, store, start, add, texts, answer } = await createOutboxHarness();
			const watch = await add();
			const { stop } = start();
			await recordRead(store, watch.id, T0, { posts: [questionOf(watch)] });
			answer((what) => (what === 'question' ? 'hang' : null));
			await pass(clock, 10_000);
			expect(texts()).toEqual(['card', 'question']);
			await recordRead(store, watch.id, clock.now(), { settled: 'answered' });
			answer(() => null);
			if (how === 'answers late') {
				await clock.advance(3_600_000);
			} else {
				await stop();
				start();
			}
			await pass(clock, 60_000);
			const posts = db.read.selectFrom('posts').select(['state', 'ts']).where('kind', '=', 'question');
			expect(await posts.execute()).toEqual([{ state: 'shown', ts: '2.0' }]);
		},
	);

	it.each([
		[20_000, 20_000],
		[86_400_000, 300_000],
	])('waits as long as Slack says, but five minutes at most: %i ms', async (ms, waited) => {
		const { clock, start, add, sent, answer } = await createOutboxHarness();
		await add();
		const failures: SendOutcome[] = [{ kind: 'later', ms, code: 'ratelimited', limited: true }];
		answer(() => failures.shift() ?? null);
		start();
		await pass(clock, waited + 10_000);
		const isInTime = (at: number) => at >= waited && at < waited + 2_000;
		expect(sent.map(({ at }) => at - T0)).toEqual([expect.toSatisfy(isInTime)]);
	});
});

describe('a reminder', () => {
	const LATER = T0 + 120_000;

	/** A posted question with one reminder, which is due at `LATER`. `lookedAt`: when that was decided. */
	async function withReminder() {
		const harness = await createOutboxHarness();
		const { store, clock, db, add, start, decide } = harness;
		const watch = await add();
		await recordRead(store, watch.id, T0, { posts: [questionOf(watch)] });
		const question = () => db.read.selectFrom('posts').selectAll().where('kind', '=', 'question').executeTakeFirst();
		const lookedAt: number[] = [];
		decide(async ({ kind, ...content }): Promise<Hold> => {
			const { remindedAt, questionId, ts } = (await question()) ?? fail();
			const now = clock.now();
			if (remindedAt !== null) return { kind: 'over' };
			lookedAt.push(now);
			if (now < LATER) return { kind: 'held', until: LATER, content: { kind, ...content } };
			const about = {
				watchId: watch.id,
				sessionId: 's1',
				questionId: questionId ?? '',
				postTs: ts ?? '',
				postedAt: T0,
			};
			const entry = { ...about, heldBy: null, stage: 'reminder', dueAt: LATER, isLast: false } as const;
			return { kind: 'shown', content: { kind, entries: [entry] } };
		});
		/** The states of reminders, in the order of their words. */
		async function states(): Promise<string[]> {
			const rows = db.read.selectFrom('posts').select('state').where('kind', '=', 'reminder').orderBy('state');
			return (await rows.execute()).map(({ state }) => state);
		}
		const remindedAt = async () => (await question())?.remindedAt;
		return { ...harness, lookedAt, states, remindedAt, process: start() };
	}

	it('is held until its time, looked at as often as it asks, and sent with what it then shows', async () => {
		const { clock, texts, lookedAt, states, remindedAt } = await withReminder();
		await pass(clock, 119_000);
		expect(texts()).toEqual(['card', 'question']);
		expect(lookedAt).toHaveLength(1);
		expect(await states()).toEqual(['planned']);
		await pass(clock, 3_000);
		expect(texts()).toEqual(['card', 'question', 'reminder']);
		expect(lookedAt).toHaveLength(2);
		expect(await states()).toEqual(['closed', 'dropped']);
		expect(await remindedAt()).toBeGreaterThanOrEqual(LATER);
	});

	it('does not hold up other posts of its channel', async () => {
		const { clock, store, texts } = await withReminder();
		await pass(clock, 20_000);
		const target = { kind: 'channel', teamId: 'T1', channelId: 'C1' } as const;
		await store.posts.planOnce({ target, key: 'x', content: { kind: 'nobodyLeft' } }, clock.now());
		await pass(clock, 2_000);
		expect(texts()).toEqual(['card', 'question', 'nobodyLeft']);
	});

	it('counts what it showed when it is found after a crash, and is not decided anew', async () => {
		const { clock, answer, decide, states, remindedAt, start, process, recorded, texts } = await withReminder();
		answer((what) => (what === 'reminder' ? 'hang' : null));
		await pass(clock, 123_000);
		await process.stop();
		answer(() => null);
		decide(() => ({ kind: 'over' }));
		start();
		await pass(clock, 60_000);
		// It may look otherwise than it was drawn now.
		expect(texts()).toEqual(['card', 'question', 'reminder', 'reminder again']);
		expect(recorded.of('post found')).toBe(1);
		expect(await states()).toEqual(['closed', 'dropped']);
		expect(await remindedAt()).toBeGreaterThanOrEqual(LATER);
	});

	it('is decided anew when Slack has not got it', async () => {
		const { clock, answer, decide, states, remindedAt, texts } = await withReminder();
		answer((what) => (what === 'reminder' ? { kind: 'unknown', code: 'timed_out' } : null));
		await pass(clock, 121_500);
		expect(await states()).toEqual(['planned']);
		decide(() => ({ kind: 'over' }));
		await pass(clock, 60_000);
		expect(await states()).toEqual(['dropped']);
		expect(await remindedAt()).toBeNull();
		expect(texts()).toEqual(['card', 'question']);
	});

	it('is decided anew, not at once, when what it shows has changed before it is sent', async () => {
		const { clock, start, process, announcer, lookedAt, texts } = await withReminder();
		await process.stop();
		let isChanged = true;
		start({
			announcer: {
				...announcer,
				draw: async (due) => (due.post.content.kind === 'reminder' && isChanged ? null : announcer.draw(due)),
			},
		});
		await pass(clock, 132_000);
		const looks = lookedAt.filter((at) => at >= LATER);
		expect(looks).toHaveLength(3);
		expect((looks[1] ?? 0) - (looks[0] ?? 0)).toBeGreaterThanOrEqual(5_000);
		expect(texts()).toEqual(['card', 'question']);
		isChanged = false;
		await pass(clock, 6_000);
		expect(texts()).toEqual(['card', 'question', 'reminder']);
	});
});
