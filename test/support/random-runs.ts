import { inject } from 'vitest';

declare module 'vitest' {
	interface ProvidedContext {
		/** The name of the lane that runs; see lanes.ts. */
		lane: string;
	}
}

/** Of so many random cases, `npm test` tries a quarter and the lane `long` the others. For the files in SHARED of lanes.ts. */
export function randomRuns(all: number): { numRuns: number } {
	const quarter = Math.ceil(all / 4);
	return { numRuns: inject('lane') === 'long' ? all - quarter : quarter };
}
