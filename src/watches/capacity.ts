/** Seconds in which every watched session would be read once, were all read in turn. */
function expectedRoundSeconds(watched: number, readsPerSecond: number): number {
	return watched / Math.max(readsPerSecond, 1e-3);
}

/** What somebody who adds a watch may expect of a session at work, and of a quiet one, in seconds. */
export interface Expectation {
	readonly roundSeconds: number;
	/** Until a question of a session at work is noticed, typically (`npm run bench:watching`). */
	readonly typicalSeconds: number;
	/** The longest a session goes unread. */
	readonly longestSeconds: number;
	/** Worth saying before it is added. */
	readonly slow: boolean;
}

/** A session at work is noticed in half a round over this, as the simulation shows from 40 to 1,000 sessions. */
const QUICKER_THAN_A_ROUND = 6;
/** Rounds after which even the quietest session was read, and never sooner than 15 s. */
const LONGEST_ROUNDS = 2.5;
const SLOW_SECONDS = 60;

export function expectationFor(watched: number, readsPerSecond: number): Expectation {
	const roundSeconds = expectedRoundSeconds(watched, readsPerSecond);
	return {
		roundSeconds,
		typicalSeconds: Math.max(1, roundSeconds / 2 / QUICKER_THAN_A_ROUND),
		longestSeconds: Math.max(15, roundSeconds * LONGEST_ROUNDS),
		slow: roundSeconds > SLOW_SECONDS,
	};
}
