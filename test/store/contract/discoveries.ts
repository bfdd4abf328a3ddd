import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import type { Config } from '../../../src/config.ts';
import type { WatchStore } from '../../../src/store/watch-store.ts';
import type { NewAnnouncement } from '../../../src/watches/announcements.ts';
import { endChannel } from '../../../src/watches/channel-guard.ts';
import { createDiscoveries } from '../../../src/watches/discovery.ts';
import type { Discovery, Watch } from '../../../src/watches/watch.ts';
import { coreOf } from '../../support/core.ts';
import { createRecordingMetrics, NO_LIMITS, newWatch, SERVICE, sessionView } from '../../watches/support.ts';
import type { Subject } from '../contract.ts';
import { attemptAt, createRecordingLog, LEASE, T0 } from '../support.ts';
import { C1, KEY, news, read, watchActs } from './watch-acts.ts';

const HOUR = 3_600_000;
const LOG = createRecordingLog();
const OTHER_SERVICE = 'https://other.example';
const at = (now: number) => ({ now, isFollowing: false, isCut: false });
const BEGUN = { ...C1, service: SERVICE, createdBy: 'U-ANN', createdAt: T0, settings: {} };

export function describeDiscoveries(subject: Subject): void {
	const { store, replica, stored, posted, ...acts } = watchActs(subject);
	/** Records a read; the next one is due at once. */
	const recorded = (updates: Parameters<typeof acts.recorded>[0]) =>
		acts.recorded(updates, read({ nextRead: { at: T0, by: T0 } }));
	const named = (...ids: string[]) =>
		ids.map((sessionId) => ({ sessionId, name: `Name of ${sessionId}`, updatedAt: null }));
	const list = (...ids: string[]) => store().replaceWaiting(SERVICE, named(...ids), at(T0));

	async function discovery(changes: Partial<typeof BEGUN> = {}): Promise<Discovery> {
		await store().discover({ ...BEGUN, ...changes }, []);
		const found = await store().discoveryOf({ ...C1, ...changes }, SERVICE);
		if (found === null) throw new Error('The discovery is missing');
		return found;
	}

	const raise = (sessionId = 's1', limits = NO_LIMITS, at = store()) =>
		at.raiseHand({
			...C1,
			id: randomUUID(),
			session: { service: SERVICE, sessionId },
			createdAt: T0,
			ahead: true,
			isNew: false,
			limits,
		});
	const hands = async (discovery: Discovery) =>
		(await store().raisedHands(discovery)).map(({ sessionId }) => sessionId);

	async function raised(sessionId = 's1'): Promise<Watch> {
		expect(await raise(sessionId)).toEqual({ kind: 'raised' });
		const watch = await store().find(C1, { service: SERVICE, sessionId });
		if (watch === null) throw new Error('The raised hand is missing');
		return watch;
	}

	function asking(watch: Watch, overrides: Parameters<typeof news>[1] = {}) {
		const { id: watchId, teamId, channelId } = watch;
		const question = { ...QUESTION, messageIndex: 3 };
		const digest = { ...sessionView('s1').digest, question: { ...DIGEST, messageIndex: 3 } };
		const target = { kind: 'watch', watchId, teamId, channelId } as const;
		const content = { kind: 'question', question, changed: false, readAt: T0 } as const;
		return news(watch, { digest, announcements: [{ target, key: 'question', content }], ...overrides });
	}

	const lowered = (watch: Watch) => news(watch, { end: 'handLowered' });

	describe('discoveries', () => {
		it('begins once, keeps who began it, and changes its settings', async () => {
			const told: readonly NewAnnouncement[] = [
				{ target: { kind: 'channel', ...C1 }, key: 'begun', content: { kind: 'discoveryBegun', by: 'U-ANN' } },
			];
			expect(await store().discover(BEGUN, told)).toBe('begun');
			expect(await replica().discover({ ...BEGUN, createdBy: 'U-BOB', settings: {} }, told)).toBe('already');
			const changed = { ...BEGUN, createdBy: 'U-BOB', settings: { discreet: true } };
			expect(await store().discover(changed, told)).toBe('changed');
			expect(await posted()).toEqual(['begun']);
			const { teamId, channelId, service, createdBy, createdAt } = BEGUN;
			const expected = { teamId, channelId, service, createdBy, createdAt, discreet: true, buttons: true };
			expect(await store().discoveries(SERVICE)).toEqual([expected]);
			expect(await store().discoveries(OTHER_SERVICE)).toEqual([]);
			expect(await store().activeChannels()).toEqual([C1]);
		});

		it('raises the hand of a session that the channel does not watch, once for all replicas, and reads it first', async () => {
			await discovery();
			await store().add(newWatch({ sessionId: 's9', channelId: 'C2' }));
			const results = await Promise.all(
				Array.from({ length: 6 }, (_, index) => raise('s1', NO_LIMITS, index % 2 === 0 ? store() : replica())),
			);
			expect(results.filter(({ kind }) => kind === 'raised')).toHaveLength(1);
			expect(results.filter(({ kind }) => kind === 'unneeded')).toHaveLength(5);
			expect(
				(await store().takeDue(SERVICE, LEASE, 1, { now: T0, only: null })).map(({ session }) => session.sessionId),
			).toEqual(['s1']);
			expect(await store().find(C1, KEY)).toMatchObject({ mode: 'raisedHand', createdBy: 'U-ANN', digest: null });
			expect(await posted()).toEqual(['card']);
		});

		it('raises no hand in a channel that watches the session, or has ended its discovery', async () => {
			await discovery();
			await store().add(newWatch());
			expect(await raise()).toEqual({ kind: 'unneeded' });
			expect(await store().endDiscovery(C1, { now: T0, announcements: () => [] })).toMatchObject({
				createdBy: 'U-ANN',
			});
			expect(await store().endDiscovery(C1, { now: T0, announcements: () => [] })).toBeNull();
			expect(await raise('s2')).toEqual({ kind: 'unneeded' });
		});

		it('counts raised hands for the channel and for all, and for no person', async () => {
			await discovery();
			const limits = { person: 1, channel: 2, all: 3 };
			await raised('s1');
			expect(await store().add(newWatch({ sessionId: 's2', limits }))).toMatchObject({ kind: 'added' });
			expect(await raise('s3', limits)).toEqual({ kind: 'limit', limit: 'channel', count: 2, most: 2 });
			expect(await raise('s3', { ...limits, channel: 9, all: 2 })).toMatchObject({ limit: 'all', count: 2 });
			expect(await store().add(newWatch({ limits }))).toMatchObject({ limit: 'person', count: 1 });
			expect(await store().countSessions(SERVICE)).toBe(2);
		});

		it('lists what a channel does not watch, the longest waiting first', async () => {
			const here = await discovery();
			await list('s3', 's4');
			await store().replaceWaiting(SERVICE, named('s1', 's2', 's3', 's4'), at(T0 + 1_000));
			expect(await hands(here)).toEqual(['s3', 's4', 's1', 's2']);
			await raised('s3');
			expect(await hands(here)).toEqual(['s4', 's1', 's2']);
		});

		it('keeps what the channel saw of a session that it stopped', async () => {
			const here = await discovery();
			await list('s1');
			const watch = await raised();
			await recorded([asking(watch)]);
			const end = { now: T0 + 1_000, announcements: [], keepPending: false };
			await store().end(watch.id, 'unwatched', end);
			expect(await hands(here)).toEqual(['s1']);
			expect((await raised()).digest?.question?.messageIndex).toBe(3);
		});

		it('keeps nothing of a session that was stopped before the channel began', async () => {
			await discovery();
			await list('s1');
			const watch = await raised();
			await recorded([asking(watch)]);
			await store().end(watch.id, 'unwatched', { now: T0 + 1_000, announcements: [], keepPending: false });
			await store().endDiscovery(C1, { now: T0 + 1_500, announcements: () => [] });
			await discovery({ createdAt: T0 + 2_000 });
			expect((await raised()).digest).toBeNull();
		});

		it('tells neither beginning nor end when the channel was not told of the beginning', async () => {
			const told = (kind: 'discoveryBegun' | 'discoveryEnded', key: string = kind): NewAnnouncement => {
				return { target: { kind: 'channel', ...C1 }, key, content: { kind, by: 'U-ANN' } };
			};
			const end = { now: T0 + 1_000, announcements: () => [told('discoveryEnded')] };
			await store().discover(BEGUN, [told('discoveryBegun')]);
			await store().endDiscovery(C1, end);
			expect(await posted(T0 + 1_000)).toEqual([]);
			await store().discover(BEGUN, [told('discoveryBegun', 'again')]);
			expect(await posted(T0 + 1_000)).toEqual(['again']);
			await store().endDiscovery(C1, end);
			expect(await posted(T0 + 1_000)).toEqual(['discoveryEnded']);
		});

		it('leaves nothing of a raised hand that asked nothing, and offers it again after a time', async () => {
			const here = await discovery();
			await list('s1');
			const watch = await raised();
			await recorded([lowered(watch)]);
			const offered = { sessionId: 's1', loweredAt: T0, loweredCount: 1, isNew: false };
			expect(await stored(watch.id)).toBeNull();
			expect(await store().raisedHands(here)).toEqual([offered]);
			await recorded([lowered(await raised())]);
			expect(await store().raisedHands(here)).toEqual([offered]);
			expect(await store().countSessions(SERVICE)).toBe(0);
		});

		it('reads a session less often each time that it asked nothing, until it posts a question', async () => {
			const here = await discovery();
			await discovery({ channelId: 'C2' });
			await list('s1');
			const count = async () => (await store().raisedHands(here))[0]?.loweredCount;
			for (const expected of [1, 2, 3]) {
				const other = { ...C1, channelId: 'C2', id: randomUUID(), session: { service: SERVICE, sessionId: 's1' } };
				expect(
					await store().raiseHand({ ...other, createdAt: T0, ahead: false, isNew: false, limits: NO_LIMITS }),
				).toEqual({
					kind: 'raised',
				});
				const watch = await store().find({ ...C1, channelId: 'C2' }, other.session);
				if (watch === null) throw new Error('The raised hand is missing');
				// Two channels, one read.
				const at = T0 + expected;
				const first = await raised();
				await store().takeDue(SERVICE, LEASE, 10, { now: at, only: null });
				const update = read({ nextRead: { at: T0, by: T0 } });
				const held = { session: other.session, token: LEASE.token };
				await store().record(held, { update, watches: [lowered(first), lowered(watch)], now: at });
				expect(await count()).toBe(expected);
			}
		});

		it('keeps what a raised hand posted, and drops a question that was not sent yet', async () => {
			await discovery();
			const watch = await raised();
			await recorded([asking(watch)]);
			expect(await posted()).toEqual(['question']);
			expect((await stored(watch.id))?.card.ts).toBe('ts-question');
			const before = await stored(watch.id);
			if (before === null) throw new Error('It is missing');
			await recorded([lowered(before)]);
			expect(await stored(watch.id)).toMatchObject({ ended: { reason: 'handLowered' }, card: { wanted: null } });
			const second = await raised();
			await recorded([asking(second)]);
			const now = await stored(second.id);
			if (now === null) throw new Error('It is missing');
			await recorded([lowered(now)]);
			expect(await posted()).toEqual([]);
			expect(await stored(second.id)).toBeNull();
		});

		it.each(['closed', 'replaced'])('counts a session as new from when its question is %s', async (how) => {
			await discovery();
			await list('s1');
			const watch = await raised();
			await recorded([asking(watch)]);
			await posted();
			expect(await store().waiting(SERVICE)).toMatchObject([{ isNew: false }]);
			const before = (await stored(watch.id)) as Watch;
			await recorded([how === 'closed' ? lowered(before) : asking(before)]);
			expect(await store().waiting(SERVICE)).toMatchObject([{ isNew: true }]);
		});

		it('keeps a question whose post may exist', async () => {
			await discovery();
			const watch = await raised();
			await recorded([asking(watch)]);
			const [due] = await store().takeAnnouncements(LEASE, 1, T0);
			await store().beginAttempt(due?.announcement.id ?? '', LEASE.token, attemptAt(T0));
			await recorded([lowered((await stored(watch.id)) as Watch)]);
			expect(await stored(watch.id)).toMatchObject({ ended: { reason: 'handLowered' } });
			await store().endAttempt(
				due?.announcement.id ?? '',
				LEASE.token,
				{ kind: 'retry', at: T0, code: 'no_answer', unknown: true },
				T0,
			);
			expect(await posted()).toEqual(['question']);
		});

		it('wants no update of a card that there is not, whatever happens', async () => {
			await discovery();
			const watch = await raised();
			await recorded([asking(watch, { card: null })]);
			await posted();
			await store().refresh(KEY, { now: T0, earlyReadAt: null });
			expect((await stored(watch.id))?.card).toMatchObject({ ts: 'ts-question', wanted: null });
			await store().end(watch.id, 'unwatched', { now: T0, announcements: [], keepPending: false });
			expect(await stored(watch.id)).toMatchObject({ ended: { reason: 'unwatched' }, card: { wanted: null } });
		});

		it('makes a raised hand a watch with a card, which no read of the raised hand ends', async () => {
			await discovery();
			const hand = await raised();
			await recorded([asking(hand)]);
			await posted();
			const before = (await stored(hand.id)) as Watch;
			const added = await store().add(newWatch({ createdBy: 'U-BOB', limits: { ...NO_LIMITS, channel: 0, all: 0 } }));
			expect(added).toMatchObject({
				kind: 'added',
				watch: { id: hand.id, mode: 'everything', createdBy: 'U-BOB', card: { ts: null } },
			});
			await recorded([lowered(before)]);
			expect(await stored(hand.id)).toMatchObject({ ended: null });
			expect(await posted()).toEqual(['card']);
			expect((await stored(hand.id))?.card.ts).toBe('ts-card');
		});

		it('finds the limit that leaves no place, without hands whose question does not stand yet', async () => {
			const here = await discovery();
			const limits = { ...NO_LIMITS, channel: 1 };
			const watch = await raised();
			expect(await store().limitOf(here, limits)).toBeNull();
			await recorded([asking(watch)]);
			await posted();
			expect(await store().limitOf(here, limits)).toMatchObject({ limit: 'channel', most: 1 });
			expect(await store().limitOf(here, { ...NO_LIMITS, all: 1 })).toMatchObject({ limit: 'all', most: 1 });
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

		it('raises each hand once, new ones first and then the longest waiting, when two processes get lists at once', async () => {
			await discovery();
			await discovery({ channelId: 'C2' });
			const processes = [store(), replica()].map((own) => discoveriesOver(own, () => T0));
			await list('s1', 's2');
			const sessions = ['s9', 's8', 's2', 's1'].map((sessionId) => ({
				sessionId,
				name: `Name of ${sessionId}`,
				status: 'humanInput',
				updatedAt: null,
			}));
			const done = { sessionId: 'done', name: 'Done', status: 'completed', updatedAt: null };
			const found = { sessions: [...sessions, done], isComplete: true };
			await Promise.all([...processes, ...processes].map((one) => one.listed(found)));
			for (const channelId of ['C1', 'C2']) {
				const watches = await store().ofChannel({ ...C1, channelId });
				expect(watches.map(({ session }) => session.sessionId).toSorted()).toEqual(['s1', 's8', 's9']);
			}
			// None was read yet, so nobody knows whether they fill the channels.
			expect(await posted()).toEqual([]);
			await Promise.all(processes.map((one) => one.listed({ sessions: [], isComplete: false })));
			expect(await store().waiting(SERVICE)).toHaveLength(4);
			const part = [{ sessionId: 's7', name: 'Seven', status: 'humanInput', updatedAt: null }];
			await processes[0]?.listed({ sessions: part, isComplete: false });
			expect((await store().waiting(SERVICE)).map(({ sessionId }) => sessionId)).toEqual(['s7']);
		});

		it('ends with its channel, and tells who began it once, also between replicas', async () => {
			await discovery();
			await raised('s1');
			await store().add(newWatch({ sessionId: 's2', createdBy: 'U-BOB' }));
			const end = (at: ReturnType<typeof store>) =>
				endChannel(coreOf({ store: { watches: at }, clock: { now: () => T0 }, log: LOG }), C1, 'channelShared');
			await Promise.all([end(store()), end(replica())]);
			expect(await store().discoveryOf(C1, null)).toBeNull();
			expect(await store().ofChannel(C1)).toEqual([]);
			const due = await store().takeAnnouncements(LEASE, 9, T0);
			const told = due.map(({ announcement: { target, content } }) => [target, content]);
			expect(told).toHaveLength(2);
			const common = { kind: 'creatorTold', reason: 'channelShared', channelId: 'C1' };
			expect(told).toEqual(
				expect.arrayContaining([
					[expect.objectContaining({ userId: 'U-ANN' }), { ...common, sessionIds: [], all: true }],
					[expect.objectContaining({ userId: 'U-BOB' }), { ...common, sessionIds: ['s2'] }],
				]),
			);
		});
	});
}

function discoveriesOver(store: WatchStore, now: () => number) {
	const core = coreOf({
		store: { watches: store },
		serviceUrl: SERVICE,
		config: {
			discoverSessions: true,
			service: { usesList: true } as Config['service'],
			watchLimits: { ...NO_LIMITS, channel: 3 },
		},
		metrics: { watches: createRecordingMetrics().metrics },
		clock: { ...systemClock, now },
		log: createRecordingLog(),
	});
	return createDiscoveries(core, { isUnlisted: () => false, isListed: () => true, onChange: () => {} });
}

const DIGEST = { messageIndex: 3, fingerprint: 'f', shownHash: 'shown', sameBefore: 0, answered: [], open: [0] };
const QUESTION = {
	messageIndex: 3,
	fingerprint: 'f',
	shownHash: 'shown',
	goneOn: false,
	context: 'Three are in stock.',
	items: [],
	itemCount: 1,
	openCount: 1,
	quick: null,
};
