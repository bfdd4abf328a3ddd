import { setTimeout as delay } from 'node:timers/promises';

/** Time as everything that waits sees it, so that tests can move it instead of sleeping. */
export interface Clock {
	/** Milliseconds since the epoch. */
	now(): number;
	/** Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted first. */
	sleep(ms: number, signal?: AbortSignal): Promise<void>;
	/**
	 * Since when this clock is known to run evenly, milliseconds since the epoch: the start of the process, or the moment
	 * when the machine's clock was set or the machine woke up. Absent: it always has. See `elapsedSince`.
	 */
	steadySince?(): number;
	/** Milliseconds from any beginning, which run evenly whatever is done to the clock. Absent: `now` does. See `uptimeOf`. */
	uptime?(): number;
}

/** For durations within the process: two of these can be subtracted even when the clock was set in between. */
export function uptimeOf(clock: Clock): number {
	return clock.uptime?.() ?? clock.now();
}

/** A signal that is aborted after `ms` milliseconds unless `end` is called before. */
export function startDeadline(clock: Clock, ms: number): { readonly signal: AbortSignal; end(): void } {
	const late = new AbortController();
	const ended = new AbortController();
	clock.sleep(ms, ended.signal).then(
		() => late.abort(new Error(`no answer within ${ms} ms`)),
		() => undefined,
	);
	return { signal: late.signal, end: () => ended.abort() };
}

/**
 * The most by which clocks that are compared may differ, in milliseconds: replicas that share a database take its time,
 * each with the error of its own measurement.
 */
export const CLOCK_ALLOWANCE_MS = 5_000;

/**
 * Milliseconds that have certainly passed since `at`, a time that this or another process noted: never more than really
 * passed, however the clock was set meanwhile. 0 for a time further ahead than clocks may differ: it was noted before the
 * clock was put back, and nothing tells when.
 */
export function elapsedSince(clock: Clock, at: number): number {
	const now = clock.now();
	if (at > now + CLOCK_ALLOWANCE_MS) return 0;
	return Math.max(0, now - Math.max(at, clock.steadySince?.() ?? Number.NEGATIVE_INFINITY));
}

/**
 * Whether a time that was noted for later has come. One that is further ahead than `longestMs`, the longest for which
 * anything of its kind is put off, was noted before the clock was put back: it counts as come.
 */
export function hasCome(at: number, now: number, longestMs: number): boolean {
	return at <= now || at > now + longestMs;
}

/** Wall time and monotonic time part by more than this only when one of them was set or the machine slept. */
export const STEP_MS = 1_000;

/** Tells, whenever it is given the wall time, whether that has parted from the monotonic time since the time before. */
export function createStepDetector(monotonic: () => number, firstTime: number): (time: number) => boolean {
	let gap = firstTime - monotonic();
	return (time) => {
		const seen = time - monotonic();
		const isStep = Math.abs(seen - gap) > STEP_MS;
		gap = seen;
		return isStep;
	};
}

/** The machine's own time, which knows when it was set. */
export function createSystemClock({
	wall = () => Date.now(),
	monotonic = () => performance.now(),
}: {
	wall?: () => number;
	monotonic?: () => number;
} = {}): Clock {
	let steadySince = wall();
	const hasStepped = createStepDetector(monotonic, steadySince);

	function now(): number {
		const time = wall();
		if (hasStepped(time)) steadySince = time;
		return time;
	}

	return {
		now,
		uptime: monotonic,
		steadySince() {
			now();
			return steadySince;
		},
		async sleep(ms, signal) {
			try {
				await delay(ms, undefined, signal === undefined ? {} : { signal });
			} catch (error) {
				signal?.throwIfAborted();
				throw error;
			}
		},
	};
}

export const systemClock: Clock = createSystemClock();
