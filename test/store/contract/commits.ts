import { describe, expect, it } from 'vitest';
import type { Subject } from '../contract.ts';
import { LEASE, SERVICE, storeActs, submission, T0 } from '../support.ts';

export function describeCommits(subject: Subject): void {
	const { accepted, lease, patched } = storeActs(subject);
	/** The tables of which listeners were told while `work` ran. */
	async function toldOf(work: () => Promise<unknown>) {
		const told: string[][] = [];
		let isOver = false;
		subject.store.db.onCommit(({ tables }) => {
			if (!isOver) told.push([...tables].toSorted());
		});
		await work();
		isOver = true;
		return told;
	}

	describe('news of commits', () => {
		it('come before the writer goes on', async () => {
			let isTold = false;
			subject.store.db.onCommit(() => {
				isTold = true;
			});
			await subject.store.answers.accept(submission());
			expect(isTold).toBe(true);
		});

		it('tell nothing of a lease that is taken, renewed or given back', async () => {
			const { answers } = subject.store;
			const { id } = await accepted(submission());
			const told = await toldOf(async () => {
				expect(await answers.takeDue(SERVICE, LEASE, 1, T0)).toHaveLength(1);
				expect(await answers.renew(id, LEASE, T0)).toBe(true);
				await answers.release([{ id, token: LEASE.token }]);
			});
			expect(told.flat()).toEqual([]);
			await lease(id);
			const later = () => patched(id, { nextAttemptAt: T0 + 1 }, { now: T0, release: true });
			expect((await toldOf(later)).flat()).toContain('answers');
		});

		it('tell nothing of a transaction that is rolled back', async () => {
			const { db, answers } = subject.store;
			const { id } = await accepted(submission());
			const failing = db.write(async (trx) => {
				await trx.deleteFrom('answers').where('id', '=', id).execute();
				throw new Error('rolled back');
			});
			expect(await toldOf(() => failing.catch(() => undefined))).toEqual([]);
			expect(await answers.get(id)).not.toBeNull();
		});
	});
}
