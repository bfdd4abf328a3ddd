import type { Clock } from './clock.ts';

export interface ManualClock extends Clock {
	/** Moves time forward, wakes every due sleeper in order, and lets their continuations run. */
	advance(ms: number): Promise<void>;
	/** How many sleepers wait. */
	readonly sleeping: number;
	/** The wake time of the next sleeper, or null: a simulation can jump to it. */
	readonly nextWake: number | null;
}

interface Sleeper {
	readonly at: number;
	readonly wake: () => void;
}

/** A clock that stands still until a test moves it. */
export function createManualClock(start = Date.parse('2026-01-05T09:00:00Z')): ManualClock {
	let now = start;
	const sleepers = new Set<Sleeper>();

	function next(): Sleeper | undefined {
		let first: Sleeper | undefined;
		for (const sleeper of sleepers) if (first === undefined || sleeper.at < first.at) first = sleeper;
		return first;
	}

	return {
		now: () => now,
		sleep(ms, signal) {
			return new Promise<void>((resolve, reject) => {
				if (signal?.aborted) {
					reject(signal.reason);
					return;
				}
				const abort = () => {
					sleepers.delete(sleeper);
					reject(signal?.reason);
				};
				const sleeper: Sleeper = {
					at: now + Math.max(0, ms),
					wake: () => {
						signal?.removeEventListener('abort', abort);
						resolve();
					},
				};
				signal?.addEventListener('abort', abort, { once: true });
				sleepers.add(sleeper);
			});
		},
		async advance(ms) {
			const end = now + ms;
			for (;;) {
				// A full turn of the event loop, so that what the last sleeper started has run and may sleep again.
				await new Promise<void>((resolve) => setImmediate(resolve));
				const sleeper = next();
				if (sleeper === undefined || sleeper.at > end) break;
				sleepers.delete(sleeper);
				now = Math.max(now, sleeper.at);
				sleeper.wake();
			}
			now = end;
		},
		get sleeping() {
			return sleepers.size;
		},
		get nextWake() {
			return next()?.at ?? null;
		},
	};
}
