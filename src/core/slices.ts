import { setImmediate } from 'node:timers/promises';

/** After so many milliseconds other events have their turn. */
const SLICE_MS = 5;

let turns = Promise.resolve();
/** Works take turns: in one turn of the event loop, only one of them runs. */
export function nextTurn(): Promise<void> {
	turns = turns.then(() => setImmediate());
	return turns;
}

/** Runs work that yields often, and lets the event loop breathe. */
export async function inSlices<Result>(work: Generator<void, Result>): Promise<Result> {
	for (;;) {
		await nextTurn();
		const until = performance.now() + SLICE_MS;
		do {
			const { done, value } = work.next();
			if (done === true) return value;
		} while (performance.now() < until);
	}
}

/** The results of one work for each value. */
export function* eachIn<From, To>(values: readonly From[], work: (value: From) => Generator<void, To>) {
	const results: To[] = [];
	for (const value of values) {
		results.push(yield* work(value));
		yield;
	}
	return results;
}

/** Runs such work at once: where it is known to be short. */
export function atOnce<Result>(work: Generator<void, Result>): Result {
	let step = work.next();
	while (step.done !== true) step = work.next();
	return step.value;
}
