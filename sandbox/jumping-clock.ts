import type { MovedClock } from './moved-clock.ts';

/** A clock that runs like the machine's and can jump: whoever sleeps wakes earlier then, as if the time had passed. */
interface JumpingClock extends MovedClock {
	/** When the next sleeper wakes; null while nobody sleeps. */
	readonly nextWake: number | null;
	readonly sleeping: number;
	advance(ms: number): Promise<void>;
}

interface Sleeper {
	readonly at: number;
	/** Waits until `at` by the time that it is now. */
	readonly arm: () => void;
}

export function createJumpingClock(): JumpingClock {
	let ahead = 0;
	const sleepers = new Set<Sleeper>();
	const now = () => Date.now() + ahead;
	return {
		now,
		sleep: (ms, signal) =>
			new Promise<void>((resolve, reject) => {
				signal?.throwIfAborted();
				let timer: NodeJS.Timeout | undefined;
				function end(): void {
					clearTimeout(timer);
					sleepers.delete(sleeper);
					signal?.removeEventListener('abort', abort);
				}
				function abort(): void {
					end();
					reject(signal?.reason);
				}
				function wake(): void {
					end();
					resolve();
				}
				const at = now() + ms;
				const sleeper = {
					at,
					arm() {
						clearTimeout(timer);
						timer = setTimeout(wake, Math.max(0, at - now()));
					},
				};
				signal?.addEventListener('abort', abort, { once: true });
				sleepers.add(sleeper);
				sleeper.arm();
			}),
		get offsetMs() {
			return ahead;
		},
		async advance(ms) {
			ahead += ms;
			for (const sleeper of sleepers) sleeper.arm();
		},
		get nextWake() {
			return sleepers.size === 0 ? null : Math.min(...Array.from(sleepers, ({ at }) => at));
		},
		get sleeping() {
			return sleepers.size;
		},
	};
}
