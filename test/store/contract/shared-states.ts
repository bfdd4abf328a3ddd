import { describe, expect, it } from 'vitest';
import { createSharedState } from '../../../src/store/shared-states.ts';
import type { Subject } from '../contract.ts';
import { inTurns, storeActs } from '../support.ts';

/** A change that counts calls and tells the new number. */
const counted = (before: number | null) => ({ state: (before ?? 0) + 1, result: (before ?? 0) + 1 });
const unchanged = (state: number | null) => ({ state: state as number, result: state });

/** States that replicas share. */
export function describeSharedStates(subject: Subject): void {
	const { rowsOf } = storeActs(subject);
	const stored = async () => (await rowsOf('shared_states')).map(({ state }) => state);
	const removed = () => subject.replica.db.writeOne((trx) => trx.deleteFrom('shared_states').execute());
	const cells = () => [subject.store, subject.replica].map((store) => createSharedState<number>(store, 'one'));

	describe('a shared state', () => {
		it('loses no change of replicas that change it at once', async () => {
			const both = cells();
			const counts = await inTurns([...Array(40).keys()], 10, async (index) => await both[index % 2]?.update(counted));
			expect(counts.sort((a = 0, b = 0) => a - b)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
			expect(await stored()).toEqual(['40']);
		});

		it('tells all that wait for one change their own results, in their order', async () => {
			const [cell, other] = cells();
			const many = await Promise.all([1, 2, 3, 4, 5].map(async () => await cell?.update(counted)));
			expect(many).toEqual([1, 2, 3, 4, 5]);
			expect(await other?.update(counted)).toBe(6);
			expect(await cell?.update(counted)).toBe(7);
		});

		it('shows what others have written to whoever changes nothing, and writes nothing', async () => {
			const [cell, other] = cells();
			expect(await cell?.update(unchanged)).toBeNull();
			expect(await stored()).toEqual([]);
			await other?.update(counted);
			expect([await cell?.update(unchanged), await cell?.update(unchanged)]).toEqual([1, 1]);
		});

		it('begins anew when its row is removed meanwhile', async () => {
			const [cell] = cells();
			await cell?.update(counted);
			await cell?.update(counted);
			await removed();
			expect(await cell?.update(counted)).toBe(1);
			await removed();
			expect(await cell?.update(unchanged)).toBeNull();
			expect(await cell?.update(counted)).toBe(1);
			expect(await stored()).toEqual(['1']);
		});
	});
}
