import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createRateLimiter } from '../../../src/kernel/rate-limiter.ts';
import { createEndings } from '../../../src/sessions/endings.ts';
import { createSharedState } from '../../../src/store/shared-states.ts';
import type { Watch } from '../../../src/store/watch.ts';
import { settledEvents } from '../../operator/audit-command.ts';
import { NO_LIMITS, newWatch, SERVICE, sessionView } from '../../sessions/support.ts';
import { coreOf } from '../../support/core.ts';
import type { Subject } from '../contract.ts';
import { LEASE, removeEnded, storeActs, T0 } from '../support.ts';
import {
	ASKED,
	asking,
	askingView,
	C1,
	KEY,
	news,
	QUESTION,
	read,
	said,
	settled,
	shownAt,
	watchActs,
} from './watch-acts.ts';

const GONE = { kind: 'creatorTold', reason: 'channelShared', channelId: 'C1', sessionIds: ['s1'] } as const;

export function describeWatches(subject: Subject): void {
	const { refreshed, rowsOf, setRows } = storeActs(subject);
	const { store, replica, added, recorded, ended, unwatch, posted, postsOf } = watchActs(subject);

	describe('watches', () => {
		it('adds one watch for a session and a channel, even when replicas add it at once', async () => {
			const results = await Promise.all(
				Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? store() : replica()).watches.add(newWatch())),
			);
			expect(results.filter((result) => result.kind === 'added')).toHaveLength(1);
			expect(new Set(results.map((result) => result.kind !== 'limit' && result.watch.id)).size).toBe(1);
			expect(await store().sessions.count(SERVICE)).toBe(1);
			expect(await posted()).toEqual(['card']);
		});

		it('adds no more watches than the limits allow, even when replicas add at once', async () => {
			const limits = { ...NO_LIMITS, person: 5 };
			const results = await Promise.all(
				Array.from({ length: 16 }, (_, index) =>
					(index % 2 === 0 ? store() : replica()).watches.add(newWatch({ sessionId: `s${index}`, limits })),
				),
			);
			expect(results.filter(({ kind }) => kind === 'added')).toHaveLength(5);
			const limit = { kind: 'limit', limit: 'person', count: 5, most: 5 };
			expect(results.find(({ kind }) => kind === 'limit')).toEqual(limit);
			expect(await store().sessions.count(SERVICE)).toBe(5);
		});

		it('counts live watches of a person, of a channel and in total, and keeps those above a lowered limit', async () => {
			const add = (sessionId: string, more: Parameters<typeof newWatch>[0]) =>
				store().watches.add(newWatch({ sessionId, limits: { person: 2, channel: 3, all: 4 }, ...more }));
			const first = await added();
			await add('s2', {});
			expect(await add('s3', { channelId: 'C2' })).toMatchObject({ limit: 'person', count: 2, most: 2 });
			await add('s3', { createdBy: 'U-BOB' });
			expect(await add('s4', { createdBy: 'U-BOB' })).toMatchObject({ limit: 'channel', count: 3, most: 3 });
			await add('s4', { createdBy: 'U-BOB', channelId: 'C2' });
			const all = { limit: 'all', count: 4, most: 4 };
			expect(await add('s5', { createdBy: 'U-CY', channelId: 'C2' })).toMatchObject(all);
			expect(await add('s2', {})).toMatchObject({ kind: 'already' });
			await unwatch(first.id);
			expect(await add('s6', {})).toMatchObject({ kind: 'added' });
			const lowered = { ...NO_LIMITS, person: 1 };
			expect(await add('s7', { limits: lowered })).toMatchObject({ kind: 'limit', count: 2, most: 1 });
			expect(await add('s6', { limits: lowered })).toMatchObject({ kind: 'already' });
			expect(await store().sessions.count(SERVICE)).toBe(4);
		});

		it("lists a channel's watches with their session snapshots, newest change first", async () => {
			await added({ createdAt: T0 });
			await added({ sessionId: 's2', createdAt: T0 + 1 });
			await added({ sessionId: 's3', channelId: 'C2' });
			const page = await store().watches.list(C1, { offset: 0, limit: 1 });
			expect(page.total).toBe(2);
			expect(page.watches.map(({ session, snapshot }) => [session.sessionId, snapshot])).toEqual([
				['s2', sessionView('s2')],
			]);
		});

		it('stops reading an unwatched session and reads it at once when it is watched again', async () => {
			const watch = await added();
			const other = await added({ channelId: 'C2' });
			await unwatch(watch.id);
			expect(await store().sessions.count(SERVICE)).toBe(1);
			await unwatch(other.id);
			expect(await store().sessions.count(SERVICE)).toBe(0);
			expect(await store().sessions.takeDue(SERVICE, LEASE, 10, T0 + 1e6)).toEqual([]);
			expect((await store().watches.add(newWatch({ createdAt: T0 + 2e6 }))).kind).toBe('added');
			expect(await store().sessions.takeDue(SERVICE, LEASE, 10, T0 + 2e6)).toHaveLength(1);
		});

		it('ends a watch once and drops its pending posts', async () => {
			const watch = await added();
			const end = (at: ReturnType<typeof store>) =>
				at.watches.end(watch.id, 'unwatched', { now: T0, posts: [said(watch, 'bye')] });
			const ends = await Promise.all([end(store()), end(replica())]);
			expect(ends.filter((ended) => ended !== null)).toMatchObject([{ ended: { reason: 'unwatched', at: T0 } }]);
			expect(await posted()).toEqual(['bye']);
		});
	});

	describe('channels', () => {
		it('lists a channel as active while it has watches, pending posts or card updates', async () => {
			const active = async () => (await store().posts.activeChannels()).map(({ channelId }) => channelId).sort();
			expect(await active()).toEqual([]);
			const watch = await added();
			await added({ sessionId: 's2' });
			const other = await added({ channelId: 'C2', sessionId: 's3' });
			await added({ teamId: 'T2', channelId: 'C1', sessionId: 's4' });
			expect(await active()).toEqual(['C1', 'C1', 'C2']);
			expect(await store().posts.activeChannels()).toContainEqual({ teamId: 'T2', channelId: 'C1' });
			const ended = { now: T0, posts: [said(other, 'bye')] };
			await store().watches.end(other.id, 'unwatched', ended);
			expect(await active()).toEqual(['C1', 'C1', 'C2']);
			await store().posts.silence({ teamId: 'T1', channelId: 'C2' });
			expect(await active()).toEqual(['C1', 'C1']);
			const word = { target: { kind: 'person', teamId: 'T1', userId: 'U1' }, key: 'k', content: GONE } as const;
			await store().watches.end(watch.id, 'channelShared', { now: T0, posts: [word] });
			await store().posts.silence(C1);
			// The channel's other session.
			expect(await active()).toEqual(['C1', 'C1']);
		});

		it('ends the watches of a channel once and tells their creators', async () => {
			const creators = ['U-ANN', 'U-BOB'];
			for (const createdBy of creators) {
				await added({ createdBy, sessionId: `${createdBy}1` });
				await added({ createdBy, sessionId: `${createdBy}2` });
			}
			await posted();
			const end = (at: ReturnType<typeof store>) =>
				createEndings(coreOf({ store: at, clock: { now: () => T0 } })).endChannel(C1, 'channelShared');
			await Promise.all([end(store()), end(replica()), end(store())]);
			await end(replica());
			expect(await store().watches.ofChannel(C1)).toEqual([]);
			const events = await settledEvents(store().db.read);
			expect(events.filter(({ action }) => action === 'unwatched')).toHaveLength(4);
			const due = await store().posts.takeDue(LEASE, 50, T0);
			const told = due.map(({ post: { target } }) => (target.kind === 'person' ? target.userId : null));
			expect(new Set(told)).toEqual(new Set(creators));
		});
	});

	it('removes watches that ended long ago and keeps live ones', async () => {
		const watch = await added();
		await added({ sessionId: 's2' });
		await posted();
		await unwatch(watch.id);
		expect(await removeEnded(store().db, T0)).toBe(0);
		expect(await removeEnded(store().db, T0 + 1)).toBe(1);
		expect(await rowsOf('watched_sessions')).toMatchObject([{ sessionId: 's2' }]);
	});

	/** A watch whose question was settled and whose next one is open. Both are posted; the first had its last look. */
	async function askedTwice(): Promise<Watch> {
		const watch = await added();
		await posted();
		const again = { nextRead: { at: T0, by: T0 }, snapshot: askingView() };
		const first = news(watch, { posts: [asking(watch, 'first'), said(watch, 'status')] });
		await recorded([first], read({ ...again, questions: [ASKED] }));
		for (let turn = 0; turn < 2; turn += 1) await posted();
		await recorded(
			[news({ ...watch, revision: 1 }, { posts: [asking(watch, 'second')] })],
			read({ ...again, questions: [settled('answered'), ASKED] }),
		);
		await posted();
		const due = await store().posts.takeDue(LEASE, 10, T0);
		for (const { post, question } of due) {
			const isLast = question?.settledHow != null && post.content.kind === 'question';
			await ended(post, shownAt(post, '', { isLast }));
		}
		return watch;
	}

	it('counts how long a post is kept from its last look', async () => {
		const watch = await askedTwice();
		const kinds = async () => (await postsOf(watch.id)).map(({ kind }) => kind);
		await setRows('posts', { shownAt: T0 + 10 }, { kind: 'question', state: 'closed' });
		await removeEnded(store().db, T0 + 10);
		expect(await kinds()).toEqual(['card', 'question', 'question']);
		await removeEnded(store().db, T0 + 11);
		expect(await kinds()).toEqual(['card', 'question']);
	});

	it('removes the posts of a live watch that nothing needs, and keeps those of its open question', async () => {
		const watch = await askedTwice();
		const keys = async () => {
			const rows = await postsOf(watch.id);
			return rows.map(({ uniqueKey, questionId }) => uniqueKey.replace(questionId ?? '', ''));
		};
		await removeEnded(store().db, T0);
		expect(await keys()).toEqual(['card', 'first', 'status', 'second']);
		expect(await rowsOf('questions')).toHaveLength(2);
		await removeEnded(store().db, T0 + 1);
		expect(await keys()).toEqual(['card', 'second']);
		expect(await rowsOf('questions')).toMatchObject([{ settledHow: null }]);
		// The open question is still drawn.
		await refreshed(KEY, { now: T0, earlyReadAt: null });
		const due = await store().posts.takeDue(LEASE, 9, T0);
		expect(due.filter(({ post }) => post.content.kind === 'question')).toMatchObject([
			{ question: { asked: { question: QUESTION } } },
		]);
	});

	it('shares one rate between replicas', async () => {
		const limiters = [
			createRateLimiter(systemClock, (key) => createSharedState(subject.store, key)),
			createRateLimiter(systemClock, (key) => createSharedState(subject.replica, key)),
		];
		const limit = { intervalMs: 1_000, burst: 3 };
		const take = async (index: number, keep = 0) => limiters[index % 2]?.take('update:T1', limit, { now: T0, keep });
		const waits = await Promise.all(Array.from({ length: 6 }, (_, index) => take(index)));
		expect(waits.filter((wait) => wait === 0)).toHaveLength(3);
		expect(await take(0)).toBe(1_000);
		expect(await take(1, 2)).toBe(3_000);
		await limiters[0]?.pause('update:T1', T0 + 30_000);
		expect(await limiters[1]?.take('update:T1', limit, { now: T0 + 20_000, keep: 0 })).toBe(10_000);
	});

	it('counts calls that were already made, up to the debt, and removes unused rates', async () => {
		const [one, other] = [subject.store.db, subject.replica.db].map((db) =>
			createRateLimiter(systemClock, (key) => createSharedState({ db, clock: { ...systemClock, now: () => T0 } }, key)),
		);
		if (one === undefined || other === undefined) throw new Error('there are two');
		const limit = { intervalMs: 1_000, burst: 3, debt: 5 };
		const take = (now: number) => other.take('person:U1', limit, { now, keep: 0 });
		expect(await take(T0)).toBe(0);
		await Promise.all([one, other].map((limiter) => limiter.charge('person:U1', limit, { now: T0, count: 2 })));
		expect(await take(T0)).toBe(3_000);
		await one.charge('person:U1', limit, { now: T0, count: 100 });
		expect(await take(T0)).toBe(6_000);
		await removeEnded(store().db, T0);
		expect(await take(T0)).toBe(6_000);
		await removeEnded(store().db, T0 + 1);
		expect(await take(T0)).toBe(0);
	});
}
