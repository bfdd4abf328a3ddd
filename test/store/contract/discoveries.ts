import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createDiscoveries } from '../../../src/sessions/discovery.ts';
import { createEndings } from '../../../src/sessions/endings.ts';
import type { Discovery, Watch } from '../../../src/store/watch.ts';
import type { Store } from '../../../src/stores.ts';
import type { NewPost } from '../../../src/surfaces/post.ts';
import { createRecordingMetrics, NO_LIMITS, newWatch, SERVICE } from '../../sessions/support.ts';
import { coreOf } from '../../support/core.ts';
import type { FoundChange } from '../../support/found.ts';
import type { Subject } from '../contract.ts';
import { attemptAt, createRecordingLog, LEASE, present, storeActs, T0 } from '../support.ts';
import { ASKED, asking as askedIn, askingView, C1, KEY, news, read, settled, watchActs } from './watch-acts.ts';

const HOUR = 3_600_000;
const LOG = createRecordingLog();
const OTHER_SERVICE = 'https://other.example';
const at = (now: number) => ({ now, isFollowing: false, isCut: false });
const BEGUN = { ...C1, service: SERVICE, createdBy: 'U-ANN', createdAt: T0 };

export function describeDiscoveries(subject: Subject): void {
	const { refreshed } = storeActs(subject);
	const { store, replica, stored, ended, unwatch, next, posted, drawn, cardOf, postsOf, ...acts } = watchActs(subject);
	/** Records a read; the next one is due at once. */
	const recorded = (updates: Parameters<typeof acts.recorded>[0], questions: readonly FoundChange[] = []) =>
		acts.recorded(updates, read({ nextRead: { at: T0, by: T0 }, questions, snapshot: askingView() }));
	const named = (...ids: string[]) =>
		ids.map((sessionId) => ({ sessionId, name: `Name of ${sessionId}`, updatedAt: null }));
	const list = (...ids: string[]) => store().discoveries.replaceWaiting(SERVICE, named(...ids), at(T0));

	async function discovery(changes: Partial<typeof BEGUN> = {}): Promise<Discovery> {
		await store().discoveries.begin({ ...BEGUN, ...changes }, []);
		return present(await store().discoveries.find({ ...C1, ...changes }, SERVICE));
	}

	const raise = (sessionId = 's1', limits = NO_LIMITS, at = store(), channelId = 'C1') => {
		const hand = { teamId: 'T1', channelId, id: randomUUID(), session: { service: SERVICE, sessionId } };
		return at.watches.raiseHand({ ...hand, createdAt: T0, ahead: true, newsAt: 0, limits });
	};
	const hands = async (discovery: Discovery) =>
		(await store().discoveries.raisedHands(discovery)).map(({ sessionId }) => sessionId);

	async function raised(sessionId = 's1', channelId = 'C1'): Promise<Watch> {
		expect(await raise(sessionId, NO_LIMITS, store(), channelId)).toEqual({ kind: 'raised' });
		return present(await store().watches.find({ ...C1, channelId }, { service: SERVICE, sessionId }));
	}

	function asking(watch: Watch, overrides: Parameters<typeof news>[1] = {}) {
		return news(watch, { posts: [askedIn(watch)], ...overrides });
	}

	const dismissedOf = async () => (await store().watches.ofSession(KEY)).at(-1)?.dismissed;

	const lowered = (watch: Watch) => news(watch, { end: 'handLowered' });

	describe('discoveries', () => {
		it('begins once, and keeps who began it', async () => {
			const told: readonly NewPost[] = [
				{ target: { kind: 'channel', ...C1 }, key: 'begun', content: { kind: 'discoveryBegun', by: 'U-ANN' } },
			];
			expect(await store().discoveries.begin(BEGUN, told)).toBe('begun');
			expect(await replica().discoveries.begin({ ...BEGUN, createdBy: 'U-BOB' }, told)).toBe('already');
			expect(await posted()).toEqual(['begun']);
			expect(await store().discoveries.list(SERVICE)).toEqual([BEGUN]);
			expect(await store().discoveries.list(OTHER_SERVICE)).toEqual([]);
			expect(await store().posts.activeChannels()).toEqual([C1]);
		});

		it('raises the hand of a session that the channel does not watch, once for all replicas, and reads it first', async () => {
			await discovery();
			await store().watches.add(newWatch({ sessionId: 's9', channelId: 'C2' }));
			const at = [store(), replica(), store(), replica(), store(), replica()];
			const results = await Promise.all(at.map((one) => raise('s1', NO_LIMITS, one)));
			expect(results.map(({ kind }) => kind).toSorted()).toEqual(['raised', ...Array(5).fill('unneeded')]);
			expect(await store().sessions.takeDue(SERVICE, LEASE, 1, T0)).toMatchObject([{ session: KEY }]);
			const hand = { mode: 'raisedHand', createdBy: 'U-ANN', revision: 0 };
			expect(await store().watches.find(C1, KEY)).toMatchObject(hand);
			expect(await posted()).toEqual(['card']);
		});

		it('raises no hand in a channel that watches the session, or has ended its discovery', async () => {
			await discovery();
			await store().watches.add(newWatch());
			expect(await raise()).toEqual({ kind: 'unneeded' });
			expect(await store().discoveries.end(C1, { now: T0, posts: () => [] })).toMatchObject({ createdBy: 'U-ANN' });
			expect(await store().discoveries.end(C1, { now: T0, posts: () => [] })).toBeNull();
			expect(await raise('s2')).toEqual({ kind: 'unneeded' });
		});

		it('counts raised hands for the channel and for all, and for no person', async () => {
			await discovery();
			const limits = { person: 1, channel: 2, all: 3 };
			await raised('s1');
			expect(await store().watches.add(newWatch({ sessionId: 's2', limits }))).toMatchObject({ kind: 'added' });
			expect(await raise('s3', limits)).toEqual({ kind: 'limit', limit: 'channel', count: 2, most: 2 });
			expect(await raise('s3', { ...limits, channel: 9, all: 2 })).toMatchObject({ limit: 'all', count: 2 });
			expect(await store().watches.add(newWatch({ limits }))).toMatchObject({ limit: 'person', count: 1 });
			expect(await store().sessions.count(SERVICE)).toBe(2);
		});

		it('lists what a channel does not watch, the longest waiting first', async () => {
			const here = await discovery();
			await list('s3', 's4');
			await store().discoveries.replaceWaiting(SERVICE, named('s1', 's2', 's3', 's4'), at(T0 + 1_000));
			expect(await hands(here)).toEqual(['s3', 's4', 's1', 's2']);
			await raised('s3');
			expect(await hands(here)).toEqual(['s4', 's1', 's2']);
		});

		it('keeps which question was open when the channel stopped a session', async () => {
			const here = await discovery();
			await list('s1');
			const watch = await raised();
			await recorded([asking(watch)], [ASKED]);
			const end = { now: T0 + 1_000, posts: [] };
			await store().watches.end(watch.id, 'unwatched', end);
			expect(await hands(here)).toEqual(['s1']);
			await raised();
			const { fingerprint, messageIndex } = ASKED.question;
			expect(await dismissedOf()).toEqual({ fingerprint, messageIndex });
		});

		it('keeps nothing of a session that was stopped before the channel began', async () => {
			await discovery();
			await list('s1');
			const watch = await raised();
			await recorded([asking(watch)], [ASKED]);
			await store().watches.end(watch.id, 'unwatched', { now: T0 + 1_000, posts: [] });
			await store().discoveries.end(C1, { now: T0 + 1_500, posts: () => [] });
			await discovery({ createdAt: T0 + 2_000 });
			await raised();
			expect(await dismissedOf()).toBeNull();
		});

		it('tells neither beginning nor end when the channel was not told of the beginning', async () => {
			const told = (kind: 'discoveryBegun' | 'discoveryEnded', key: string = kind): NewPost => {
				return { target: { kind: 'channel', ...C1 }, key, content: { kind, by: 'U-ANN' } };
			};
			const end = { now: T0 + 1_000, posts: () => [told('discoveryEnded')] };
			await store().discoveries.begin(BEGUN, [told('discoveryBegun')]);
			await store().discoveries.end(C1, end);
			expect(await posted(T0 + 1_000)).toEqual([]);
			await store().discoveries.begin(BEGUN, [told('discoveryBegun', 'again')]);
			expect(await posted(T0 + 1_000)).toEqual(['again']);
			await store().discoveries.end(C1, end);
			expect(await posted(T0 + 1_000)).toEqual(['discoveryEnded']);
		});

		it('leaves nothing of a raised hand that asked nothing, and offers it again after a time', async () => {
			const here = await discovery();
			await list('s1');
			const watch = await raised();
			await recorded([lowered(watch)], [settled('closed')]);
			const offered = { sessionId: 's1', loweredAt: T0, loweredCount: 1, newsAt: 0 };
			expect(await stored(watch.id)).toBeNull();
			expect(await store().discoveries.raisedHands(here)).toEqual([offered]);
			await recorded([lowered(await raised())], [settled('closed')]);
			expect(await store().discoveries.raisedHands(here)).toEqual([offered]);
			expect(await store().sessions.count(SERVICE)).toBe(0);
		});

		it('reads a session less often each time that it asked nothing, until it posts a question', async () => {
			const here = await discovery();
			await discovery({ channelId: 'C2' });
			await list('s1');
			const count = async () => (await store().discoveries.raisedHands(here))[0]?.loweredCount;
			for (const expected of [1, 2, 3]) {
				// Two channels, one read.
				const both = [lowered(await raised('s1', 'C2')), lowered(await raised())];
				await acts.recorded(both, read({ nextRead: { at: T0, by: T0 } }), { takenAt: T0 + expected });
				expect(await count()).toBe(expected);
			}
		});

		it('a watch that somebody adds before the first read of a raised hand is told of its question', async () => {
			await discovery();
			const seen = await raised();
			await recorded([asking(seen)], [ASKED]);
			await unwatch(seen.id);
			const hand = await raised();
			expect(hand.revision).toBe(0);
			expect(await dismissedOf()).not.toBeNull();
			// No read has told it anything, and one that began before that would lower the hand.
			expect(await acts.added()).toMatchObject({ id: hand.id, revision: -1 });
			expect(await dismissedOf()).toBeNull();

			await unwatch(hand.id);
			const dismissed = await raised();
			await unwatch(dismissed.id);
			expect(await acts.added()).toMatchObject({ id: dismissed.id, revision: -2 });
		});

		it('keeps what a raised hand posted, and drops a question that was not sent yet', async () => {
			await discovery();
			const watch = await raised();
			await recorded([asking(watch)], [ASKED]);
			expect(await posted()).toEqual(['question']);
			expect(await postsOf(watch.id)).toMatchObject([{ kind: 'question', ts: 'ts-question' }]);
			await recorded([lowered(present(await stored(watch.id)))], [settled('closed')]);
			expect(await stored(watch.id)).toMatchObject({ ended: { reason: 'handLowered' } });
			expect(await drawn()).toEqual(['question']);
			const second = await raised();
			await recorded([asking(second)], [ASKED]);
			await recorded([lowered(present(await stored(second.id)))], [settled('closed')]);
			expect(await posted()).toEqual([]);
			expect(await stored(second.id)).toBeNull();
		});

		it.each(['closed', 'replaced'])('counts a session as new from when its question is %s', async (how) => {
			await discovery();
			await list('s1');
			const watch = await raised();
			await recorded([asking(watch)], [ASKED]);
			await posted();
			expect(await store().discoveries.waiting(SERVICE)).toMatchObject([{ isNew: false }]);
			const before = present(await stored(watch.id));
			await recorded(
				[how === 'closed' ? lowered(before) : asking(before)],
				how === 'closed' ? [settled('closed')] : [settled('changed'), ASKED],
			);
			expect(await store().discoveries.waiting(SERVICE)).toMatchObject([{ isNew: true }]);
		});

		it('keeps a question whose post may exist', async () => {
			await discovery();
			const watch = await raised();
			await recorded([asking(watch)], [ASKED]);
			const due = await next();
			await store().posts.beginAttempt(due.post.id, LEASE.token, attemptAt(T0));
			await recorded([lowered(present(await stored(watch.id)))], [settled('closed')]);
			expect(await stored(watch.id)).toMatchObject({ ended: { reason: 'handLowered' } });
			await ended(due.post, { kind: 'retry', at: T0, code: 'no_answer', mayBeThere: true });
			expect(await posted()).toEqual(['question']);
		});

		it('wants no update of a card that there is not, whatever happens', async () => {
			await discovery();
			const watch = await raised();
			await recorded([asking(watch, { card: null })], [ASKED]);
			await posted();
			await drawn();
			await refreshed(KEY, { now: T0, earlyReadAt: null });
			expect(await drawn()).toEqual(['question']);
			await unwatch(watch.id);
			expect(await stored(watch.id)).toMatchObject({ ended: { reason: 'unwatched' } });
			expect(await drawn()).toEqual(['question']);
			expect(await cardOf(watch.id)).toBeUndefined();
		});

		it('makes a raised hand a watch with a card, which no read of the raised hand ends', async () => {
			await discovery();
			const hand = await raised();
			await recorded([asking(hand)], [ASKED]);
			await posted();
			const before = present(await stored(hand.id));
			const limits = { ...NO_LIMITS, channel: 0, all: 0 };
			expect(await store().watches.add(newWatch({ createdBy: 'U-BOB', limits }))).toMatchObject({
				kind: 'added',
				watch: { id: hand.id, mode: 'card', createdBy: 'U-BOB' },
			});
			await recorded([lowered(before)], [settled('closed')]);
			expect(await stored(hand.id)).toMatchObject({ ended: null });
			expect(await posted()).toEqual(['card']);
			expect((await cardOf(hand.id))?.ts).toBe('ts-card');
		});

		it('finds the limit that leaves no place, without hands whose question does not stand yet', async () => {
			const here = await discovery();
			const limits = { ...NO_LIMITS, channel: 1 };
			const watch = await raised();
			expect(await store().watches.limitOf(here, limits)).toBeNull();
			await recorded([asking(watch)], [ASKED]);
			await posted();
			expect(await store().watches.limitOf(here, limits)).toMatchObject({ limit: 'channel', most: 1 });
			expect(await store().watches.limitOf(here, { ...NO_LIMITS, all: 1 })).toMatchObject({ limit: 'all', most: 1 });
		});

		it('tells a channel once a day that sessions are not listed, also when two processes find it', async () => {
			await discovery();
			let now = T0;
			const processes = [store(), replica()].map((own) => discoveriesOver(own, () => now));
			const told = async () => {
				await Promise.all(processes.map((one) => one.unlisted()));
				return (await posted(now)).length;
			};
			expect(await told()).toBe(1);
			now = T0 + 23 * HOUR;
			expect(await told()).toBe(0);
			now = T0 + 24 * HOUR;
			expect(await told()).toBe(1);
			await processes[0]?.start();
			expect(await posted(now)).toEqual([]);
		});

		it('raises each hand once, the newest first, when two processes get lists at once', async () => {
			await discovery();
			await discovery({ channelId: 'C2' });
			const processes = [store(), replica()].map((own) => discoveriesOver(own, () => T0));
			await list('s1', 's2');
			const waiting = (...ids: string[]) => named(...ids).map((one) => ({ ...one, status: 'humanInput' }));
			const done = { sessionId: 'done', name: 'Done', status: 'completed', updatedAt: null };
			const found = { sessions: [...waiting('s9', 's8', 's2', 's1'), done], isComplete: true };
			await Promise.all([...processes, ...processes].map((one) => one.listed(found)));
			for (const channelId of ['C1', 'C2']) {
				const watches = await store().watches.ofChannel({ ...C1, channelId });
				expect(watches.map(({ session }) => session.sessionId).toSorted()).toEqual(['s1', 's8', 's9']);
			}
			// None was read yet, so nobody knows whether they fill the channels.
			expect(await posted()).toEqual([]);
			await Promise.all(processes.map((one) => one.listed({ sessions: [], isComplete: false })));
			expect(await store().discoveries.waiting(SERVICE)).toHaveLength(4);
			const part = [{ sessionId: 's7', name: 'Seven', status: 'humanInput', updatedAt: null }];
			await processes[0]?.listed({ sessions: part, isComplete: false });
			expect((await store().discoveries.waiting(SERVICE)).map(({ sessionId }) => sessionId)).toEqual(['s7']);
		});

		it('ends with its channel, and tells who began it once, also between replicas', async () => {
			await discovery();
			await raised('s1');
			await store().watches.add(newWatch({ sessionId: 's2', createdBy: 'U-BOB' }));
			const end = (at: ReturnType<typeof store>) =>
				createEndings(coreOf({ store: at, clock: { now: () => T0 }, log: LOG })).endChannel(C1, 'channelShared');
			await Promise.all([end(store()), end(replica())]);
			expect(await store().discoveries.find(C1, SERVICE)).toBeNull();
			expect(await store().watches.ofChannel(C1)).toEqual([]);
			const due = await store().posts.takeDue(LEASE, 9, T0);
			const told = due.map(({ post: { target, content } }) => [target, content]);
			expect(told).toHaveLength(2);
			const common = { kind: 'creatorTold', reason: 'channelShared', channelId: 'C1' };
			expect(told).toEqual(
				expect.arrayContaining([
					[expect.objectContaining({ userId: 'U-ANN' }), { ...common, sessionIds: [] }],
					[expect.objectContaining({ userId: 'U-BOB' }), { ...common, sessionIds: ['s2'] }],
				]),
			);
		});
	});
}

function discoveriesOver(store: Store, now: () => number) {
	const core = coreOf({
		store,
		serviceUrl: SERVICE,
		config: { DISCOVER_SESSIONS: true, watchLimits: { ...NO_LIMITS, channel: 3 } },
		metrics: { watches: createRecordingMetrics().metrics },
		clock: { ...systemClock, now },
		log: createRecordingLog(),
	});
	return createDiscoveries(core, { isUnlisted: () => false });
}
