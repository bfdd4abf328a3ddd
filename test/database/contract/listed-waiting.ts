import { describe, expect, it } from 'vitest';
import type { ListedWaiting, PlannedRead, ReadKind } from '../../../src/database/watch.ts';
import { SERVICE, sessionView } from '../../features/watch/support.ts';
import { recordRead } from '../../support/found.ts';
import type { Subject } from '../contract.ts';
import { LEASE, OTHER_LEASE, T0 } from '../support.ts';
import { KEY, read, watchActs } from './watch-acts.ts';

const OTHER_SERVICE = 'https://other.example';
const at = (now: number) => ({ now, isFollowing: false, isCut: false });

/** What the service listed last. */
export function describeWaitingList(subject: Subject): void {
	const { store, replica } = watchActs(subject);
	const named = (...ids: string[]) =>
		ids.map((sessionId) => ({ sessionId, name: `Name of ${sessionId}`, updatedAt: null }));
	const list = (...ids: string[]) => store().discoveries.replaceWaiting(SERVICE, named(...ids), at(T0));

	describe('the list of waiting sessions', () => {
		it('is forgotten after its retention time, also of another service', async () => {
			await list('s1');
			await store().discoveries.replaceWaiting('http://former.test', named('s2'), at(T0));
			await store().discoveries.forgetListed(T0, null);
			expect(await store().discoveries.waiting(SERVICE)).toHaveLength(1);
			await store().discoveries.forgetListed(T0 + 1, null);
			expect(await store().discoveries.waiting(SERVICE)).toEqual([]);
			expect(await store().discoveries.waiting('http://former.test')).toEqual([]);
		});

		it('is kept while sessions are listed, but not that of another service', async () => {
			await list('s1');
			await store().discoveries.replaceWaiting('http://former.test', named('s2'), at(T0));
			await store().discoveries.forgetListed(T0 + 1, SERVICE);
			expect(await store().discoveries.waiting(SERVICE)).toMatchObject([
				{ sessionId: 's1', name: 'Name of s1', since: T0 },
			]);
			expect(await store().discoveries.waiting('http://former.test')).toEqual([]);
		});

		it('is replaced as a whole, keeps since when a session waits, and tells whether it changed', async () => {
			expect(await list('s1', 's2')).toBe(true);
			expect(await list('s2', 's1')).toBe(false);
			expect(await store().discoveries.replaceWaiting(SERVICE, named('s2', 's3'), at(T0 + 5_000))).toBe(true);
			expect(await replica().discoveries.waiting(SERVICE)).toEqual([
				{ sessionId: 's2', name: 'Name of s2', since: T0, isNew: false, gaveWay: false },
				{ sessionId: 's3', name: 'Name of s3', since: T0 + 5_000, isNew: true, gaveWay: false },
			]);
			expect(
				await store().discoveries.replaceWaiting(
					SERVICE,
					[{ sessionId: 's2', name: 'Other', updatedAt: null }],
					at(T0 + 9_000),
				),
			).toBe(true);
			expect(await store().discoveries.waiting(SERVICE)).toEqual([
				{ sessionId: 's2', name: 'Other', since: T0, isNew: false, gaveWay: false },
			]);
			expect(await store().discoveries.waiting(OTHER_SERVICE)).toEqual([]);
		});

		it('knows which sessions began to wait after the first list, and which only moved up in one that is cut', async () => {
			const isNew = async () =>
				Object.fromEntries((await store().discoveries.waiting(SERVICE)).map((one) => [one.sessionId, one.isNew]));
			await store().discoveries.replaceWaiting(SERVICE, named('s1'), { ...at(T0), isFollowing: true });
			expect(await isNew()).toEqual({ s1: true });
			await store().discoveries.replaceWaiting(SERVICE, [], at(T0 + 1));
			await store().discoveries.replaceWaiting(SERVICE, [], at(T0 + 2));
			await store().discoveries.replaceWaiting(SERVICE, named('s1', 's2'), { ...at(T0 + 3), isFollowing: true });
			expect(await isNew()).toEqual({ s1: true, s2: true });
			await store().discoveries.replaceWaiting(SERVICE, [], at(T0 + 4));
			await store().discoveries.replaceWaiting(SERVICE, named('s1', 's2', 's3'), at(T0 + 86_400_004));
			expect(await isNew()).toEqual({ s1: false, s2: false, s3: false });
			await store().discoveries.replaceWaiting(SERVICE, named('s0', 's1', 's3', 's4'), {
				...at(T0 + 86_400_005),
				isCut: true,
			});
			expect(await isNew()).toEqual({ s0: true, s1: false, s3: false, s4: false });
		});

		it('counts a session that comes back as new only when it was saved while it left the list', async () => {
			const back = async (updatedAt: number | null) => {
				await list('s1');
				await store().discoveries.replaceWaiting(SERVICE, [], at(T0 + 3_600_000));
				const sessions = [{ sessionId: 's1', name: 'Name of s1', updatedAt }];
				await store().discoveries.replaceWaiting(SERVICE, sessions, at(T0 + 7_200_000));
				const [{ since, isNew } = {}] = await store().discoveries.waiting(SERVICE);
				await store().discoveries.forgetListed(T0 + 86_400_000, null);
				return { since, isNew };
			};
			const before = { since: T0, isNew: false };
			const anew = { since: T0 + 7_200_000, isNew: true };
			expect(await back(null)).toEqual(before);
			expect(await back(T0 + 1_000)).toEqual(before);
			expect(await back(T0 + 3_590_000)).toEqual(anew);
		});

		it('stores no name in clear text', async () => {
			await list('s1');
			const rows = await subject.store.db.read.selectFrom('waiting_sessions').selectAll().execute();
			expect(JSON.stringify(rows)).not.toContain('Name of s1');
		});

		it('ends as one of the lists when replicas replace it at once', async () => {
			const lists = [named('s1', 's2'), named('s2', 's3'), named('s4')];
			await Promise.all(
				Array.from({ length: 9 }, (_, index) =>
					(index % 2 === 0 ? store() : replica()).discoveries.replaceWaiting(
						SERVICE,
						lists[index % 3] ?? [],
						at(T0 + index),
					),
				),
			);
			await store().discoveries.replaceWaiting(SERVICE, named('s9'), at(T0 + 10));
			expect((await store().discoveries.waiting(SERVICE)).map(({ sessionId }) => sessionId)).toEqual(['s9']);
		});
	});
}

const LATER = T0 + 600_000;

export function describeListedWaiting(subject: Subject): void {
	const { store, replica, added, recorded } = watchActs(subject);

	/** Session s1 is watched, and its newest read at T0 found this status. */
	async function watchedWith(status: string, fields: Parameters<typeof read>[0] = {}): Promise<void> {
		const view = sessionView('s1');
		await added();
		const nextRead = { at: LATER, by: LATER };
		await recorded([], read({ view: { ...view, digest: { ...view.digest, status } }, nextRead, ...fields }));
	}

	const waiting = (sessionId: string, absentAt: number | null = null, moved: ListedWaiting['moved'] = null) => {
		return { sessionId, absentAt, moved };
	};
	const moves = async (at: number, ...sessions: ListedWaiting[]) =>
		(await store().sessions.readWaiting(SERVICE, sessions, at)).map(({ sessionId }) => sessionId);

	async function planned(): Promise<PlannedRead | undefined> {
		return (await store().sessions.outlines(SERVICE, T0))[0]?.nextRead;
	}

	describe('sessions that wait by a list', () => {
		it('are read now and before others when their newest read found another status', async () => {
			await watchedWith('active');
			const due = T0 + 1_000;
			await added({ sessionId: 'due' });
			expect(await replica().sessions.readWaiting(SERVICE, [waiting('s1'), waiting('not watched')], due)).toEqual([
				{ sessionId: 's1', hasChanged: true },
			]);
			const [first] = await store().sessions.takeDue(SERVICE, LEASE, 1, { now: due, only: null });
			expect(first?.session).toEqual(KEY);
			expect(first?.earlyReadAskedAt).toBeNull();
		});

		it('are taken and found without the others, and the others without them', async () => {
			await watchedWith('active');
			const now = T0 + 1_000;
			await added({ sessionId: 'due' });
			const taken = async (only: ReadKind, lease = LEASE) =>
				(await replica().sessions.takeDue(SERVICE, lease, 2, { now, only })).map(({ session }) => session.sessionId);
			const dueAt = (only: ReadKind) => store().sessions.nextDueAt(SERVICE, only);
			expect(await taken('awaited')).toEqual([]);
			expect([await dueAt('awaited'), await dueAt('planned')]).toEqual([null, T0]);
			await store().sessions.readWaiting(SERVICE, [waiting('s1')], now);
			expect([await dueAt('awaited'), await dueAt('planned')]).toEqual([now, T0]);
			expect(await taken('awaited')).toEqual(['s1']);
			expect(await dueAt('awaited')).toBe(now + LEASE.ms);
			expect(await taken('planned', OTHER_LEASE)).toEqual(['due']);
			expect(await dueAt('planned')).toBe(now + OTHER_LEASE.ms);
		});

		it('are read as planned when their newest read shows it', async () => {
			await watchedWith('humanInput');
			expect(await store().sessions.readWaiting(SERVICE, [waiting('s1')], T0 + 1_000)).toEqual([]);
			expect(await store().sessions.readWaiting(SERVICE, [waiting('s1', T0 - 1)], T0 + 1_000)).toEqual([]);
			expect(await planned()).toEqual({ at: LATER, by: LATER });
		});

		it('are read now when they did not wait after their newest read, because they ask something new', async () => {
			await watchedWith('humanInput');
			expect(await moves(T0 + 1_000, waiting('s1', T0 + 500))).toEqual(['s1']);
			expect((await planned())?.at).toBe(T0 + 1_000);
		});

		it('are left alone for a time when the last move found nothing', async () => {
			await watchedWith('humanInput', { lastChangeAt: T0 - 10_000 });
			const moved = { at: T0 - 5_000, until: T0 + 25_000 };
			expect(await moves(T0 + 1_000, waiting('s1', T0 + 500, moved))).toEqual([]);
			const found = { ...moved, at: T0 - 20_000 };
			expect(await store().sessions.readWaiting(SERVICE, [waiting('s1', T0 + 500, found)], T0 + 1_000)).toEqual([
				{ sessionId: 's1', hasChanged: true },
			]);
			expect(await store().sessions.readWaiting(SERVICE, [waiting('s1', T0 + 500, moved)], T0 + 25_000)).toEqual([
				{ sessionId: 's1', hasChanged: false },
			]);
		});

		it('are read once more when a read is under way that may have begun before', async () => {
			await watchedWith('active');
			await store().sessions.takeDue(SERVICE, OTHER_LEASE, 1, { now: LATER, only: null });
			expect(await moves(LATER + 100, waiting('s1'))).toEqual(['s1']);
			const update = read({ lastReadAt: LATER, nextRead: { at: LATER + 60_000, by: LATER + 60_000 } });
			await recordRead(store(), { session: KEY, token: OTHER_LEASE.token }, { update, watches: [], now: LATER + 200 });
			expect((await planned())?.at).toBe(LATER + 100);
		});

		it('keep the wait after a failed read, and are next when it ends', async () => {
			await watchedWith('active', { failures: 2 });
			expect(await moves(T0 + 1_000, waiting('s1'))).toEqual(['s1']);
			const { at, by } = (await planned()) ?? { at: 0, by: 0 };
			expect(at).toBe(LATER);
			expect(by).toBeLessThan(LATER);
		});

		it('are not read when nobody watches them any more', async () => {
			await watchedWith('active');
			for (const { id } of await store().watches.ofSession(KEY)) {
				await store().watches.end(id, 'unwatched', { now: T0, posts: [] });
			}
			expect(await store().sessions.readWaiting(SERVICE, [waiting('s1')], T0 + 1_000)).toEqual([]);
			expect(await store().sessions.readWaiting(SERVICE, [], T0 + 1_000)).toEqual([]);
		});
	});
}
