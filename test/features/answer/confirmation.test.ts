import { describe, expect, it } from 'vitest';
import { SessionServiceError } from '../../../src/session-service/errors.ts';
import { saying } from '../../support/sessions.ts';
import { asking, createHarness } from './delivering.ts';

describe('the confirmation', () => {
	it('checks after 2, 5, 15 and 60 s and 10 minutes, then reports unseen', async () => {
		await using harness = await createHarness();
		const { id } = await harness.accept('s1');
		harness.createWorker().start();
		await harness.pass(700_000);
		const [put = 0] = harness.times('put');
		expect(
			harness
				.times('read')
				.slice(1)
				.map((at) => at - put),
		).toEqual([2_000, 5_000, 15_000, 60_000, 600_000]);
		expect(await harness.get(id)).toMatchObject({ state: 'delivered', agentOutcome: 'unseen', nextAttemptAt: null });
	});

	it('reports that the agent resumed at the first check that shows it, and checks no more', async () => {
		await using harness = await createHarness();
		const { id } = await harness.accept('s1');
		harness.createWorker().start();
		await harness.pass(6_000);
		const session = asking('s1');
		harness.setSession({
			...session,
			messages: [
				...session.messages.slice(0, 1),
				{ ...session.messages[1], humanInput: [{ title: 'Which one?', description: '', value: 'blue' }] } as never,
				saying('On I go.'),
			],
		});
		await harness.pass(600_000);
		expect(harness.times('read')).toHaveLength(4);
		expect(await harness.get(id)).toMatchObject({ state: 'resumed', agentOutcome: 'resumed' });
	});

	it('checks again after a failed check', async () => {
		await using harness = await createHarness();
		const { id } = await harness.accept('s1');
		harness.createWorker().start();
		await harness.pass(1_000);
		harness.on.read = () => {
			throw new SessionServiceError('unavailable', 'down');
		};
		await harness.pass(10_000);
		expect(await harness.get(id)).toMatchObject({ state: 'delivered', agentOutcome: null });
		harness.on.read = () => undefined;
		harness.setSession({ ...asking('s1'), status: 'failed' });
		await harness.pass(60_000);
		expect((await harness.get(id)).agentOutcome).toMatch(/failed|overwritten/);
	});
});
