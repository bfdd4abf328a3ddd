import type { Clock } from '../../../src/core/clock.ts';

/** Repeats `turn`, which returns the milliseconds until the next one, or is woken before. Work that it begins wakes it at its end. */
export function createLoop(clock: Clock, turn: () => Promise<number>) {
	const underWay = new Set<Promise<void>>();
	let woken = new AbortController();
	return {
		underWay: underWay as ReadonlySet<Promise<void>>,
		begin(work: Promise<void>): void {
			const ended = work
				.catch(() => undefined)
				.finally(() => {
					underWay.delete(ended);
					woken.abort();
				});
			underWay.add(ended);
		},
		async run(signal: AbortSignal): Promise<void> {
			while (!signal.aborted) {
				const { signal: early } = woken;
				const ms = await turn();
				await clock.sleep(ms, AbortSignal.any([signal, early])).catch(() => undefined);
				if (woken.signal.aborted) woken = new AbortController();
			}
			await Promise.all(underWay);
		},
		wake: () => woken.abort(),
	};
}
