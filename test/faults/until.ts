import { setTimeout as pause } from 'node:timers/promises';

const LOOK_EVERY_MS = 20;

/** Whether the condition holds within this time. */
export async function until(condition: () => boolean, withinMs: number): Promise<boolean> {
	const end = performance.now() + withinMs;
	while (!condition()) {
		if (performance.now() > end) return false;
		await pause(LOOK_EVERY_MS);
	}
	return true;
}
