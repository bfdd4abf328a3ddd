import type { KyselyPlugin } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Db, StoreDatabase } from '../../../src/store/database.ts';
import { createSharedState } from '../../../src/store/shared-states.ts';
import type { Store } from '../../../src/stores.ts';
import type { Subject } from '../contract.ts';
import { inTurns } from '../support.ts';

/** A change that counts calls and tells the new number. */
const counted = (before: number | null) => ({ state: (before ?? 0) + 1, result: (before ?? 0) + 1 });

/** Counts the statements of a store's database, also those that begin and end a transaction. */
function countStatements({ db, clock }: Store) {
	const statements = { count: 0 };
	const counting: KyselyPlugin = {
		transformQuery({ node }) {
			statements.count += 1;
			return node;
		},
		transformResult: async ({ result }) => result,
	};
	const through =
		<T>(work: (trx: Db) => Promise<T>) =>
		(trx: Db) =>
			work(trx.withPlugin(counting));
	const counted: Partial<StoreDatabase> = {
		read: db.read.withPlugin(counting),
		writeOne: (work) => db.writeOne(through(work)),
		write(work) {
			statements.count += 2;
			return db.write(through(work));
		},
	};
	/** How many statements `work` took, and its result. */
	async function during<T>(work: () => Promise<T>) {
		const before = statements.count;
		const result = await work();
		return { result, count: statements.count - before };
	}
	return { parts: { clock, db: { ...db, ...counted } as StoreDatabase }, during };
}

/** States that replicas share. */
export function describeSharedStates(subject: Subject): void {
	const stored = () => subject.store.db.read.selectFrom('shared_states').select('state').execute();
	const removed = () => subject.replica.db.writeOne((trx) => trx.deleteFrom('shared_states').execute());

	describe('a shared state', () => {
		it('loses no change of replicas that change it at once', async () => {
			const cells = [subject.store, subject.replica].map((store) => createSharedState<number>(store, 'one'));
			const counts = await inTurns([...Array(40).keys()], 10, async (index) => await cells[index % 2]?.update(counted));
			expect(counts.sort((a = 0, b = 0) => a - b)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
			expect(await stored()).toEqual([{ state: '40' }]);
		});

		it('takes one statement for a change while nobody else writes, and one for all that wait meanwhile', async () => {
			const { parts, during } = countStatements(subject.store);
			const cell = createSharedState<number>(parts, 'one');
			const others = createSharedState<number>(subject.replica, 'one');
			const once = () => during(() => cell.update(counted));
			expect([await once(), await once()]).toEqual([
				{ result: 1, count: 1 },
				{ result: 2, count: 1 },
			]);
			const many = await during(() => Promise.all([1, 2, 3, 4, 5].map(() => cell.update(counted))));
			expect(many).toEqual({ result: [3, 4, 5, 6, 7], count: 2 });
			expect(await others.update(counted)).toBe(8);
			expect(await once()).toEqual({ result: 9, count: 3 });
			expect(await once()).toEqual({ result: 10, count: 1 });
		});

		it('shows what others have written to whoever changes nothing, and writes nothing', async () => {
			const { parts, during } = countStatements(subject.store);
			const cell = createSharedState<number>(parts, 'one');
			const look = () => cell.update((state) => ({ state: state as number, result: state }));
			expect(await during(look)).toEqual({ result: null, count: 1 });
			expect(await stored()).toEqual([]);
			await createSharedState<number>(subject.replica, 'one').update(counted);
			expect((await during(look)).result).toBe(1);
			expect(await during(look)).toEqual({ result: 1, count: 1 });
		});

		it('begins anew when its row is removed meanwhile', async () => {
			const cell = createSharedState<number>(subject.store, 'one');
			await cell.update(counted);
			await cell.update(counted);
			await removed();
			expect(await cell.update(counted)).toBe(1);
			await removed();
			expect(await cell.update((state) => ({ state: state as number, result: state }))).toBeNull();
			expect(await cell.update(counted)).toBe(1);
			expect(await stored()).toEqual([{ state: '1' }]);
		});
	});
}
