import { gapCdf } from './rhythm.ts';

/**
 * What a read at a later time is worth, for gaps of log-normal length; all in units of the mean gap.
 *
 * With `M(u)` the steps expected within `u` after a read, a step at `s` that asks something waits `u - s` if the next read
 * is at `u`. For a price of a read, the mean cost in a unit of time of reading at `u` is least where
 * `u M(u) - (integral of M up to u)`, which is the integral of `s dM(s)`, reaches the price over the chance of a question
 * in a step. That integral is the worth: it grows only where steps are likely, so a price is reached just after one is due.
 */
export interface StepsAhead {
	/** The worth at `u` for a session whose newest step was `age` before the read. */
	worth(age: number, u: number): number;
	/** Steps expected within `u`. */
	steps(age: number, u: number): number;
}

const CELLS_PER_GAP = 16;
const HORIZON_GAPS = 6;
const CELLS = CELLS_PER_GAP * HORIZON_GAPS;
const AGES_PER_GAP = 8;
const OLDEST_GAPS = 4;
const AGES = AGES_PER_GAP * OLDEST_GAPS;
/** Steps of the spread for which a table is kept. */
const SPREADS = [0.1, 0.15, 0.2, 0.27, 0.35, 0.45, 0.6, 0.8, 1.1] as const;

/** Tables made when first asked for (some milliseconds and 100 kB each), one for each class of spread. */
export function createStepsAhead(): (spread: number) => StepsAhead {
	const tables = new Map<number, StepsAhead>();
	return (spread) => {
		let nearest: number = SPREADS[0];
		for (const candidate of SPREADS) {
			if (Math.abs(Math.log(candidate / spread)) < Math.abs(Math.log(nearest / spread))) nearest = candidate;
		}
		const known = tables.get(nearest);
		if (known !== undefined) return known;
		const made = tabulate(nearest);
		tables.set(nearest, made);
		return made;
	};
}

function tabulate(spread: number): StepsAhead {
	const fresh = new Float64Array(CELLS + 1);
	for (let cell = 0; cell <= CELLS; cell += 1) fresh[cell] = gapCdf(cell / CELLS_PER_GAP, spread);
	const renewals = stepsAfter(fresh, null);
	const steps: Float64Array[] = [];
	const worths: Float64Array[] = [];
	for (let age = 0; age <= AGES; age += 1) {
		const counted = stepsAfter(remaining(age / AGES_PER_GAP, spread), renewals);
		steps.push(counted);
		worths.push(worthOf(counted));
	}
	return {
		steps: (age, u) => look(steps, age, u, (last, beyond) => last + beyond),
		worth: (age, u) => look(worths, age, u, (last, beyond) => last + beyond * (HORIZON_GAPS + beyond / 2)),
	};
}

/** Distribution of the rest of a gap that has lasted `age` already. */
function remaining(age: number, spread: number): Float64Array {
	const passed = gapCdf(age, spread);
	const left = Math.max(1e-9, 1 - passed);
	const rest = new Float64Array(CELLS + 1);
	for (let cell = 1; cell <= CELLS; cell += 1) {
		rest[cell] = Math.min(1, Math.max(0, (gapCdf(age + cell / CELLS_PER_GAP, spread) - passed) / left));
	}
	return rest;
}

/**
 * Expected steps when the first is distributed as `first`, with those in `renewals` after it; null: with the very ones
 * that are being worked out.
 */
function stepsAfter(first: Float64Array, renewals: Float64Array | null): Float64Array {
	const counted = new Float64Array(CELLS + 1);
	const after = renewals ?? counted;
	for (let cell = 1; cell <= CELLS; cell += 1) {
		let sum = first[cell] as number;
		for (let at = 1; at <= cell; at += 1) {
			const mass = (first[at] as number) - (first[at - 1] as number);
			// In the middle of its cell, or every step would come half a cell late.
			const later = Math.min(cell - at + 1, cell - 1);
			if (mass > 0) sum += (mass * ((after[cell - at] as number) + (after[later] as number))) / 2;
		}
		counted[cell] = sum;
	}
	return counted;
}

function worthOf(counted: Float64Array): Float64Array {
	const worth = new Float64Array(CELLS + 1);
	for (let cell = 1; cell <= CELLS; cell += 1) {
		const steps = (counted[cell] as number) - (counted[cell - 1] as number);
		worth[cell] = (worth[cell - 1] as number) + (steps * (cell - 0.5)) / CELLS_PER_GAP;
	}
	return worth;
}

function look(
	table: readonly Float64Array[],
	age: number,
	u: number,
	extend: (last: number, beyond: number) => number,
): number {
	const row = table[Math.min(AGES, Math.max(0, Math.round(age * AGES_PER_GAP)))] as Float64Array;
	if (u >= HORIZON_GAPS) return extend(row[CELLS] as number, u - HORIZON_GAPS);
	const position = Math.max(0, u) * CELLS_PER_GAP;
	const cell = Math.floor(position);
	const low = row[cell] as number;
	return low + ((row[cell + 1] as number) - low) * (position - cell);
}
