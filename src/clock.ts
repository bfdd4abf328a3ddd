import { setTimeout as delay } from 'node:timers/promises';

/** The only source of time, so that tests move it instead of sleeping. */
export interface Clock {
	/** Milliseconds since the epoch. */
	now(): number;
	/** Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted first. */
	sleep(ms: number, signal?: AbortSignal): Promise<void>;
	/**
	 * When the process started, the machine's clock was last set or the machine woke up; milliseconds since the epoch.
	 * Absent for a clock without steps. See `elapsedSince`.
	 */
	steadySince?(): number;
	/** Milliseconds of a monotonic clock. Absent when `now` has no steps. See `uptimeOf`. */
	uptime?(): number;
}

/** For durations within the process: correct even when the clock is set in between. */
export function uptimeOf(clock: Clock): number {
	return clock.uptime?.() ?? clock.now();
}

/** A signal that is aborted after `ms` milliseconds unless `end` is called first. */
export function startDeadline(clock: Clock, ms: number): { readonly signal: AbortSignal; end(): void } {
	const late = new AbortController();
	const ended = new AbortController();
	clock.sleep(ms, ended.signal).then(
		() => late.abort(new Error(`no answer within ${ms} ms`)),
		() => undefined,
	);
	return { signal: late.signal, end: () => ended.abort() };
}

/** The largest difference between clocks of replicas, in milliseconds. Each measures the time of the shared database. */
export const CLOCK_ALLOWANCE_MS = 5_000;

/**
 * Milliseconds that have certainly passed since `at`, a time noted by this or another process: never too many, even when
 * the clock was set meanwhile. 0 for a time too far ahead: it was noted before the clock was put back.
 */
export function elapsedSince(clock: Clock, at: number): number {
	const now = clock.now();
	if (at > now + CLOCK_ALLOWANCE_MS) return 0;
	return Math.max(0, now - Math.max(at, clock.steadySince?.() ?? Number.NEGATIVE_INFINITY));
}

/**
 * Whether the due time `at` has come. A time further ahead than `longestMs`, the longest delay of its kind, was noted
 * before the clock was put back and counts as come.
 */
export function hasCome(at: number, now: number, longestMs: number): boolean {
	return at <= now || at > now + longestMs;
}

/** When wall time and monotonic time diverge by more, the clock was set or the machine slept. */
export const STEP_MS = 1_000;

/** Returns a function that tells for each wall time whether the clock was set since the previous call. */
export function createStepDetector(monotonic: () => number, firstTime: number): (time: number) => boolean {
	let gap = firstTime - monotonic();
	return (time) => {
		const formerGap = gap;
		gap = time - monotonic();
		return Math.abs(gap - formerGap) > STEP_MS;
	};
}

/** The machine's own time; it detects when the clock is set. */
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
			// Detects a step since the last call.
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
