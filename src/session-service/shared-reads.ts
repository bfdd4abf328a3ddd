import { type Clock, uptimeOf } from '../clock.ts';

/**
 * Lets readers who ask for the same session at nearly the same moment share one read.
 *
 * Joining means accepting a state that may be as old as the joined read is running; that is why the age is bounded and
 * why deliveries, which must read after they took the answer's lease, do not come here at all.
 */
export interface SharedReads<T> {
	/**
	 * Joins the first read under one of `keys` that began within the last instant, or starts one under the last key;
	 * the signal it is started with aborts when every reader has left.
	 */
	read(
		keys: readonly [string, ...string[]],
		signal: AbortSignal | undefined,
		start: (signal: AbortSignal) => Promise<T>,
	): Promise<T>;
}

/** Milliseconds. A quarter of a second is what several presses on one card and a poll beside them fall into. */
const LONGEST_AGE_MS = 250;

interface Flight<T> {
	readonly startedAt: number;
	readonly result: Promise<T>;
	readonly controller: AbortController;
	readers: number;
}

export function createSharedReads<T>(clock: Clock): SharedReads<T> {
	const flights = new Map<string, Flight<T>>();

	function begin(key: string, start: (signal: AbortSignal) => Promise<T>): Flight<T> {
		const controller = new AbortController();
		const flight: Flight<T> = {
			startedAt: uptimeOf(clock),
			result: start(controller.signal),
			controller,
			readers: 0,
		};
		flights.set(key, flight);
		const forget = () => {
			if (flights.get(key) === flight) flights.delete(key);
		};
		flight.result.then(forget, forget);
		return flight;
	}

	function joinable(key: string): Flight<T> | undefined {
		const flight = flights.get(key);
		if (flight === undefined || flight.controller.signal.aborted) return undefined;
		return uptimeOf(clock) - flight.startedAt <= LONGEST_AGE_MS ? flight : undefined;
	}

	return {
		read(keys, signal, start) {
			return new Promise<T>((resolve, reject) => {
				if (signal?.aborted) {
					reject(signal.reason);
					return;
				}
				const running = keys.map(joinable).find((flight) => flight !== undefined);
				const flight = running ?? begin(keys.at(-1) ?? keys[0], start);
				flight.readers++;
				const leave = () => {
					reject(signal?.reason);
					flight.readers--;
					if (flight.readers === 0) flight.controller.abort(signal?.reason);
				};
				signal?.addEventListener('abort', leave, { once: true });
				flight.result.then(resolve, reject).finally(() => signal?.removeEventListener('abort', leave));
			});
		},
	};
}
