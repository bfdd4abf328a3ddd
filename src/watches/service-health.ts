import { type Clock, elapsedSince } from '../clock.ts';

/** What the calls of all parts together say of the service: one that is down is one notice, not one for each session. */
export interface ServiceHealth {
	/** The service did what it was asked for. */
	succeeded(): void;
	/** A call failed with this code; codes that say something of one session only are no news. */
	failed(code: string): void;
	/** Null while nothing is known: after a start an outage noted before it may be over. Changes with time alone. */
	readonly down: boolean | null;
	/** The first of the calls that fail now; null when none does. Clock milliseconds. */
	readonly failingSince: number | null;
	/** Has `listener` called, beside those before, when a success ends a time in which nothing worked. */
	onRecovered(listener: () => void): void;
}

/** Nothing has succeeded for so long, and... */
export const DOWN_AFTER_MS = 30_000;
/** ...so many calls have failed, or the service has said that it is too much: it is asked rarely then. */
const DOWN_AFTER_FAILURES = 3;

const LIMITED = 'rate_limited';
/** Failures that certainly say something of the service: a response that cannot be read may be that of one session. */
const OUTAGE_CODES: ReadonlySet<string> = new Set(['unavailable', 'timed_out', 'unauthorized', LIMITED]);

export function createServiceHealth({ clock }: { clock: Clock }): ServiceHealth {
	let failures = 0;
	let limited = false;
	let failingSince: number | null = null;
	let down: boolean | null = null;
	const listeners: (() => void)[] = [];

	function isDown(): boolean | null {
		const isEnough = limited || failures >= DOWN_AFTER_FAILURES;
		if (isEnough && failingSince !== null && elapsedSince(clock, failingSince) >= DOWN_AFTER_MS) down = true;
		return down;
	}

	return {
		succeeded() {
			// After one failure among successes a session backs off alone.
			const wasFailing = isDown() === true || failures >= DOWN_AFTER_FAILURES;
			failures = 0;
			limited = false;
			failingSince = null;
			down = false;
			if (wasFailing) for (const listener of listeners) listener();
		},
		failed(code) {
			if (!OUTAGE_CODES.has(code)) return;
			const now = clock.now();
			failures += 1;
			limited ||= code === LIMITED;
			// Ahead of now it was noted before the clock was put back.
			if (failingSince === null || failingSince > now) failingSince = now;
		},
		get down() {
			return isDown();
		},
		get failingSince() {
			return failingSince;
		},
		onRecovered(listener) {
			listeners.push(listener);
		},
	};
}
