import { describe, expect, it } from 'vitest';
import { NEWS_AHEAD_MS, sessionReads } from '../../../src/store/session-reads.ts';
import { createSessionStore } from '../../../src/store/watched-sessions.ts';
import { NO_LIMITS, SERVICE, sessionView } from '../../sessions/support.ts';
import { recordRead } from '../../support/found.ts';
import type { Subject } from '../contract.ts';
import { LEASE, OTHER_LEASE, T0 } from '../support.ts';
import { C1, KEY, read, watchActs } from './watch-acts.ts';

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
			const renamed = [{ sessionId: 's2', name: 'Other', updatedAt: null }];
			expect(await store().discoveries.replaceWaiting(SERVICE, renamed, at(T0 + 9_000))).toBe(true);
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

		it('ends as one of the lists when replicas replace it at once', async () => {
			const lists = [named('s1', 's2'), named('s2', 's3'), named('s4')];
			await Promise.all(
				Array.from({ length: 9 }, (_, index) => {
					const { discoveries } = index % 2 === 0 ? store() : replica();
					return discoveries.replaceWaiting(SERVICE, lists[index % 3] ?? [], at(T0 + index));
				}),
			);
			await store().discoveries.replaceWaiting(SERVICE, named('s9'), at(T0 + 10));
			expect((await store().discoveries.waiting(SERVICE)).map(({ sessionId }) => sessionId)).toEqual(['s9']);
		});
	});
}

const LATER = T0 + 600_000;
const LISTED_AT = T0 + 1_000;
const LATER_PLAN = { at: LATER, by: LATER };

export function describeListedWaiting(subject: Subject): void {
	const { store, replica, added, recorded, unwatch } = watchActs(subject);

	/** Session s1 is watched, and was read at T0. */
	async function watchedAndRead(fields: Parameters<typeof read>[0] = {}): Promise<void> {
		await added();
		await recorded([], read({ snapshot: sessionView('s1'), nextRead: LATER_PLAN, ...fields }));
	}

	/** Reads it again. */
	async function readAgain(at: number, fields: Parameters<typeof read>[0] = {}): Promise<void> {
		const [taken] = await store().sessions.takeDue(SERVICE, OTHER_LEASE, 1, at);
		expect(taken?.session).toEqual(KEY);
		const { earlyReadCount = 0 } = taken ?? {};
		const update = read({ lastReadAt: at, nextRead: LATER_PLAN, earlyReadCount, ...fields });
		await recordRead(store(), { session: KEY, token: OTHER_LEASE.token }, { update, watches: [], now: at });
	}

	interface Noting {
		readonly now?: number;
		readonly leastMs?: Parameters<Subject['store']['sessions']['noteListed']>[2]['leastMs'];
	}

	/** The newest list names these, with the time at which each was saved. */
	const note = (
		listed: Readonly<Record<string, number>>,
		{ now = LISTED_AT, leastMs = () => 0 }: Noting = {},
		at = store(),
	) => at.sessions.noteListed(SERVICE, new Map(Object.entries(listed)), { now, leastMs });

	const planned = async () => {
		const { nextRead, listed } = (await store().sessions.watched(KEY)) ?? {};
		return { nextRead, listed };
	};
	const unmoved = (listed: number | null) => ({ nextRead: LATER_PLAN, listed });
	const movedTo = (at: number, listed: number | null) => ({ nextRead: { at, by: LISTED_AT - NEWS_AHEAD_MS }, listed });

	describe('what a list says of watched sessions', () => {
		it('moves their reads ahead of others when they appear, when they were saved anew, and when they go', async () => {
			await watchedAndRead();
			for (const listed of [{ s1: 5 }, { s1: 6 }, {}] as Record<string, number>[]) {
				expect(await note({ ...listed, 'not watched': 7 })).toBe(1);
				expect(await planned()).toEqual(movedTo(LISTED_AT, listed.s1 ?? null));
				await readAgain(LISTED_AT);
				expect(await note(listed)).toBe(0);
				expect(await planned()).toEqual(unmoved(listed.s1 ?? null));
			}
		});

		it('has them read before what is due longer, and leaves no early reads', async () => {
			await watchedAndRead();
			await added({ sessionId: 'due' });
			await note({ s1: 5 }, {}, replica());
			const [first] = await store().sessions.takeDue(SERVICE, LEASE, 1, LISTED_AT);
			expect(first).toMatchObject({ session: KEY, earlyReadAskedAt: null, listed: 5 });
		});

		it('differs from no list also when it does not tell when one was saved', async () => {
			await watchedAndRead();
			expect(await note({ s1: 0 })).toBe(1);
			expect(await planned()).toEqual(movedTo(LISTED_AT, 0));
			await readAgain(LISTED_AT);
			expect(await note({ s1: 0 })).toBe(0);
			expect(await note({})).toBe(1);
			expect(await planned()).toEqual(movedTo(LISTED_AT, null));
		});

		it('is known to a process that starts', async () => {
			await watchedAndRead();
			await note({ s1: 5 });
			await readAgain(LISTED_AT);
			const started = { ...replica(), sessions: createSessionStore(replica()) };
			expect(await note({ s1: 5 }, {}, started)).toBe(0);
			expect(await planned()).toEqual(unmoved(5));
		});

		it('moves a read no nearer to the one before than that allows, but at once when the session appears', async () => {
			const leastMs = ({ reads }: { reads: { tookMs: number } }) => 3.1 * reads.tookMs;
			const costly = { reads: { ...sessionReads.parse({}), tookMs: 2_000 } };
			await watchedAndRead(costly);
			await note({ s1: 5 }, { leastMs });
			expect(await planned()).toEqual(movedTo(LISTED_AT, 5));
			await readAgain(LISTED_AT, costly);
			await note({ s1: 6 }, { leastMs });
			expect(await planned()).toEqual(movedTo(LISTED_AT + 6_200, 6));
		});

		it('never moves a read to a later time', async () => {
			await watchedAndRead();
			await note({ s1: 4 });
			await readAgain(LISTED_AT, { nextRead: { at: T0 + 2_000, by: T0 + 2_000 } });
			await note({ s1: 5 }, { leastMs: () => 6_000 });
			expect(await planned()).toEqual(movedTo(T0 + 2_000, 5));
		});

		it('has a session read once more when a read is under way that may have begun before', async () => {
			await watchedAndRead();
			await store().sessions.takeDue(SERVICE, OTHER_LEASE, 1, LATER);
			expect(await note({ s1: 5 }, { now: LATER + 100 })).toBe(1);
			const update = read({ lastReadAt: LATER, nextRead: { at: LATER + 60_000, by: LATER + 60_000 } });
			await recordRead(store(), { session: KEY, token: OTHER_LEASE.token }, { update, watches: [], now: LATER + 200 });
			expect((await planned()).nextRead?.at).toBe(LATER + 100);
		});

		it('leaves the wait after a failed read, which is next when that ends', async () => {
			await watchedAndRead({ failures: 2 });
			expect(await note({ s1: 5 })).toBe(1);
			expect(await planned()).toEqual(movedTo(LATER, 5));
		});

		it('leaves the first read of a session in its place', async () => {
			await store().discoveries.begin({ ...C1, service: SERVICE, createdBy: 'U-ANN', createdAt: T0 }, []);
			const hand = { ...C1, id: 'hand', session: KEY, createdAt: T0, ahead: false, newsAt: 0, limits: NO_LIMITS };
			expect(await store().watches.raiseHand(hand)).toEqual({ kind: 'raised' });
			expect(await note({ s1: 5 })).toBe(0);
			expect(await planned()).toEqual({ nextRead: { at: T0, by: T0 }, listed: 5 });
		});

		it('means nothing where nobody watches a session any more, and at another service', async () => {
			await watchedAndRead();
			const noted = store().sessions.noteListed(OTHER_SERVICE, new Map([['s1', 5]]), {
				now: LISTED_AT,
				leastMs: () => 0,
			});
			expect(await noted).toBe(0);
			expect(await planned()).toEqual(unmoved(null));
			for (const { id } of await store().watches.ofSession(KEY)) await unwatch(id);
			expect(await note({ s1: 5 })).toBe(0);
			expect(await store().sessions.nextDueAt(SERVICE)).toBeNull();
		});
	});
}
