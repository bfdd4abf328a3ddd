import type { Clock } from '../clock.ts';

/** The service is down when no call has succeeded for this long... */
export const DOWN_AFTER_MS = 30_000;
/** ...and this many have failed, or one was limited: calls are rare after that. */
const DOWN_AFTER_FAILURES = 3;

const LIMITED = 'rate_limited';
/** Failures that certainly concern the whole service. An unreadable response may concern one session. */
const OUTAGE_CODES: ReadonlySet<string> = new Set(['unavailable', 'timed_out', 'unauthorized', 'redirected', LIMITED]);

/** Whether the service works, judged by the calls of all parts: one notice for an outage, not one for each session. */
export function createServiceHealth({ clock }: { clock: Clock }) {
	let failures = 0;
	let limited = false;
	let failingSince: number | null = null;
	let down: boolean | null = null;
	const listeners: (() => void)[] = [];
	clock.onStep?.(() => {
		if (failingSince !== null) failingSince = clock.now();
	});

	function isDown(): boolean | null {
		const isEnough = limited || failures >= DOWN_AFTER_FAILURES;
		if (isEnough && failingSince !== null && clock.now() - failingSince >= DOWN_AFTER_MS) down = true;
		return down;
	}

	return {
		succeeded() {
			// Fewer failures in a row may concern one session, which backs off by itself.
			const wasFailing = isDown() === true || failures >= DOWN_AFTER_FAILURES;
			failures = 0;
			limited = false;
			failingSince = null;
			down = false;
			if (wasFailing) for (const listener of listeners) listener();
		},
		/** A call failed with this code; codes that concern one session are ignored. */
		failed(code: string) {
			if (!OUTAGE_CODES.has(code)) return;
			const now = clock.now();
			failures += 1;
			limited ||= code === LIMITED;
			failingSince ??= now;
		},
		/** Null until a call succeeded or an outage was found. May become true by time alone. */
		get down() {
			return isDown();
		},
		/** When the first call failed since the last success, clock milliseconds; null when the newest call succeeded. */
		get failingSince() {
			return failingSince;
		},
		/** Adds a listener, called when a call succeeds after an outage. */
		onRecovered(listener: () => void) {
			listeners.push(listener);
		},
	};
}

export type ServiceHealth = ReturnType<typeof createServiceHealth>;
