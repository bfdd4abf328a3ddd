import { describe, expect, it, onTestFinished } from 'vitest';
import { createManualClock, type ManualClock } from '../../fake-slack/index.ts';
import { createRateLimiter } from '../../src/rate-limiter.ts';
import type { NewAnnouncement } from '../../src/watches/announcements.ts';
import type { Announcer, SendOutcome } from '../../src/watches/announcer.ts';
import { endChannel } from '../../src/watches/channel-guard.ts';
import { createOutbox } from '../../src/watches/outbox.ts';
import type { WatchStore } from '../../src/watches/ports.ts';
import type { PostingOptions } from '../../src/watches/posting.ts';
import { snapshotOf } from '../../src/watches/session-snapshot.ts';
import type { CardUrgency, Watch } from '../../src/watches/watch.ts';
import { type SessionUpdate, UNKNOWN_STEP_RATE } from '../../src/watches/watched-session.ts';
import { createRecordingLog } from '../store/support.ts';
import {
	addWatch,
	createRecordingMetrics,
	type newWatch,
	openTestStore,
	pass,
	SERVICE,
	session,
	sessionView,
	settableClock,
	storedWatch,
	T0,
} from './support.ts';

interface Sent {
	readonly what: string;
	readonly channel: string;
	readonly at: number;
	readonly maybeRepeat?: boolean;
}

/**
 * The outcome of a call. `hang` and `lost`: it is posted, but the call hangs or times out. `unthreaded`: it is posted in
 * the channel. Null: it succeeds.
 */
type Outcome = (what: string, channel: string) => SendOutcome | 'hang' | 'lost' | 'unthreaded' | null;

/** A fake of Slack for the outbox: records what is sent; `answer` sets the outcomes. */
function createFakeAnnouncer(clock: ManualClock) {
	const sent: Sent[] = [];
	const removed: string[] = [];
	const outcomes: Outcome[] = [];
	const history = new Map<string, { readonly ts: string; readonly at: number; readonly threaded: boolean }>();
	let readable = true;
	let count = 0;
	let crash = new AbortController();

	async function deliver(entry: Sent, metadataKey: string | null): Promise<SendOutcome> {
		const outcome = outcomes[0]?.(entry.what, entry.channel) ?? null;
		if (outcome !== null && typeof outcome !== 'string') return outcome;
		count += 1;
		const ts = `${count}.0`;
		sent.push(entry);
		if (metadataKey !== null) history.set(metadataKey, { ts, at: clock.now(), threaded: outcome !== 'unthreaded' });
		if (outcome === 'lost') return { kind: 'unknown', code: 'timed_out' };
		if (outcome === 'unthreaded') return { kind: 'unthreaded', ts };
		// It is posted, but the call does not return.
		if (outcome === 'hang') await clock.sleep(3_600_000, crash.signal);
		return { kind: 'sent', ts };
	}

	const announcer: Announcer = {
		async prepareCard({ watch, view }) {
			const key = `${view.step}:${view.status}`;
			return {
				key,
				send: ({ ts, metadataKey }) => {
					const what = ts === null ? 'card' : `update ${watch.session.sessionId} ${key}`;
					return deliver({ what, channel: watch.channelId, at: clock.now() }, metadataKey);
				},
			};
		},
		async preparePost({ announcement }, { maybeRepeat }) {
			const { content, target } = announcement;
			const what = content.kind === 'status' ? content.to : content.kind;
			const channel = target.kind === 'person' ? target.userId : target.channelId;
			return { send: ({ metadataKey }) => deliver({ what, channel, at: clock.now(), maybeRepeat }, metadataKey) };
		},
		async updatesOf({ announcement: { id, target, content } }) {
			const channel = target.kind === 'person' ? target.userId : target.channelId;
			const send = () => deliver({ what: content.kind, channel, at: clock.now() }, null);
			return [{ announcementId: id, key: 'shown', send }];
		},
		async remove(_, ts) {
			removed.push(ts);
			for (const [key, post] of history) if (post.ts === ts) history.delete(key);
			return 'removed';
		},
		async find(_, { metadataKey, since }) {
			if (!readable) return { kind: 'unreadable' };
			const post = history.get(metadataKey);
			return post === undefined || post.at < since
				? { kind: 'absent' }
				: { kind: 'found', ts: post.ts, threaded: post.threaded };
		},
	};
	return {
		announcer,
		sent,
		removed,
		texts: () => sent.map(({ what }) => what),
		answer: (outcome: Outcome) => outcomes.splice(0, 1, outcome),
		hideHistory: () => {
			readable = false;
		},
		showHistory: () => {
			readable = true;
		},
		forget: () => history.clear(),
		/** Ends the hanging calls, as the end of their process does. */
		cut: () => {
			crash.abort(new Error('crash'));
			crash = new AbortController();
		},
	};
}

async function createOutboxHarness() {
	const clock = createManualClock(T0);
	const { watches: store, db } = await openTestStore();
	const fake = createFakeAnnouncer(clock);
	const recorded = createRecordingMetrics();
	const rateLimiter = createRateLimiter();
	/** `calls`: how often the outbox called its store. */
	function start(overrides: Partial<PostingOptions> = {}) {
		let calls = 0;
		const counted = new Proxy(store, {
			get(target, name) {
				calls += 1;
				return Reflect.get(target, name);
			},
		});
		const controller = new AbortController();
		const { metrics } = recorded;
		const log = createRecordingLog();
		const outbox = createOutbox({
			store: counted,
			announcer: fake.announcer,
			rateLimiter,
			clock,
			metrics,
			log,
			...overrides,
		});
		const running = outbox.run(controller.signal);
		const stop = async () => {
			controller.abort(new Error('stop'));
			fake.cut();
			await running;
		};
		onTestFinished(stop);
		return { stop, calls: () => calls };
	}
	const add = (overrides: Parameters<typeof newWatch>[0] = {}) => addWatch(store, overrides);
	return { clock, store, db, recorded, start, add, ...fake };
}

function statusOf({ id, teamId, channelId }: Watch, to: string): NewAnnouncement {
	const target = { kind: 'watch', watchId: id, teamId, channelId } as const;
	return { target, key: to, content: { kind: 'status', from: '', to } };
}

function questionOf({ id, teamId, channelId }: Watch): NewAnnouncement {
	const target = { kind: 'watch', watchId: id, teamId, channelId } as const;
	const question = {
		messageIndex: 1,
		fingerprint: 'f',
		goneOn: false,
		context: '',
		items: [],
		itemCount: 0,
		openCount: 0,
		quick: null,
	};
	return { target, key: 'question', content: { kind: 'question', question, changed: false, readAt: 0 } };
}

/** Records the outcome of a read for one watch, as the poller does. */
async function recordRead(
	store: WatchStore,
	watchId: string,
	now: number,
	news: { announcements?: NewAnnouncement[]; card?: CardUrgency; step?: number; end?: 'sessionOver' },
): Promise<void> {
	const channels = await Promise.all((await store.activeChannels()).map((channel) => store.ofChannel(channel)));
	const watch = channels.flat().find(({ id }) => id === watchId) ?? null;
	if (watch === null) throw new Error('there is no such watch');
	const { step, announcements = [], card = null, end = null } = news;
	const messages = Array.from({ length: step ?? 1 }, () => session().messages[1] ?? fail());
	const view = snapshotOf(session({ sessionId: watch.session.sessionId, messages }), now);
	const update: SessionUpdate = {
		stepRate: UNKNOWN_STEP_RATE,
		nextRead: { at: now, by: now },
		lastReadAt: now,
		lastChangeAt: now,
		failures: 0,
		lastError: null,
		overSince: null,
		questionSince: null,
		earlyReadCount: 1,
		view,
	};
	const { digest } = view;
	const { revision } = watch;
	await store.takeDue(SERVICE, { token: 'poller', ms: 60_000 }, 1_000, { now: now + 1e9, only: null });
	const written = await store.record(
		{ session: watch.session, token: 'poller' },
		{ update, watches: [{ watchId, revision, digest, changed: true, announcements, card, end }], now },
	);
	if (written === null) throw new Error('not held');
}

function fail(): never {
	throw new Error('a session has a message, and what was posted was sent');
}

describe('posts', () => {
	it('posts in the order of the watch, the card first', async () => {
		const { clock, store, start, add, texts } = await createOutboxHarness();
		const watch = await add();
		await recordRead(store, watch.id, T0, { announcements: [statusOf(watch, 'asked'), statusOf(watch, 'answered')] });
		await recordRead(store, watch.id, T0, { announcements: [statusOf(watch, 'over')], end: 'sessionOver' });
		start();
		await pass(clock, 10_000);
		expect(texts().slice(0, 4)).toEqual(['card', 'asked', 'answered', 'over']);
	});

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

	it('does not take the same posts over and over in a busy channel', async () => {
		const { clock, store, start, add, texts } = await createOutboxHarness();
		for (let index = 0; index < 20; index += 1) await add({ sessionId: `s${index}` });
		let taken = 0;
		const takeAnnouncements = store.takeAnnouncements.bind(store);
		store.takeAnnouncements = async (...given) => {
			const due = await takeAnnouncements(...given);
			taken += due.length;
			return due;
		};
		start();
		await pass(clock, 24_000);
		expect(texts()).toHaveLength(20);
		expect(taken).toBeLessThan(60);
	});

	it('finds and does not repeat a post after a crash between Slack and our note', async () => {
		const { clock, store, start, add, texts, answer, recorded } = await createOutboxHarness();
		const watch = await add();
		await recordRead(store, watch.id, T0, { announcements: [statusOf(watch, 'asked'), statusOf(watch, 'answered')] });
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
		await recordRead(store, watch.id, T0, { announcements: [questionOf(watch)] });
		hideHistory();
		answer((what) => (what === 'question' ? { kind: 'unknown', code: 'timed_out' } : null));
		start();
		await pass(clock, 10 * 60_000);
		answer(() => null);
		await pass(clock, 10 * 60_000);
		const { at } = sent.find(({ what }) => what === 'question') ?? fail();
		expect(at).toBeGreaterThan(T0 + 10 * 60_000);
		expect(await db.read.selectFrom('ladders').select('posted_at').execute()).toEqual([{ posted_at: at }]);
	});

	it('counts reminders from the former attempt when its post is found', async () => {
		const { clock, store, db, start, add, answer, sent } = await createOutboxHarness();
		const watch = await add();
		await recordRead(store, watch.id, T0, { announcements: [questionOf(watch)] });
		answer((what) => (what === 'question' ? 'lost' : null));
		start();
		await pass(clock, 60_000);
		const { at } = sent.find(({ what }) => what === 'question') ?? fail();
		expect(await db.read.selectFrom('ladders').select('posted_at').execute()).toEqual([{ posted_at: at }]);
	});

	it('posts once when the process stands still between the note of the attempt and the call', async () => {
		const { clock, start, add, texts, store } = await createOutboxHarness();
		const watch = await add();
		await recordRead(store, watch.id, T0, { announcements: [statusOf(watch, 'asked')] });
		const frozen = Promise.withResolvers<void>();
		let begun = 0;
		const freezing = new Proxy(store, {
			get(target, name) {
				if (name !== 'beginAttempt') return Reflect.get(target, name);
				return async (...given: Parameters<typeof store.beginAttempt>) => {
					const isBegun = await store.beginAttempt(...given);
					begun += 1;
					// The first attempt is the card's.
					if (begun === 2) await frozen.promise;
					return isBegun;
				};
			},
		});
		start({ store: freezing });
		await pass(clock, 30_000);
		frozen.resolve();
		await pass(clock, 5_000);
		expect(texts()).toEqual(['card', 'asked']);
	});

	it('posts once when it takes longer than the lease to prepare the post', async () => {
		const { clock, start, add, texts, store, announcer } = await createOutboxHarness();
		const watch = await add();
		await recordRead(store, watch.id, T0, { announcements: [statusOf(watch, 'asked')] });
		let isSlow = true;
		start({
			announcer: {
				...announcer,
				async preparePost(...given) {
					if (isSlow) {
						isSlow = false;
						await clock.sleep(30_000);
					}
					return announcer.preparePost(...given);
				},
			},
		});
		await pass(clock, 40_000);
		expect(texts()).toEqual(['card', 'asked']);
	});

	it('finds a post after a crash although the clock was ahead when it was sent', async () => {
		const { clock, store, start, add, texts, answer } = await createOutboxHarness();
		const machine = settableClock(clock);
		machine.set(3_600_000);
		const watch = await add();
		await recordRead(store, watch.id, machine.now(), { announcements: [statusOf(watch, 'asked')] });
		answer((what) => (what === 'asked' ? 'hang' : null));
		const { stop } = start({ clock: machine });
		await pass(clock, 5_000);
		await stop();
		machine.set(0);
		answer(() => null);
		start({ clock: machine });
		await pass(clock, 30_000);
		expect(texts()).toEqual(['card', 'asked']);
	});

	it('marks a repeated post only where history cannot be read', async () => {
		const { clock, start, add, sent, answer, hideHistory, forget, store } = await createOutboxHarness();
		const watch = await add();
		await recordRead(store, watch.id, T0, { announcements: [statusOf(watch, 'asked')] });
		answer((what) => (what === 'asked' ? 'hang' : null));
		const first = start();
		await pass(clock, 3_000);
		await first.stop();
		forget();
		const second = start();
		await pass(clock, 3_000);
		await second.stop();
		answer(() => null);
		hideHistory();
		start();
		await pass(clock, 3_000);
		const posts = sent.filter(({ what }) => what === 'asked').map(({ maybeRepeat }) => maybeRepeat);
		expect(posts).toEqual([false, false, true]);
	});

	/** A post was sent but not noted before a crash, and the next process cannot read the history. */
	async function withUnnotedPost() {
		const harness = await createOutboxHarness();
		const { clock, start, add, answer, hideHistory, store } = harness;
		const watch = await add();
		await recordRead(store, watch.id, T0, { announcements: [statusOf(watch, 'asked')] });
		answer((what) => (what === 'asked' ? 'hang' : null));
		const first = start();
		await pass(clock, 3_000);
		await first.stop();
		hideHistory();
		return harness;
	}

	it('marks a repeated post after Slack limited the repeat', async () => {
		const { clock, start, sent, answer } = await withUnnotedPost();
		const limits: SendOutcome[] = [{ kind: 'later', ms: 5_000, code: 'ratelimited', limited: true }];
		answer(() => limits.shift() ?? null);
		start();
		await pass(clock, 30_000);
		const posts = sent.filter(({ what }) => what === 'asked').map(({ maybeRepeat }) => maybeRepeat);
		expect(posts).toEqual([false, true]);
	});

	it('finds a post when history can be read again, however long the repeats have failed', async () => {
		const { clock, start, texts, answer, showHistory } = await withUnnotedPost();
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

	it('finds a post whose response was lost, and posts the next one', async () => {
		const { clock, store, start, add, texts, answer, recorded } = await createOutboxHarness();
		const watch = await add();
		await recordRead(store, watch.id, T0, { announcements: [statusOf(watch, 'asked'), statusOf(watch, 'answered')] });
		answer((what) => (what === 'asked' ? 'lost' : null));
		start();
		await pass(clock, 20_000);
		expect(texts()).toEqual(['card', 'asked', 'answered']);
		expect(recorded.of('post found')).toBe(1);
	});

	it('waits as long as Slack says', async () => {
		const { clock, start, add, sent, answer } = await createOutboxHarness();
		await add();
		const failures: SendOutcome[] = [{ kind: 'later', ms: 20_000, code: 'ratelimited', limited: true }];
		answer(() => failures.shift() ?? null);
		start();
		await pass(clock, 30_000);
		expect(sent.map(({ at }) => at - T0)).toEqual([expect.toSatisfy((at: number) => at >= 20_000 && at < 22_000)]);
	});

	it('ends the watches of a channel that takes no posts, and tells their creator', async () => {
		const { db, clock, start, add, answer, sent } = await createOutboxHarness();
		const first = await add();
		const second = await add({ sessionId: 's2' });
		const elsewhere = await add({ channelId: 'C2' });
		answer((_, channel) => (channel === 'C1' ? { kind: 'gone', reason: 'channelArchived' } : null));
		start();
		await pass(clock, 10_000);
		expect(await storedWatch(db, first.id)).toMatchObject({ ended: { reason: 'channelArchived' } });
		expect(await storedWatch(db, second.id)).toMatchObject({ ended: { reason: 'channelArchived' } });
		expect(await storedWatch(db, elsewhere.id)).toMatchObject({ ended: null });
		expect(sent.filter(({ what }) => what === 'creatorTold').map(({ channel }) => channel)).toEqual(['U-ANN']);
	});
});

describe('a channel whose watches ended because another organisation reads it', () => {
	const C1 = { teamId: 'T1', channelId: 'C1' };

	it('an external channel gets no post that waits for its turn', async () => {
		const { clock, start, add, store, sent } = await createOutboxHarness();
		for (let index = 0; index < 6; index += 1) await add({ sessionId: `s${index}` });
		start();
		await pass(clock, 2_000);
		const before = sent.length;
		expect(before).toBeLessThan(4);
		expect(await endChannel(store, C1, 'channelShared', clock.now())).toBe(6);
		await pass(clock, 20_000);
		expect(sent.slice(before).map(({ what, channel }) => [what, channel])).toEqual([['creatorTold', 'U-ANN']]);
	});

	it('an external channel gets no post or card that is being prepared', async () => {
		const { clock, start, add, store, announcer, texts } = await createOutboxHarness();
		const watch = await add();
		const other = await add({ sessionId: 's2' });
		const standing: (() => void)[] = [];
		let isHeld = false;
		start({
			announcer: {
				...announcer,
				async prepareCard(card) {
					const { id } = card.watch;
					if (isHeld || id === other.id) await new Promise<void>((resolve) => standing.push(resolve));
					return announcer.prepareCard(card);
				},
			},
		});
		await pass(clock, 2_000);
		isHeld = true;
		await recordRead(store, watch.id, clock.now(), { card: 'progress', step: 2 });
		await pass(clock, 2_000);
		// The first card of the other watch, and the update of the posted card.
		expect(standing).toHaveLength(2);
		await endChannel(store, C1, 'channelShared', clock.now());
		for (const goOn of standing) goOn();
		await pass(clock, 20_000);
		expect(texts()).toEqual(['card', 'creatorTold']);
	});

	it('an external channel gets no end of a session and no notice of an outage', async () => {
		const { clock, start, add, store, answer, sent } = await createOutboxHarness();
		const over = await add();
		await add({ sessionId: 's2' });
		const { stop } = start();
		await pass(clock, 5_000);
		await stop();
		await recordRead(store, over.id, clock.now(), {
			announcements: [statusOf(over, 'over')],
			card: 'now',
			end: 'sessionOver',
		});
		const now = clock.now() + 60_000;
		const outage = { service: SERVICE, now, down: true, since: now - 40_000, unlessReadSince: now };
		expect(await store.noteOutage(outage)).toBe(true);
		const before = sent.length;
		await endChannel(store, C1, 'channelShared', clock.now());
		// Another replica does not know of the end yet.
		answer(() => null);
		start();
		await pass(clock, 10_000);
		expect(sent.slice(before).map(({ what }) => what)).toEqual(['creatorTold']);
	});

	it('an external channel is not told that the service is back', async () => {
		const { clock, start, add, store, texts } = await createOutboxHarness();
		await add();
		start();
		await pass(clock, 5_000);
		const down = {
			service: SERVICE,
			now: clock.now(),
			down: true,
			since: clock.now(),
			unlessReadSince: clock.now() + 1,
		};
		await store.noteOutage(down);
		await pass(clock, 5_000);
		await endChannel(store, C1, 'channelShared', clock.now());
		await store.noteOutage({ ...down, now: clock.now(), down: false });
		await pass(clock, 5_000);
		expect(texts()).toEqual(['card', 'serviceDown', 'creatorTold']);
	});
});

describe('cards', () => {
	it('a card shows the newest state, and an update without a change is not sent', async () => {
		const { clock, store, start, add, texts, recorded } = await createOutboxHarness();
		const watch = await add();
		start();
		await pass(clock, 2_000);
		for (let step = 2; step <= 40; step += 1) {
			await recordRead(store, watch.id, clock.now(), { card: 'progress', step });
			await pass(clock, 200);
		}
		await pass(clock, 10_000);
		const updates = texts().filter((what) => what.startsWith('update'));
		expect(updates.at(-1)).toBe('update s1 40:active');
		expect(updates.length).toBeLessThan(12);
		await recordRead(store, watch.id, clock.now(), { card: 'now', step: 40 });
		await pass(clock, 10_000);
		expect(texts().filter((what) => what.startsWith('update'))).toHaveLength(updates.length);
		expect(recorded.of('card unchanged')).toBe(1);
	});

	it('sends at most 50 card updates a minute in a workspace, urgent ones first', async () => {
		const { clock, store, start, add, sent } = await createOutboxHarness();
		const watches: Watch[] = [];
		for (let index = 0; index < 30; index += 1)
			watches.push(await add({ sessionId: `s${index}`, channelId: `C${index}` }));
		start();
		await pass(clock, 5_000);
		for (let round = 2; round < 14; round += 1) {
			for (const watch of watches) await recordRead(store, watch.id, clock.now(), { card: 'progress', step: round });
			await pass(clock, 10_000);
		}
		const urgent = watches[29] as Watch;
		const askedAt = clock.now();
		await recordRead(store, urgent.id, askedAt, { card: 'now', step: 99 });
		await pass(clock, 3_000);
		const updates = sent.filter(({ what }) => what.startsWith('update'));
		for (const { at } of updates) {
			expect(updates.filter((other) => other.at >= at && other.at < at + 60_000).length).toBeLessThanOrEqual(50);
		}
		expect(updates.length).toBeGreaterThan(70);
		const shown = sent.find(({ what }) => what === 'update s29 99:active');
		expect((shown?.at ?? Number.POSITIVE_INFINITY) - askedAt).toBeLessThan(2_000);
	});

	it('gives up a card that Slack refuses until it changes', async () => {
		const { db, clock, store, start, add, texts, answer } = await createOutboxHarness();
		const watch = await add();
		start();
		await pass(clock, 2_000);
		answer(() => ({ kind: 'refused', code: 'invalid_blocks' }));
		await recordRead(store, watch.id, clock.now(), { card: 'progress', step: 5 });
		await pass(clock, 5_000);
		expect((await storedWatch(db, watch.id))?.card.wanted).toBeNull();
		expect(texts()).toEqual(['card']);
	});
});

describe('a card that somebody deleted', () => {
	/** Slack after the posted cards were deleted. `removal`: the outcome of removing a post. */
	async function withoutCard(options: { removal?: 'refused' | 'unknown' } = {}) {
		const harness = await createOutboxHarness();
		const { clock, start, add, answer, texts, announcer } = harness;
		const watch = await add();
		const removals = options.removal === undefined ? [] : [options.removal];
		start({ announcer: { ...announcer, remove: async (...given) => removals.shift() ?? announcer.remove(...given) } });
		await pass(clock, 2_000);
		let lastDeleted = texts().filter((what) => what === 'card').length;
		const isThere = () => texts().filter((what) => what === 'card').length > lastDeleted;
		answer((what) => {
			if (what === 'card' || isThere()) return null;
			return what.startsWith('update') ? { kind: 'deleted' } : 'unthreaded';
		});
		const deleteAgain = () => {
			lastDeleted = texts().filter((what) => what === 'card').length;
		};
		return { ...harness, watch, deleteAgain };
	}

	it('posts a new card before it repeats posts whose thread is gone', async () => {
		const { clock, store, watch, texts, removed } = await withoutCard();
		await recordRead(store, watch.id, clock.now(), {
			announcements: [statusOf(watch, 'asked'), statusOf(watch, 'answered')],
		});
		await pass(clock, 15_000);
		expect(texts()).toEqual(['card', 'asked', 'card', 'asked', 'answered']);
		expect(removed).toEqual(['2.0']);
	});

	it('leaves a question without a thread in the channel', async () => {
		const { clock, store, watch, texts, removed } = await withoutCard();
		await recordRead(store, watch.id, clock.now(), { announcements: [questionOf(watch), statusOf(watch, 'answered')] });
		await pass(clock, 15_000);
		expect(texts()).toEqual(['card', 'question', 'card', 'answered']);
		expect(removed).toEqual([]);
	});

	it('leaves a post in the channel that cannot be removed, and posts it once', async () => {
		const { clock, store, watch, texts } = await withoutCard({ removal: 'refused' });
		await recordRead(store, watch.id, clock.now(), {
			announcements: [statusOf(watch, 'paused'), statusOf(watch, 'active')],
		});
		await pass(clock, 15_000);
		expect(texts()).toEqual(['card', 'paused', 'card', 'active']);
	});

	it('finds and removes a post that may be in the channel before it is repeated', async () => {
		const { clock, store, watch, texts, removed } = await withoutCard({ removal: 'unknown' });
		await recordRead(store, watch.id, clock.now(), { announcements: [statusOf(watch, 'paused')] });
		await pass(clock, 15_000);
		expect(texts()).toEqual(['card', 'paused', 'card', 'paused']);
		expect(removed).toEqual(['2.0']);
	});

	it('replaces a deleted card at once, then once an hour, and posts only questions in the channel meanwhile', async () => {
		const { clock, store, watch, sent, deleteAgain, texts } = await withoutCard();
		for (const step of [5, 6]) {
			await recordRead(store, watch.id, clock.now(), { card: 'now', step });
			await pass(clock, 3_000);
			deleteAgain();
		}
		expect(texts()).toEqual(['card', 'card']);
		const secondAt = sent[1]?.at ?? 0;
		await recordRead(store, watch.id, clock.now(), { card: 'now', step: 7 });
		await pass(clock, 3_000);
		await recordRead(store, watch.id, clock.now(), { announcements: [statusOf(watch, 'paused'), questionOf(watch)] });
		await pass(clock, 3_000);
		expect(texts()).toEqual(['card', 'card', 'question']);
		await pass(clock, 3_600_000);
		expect(texts()).toEqual(['card', 'card', 'question', 'card']);
		const again = (sent[3]?.at ?? 0) - secondAt;
		expect(again).toBeGreaterThanOrEqual(3_590_000);
		expect(again).toBeLessThan(3_900_000);
	});
});

describe('the store', () => {
	/** For a minute: three queries a second, and a few more. */
	const FEW = 4 * 60;

	it('does not query the store over and over for posts behind a waiting one', async () => {
		const { clock, store, start, add, answer, texts } = await createOutboxHarness();
		const watch = await add();
		await recordRead(store, watch.id, T0, { announcements: [statusOf(watch, 'asked'), statusOf(watch, 'answered')] });
		answer((what) => (what === 'asked' ? { kind: 'later', ms: 240_000, code: 'ratelimited', limited: true } : null));
		const { calls } = start();
		await pass(clock, 5_000);
		const before = calls();
		await pass(clock, 60_000);
		expect(texts()).toEqual(['card']);
		expect(calls() - before).toBeLessThan(FEW);
	});

	it('does not query the store over and over while the rate of updates has no room', async () => {
		const { clock, store, start, add, answer } = await createOutboxHarness();
		const watches: Watch[] = [];
		for (let index = 0; index < 9; index += 1) {
			watches.push(await add({ sessionId: `s${index}`, channelId: `C${index}` }));
		}
		answer((what) =>
			what.startsWith('update') ? { kind: 'later', ms: 240_000, code: 'ratelimited', limited: true } : null,
		);
		const { calls } = start();
		await pass(clock, 5_000);
		for (const watch of watches) await recordRead(store, watch.id, clock.now(), { card: 'progress', step: 3 });
		await pass(clock, 5_000);
		for (const { id } of watches.slice(4)) await recordRead(store, id, clock.now(), { card: 'now', step: 4 });
		await pass(clock, 1_000);
		const before = calls();
		await pass(clock, 60_000);
		expect(calls() - before).toBeLessThan(FEW);
	});

	it('does not query the store over and over while Slack is slow', async () => {
		const { clock, start, add, answer } = await createOutboxHarness();
		for (let index = 0; index < 12; index += 1) await add({ sessionId: `s${index}`, channelId: `C${index}` });
		answer(() => 'hang');
		const { calls } = start();
		await pass(clock, 5_000);
		const before = calls();
		await pass(clock, 15_000);
		expect(calls() - before).toBeLessThan(FEW / 4);
	});
});

describe.each([
	['back', -3_600_000],
	['forward', 3_600_000],
])('when the clock is put %s by an hour', (_, shift) => {
	it('sends posts and cards as before, under Slack’s rates', async () => {
		const { clock, store, start, add, texts, sent, answer } = await createOutboxHarness();
		const machine = settableClock(clock);
		start({ clock: machine });
		const watch = await add();
		const second = await add({ sessionId: 's2' });
		await pass(clock, 5_000);
		// Both wait when the clock is set: the first for Slack, the second for the first.
		const limits: SendOutcome[] = Array(2).fill({ kind: 'later', ms: 20_000, code: 'ratelimited', limited: true });
		answer(() => limits.shift() ?? null);
		await recordRead(store, watch.id, machine.now(), {
			announcements: [statusOf(watch, 'asked')],
			card: 'now',
			step: 2,
		});
		await pass(clock, 2_000);
		const announcements = [statusOf(second, 'asked too')];
		await recordRead(store, second.id, machine.now(), { announcements, card: 'now', step: 2 });
		await pass(clock, 2_000);
		machine.set(shift);
		await pass(clock, 30_000);
		expect(texts().sort()).toEqual(['asked', 'asked too', 'card', 'card', 'update s1 2:active', 'update s2 2:active']);
		const from = sent.length;
		for (let step = 3; step < 8; step += 1) {
			const announcements = [statusOf(watch, `${step}`)];
			await recordRead(store, watch.id, machine.now(), { announcements, card: 'now', step });
		}
		await pass(clock, 20_000);
		const posts = sent.slice(from).filter(({ what }) => !what.startsWith('update'));
		expect(posts.map(({ what }) => what)).toEqual(['3', '4', '5', '6', '7']);
		posts.reduce((before, { at }) => {
			expect(at - before).toBeGreaterThanOrEqual(1_000);
			return at;
		}, 0);
		expect(texts().at(-1)).toMatch(/^7$|7:active$/);
		expect(texts()).toContain('update s1 7:active');
	});
});

it('waits five minutes when Slack asks for a pause of a day', async () => {
	const { clock, start, add, sent, answer } = await createOutboxHarness();
	await add();
	const failures: SendOutcome[] = [{ kind: 'later', ms: 86_400_000, code: 'ratelimited', limited: true }];
	answer(() => failures.shift() ?? null);
	start();
	await pass(clock, 310_000);
	expect(sent.map(({ at }) => at - T0)).toEqual([expect.toSatisfy((at: number) => at >= 300_000)]);
});

it('a task that was suspended past its lease does not change the post that was taken again', async () => {
	const { clock, db, start, add, announcer, texts } = await createOutboxHarness();
	await add();
	const standing: (() => void)[] = [];
	start({
		announcer: {
			...announcer,
			async prepareCard(card) {
				await new Promise<void>((resolve) => standing.push(resolve));
				return announcer.prepareCard(card);
			},
		},
	});
	await pass(clock, 30_000);
	expect(standing).toHaveLength(2);
	standing[0]?.();
	await pass(clock, 2_000);
	expect(texts()).toEqual([]);
	standing[1]?.();
	await pass(clock, 2_000);
	expect(texts()).toEqual(['card']);
	expect(await db.read.selectFrom('announcements').select(['state', 'posted_ts', 'attempts']).execute()).toEqual([
		{ state: 'posted', posted_ts: '1.0', attempts: 0 },
	]);
});

it('a card of another version does not hold up other cards', async () => {
	const { clock, store, db, start, add, texts } = await createOutboxHarness();
	const watches = [await add(), await add({ sessionId: 's2' }), await add({ sessionId: 's3' })];
	start();
	await pass(clock, 10_000);
	const foreign = watches[0]?.id ?? '';
	await db.write((trx) => trx.updateTable('watches').set({ mode: 'quiet' }).where('id', '=', foreign).execute());
	for (const sessionId of ['s1', 's2', 's3']) {
		await db.write((trx) => trx.updateTable('watches').set({ card_key: 'old' }).execute());
		await store.refresh({ service: SERVICE, sessionId }, { now: clock.now(), earlyReadAt: null });
	}
	await pass(clock, 10_000);
	expect(texts().filter((what) => what.startsWith('update'))).toEqual(['update s2 1:active', 'update s3 1:active']);
});

it('stores the view of a card', async () => {
	const { store, add } = await createOutboxHarness();
	await add();
	const page = await store.list({ teamId: 'T1', channelId: 'C1' }, { offset: 0, limit: 5 });
	expect(page.watches[0]?.view).toEqual(sessionView('s1'));
});
