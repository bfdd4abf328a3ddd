/** Of so many random cases, new ones each time, `npm test` and the lane `long` try an eighth each. For the files in SHARED of lanes.ts. */
export function randomRuns(all: number): { numRuns: number } {
	return { numRuns: Math.ceil(all / 8) };
}
