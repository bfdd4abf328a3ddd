import { describe, expect, it } from 'vitest';
import type { Subject } from '../contract.ts';
import { ANN, accepted, LEASE, lease, leased, patched, SERVICE, submission, T0 } from '../support.ts';

const delivered = { state: 'delivered', deliveredAt: T0 } as const;

export function describeCommits(subject: Subject): void {
	/** What the bus told while `work` ran. */
	async function toldOf(work: () => Promise<unknown>) {
		const told: { tables: string[]; by: (string | null)[] }[] = [];
		let isOver = false;
		subject.store.db.onCommit(({ tables, questionsBy }) => {
			if (!isOver) told.push({ tables: [...tables].toSorted(), by: [...questionsBy] });
		});
		await work();
		isOver = true;
		return told;
	}

	describe('news of commits', () => {
		it('name the tables, and whose act it was', async () => {
			const { answers, claims } = subject.store;
			const given = submission();
			const until = T0 + 1_000;
			expect(await toldOf(() => claims.claim({ question: given.question, person: ANN, until }, T0))).toEqual([
				{ tables: ['claims'], by: [ANN.userId] },
			]);
			expect(await toldOf(() => answers.accept(given))).toEqual([
				{ tables: ['answers', 'audit_events', 'questions'], by: [ANN.userId] },
			]);
		});

		it('name nobody once an answer is delivered', async () => {
			const { id } = await leased(subject.store, submission());
			await patched(subject.store, id, { state: 'delivering' }, { now: T0, release: false });
			const arrives = () => patched(subject.store, id, delivered, { now: T0, release: true });
			expect(await toldOf(arrives)).toEqual([{ tables: ['answers', 'audit_events', 'questions'], by: [null] }]);
		});

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
			const { id } = await accepted(subject.store, submission());
			const told = await toldOf(async () => {
				expect(await answers.takeDue(SERVICE, LEASE, 1, T0)).toHaveLength(1);
				expect(await answers.renew(id, LEASE, T0)).toBe(true);
				await answers.release([{ id, token: LEASE.token }]);
			});
			expect(told.flatMap(({ tables }) => tables)).toEqual([]);
			await lease(subject.store, id);
			const later = () => patched(subject.store, id, { nextAttemptAt: T0 + 1 }, { now: T0, release: true });
			expect((await toldOf(later)).flatMap(({ tables }) => tables)).toContain('answers');
		});

		it('tell nothing of a transaction that is rolled back, or that changes no row', async () => {
			const { db, answers } = subject.store;
			const { id } = await accepted(subject.store, submission());
			const failing = db.write(async (trx) => {
				await trx.deleteFrom('answers').where('id', '=', id).execute();
				throw new Error('rolled back');
			});
			expect(await toldOf(() => failing.catch(() => undefined))).toEqual([]);
			const told = await toldOf(() => answers.hasten(SERVICE, ['unavailable'], T0));
			expect(told.flatMap(({ tables }) => tables)).toEqual([]);
			expect(await answers.get(id)).not.toBeNull();
		});
	});
}
