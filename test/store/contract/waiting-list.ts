import { describe, expect, it } from 'vitest';
import { SERVICE } from '../../watches/support.ts';
import type { Subject } from '../contract.ts';
import { T0 } from '../support.ts';
import { watchActs } from './watch-acts.ts';

const OTHER_SERVICE = 'https://other.example';

/** What the service listed last. */
export function describeWaitingList(subject: Subject): void {
	const { store, replica } = watchActs(subject);
	const named = (...ids: string[]) => ids.map((sessionId) => ({ sessionId, name: `Name of ${sessionId}` }));
	const list = (...ids: string[]) => store().replaceWaiting(SERVICE, named(...ids), T0);

	describe('the list of waiting sessions', () => {
		it('is forgotten after its retention time, also of another service', async () => {
			await list('s1');
			await store().replaceWaiting('http://former.test', named('s2'), T0);
			await store().removeTexts(T0);
			expect(await store().waiting(SERVICE)).toHaveLength(1);
			await store().removeTexts(T0 + 1);
			expect(await store().waiting(SERVICE)).toEqual([]);
			expect(await store().waiting('http://former.test')).toEqual([]);
		});

		it('is replaced as a whole, keeps since when a session waits, and tells whether it changed', async () => {
			expect(await list('s1', 's2')).toBe(true);
			expect(await list('s2', 's1')).toBe(false);
			expect(await store().replaceWaiting(SERVICE, named('s2', 's3'), T0 + 5_000)).toBe(true);
			expect(await replica().waiting(SERVICE)).toEqual([
				{ sessionId: 's2', name: 'Name of s2', since: T0 },
				{ sessionId: 's3', name: 'Name of s3', since: T0 + 5_000 },
			]);
			expect(await store().replaceWaiting(SERVICE, [{ sessionId: 's2', name: 'Other' }], T0 + 9_000)).toBe(true);
			expect(await store().waiting(SERVICE)).toEqual([{ sessionId: 's2', name: 'Other', since: T0 }]);
			expect(await store().waiting(OTHER_SERVICE)).toEqual([]);
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
					(index % 2 === 0 ? store() : replica()).replaceWaiting(SERVICE, lists[index % 3] ?? [], T0 + index),
				),
			);
			await store().replaceWaiting(SERVICE, named('s9'), T0 + 10);
			expect((await store().waiting(SERVICE)).map(({ sessionId }) => sessionId)).toEqual(['s9']);
		});
	});
}
