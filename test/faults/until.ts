import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../support/random.ts';

/** Whether the condition holds within this time. */
export async function until(
	condition: () => boolean | Promise<boolean>,
	withinMs: number,
	lookEveryMs = 20,
): Promise<boolean> {
	const end = performance.now() + withinMs;
	while (!(await condition())) {
		if (performance.now() > end) return false;
		await pause(lookEveryMs);
	}
	return true;
}

export function shuffled<T>(items: readonly T[], random: Random): T[] {
	return items
		.map((item) => ({ item, at: random.uniform() }))
		.toSorted((one, other) => one.at - other.at)
		.map(({ item }) => item);
}
