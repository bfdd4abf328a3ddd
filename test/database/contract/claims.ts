import { expect, it } from 'vitest';
import type { Subject } from '../contract.ts';
import { ANN, BOB, EVE, submission, T0 } from '../support.ts';

const { question } = submission();
const UNTIL = T0 + 300_000;

export function describeClaims(subject: Subject): void {
	it('lists active claims, oldest first, until they lapse', async () => {
		await subject.store.claims.claim({ question, person: BOB, until: UNTIL }, T0);
		await subject.replica.claims.claim({ question, person: ANN, until: UNTIL + 1 }, T0 + 1);
		await subject.store.claims.claim({ question: { ...question, messageIndex: 2 }, person: EVE, until: UNTIL }, T0);
		expect(await subject.store.claims.active(question, T0 + 2)).toEqual([
			{ question, person: BOB, until: UNTIL },
			{ question, person: ANN, until: UNTIL + 1 },
		]);
		expect(await subject.store.claims.active(question, UNTIL)).toEqual([{ question, person: ANN, until: UNTIL + 1 }]);
	});

	it('tells whether a claim is new and prolongs an existing one', async () => {
		const claim = (until: number, now: number) => subject.store.claims.claim({ question, person: ANN, until }, now);
		expect(await claim(UNTIL, T0)).toBe(true);
		expect(await claim(UNTIL + 5, T0 + 5)).toBe(false);
		expect(await subject.store.claims.active(question, UNTIL)).toHaveLength(1);
		expect(await claim(UNTIL + 400_000, UNTIL + 5)).toBe(true);
	});

	it('counts a claim after a lapse as new, behind the held ones', async () => {
		await subject.store.claims.claim({ question, person: ANN, until: T0 + 5 }, T0);
		await subject.store.claims.claim({ question, person: BOB, until: UNTIL }, T0 + 1);
		await subject.store.claims.claim({ question, person: ANN, until: UNTIL }, T0 + 6);
		const active = await subject.store.claims.active(question, T0 + 7);
		expect(active.map((claim) => claim.person)).toEqual([BOB, ANN]);
	});

	it('counts a claim as new once when one person presses twice at the same moment', async () => {
		for (let round = 0; round < 30; round++) {
			const claim = { question: { ...question, messageIndex: round }, person: ANN, until: UNTIL };
			const news = await Promise.all(
				[subject.store, subject.replica, subject.store, subject.replica].map((store) => store.claims.claim(claim, T0)),
			);
			expect(news.filter(Boolean)).toHaveLength(1);
		}
	});

	it('releases only the claim of one person', async () => {
		await subject.store.claims.claim({ question, person: ANN, until: UNTIL }, T0);
		await subject.store.claims.claim({ question, person: BOB, until: UNTIL }, T0);
		expect(await subject.store.claims.release(question, ANN, T0)).toBe(true);
		expect(await subject.store.claims.release(question, ANN, T0)).toBe(false);
		expect((await subject.store.claims.active(question, T0)).map((claim) => claim.person)).toEqual([BOB]);
	});

	it('removes lapsed claims', async () => {
		await subject.store.claims.claim({ question, person: ANN, until: UNTIL }, T0);
		await subject.store.claims.claim({ question, person: BOB, until: UNTIL + 1 }, T0);
		expect(await subject.store.claims.removeLapsed(UNTIL)).toBe(1);
		expect(await subject.store.claims.active(question, T0)).toHaveLength(1);
	});
}
