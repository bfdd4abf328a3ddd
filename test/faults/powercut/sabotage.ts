import type { Edit } from '../edits/edit.ts';

/** Ways to break the promise, to show that the run notices. */
export const SABOTAGES = {
	/** Nothing waits for the disk. */
	unsynced: [
		{
			file: 'store/sqlite.ts',
			constant: 'PRAGMAS',
			becomes: "$value.map((pragma) => (pragma[0] === 'synchronous' ? ['synchronous', 'OFF', 0] : pragma))",
		},
	],
} as const satisfies Record<string, readonly Edit[]>;
