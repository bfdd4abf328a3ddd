import { describe, expect, it } from 'vitest';
import { sessionReads } from '../../../src/store/session-reads.ts';
import { changeSession, type WatchedSessionRow } from '../../../src/store/watched-sessions.ts';
import { SERVICE } from '../../sessions/support.ts';
import { recordRead } from '../../support/found.ts';
import type { Subject } from '../contract.ts';
import { attemptAt, inTurns, LEASE, OTHER_LEASE, present, storeActs, T0 } from '../support.ts';
import { ASKED, KEY, news, read, said, shownAt, watchActs } from './watch-acts.ts';

/** Reads of watched sessions, and outages that they find. */
export function describeWatchReads(subject: Subject): void {
	const { refreshed, rowsOf, setRows } = storeActs(subject);
	const { store, replica, stored, added, recorded, ended, next, posted, cardOf } = watchActs(subject);

	/** Watched sessions whose rows have these columns. */
	async function planned(rows: Readonly<Record<string, Partial<WatchedSessionRow>>>): Promise<void> {
		for (const [sessionId, columns] of Object.entries(rows)) {
			await added({ sessionId });
			const session = { service: SERVICE, sessionId };
			await store().db.write((trx) => changeSession(trx, session, { lastReadAt: T0, ...columns }));
		}
	}

	/** When the reads of these sessions are due, and their places. */
	const planOf = async (...ids: readonly string[]) => {
		const found = ids.map((sessionId) => store().sessions.watched({ service: SERVICE, sessionId }));
		return Object.fromEntries((await Promise.all(found)).map((one, index) => [ids[index], one?.nextRead]));
	};

	const at = (nextReadAt: number, readBy = nextReadAt) => ({ nextReadAt, readBy });

	describe('reads', () => {
		it('reads other sessions when one row is damaged', async () => {
			await added();
			await added({ sessionId: 's2' });
			await setRows('watched_sessions', { reads: '{"unread":9}', digest: '{"v":9}' }, { sessionId: 's1' });
			const taken = await store().sessions.takeDue(SERVICE, LEASE, 10, T0 + 1e6);
			expect(taken.map(({ session }) => session.sessionId).sort()).toEqual(['s1', 's2']);
			const damaged = taken.find(({ session }) => session.sessionId === 's1');
			expect(damaged).toMatchObject({ reads: sessionReads.parse({}), digest: null });
		});

		it('stores the outcome of a read all or nothing: digest, questions, posts, end', async () => {
			const first = await added();
			const second = await added({ channelId: 'C2' });
			await posted();
			const tables = ['watched_sessions', 'watches', 'posts', 'questions'] as const;
			const rows = () => Promise.all(tables.map((table) => rowsOf(table)));
			await store().sessions.takeDue(SERVICE, LEASE, 10, T0);
			const before = await rows();
			const content = { kind: 'serviceDown', since: 1n, code: 'unavailable' };
			const unstorable = { ...said(second, 'b'), content } as never;
			const updates = [
				news(first, { posts: [said(first, 'a')], card: 'now', end: 'noChange' }),
				news(second, { posts: [unstorable] }),
			];
			const update = read({ lastReadAt: T0 + 1, questions: [ASKED] });
			await expect(recorded(updates, update)).rejects.toThrow(TypeError);
			expect(await rows()).toEqual(before);
		});

		it('leases each due session to one replica, the most urgent first', async () => {
			await inTurns([...Array(20).keys()], 5, (index) => added({ sessionId: `s${index}`, createdAt: T0 + index }));
			const taken = await Promise.all([
				store().sessions.takeDue(SERVICE, LEASE, 12, T0 + 100),
				replica().sessions.takeDue(SERVICE, OTHER_LEASE, 12, T0 + 100),
			]);
			const ids = taken.flat().map(({ session }) => session.sessionId);
			expect(new Set(ids).size).toBe(ids.length);
			const secondBatch = await store().sessions.takeDue(SERVICE, LEASE, 12, T0 + 100);
			expect(ids.length + secondBatch.length).toBe(20);
			expect(await store().sessions.takeDue('https://other.example', LEASE, 12, T0 + 100)).toEqual([]);
		});

		it('leases a session to another replica after the lease of a dead one lapses', async () => {
			const watch = await added();
			await store().sessions.takeDue(SERVICE, LEASE, 10, T0);
			expect(await replica().sessions.takeDue(SERVICE, OTHER_LEASE, 10, T0 + LEASE.ms - 1)).toEqual([]);
			expect(await store().sessions.nextDueAt(SERVICE)).toBe(T0 + LEASE.ms);
			expect(await replica().sessions.takeDue(SERVICE, OTHER_LEASE, 10, T0 + LEASE.ms)).toHaveLength(1);
			const late = { update: read(), watches: [news(watch)], now: T0 };
			expect(await recordRead(store(), { session: KEY, token: LEASE.token }, late)).toBe(false);
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
			await recorded([news(watch, { posts: [said(watch, 'twice')] })], read(), { takenAt: T0 + 20_000 });
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
			expect(due).toMatchObject([{ post: { key: 'card' }, watch: { id: watch.id }, snapshot: { name: 'Session s1' } }]);
		});

		it('reads a session early even when a running read plans a later time', async () => {
			await added();
			await recorded([]);
			await refreshed(KEY, { now: T0, earlyReadAt: T0 + 2_000 });
			expect(await store().sessions.takeDue(SERVICE, LEASE, 10, T0 + 1_999)).toEqual([]);
			const [taken] = await store().sessions.takeDue(SERVICE, LEASE, 10, T0 + 2_000);
			expect(taken).toMatchObject({ earlyReadAskedAt: T0 });
			await refreshed(KEY, { now: T0 + 2_100, earlyReadAt: T0 + 4_000 });
			await recorded([], read({ earlyReadCount: present(taken).earlyReadCount }), { now: T0 + 2_200 });
			expect(await store().sessions.nextDueAt(SERVICE)).toBe(T0 + 4_000);
		});

		it('takes what is awaited first, then what has waited most times its interval', async () => {
			const due = T0 + 600_000;
			await planned({
				rarely: { ...at(due), lastReadAt: T0 },
				often: { ...at(due), lastReadAt: due - 4_000 },
				'never read': { ...at(due + 500), lastReadAt: null },
				'read again at once': { ...at(due + 1_000), lastReadAt: due + 1_000 },
				'not due': { ...at(due + 60_000), lastReadAt: due },
				'awaited later': { ...at(due + 900, due - 300_000), lastReadAt: due },
				'awaited first': { ...at(due + 1_000, due - 600_000), lastReadAt: due },
			});
			const awaited = ['awaited first', 'awaited later'];
			const order = async (now: number) => {
				const taken = await replica().sessions.takeDue(SERVICE, LEASE, 10, now);
				await replica().sessions.release([LEASE.token]);
				return taken.map(({ session }) => session.sessionId);
			};
			// 1,100 of 4,000 ms, 600 of 2,500 ms and 1,100 of 600,000 ms are over.
			expect(await order(due + 1_100)).toEqual([...awaited, 'read again at once', 'often', 'never read', 'rarely']);
			// 2,500 of 4,000 ms, 2,000 of 2,500 ms.
			expect(await order(due + 2_500)).toEqual([...awaited, 'read again at once', 'never read', 'often', 'rarely']);
			expect(await store().sessions.takeDue(SERVICE, LEASE, 1, due + 2_500)).toMatchObject([
				{ session: { sessionId: 'awaited first' } },
			]);
		});

		it('take a session that has failed for long, or is followed again, before those that are read often', async () => {
			const due = T0 + 600_000;
			await planned({
				often: { ...at(due), lastReadAt: due - 4_000 },
				'failed since long': { ...at(due - 1), lastReadAt: T0, failures: 9 },
				'followed again': { ...at(due), lastReadAt: T0, digest: null },
			});
			const taken = await store().sessions.takeDue(SERVICE, LEASE, 2, due + 1_000);
			expect(taken.map(({ session }) => session.sessionId)).toEqual(['failed since long', 'followed again']);
		});

		it('are brought forward where no list tells of sessions any more', async () => {
			const kept = {
				soon: at(T0 + 30_000, T0),
				'never read': { ...at(T0 + 90_000), lastReadAt: null },
				failing: { ...at(T0 + 90_000), failures: 1 },
				'being read': { ...at(T0 + 90_000), leaseToken: 'another', leasedUntil: T0 + 90_000 },
			};
			await planned({ ...kept, first: at(T0 + 31_000, T0), second: { ...at(T0 + 90_000), lastReadAt: T0 + 20_000 } });
			const before = await planOf(...Object.keys(kept));
			await store().sessions.readWithin('https://other.example', 30_000);
			expect(await planOf('first')).toEqual({ first: { at: T0 + 31_000, by: T0 } });
			await store().sessions.readWithin(SERVICE, 30_000);
			expect(await planOf('first', 'second')).toEqual({
				first: { at: T0 + 30_000, by: T0 + 30_000 },
				second: { at: T0 + 50_000, by: T0 + 50_000 },
			});
			expect(await planOf(...Object.keys(kept))).toEqual(before);
		});

		it('come at once after those that failed, when the service is back, each in its place', async () => {
			const now = T0 + 10_000;
			const kept = {
				'not failing': at(T0 + 90_000),
				due: { ...at(T0 + 9_000), failures: 1 },
				'being read': { ...at(T0 + 90_000), failures: 1, leaseToken: 'another', leasedUntil: T0 + 90_000 },
			};
			await planned({
				...kept,
				failing: { ...at(T0 + 90_000), failures: 1 },
				awaited: { ...at(T0 + 90_000, T0 - 300_000), failures: 2 },
			});
			const before = await planOf(...Object.keys(kept));
			await store().sessions.readFailing('https://other.example', now);
			expect(await planOf('failing')).toEqual({ failing: { at: T0 + 90_000, by: T0 + 90_000 } });
			await store().sessions.readFailing(SERVICE, now);
			expect(await planOf('failing', 'awaited')).toEqual({
				failing: { at: now, by: now },
				awaited: { at: now, by: T0 - 300_000 },
			});
			expect(await planOf(...Object.keys(kept))).toEqual(before);
		});

		it("releases only this replica's leases at shutdown", async () => {
			await added();
			await added({ sessionId: 's2' });
			await store().sessions.takeDue(SERVICE, LEASE, 1, T0);
			await replica().sessions.takeDue(SERVICE, OTHER_LEASE, 1, T0);
			await store().posts.takeDue(LEASE, 10, T0);
			await store().sessions.release([LEASE.token]);
			expect(await store().sessions.takeDue(SERVICE, LEASE, 10, T0)).toHaveLength(1);
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
			await ended(notice.post, shownAt(notice.post, '9.9'), T0 + 70_000);
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
