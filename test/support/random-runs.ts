import { inject } from 'vitest';

declare module 'vitest' {
	interface ProvidedContext {
		/** The name of the lane that runs; see lanes.ts. */
		lane: string;
	}
}

/** Of so many random cases, new ones each time, `npm test` tries an eighth and the lane `long` a quarter. For the files in SHARED of lanes.ts. */
export function randomRuns(all: number): { numRuns: number } {
	return { numRuns: Math.ceil(all / (inject('lane') === 'long' ? 4 : 8)) };
}
