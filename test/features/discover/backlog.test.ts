import { expect, it } from 'vitest';
import { USUAL_REQUESTS } from '../watch/harness.ts';
import { discoveringApp } from './harness.ts';

const OLD = 40;

it.each([10, 100])(
	'posts a new question within 10 s behind forty old ones, with %i watches in a channel',
	async (most) => {
		await using app = await discoveringApp({
			realRates: true,
			env: { ...USUAL_REQUESTS, MAX_WATCHES_PER_CHANNEL: String(most), REMIND_AFTER: 'off' },
		});
		for (let index = 0; index < OLD; index += 1) app.waiting(`Old ${index}`);
		await app.pass(10_000);
		await app.watchAll();
		await app.pass(5_000);
		const id = app.waiting('New');
		const askedAt = app.clock.now();
		await app.postOf(id);
		expect(app.clock.now() - askedAt).toBeLessThanOrEqual(10_000);
	},
);
