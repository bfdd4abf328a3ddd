/** Numbers that a seed determines, so that a run can be repeated (as far as processes let it). */
export interface Random {
	/** From 0 up to 1. */
	next(): number;
	/** A whole number from `min` to `max`, both included. */
	whole(min: number, max: number): number;
	/** True in that share of cases. */
	chance(share: number): boolean;
	pick<T>(choices: readonly T[]): T;
}

/** mulberry32: small, and good enough to choose faults by. */
export function createRandom(seed: number): Random {
	let state = seed >>> 0;
	function next(): number {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	}
	return {
		next,
		whole: (min, max) => min + Math.floor(next() * (max - min + 1)),
		chance: (share) => next() < share,
		pick<T>(choices: readonly T[]): T {
			const choice = choices[Math.floor(next() * choices.length)];
			if (choice === undefined) throw new Error('there is nothing to choose from');
			return choice;
		},
	};
}
