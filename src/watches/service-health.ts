import type { Clock } from '../clock.ts';

/** What reads together say of the service: one that is down is one notice, not one for each session. */
export interface ServiceHealth {
	succeeded(): void;
	/** A read that failed for a reason that lies with the service and not with one session. */
	failed(): void;
	/** Null while nothing is known: after a start an outage noted before it may be over. */
	readonly down: boolean | null;
	/** The first of the reads that fail now; null when none does. */
	readonly failingSince: number | null;
}

/** No read has succeeded for so long, and... */
export const DOWN_AFTER_MS = 30_000;
/** ...so many have failed. */
const DOWN_AFTER_FAILURES = 3;

export function createServiceHealth({ clock }: { clock: Clock }): ServiceHealth {
	let failures = 0;
	let failingSince: number | null = null;
	let down: boolean | null = null;
	return {
		succeeded() {
			failures = 0;
			failingSince = null;
			down = false;
		},
		failed() {
			failures += 1;
			failingSince ??= clock.now();
			if (failures >= DOWN_AFTER_FAILURES && clock.now() - failingSince >= DOWN_AFTER_MS) down = true;
		},
		get down() {
			return down;
		},
		get failingSince() {
			return failingSince;
		},
	};
}
