import { setTimeout as delay } from 'node:timers/promises';

/** The only source of time, so that tests can move it instead of sleeping. */
export interface Clock {
	/** Milliseconds since the epoch. */
	now(): number;
	/** Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted first. */
	sleep(ms: number, signal?: AbortSignal): Promise<void>;
	/**
	 * Since when this clock runs evenly, milliseconds since the epoch: the start of the process, or when the machine's clock
	 * was set or the machine woke up. Absent: always. See `elapsedSince`.
	 */
	steadySince?(): number;
	/** Milliseconds that run evenly even when the clock is set. Absent: `now` does. See `uptimeOf`. */
	uptime?(): number;
}

/** For durations within the process, correct even when the clock is set in between. */
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
 * The most by which the clocks of replicas may differ, in milliseconds: each takes the time of the shared database, with
 * the error of its own measurement.
 */
export const CLOCK_ALLOWANCE_MS = 5_000;

/**
 * Milliseconds that have certainly passed since `at`, a time noted by this or another process: never too many, however
 * the clock was set meanwhile. 0 for a time further ahead than clocks may differ: it was noted before the clock was put
 * back.
 */
export function elapsedSince(clock: Clock, at: number): number {
	const now = clock.now();
	if (at > now + CLOCK_ALLOWANCE_MS) return 0;
	return Math.max(0, now - Math.max(at, clock.steadySince?.() ?? Number.NEGATIVE_INFINITY));
}

/**
 * Whether a due time has come. One further ahead than `longestMs`, the longest delay of its kind, was noted before the
 * clock was put back and counts as come.
 */
export function hasCome(at: number, now: number, longestMs: number): boolean {
	return at <= now || at > now + longestMs;
}

/** A larger gap between wall time and monotonic time means that the clock was set or the machine slept. */
export const STEP_MS = 1_000;

/** Returns, for each wall time it gets, whether the clock was set since the call before. */
export function createStepDetector(monotonic: () => number, firstTime: number): (time: number) => boolean {
	let gap = firstTime - monotonic();
	return (time) => {
		const seen = time - monotonic();
		const isStep = Math.abs(seen - gap) > STEP_MS;
		gap = seen;
		return isStep;
	};
}

/** The machine's own time, which notices when it is set. */
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
