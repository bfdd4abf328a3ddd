/** Random numbers that a seed repeats. */
export interface Random {
	/** In [0, 1). */
	uniform(): number;
	between(low: number, high: number): number;
	/** A whole number from `min` to `max`, both included. */
	whole(min: number, max: number): number;
	/** True in that share of cases. */
	chance(share: number): boolean;
	pick<T>(choices: readonly T[]): T;
	exponential(mean: number): number;
	/** Log-normal with this mean and standard deviation of the logarithm. */
	logNormal(mean: number, spread: number): number;
	/** Independent of what is drawn from this one afterwards. */
	fork(): Random;
}

/** Mulberry32: 32 bits of state, good enough for a simulation and the same on every machine. */
export function createRandom(seed: number): Random {
	let state = seed >>> 0;
	const uniform = () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
	const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
	return {
		uniform,
		between: (low, high) => low + (high - low) * uniform(),
		whole: (min, max) => min + Math.floor(uniform() * (max - min + 1)),
		chance: (share) => uniform() < share,
		pick<T>(choices: readonly T[]): T {
			const choice = choices[Math.floor(uniform() * choices.length)];
			if (choice === undefined) throw new Error('There is nothing to choose from.');
			return choice;
		},
		exponential: (mean) => -mean * Math.log(1 - uniform()),
		logNormal: (mean, spread) => mean * Math.exp(spread * normal() - (spread * spread) / 2),
		fork: () => createRandom(Math.floor(uniform() * 2 ** 32)),
	};
}
