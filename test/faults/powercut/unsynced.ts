import type { Edit } from '../edits/edit.ts';

/** The same program without waiting for the disk. */
export const UNSYNCED: readonly Edit[] = [
	{
		file: 'database/sqlite.ts',
		constant: 'PRAGMAS',
		becomes: "$value.map((pragma) => (pragma[0] === 'synchronous' ? ['synchronous', 'OFF', 0] : pragma))",
	},
];
