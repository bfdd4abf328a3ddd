import { onTestFinished } from 'vitest';
import type { ManualClock } from '../../fake-slack/index.ts';
import { createStoreClock } from '../../src/database/store-clock.ts';
import type { Store } from '../../src/stores.ts';
import { createRecordingLog } from '../database/support.ts';

/** The store's clock on a machine whose clock can be set: `clock`, shifted by `shiftMs`. */
export async function settableClock(clock: ManualClock, { db }: Pick<Store, 'db'>, shiftMs = 0) {
	let shift = shiftMs;
	const times = { wall: () => clock.now() + shift, monotonic: clock.now };
	const machine = await createStoreClock(db, clock, createRecordingLog(), times);
	onTestFinished(machine.close);
	return {
		...machine,
		set(to: number): void {
			shift = to;
		},
	};
}
