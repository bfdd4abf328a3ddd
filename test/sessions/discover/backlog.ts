import { expect } from 'vitest';
import { discoveringApp } from './harness.ts';

/** Checks that a new question is posted within this time behind `old` ones, with at most `most` watches in a channel. */
export async function postsNewBehindOld(old: number, most: number, withinMs: number): Promise<void> {
	await using app = await discoveringApp({
		realRates: true,
		env: { REMIND_AFTER: 'off' },
		limits: { watches: { channel: most } },
	});
	for (let index = 0; index < old; index += 1) app.waiting(`Old ${index}`);
	await app.pass(10_000);
	await app.watchAll();
	for (const waitMs of [5_000, 30_000, 60_000]) {
		await app.pass(waitMs);
		const id = app.waiting(`New after ${waitMs}`);
		const askedAt = app.clock.now();
		await app.postOf(id);
		expect(app.clock.now() - askedAt).toBeLessThanOrEqual(withinMs);
	}
}
