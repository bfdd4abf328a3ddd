import { setImmediate } from 'node:timers/promises';

/** After so many milliseconds of the same work other events have their turn: several works may share one turn of the loop. */
const SLICE_MS = 5;

/** Runs work that yields often, and lets the event loop breathe. */
export async function inSlices<Result>(work: Generator<void, Result>): Promise<Result> {
	for (let until = performance.now() + SLICE_MS; ; ) {
		const { done, value } = work.next();
		if (done === true) return value;
		if (performance.now() < until) continue;
		await setImmediate();
		until = performance.now() + SLICE_MS;
	}
}

/** Runs such work at once: where it is known to be short. */
export function atOnce<Result>(work: Generator<void, Result>): Result {
	let step = work.next();
	while (step.done !== true) step = work.next();
	return step.value;
}
