import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { saying } from '../support/sessions.ts';
import { asking, createHarness, failing, type Harness } from './delivering.ts';

const HOUR_MS = 3_600_000;

let harness: Harness;
beforeEach(async () => {
	harness = await createHarness();
});
afterEach(() => harness[Symbol.asyncDispose]());

describe('the confirmation', () => {
	it('checks after 2, 5, 15, 60 s, then at times that double, for a day, and says after two minutes that nothing shows', async () => {
		const { id } = await harness.deliverOne();
		await harness.pass(90_000);
		expect(await harness.get(id)).toMatchObject({ state: 'delivered', agentOutcome: null });
		await harness.pass(60_000);
		expect(await harness.get(id)).toMatchObject({ state: 'delivered', agentOutcome: 'unseen' });
		await harness.pass(30 * HOUR_MS);
		const [put = 0] = harness.times('put');
		const seconds = harness
			.times('read')
			.slice(1)
			.map((at) => (at - put) / 1_000);
		expect(seconds).toEqual([2, 5, 15, 60, 120, 240, 480, 960, 1920, 3840, 7680, 15_360, 30_720, 61_440]);
		expect(await harness.get(id)).toMatchObject({ agentOutcome: 'unseen', nextAttemptAt: null });
	});

	it('reports that the agent resumed at the first check that shows it, and checks no more', async () => {
		const { id } = await harness.deliverOne();
		await harness.pass(6_000);
		const session = harness.session('s1');
		harness.setSession({ ...session, status: 'active', messages: [...session.messages, saying('On I go.')] });
		await harness.pass(600_000);
		expect(harness.times('read')).toHaveLength(4);
		expect(await harness.get(id)).toMatchObject({ state: 'resumed', agentOutcome: 'resumed' });
	});

	it('checks again after a failed check', async () => {
		const { id } = await harness.deliverOne();
		await harness.pass(1_000);
		harness.on.read = failing('unavailable', 'down');
		await harness.pass(10_000);
		expect(await harness.get(id)).toMatchObject({ state: 'delivered', agentOutcome: null });
		harness.on.read = () => undefined;
		harness.setSession({ ...asking('s1'), status: 'failed' });
		await harness.pass(60_000);
		expect((await harness.get(id)).agentOutcome).toMatch(/failed|overwritten/);
	});
});
