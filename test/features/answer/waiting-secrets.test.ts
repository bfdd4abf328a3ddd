import { expect, it } from 'vitest';
import { createHousekeeping } from '../../../src/ops/housekeeping.ts';
import { accepted, createRecordingLog, item, submission, T0 } from '../../database/support.ts';
import { coreOf } from '../../support/core.ts';
import { createHarness } from './delivering.ts';

const DAY = 24 * 3_600_000;

it('removes the secrets of a waiting answer after a week and tells its author', async () => {
	await using harness = await createHarness();
	const { store, clock } = harness;
	const secret = submission({ items: [item('hunter2', { secret: true }), item('blue')] });
	await accepted(store, secret, 'waiting');
	const config = { DATA_DIR: harness.dataDir, RETENTION_DAYS: 90, WAITING_SECRET_DAYS: 7 };
	const core = coreOf({ store, clock, log: createRecordingLog(), config, serviceUrl: 'https://service.example' });
	const housekeeping = createHousekeeping(core, { isDiscovering: () => false, forgetInboxes: async () => undefined });
	await clock.advance(7 * DAY);
	housekeeping.start();
	await harness.settle();
	expect((await harness.get(secret.id)).content).toMatchObject({ items: [{ value: 'hunter2' }, { value: 'blue' }] });

	await harness.pass(DAY + 3_600_000);
	const wiped = await harness.get(secret.id);
	expect(wiped).toMatchObject({
		state: 'waiting',
		content: { items: [{ value: null, wiped: true }, { value: 'blue' }] },
		receiptState: { state: null },
	});
	harness.createWorker().start();
	await harness.pass(1_000);
	expect(harness.told.map(({ id, state }) => ({ id, state }))).toEqual([{ id: secret.id, state: 'waiting' }]);
	expect((await store.answers.retry(secret.id, secret.person, clock.now(), T0 + 9 * DAY))?.kind).toBe('valuesGone');
	await housekeeping.stop();
});
