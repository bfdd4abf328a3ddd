import type { Clock } from '../clock.ts';

/** However many submissions follow each other, what comes after one of them waits no longer than this. */
const LONGEST_MS = 50;

/**
 * Lets what follows an acknowledgement stand back while other people's submissions still wait for theirs: storing
 * answers goes before sending them.
 */
export function createRush(clock: Clock) {
	let waiting = 0;
	let over = Promise.withResolvers<void>();
	return {
		/** A submission arrived; call what is returned, once, when it is acknowledged. */
		enter(): () => void {
			waiting++;
			return () => {
				waiting--;
				if (waiting > 0) return;
				over.resolve();
				over = Promise.withResolvers<void>();
			};
		},
		/** Resolves when nobody waits for an acknowledgement, or after a moment. */
		async over(): Promise<void> {
			if (waiting > 0) await Promise.race([over.promise, clock.sleep(LONGEST_MS)]);
		},
	};
}
