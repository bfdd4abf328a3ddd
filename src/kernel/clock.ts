import { setTimeout as delay } from 'node:timers/promises';

/** The only source of time, so that tests move it instead of sleeping. */
export interface Clock {
	/** Milliseconds since the epoch. */
	now(): number;
	/** Resolves after `ms`, which may be negative; rejects with the signal's reason when it is aborted first. */
	sleep(ms: number, signal?: AbortSignal): Promise<void>;
	/** Since when `now` had no step. Absent for a clock without steps. */
	steadySince?(): number;
	/** Milliseconds of a monotonic clock. Absent when `now` has no steps. See `uptimeOf`. */
	uptime?(): number;
}

/** For durations within the process: correct even when the clock is set in between. */
export const uptimeOf = (clock: Clock) => clock.uptime?.() ?? clock.now();

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Without a reason each abort would make an error with a stack. */
export const OVER = 'over';

/** A signal that is aborted after `ms` milliseconds, until it is disposed. */
export function startDeadline(clock: Clock, ms: number): Disposable & { readonly signal: AbortSignal } {
	const late = new AbortController();
	const ended = new AbortController();
	const end = () => late.abort(new Error(`no answer within ${ms} ms`));
	clock.sleep(ms, ended.signal).then(end, () => undefined);
	return { signal: late.signal, [Symbol.dispose]: () => ended.abort(OVER) };
}

/** The result of `work`; when it takes longer than `ms` milliseconds, that of `late`. */
export async function within<Value>(clock: Clock, work: Promise<Value>, ms: number, late: () => Value): Promise<Value> {
	const ended = new AbortController();
	return Promise.race([work, clock.sleep(ms, ended.signal).then(late)]).finally(() => ended.abort(OVER));
}

/** Rejects with the signal's reason once it is aborted, after `onAbort`. What comes from `call` then is ignored. */
export async function unlessAborted<Value>(
	call: Promise<Value>,
	signal: AbortSignal | undefined,
	onAbort: () => void = () => {},
): Promise<Value> {
	const aborted = Promise.withResolvers<never>();
	const abort = () => {
		onAbort();
		aborted.reject(signal?.reason);
	};
	if (signal?.aborted === true) abort();
	signal?.addEventListener('abort', abort, { once: true });
	return Promise.race([call, aborted.promise]).finally(() => signal?.removeEventListener('abort', abort));
}

/** The largest difference between clocks of replicas, which each measure the time of the shared database. */
export const CLOCK_ALLOWANCE_MS = 5_000;

/** Times before it do not tell a duration: the clock was set since, or this process was not there yet. */
export const steadySince = (clock: Clock) => clock.steadySince?.() ?? Number.NEGATIVE_INFINITY;

/** Milliseconds that have certainly passed since `at`, a time noted by any process: never too many. */
export const elapsedSince = (clock: Clock, at: number) => Math.max(0, clock.now() - Math.max(at, steadySince(clock)));

/** A larger change of the time is a step: the clock was set, or the machine slept. */
export const STEP_MS = 2_000;

/** The machine's time. Where it is set, times noted before are wrong: see `store/store-clock.ts`. */
export const systemClock: Clock = {
	now: () => Date.now(),
	uptime: () => performance.now(),
	sleep: (ms, signal) =>
		delay(Math.max(0, ms), undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
			signal?.throwIfAborted();
			throw error;
		}),
};

/** A sleep that can be ended early. */
export function createWaker(clock: Clock) {
	let isWoken = false;
	let sleeper: AbortController | null = null;
	return {
		wake() {
			isWoken = true;
			sleeper?.abort(OVER);
		},
		/** Forgets wakes since the last wait. */
		clear() {
			isWoken = false;
		},
		/** Resolves after `ms`, or when woken; at once if woken since the last wait. Rejects when aborted. */
		async wait(ms: number, signal?: AbortSignal): Promise<void> {
			if (!isWoken) {
				sleeper = new AbortController();
				try {
					await clock.sleep(ms, signal === undefined ? sleeper.signal : AbortSignal.any([sleeper.signal, signal]));
				} catch {
					signal?.throwIfAborted();
				} finally {
					sleeper = null;
				}
			}
			isWoken = false;
		},
	};
}

/** The first of these times; null: there is none. */
export function earliestOf(...times: readonly (number | null)[]): number | null {
	const known = times.filter((at) => at !== null);
	return known.length === 0 ? null : Math.min(...known);
}
