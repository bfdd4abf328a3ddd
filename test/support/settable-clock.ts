import { onTestFinished } from 'vitest';
import type { ManualClock } from '../../fake-slack/index.ts';
import { LOG_LINES } from '../../src/kernel/log-lines.ts';
import { createStoreClock } from '../../src/store/store-clock.ts';
import type { Store } from '../../src/stores.ts';
import { createRecordingLog } from '../store/support.ts';

/** The store's clock on a machine whose clock can be set: `clock`, shifted by `shiftMs`. It looks once a minute. */
export async function settableClock(clock: ManualClock, { db }: Pick<Store, 'db'>, shiftMs = 0) {
	let shift = shiftMs;
	const times = { wall: () => clock.now() + shift, monotonic: clock.now };
	const log = createRecordingLog();
	const machine = await createStoreClock(db, clock, log, times);
	onTestFinished(machine.close);
	return {
		...machine,
		/** How many steps it has found. */
		stepCount: () => log.lines.filter(({ message }) => message === LOG_LINES.clock_set).length,
		set(to: number): void {
			shift = to;
		},
	};
}
