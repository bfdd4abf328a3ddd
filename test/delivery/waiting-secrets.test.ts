import { expect, it } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import { createAnswers } from '../../src/delivery/accept.ts';
import { createHousekeeping } from '../../src/operator/housekeeping.ts';
import {
	accepted,
	createRecordingLog,
	current,
	item,
	KEY,
	LEASE,
	makeDataDir,
	OTHER_KEY,
	open,
	SERVICE,
	submission,
	T0,
	valuesOf,
} from '../store/support.ts';
import { coreOf } from '../support/core.ts';
import { createHarness } from './delivering.ts';

const DAY = 24 * 3_600_000;

it('removes the secrets of a waiting answer after a week and tells its author', async () => {
	await using harness = await createHarness();
	const { store, clock } = harness;
	const secret = submission({ items: [item('hunter2', { secret: true }), item('blue')] });
	await accepted(store, secret, 'waiting');
	const config = { DATA_DIR: harness.dataDir, RETENTION_DAYS: 90 };
	const core = coreOf({ store, clock, log: createRecordingLog(), config, serviceUrl: SERVICE });
	const housekeeping = createHousekeeping(core, { isDiscovering: () => false });
	await clock.advance(7 * DAY);
	housekeeping.start();
	await harness.settle();
	expect((await harness.get(secret.id)).content).toMatchObject({ items: [{ value: 'hunter2' }, { value: 'blue' }] });

	await harness.pass(DAY + 3_600_000);
	const wiped = await harness.get(secret.id);
	expect(wiped).toMatchObject({
		state: 'waiting',
		content: { items: [{ value: null, wiped: true }, { value: 'blue' }] },
	});
	const due = await store.views.takeDue(LEASE, 5, { now: clock.now(), least: 'now' });
	expect(due.map(({ answerId, told }) => [answerId, told])).toEqual([[secret.id, null]]);
	expect((await store.answers.retry(secret.id, secret.person, clock.now(), T0 + 9 * DAY))?.kind).toBe('valuesGone');
	await housekeeping.stop();
});

it('sends waiting answers only after the right encryption key is restored', async () => {
	const dataDir = makeDataDir();
	const clock = createManualClock(T0);
	async function start(encryptionKey: string) {
		const store = await open({ dataDir: dataDir.path, encryptionKey, clock });
		let woken = 0;
		store.answers.rows.onChange(() => woken++);
		const metrics = { answers: { submitted() {} } };
		const core = coreOf({ store, clock, log: createRecordingLog(), metrics, config: {}, serviceUrl: SERVICE });
		const answers = createAnswers(core);
		return { store, answers, woken: () => woken };
	}
	const first = await start(KEY);
	const { answer } = await first.store.answers.accept(submission());
	await first.store.close();

	const wrong = await start(OTHER_KEY);
	const [taken] = await wrong.store.answers.takeDue(SERVICE, LEASE, 1, T0);
	expect(taken?.content.kind).toBe('unreadable');
	const waiting = { state: 'waiting', lastError: 'values_unreadable', nextAttemptAt: null } as const;
	const stored = await current(wrong.store, answer.id);
	await wrong.store.answers.update(stored, LEASE.token, waiting, { now: T0 });
	expect(await wrong.answers.sendReadableAgain()).toBe(0);
	await wrong.store.close();

	const right = await start(KEY);
	expect(await right.answers.sendReadableAgain()).toBe(1);
	expect(right.woken()).toBe(1);
	const again = await right.store.answers.get(answer.id);
	expect(again).toMatchObject({ state: 'accepted', lastError: null, nextAttemptAt: T0 });
	expect(valuesOf(again)).toEqual(['blue']);
	expect(await right.answers.sendReadableAgain()).toBe(0);
	await right.store.close();
	await dataDir.remove();
});
