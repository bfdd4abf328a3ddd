import { type Clock, elapsedSince } from '../clock.ts';

/** Whether the service works, from the calls of all parts: an outage is one notice, not one for each session. */
export interface ServiceHealth {
	/** The service did what it was asked for. */
	succeeded(): void;
	/** A call failed with this code; codes that concern one session are ignored. */
	failed(code: string): void;
	/** Null while nothing is known: an outage noted before the start may be over. Changes with time alone. */
	readonly down: boolean | null;
	/** When the first of the calls failed that have failed in a row; null when the newest worked. Clock milliseconds. */
	readonly failingSince: number | null;
	/** Adds a listener, called when a call succeeds after an outage. */
	onRecovered(listener: () => void): void;
}

/** The service is down when nothing has succeeded for so long... */
export const DOWN_AFTER_MS = 30_000;
/** ...and so many calls have failed, or one was limited: calls are rare then. */
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
			// One failure among successes concerns its session only, which backs off by itself.
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
			// A time ahead of now was noted before the clock was put back.
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
