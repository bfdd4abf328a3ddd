import { describe, expect, it } from 'vitest';
import { SERVICE } from '../../features/watch/support.ts';
import type { Subject } from '../contract.ts';
import { T0 } from '../support.ts';
import { watchActs } from './watch-acts.ts';

const OTHER_SERVICE = 'https://other.example';
const at = (now: number) => ({ now, isFollowing: false, isCut: false });

/** What the service listed last. */
export function describeWaitingList(subject: Subject): void {
	const { store, replica } = watchActs(subject);
	const named = (...ids: string[]) =>
		ids.map((sessionId) => ({ sessionId, name: `Name of ${sessionId}`, updatedAt: null }));
	const list = (...ids: string[]) => store().replaceWaiting(SERVICE, named(...ids), at(T0));

	describe('the list of waiting sessions', () => {
		it('is forgotten after its retention time, also of another service', async () => {
			await list('s1');
			await store().replaceWaiting('http://former.test', named('s2'), at(T0));
			await store().forgetListed(T0, null);
			expect(await store().waiting(SERVICE)).toHaveLength(1);
			await store().forgetListed(T0 + 1, null);
			expect(await store().waiting(SERVICE)).toEqual([]);
			expect(await store().waiting('http://former.test')).toEqual([]);
		});

		it('is kept while sessions are listed, but not that of another service', async () => {
			await list('s1');
			await store().replaceWaiting('http://former.test', named('s2'), at(T0));
			await store().forgetListed(T0 + 1, SERVICE);
			expect(await store().waiting(SERVICE)).toMatchObject([{ sessionId: 's1', name: 'Name of s1', since: T0 }]);
			expect(await store().waiting('http://former.test')).toEqual([]);
		});

		it('is replaced as a whole, keeps since when a session waits, and tells whether it changed', async () => {
			expect(await list('s1', 's2')).toBe(true);
			expect(await list('s2', 's1')).toBe(false);
			expect(await store().replaceWaiting(SERVICE, named('s2', 's3'), at(T0 + 5_000))).toBe(true);
			expect(await replica().waiting(SERVICE)).toEqual([
				{ sessionId: 's2', name: 'Name of s2', since: T0, isNew: false },
				{ sessionId: 's3', name: 'Name of s3', since: T0 + 5_000, isNew: true },
			]);
			expect(
				await store().replaceWaiting(SERVICE, [{ sessionId: 's2', name: 'Other', updatedAt: null }], at(T0 + 9_000)),
			).toBe(true);
			expect(await store().waiting(SERVICE)).toEqual([{ sessionId: 's2', name: 'Other', since: T0, isNew: false }]);
			expect(await store().waiting(OTHER_SERVICE)).toEqual([]);
		});

		it('knows which sessions began to wait after the first list, and which only moved up in one that is cut', async () => {
			const isNew = async () =>
				Object.fromEntries((await store().waiting(SERVICE)).map((one) => [one.sessionId, one.isNew]));
			await store().replaceWaiting(SERVICE, named('s1'), { ...at(T0), isFollowing: true });
			expect(await isNew()).toEqual({ s1: true });
			await store().replaceWaiting(SERVICE, [], at(T0 + 1));
			await store().replaceWaiting(SERVICE, [], at(T0 + 2));
			await store().replaceWaiting(SERVICE, named('s1', 's2'), { ...at(T0 + 3), isFollowing: true });
			expect(await isNew()).toEqual({ s1: true, s2: true });
			await store().replaceWaiting(SERVICE, [], at(T0 + 4));
			await store().replaceWaiting(SERVICE, named('s1', 's2', 's3'), at(T0 + 86_400_004));
			expect(await isNew()).toEqual({ s1: false, s2: false, s3: false });
			await store().replaceWaiting(SERVICE, named('s0', 's1', 's3', 's4'), { ...at(T0 + 86_400_005), isCut: true });
			expect(await isNew()).toEqual({ s0: true, s1: false, s3: false, s4: false });
		});

		it('counts a session that comes back as new only when it was saved while it left the list', async () => {
			const back = async (updatedAt: number | null) => {
				await list('s1');
				await store().replaceWaiting(SERVICE, [], at(T0 + 3_600_000));
				const sessions = [{ sessionId: 's1', name: 'Name of s1', updatedAt }];
				await store().replaceWaiting(SERVICE, sessions, at(T0 + 7_200_000));
				const [{ since, isNew } = {}] = await store().waiting(SERVICE);
				await store().forgetListed(T0 + 86_400_000, null);
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
					(index % 2 === 0 ? store() : replica()).replaceWaiting(SERVICE, lists[index % 3] ?? [], at(T0 + index)),
				),
			);
			await store().replaceWaiting(SERVICE, named('s9'), at(T0 + 10));
			expect((await store().waiting(SERVICE)).map(({ sessionId }) => sessionId)).toEqual(['s9']);
		});
	});
}
