import { describe, expect, it } from 'vitest';
import { UNKNOWN_STEP_RATE } from '../../../src/database/watch.ts';
import { SERVICE } from '../../features/watch/support.ts';
import { recordRead } from '../../support/found.ts';
import type { Subject } from '../contract.ts';
import { attemptAt, inTurns, LEASE, OTHER_LEASE, refreshed, T0 } from '../support.ts';
import { ASKED, KEY, news, read, said, shownAt, watchActs } from './watch-acts.ts';

/** Reads of watched sessions, and outages that they find. */
export function describeWatchReads(subject: Subject): void {
	const { store, replica, stored, added, recorded, next, posted, cardOf } = watchActs(subject);

	describe('reads', () => {
		it('reads other sessions when one row is damaged', async () => {
			await added();
			await added({ sessionId: 's2' });
			await subject.store.db.write((trx) =>
				trx
					.updateTable('watched_sessions')
					.set({ rhythm: '{"v":9}', digest: '{"v":9}' })
					.where('sessionId', '=', 's1')
					.execute(),
			);
			expect(await store().sessions.outlines(SERVICE, T0)).toHaveLength(2);
			const taken = await store().sessions.takeDue(SERVICE, LEASE, 10, { now: T0 + 1e6, only: null });
			expect(taken.map(({ session }) => session.sessionId).sort()).toEqual(['s1', 's2']);
			expect(taken.find(({ session }) => session.sessionId === 's1')).toMatchObject({
				stepRate: UNKNOWN_STEP_RATE,
				digest: null,
			});
		});

		it('stores the outcome of a read all or nothing: digest, questions, posts, end', async () => {
			const first = await added();
			const second = await added({ channelId: 'C2' });
			await posted();
			const tables = ['watched_sessions', 'watches', 'posts', 'questions'] as const;
			const rows = () =>
				Promise.all(tables.map((table) => subject.store.db.read.selectFrom(table).selectAll().execute()));
			await store().sessions.takeDue(SERVICE, LEASE, 10, { now: T0, only: null });
			const before = await rows();
			const unstorable = {
				...said(second, 'b'),
				content: { kind: 'serviceDown', since: 1n, code: 'unavailable' },
			} as never;
			const updates = [
				news(first, { posts: [said(first, 'a')], card: 'now', end: 'noChange' }),
				news(second, { posts: [unstorable] }),
			];
			const held = { session: KEY, token: LEASE.token };
			const outcome = { update: read({ lastReadAt: T0 + 1, questions: [ASKED] }), watches: updates, now: T0 };
			await expect(recordRead(store(), held, outcome)).rejects.toThrow(TypeError);
			expect(await rows()).toEqual(before);
		});

		it('leases each due session to one replica, the most urgent first', async () => {
			await inTurns([...Array(20).keys()], 5, (index) => added({ sessionId: `s${index}`, createdAt: T0 + index }));
			const taken = await Promise.all([
				store().sessions.takeDue(SERVICE, LEASE, 12, { now: T0 + 100, only: null }),
				replica().sessions.takeDue(SERVICE, OTHER_LEASE, 12, { now: T0 + 100, only: null }),
			]);
			const ids = taken.flat().map(({ session }) => session.sessionId);
			expect(new Set(ids).size).toBe(ids.length);
			const secondBatch = await store().sessions.takeDue(SERVICE, LEASE, 12, { now: T0 + 100, only: null });
			expect(ids.length + secondBatch.length).toBe(20);
			expect(await store().sessions.takeDue('https://other.example', LEASE, 12, { now: T0 + 100, only: null })).toEqual(
				[],
			);
		});

		it('leases a session to another replica after the lease of a dead one lapses', async () => {
			const watch = await added();
			await store().sessions.takeDue(SERVICE, LEASE, 10, { now: T0, only: null });
			expect(
				await replica().sessions.takeDue(SERVICE, OTHER_LEASE, 10, { now: T0 + LEASE.ms - 1, only: null }),
			).toEqual([]);
			expect(await store().sessions.nextDueAt(SERVICE, null)).toBe(T0 + LEASE.ms);
			expect(
				await replica().sessions.takeDue(SERVICE, OTHER_LEASE, 10, { now: T0 + LEASE.ms, only: null }),
			).toHaveLength(1);
			expect(
				await recordRead(
					store(),
					{ session: KEY, token: LEASE.token },
					{ update: read(), watches: [news(watch)], now: T0 },
				),
			).toBe(false);
			expect(await stored(watch.id)).toMatchObject({ revision: 0 });
			const held = (token: string) => [{ session: KEY, token }];
			expect(await store().sessions.renew(held(LEASE.token), LEASE.ms, T0 + LEASE.ms)).toEqual([]);
			expect(await replica().sessions.renew(held(OTHER_LEASE.token), LEASE.ms, T0 + LEASE.ms)).toEqual([KEY]);
		});

		it('stores that a watch was told and what it is told in one transaction', async () => {
			const watch = await added();
			expect(await recorded([news(watch, { posts: [said(watch, 'paused')], card: 'now' })])).toBe(true);
			const after = await stored(watch.id);
			expect(after).toMatchObject({ revision: 1, lastChangeAt: T0 });
			expect(await cardOf(watch.id)).toMatchObject({ state: 'planned', wanted: 1 });
			expect(await posted()).toEqual(['card']);
			expect(await posted()).toEqual(['paused']);
		});

		it('announces nothing when another replica has announced what the same read found', async () => {
			const watch = await added();
			await recorded([news(watch, { posts: [said(watch, 'paused')] })]);
			await store().sessions.takeDue(SERVICE, LEASE, 10, { now: T0 + 20_000, only: null });
			const late = news(watch, { posts: [said(watch, 'twice')] });
			await recordRead(
				store(),
				{ session: KEY, token: LEASE.token },
				{ update: read(), watches: [late], now: T0 + 20_000 },
			);
			await posted();
			expect(await posted(T0 + 30_000)).toEqual(['paused']);
			expect(await posted(T0 + 30_000)).toEqual([]);
		});

		it('queues the same post once for a watch', async () => {
			const watch = await added();
			await recorded([news(watch, { posts: [said(watch, 'paused'), said(watch, 'paused')] })]);
			await posted();
			expect(await posted()).toEqual(['paused']);
			expect(await posted()).toEqual([]);
		});

		it('ends a watch with its session and keeps its pending posts', async () => {
			const watch = await added();
			await posted();
			await recorded([news(watch, { posts: [said(watch, 'over')], card: 'now', end: 'sessionOver' })]);
			expect(await stored(watch.id)).toMatchObject({ ended: { reason: 'sessionOver' } });
			expect(await store().sessions.count(SERVICE)).toBe(0);
			expect(await posted()).toEqual(['over']);
			const due = await store().posts.takeDue(LEASE, 10, T0);
			expect(due).toMatchObject([{ post: { key: 'card' }, watch: { id: watch.id }, view: { name: 'Session s1' } }]);
		});

		it('reads a session early even when a running read plans a later time', async () => {
			await added();
			await recorded([]);
			await refreshed(subject.store, KEY, { now: T0, earlyReadAt: T0 + 2_000 });
			expect(await store().sessions.takeDue(SERVICE, LEASE, 10, { now: T0 + 1_999, only: null })).toEqual([]);
			const [taken] = await store().sessions.takeDue(SERVICE, LEASE, 10, { now: T0 + 2_000, only: null });
			expect(taken).toMatchObject({ earlyReadAskedAt: T0 });
			await refreshed(subject.replica, KEY, { now: T0 + 2_100, earlyReadAt: T0 + 4_000 });
			await recordRead(
				store(),
				{ session: KEY, token: LEASE.token },
				{ update: read({ earlyReadCount: taken?.earlyReadCount ?? 0 }), watches: [], now: T0 + 2_200 },
			);
			expect(await store().sessions.nextDueAt(SERVICE, null)).toBe(T0 + 4_000);
		});

		it('reschedules a read only while its time is unchanged and it has no lease', async () => {
			await added();
			await recorded([]);
			const from = read().nextRead;
			await store().sessions.reschedule([{ session: KEY, from: { ...from, at: from.at + 1 }, to: { at: T0, by: T0 } }]);
			expect(await store().sessions.nextDueAt(SERVICE, null)).toBe(from.at);
			await store().sessions.reschedule([{ session: KEY, from, to: { at: T0 + 500, by: T0 + 600 } }]);
			expect(await store().sessions.nextDueAt(SERVICE, null)).toBe(T0 + 500);
			expect(await store().sessions.outlines(SERVICE, T0)).toMatchObject([
				{ session: KEY, nextRead: { at: T0 + 500, by: T0 + 600 }, status: 'active', questionOpen: false },
			]);
		});

		it("releases only this replica's leases at shutdown", async () => {
			await added();
			await added({ sessionId: 's2' });
			await store().sessions.takeDue(SERVICE, LEASE, 1, { now: T0, only: null });
			await replica().sessions.takeDue(SERVICE, OTHER_LEASE, 1, { now: T0, only: null });
			await store().posts.takeDue(LEASE, 10, T0);
			await store().sessions.release([LEASE.token]);
			expect(await store().sessions.takeDue(SERVICE, LEASE, 10, { now: T0, only: null })).toHaveLength(1);
			expect(await store().posts.takeDue(OTHER_LEASE, 10, T0)).toEqual([]);
			await store().posts.release([LEASE.token]);
			expect(await store().posts.takeDue(OTHER_LEASE, 10, T0)).toHaveLength(2);
		});
	});

	describe('outages', () => {
		const down = {
			service: SERVICE,
			now: T0 + 60_000,
			down: true,
			since: T0 + 25_000,
			unlessReadSince: T0 + 30_000,
			code: 'unavailable',
		};

		it('announces an outage once in each channel, and its end once where it was announced', async () => {
			await added();
			await added({ sessionId: 's2' });
			await added({ sessionId: 's3', channelId: 'C2' });
			await posted();
			const noted = await Promise.all([store().reads.noteOutage(down), replica().reads.noteOutage(down)]);
			expect(noted.filter(Boolean)).toHaveLength(1);
			expect(await posted(T0 + 60_000)).toHaveLength(2);
			const back = { ...down, now: T0 + 90_000, down: false };
			const ended = await Promise.all([store().reads.noteOutage(back), replica().reads.noteOutage(back)]);
			expect(ended.filter(Boolean)).toHaveLength(1);
			expect(await posted(T0 + 90_000)).toHaveLength(2);
			expect(await posted(T0 + 90_000)).toEqual([]);
		});

		it('announces no outage that ended before its notice was sent', async () => {
			await added();
			await posted();
			expect(await store().reads.noteOutage(down)).toBe(true);
			expect(await store().reads.noteOutage({ ...down, down: false })).toBe(true);
			expect(await posted(T0 + 90_000)).toEqual([]);
		});

		it('announces the end of an outage whose notice is being sent', async () => {
			await added();
			await posted();
			await store().reads.noteOutage(down);
			const notice = await next(down.now);
			await store().posts.beginAttempt(notice.post.id, LEASE.token, attemptAt(down.now));
			await replica().reads.noteOutage({ ...down, now: T0 + 70_000, down: false });
			await store().posts.endAttempt(notice.post, LEASE.token, shownAt(notice.post, '9.9'), T0 + 70_000);
			const [back] = await store().posts.takeDue(LEASE, 5, T0 + 70_000);
			expect(back?.post.content).toEqual({ kind: 'serviceBack', since: T0 + 25_000, downMs: 45_000 });
		});

		it('notes no outage while another replica reads', async () => {
			await added();
			await recorded([], read({ lastReadAt: T0 + 40_000 }));
			expect(await store().reads.noteOutage(down)).toBe(false);
		});
	});
}
