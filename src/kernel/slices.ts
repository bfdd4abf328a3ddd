import { setImmediate } from 'node:timers/promises';

/*
 * Long work in steps. A generator yields after each short step. `runInSlices` lets other events run in between;
 * `runSync` does not.
 */

/** After so many milliseconds of work, other events have their turn. */
const SLICE_MS = 5;

let turns = Promise.resolve();

/** Resolves in a turn of the event loop that no other caller gets. So only one piece of long work runs in each turn. */
export function nextTurn(): Promise<void> {
	turns = turns.then(() => setImmediate());
	return turns;
}

/** Runs work in slices of a few milliseconds, with other events in between. */
export async function runInSlices<Result>(work: Generator<void, Result>): Promise<Result> {
	for (;;) {
		await nextTurn();
		const until = performance.now() + SLICE_MS;
		do {
			const { done, value } = work.next();
			if (done === true) return value;
		} while (performance.now() < until);
	}
}

/** Maps values, one step for each. */
export function* mapInSteps<From, To>(values: readonly From[], change: (value: From) => To): Generator<void, To[]> {
	const changed: To[] = [];
	for (const value of values) {
		changed.push(change(value));
		yield;
	}
	return changed;
}

/** Maps values by work that has steps of its own. */
export function* mapWorkInSteps<From, To>(values: readonly From[], work: (value: From) => Generator<void, To>) {
	const results: To[] = [];
	for (const value of values) {
		results.push(yield* work(value));
		yield;
	}
	return results;
}

/** Runs work without a pause. Only for work that is known to be short. */
export function runSync<Result>(work: Generator<void, Result>): Result {
	let step = work.next();
	while (step.done !== true) step = work.next();
	return step.value;
}
