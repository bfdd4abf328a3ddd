import { setTimeout as delay } from 'node:timers/promises';

/** The only source of time. Tests move it instead of sleeping. */
export interface Clock {
	/** Milliseconds since the epoch. */
	now(): number;
	/** Resolves after `ms`, which may be negative; rejects with the signal's reason when it is aborted first. */
	sleep(ms: number, signal?: AbortSignal): Promise<void>;
	/** Since when `now` had no step (the clock was not set, the machine did not sleep). Absent: a clock without steps. */
	steadySince?(): number;
	/** Milliseconds of a monotonic clock. Absent: `now` has no steps. See `uptimeOf`. */
	uptime?(): number;
}

/** Milliseconds for durations within the process. They are correct even when the clock is set in between. */
export const uptimeOf = (clock: Clock) => clock.uptime?.() ?? clock.now();

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** A plain reason for aborts. Without one, each abort would make an error with a stack. */
export const ABORT_REASON = 'over';

/** A signal that is aborted after `ms` milliseconds, unless it is disposed before. */
export function startDeadline(clock: Clock, ms: number): Disposable & { readonly signal: AbortSignal } {
	const late = new AbortController();
	const ended = new AbortController();
	const end = () => late.abort(new Error(`no answer within ${ms} ms`));
	clock.sleep(ms, ended.signal).then(end, () => undefined);
	return { signal: late.signal, [Symbol.dispose]: () => ended.abort(ABORT_REASON) };
}

/** The result of `work`, or that of `late` when `work` takes longer than `ms` milliseconds. */
export async function within<Value>(clock: Clock, work: Promise<Value>, ms: number, late: () => Value): Promise<Value> {
	const ended = new AbortController();
	return Promise.race([work, clock.sleep(ms, ended.signal).then(late)]).finally(() => ended.abort(ABORT_REASON));
}

/** The result of `call`. If the signal is aborted first, calls `onAbort` and rejects with the signal's reason. */
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

/** The largest difference in ms between the clocks of replicas. Each measures the time of the shared database. */
export const CLOCK_ALLOWANCE_MS = 5_000;

/** No duration can be computed from a time before this one: the clock was set since, or the process began later. */
export const steadySince = (clock: Clock) => clock.steadySince?.() ?? Number.NEGATIVE_INFINITY;

/** Milliseconds that have certainly passed since `at`, a time noted by any process. Never too many. */
export const elapsedSince = (clock: Clock, at: number) => Math.max(0, clock.now() - Math.max(at, steadySince(clock)));

/** A larger change of the time is a step, in ms: the clock was set, or the machine slept. */
export const STEP_MS = 2_000;

/** The machine's clock. When it is set, times noted before are wrong; `store/store-clock.ts` repairs them. */
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
			sleeper?.abort(ABORT_REASON);
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

/** The earliest of these times; null: there is none. */
export function earliestOf(...times: readonly (number | null)[]): number | null {
	const known = times.filter((at) => at !== null);
	return known.length === 0 ? null : Math.min(...known);
}
