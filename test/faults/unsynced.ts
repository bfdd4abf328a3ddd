import type { Replacement } from './source-copy.ts';

/** The same program without waiting for the disk. */
export const UNSYNCED: readonly Replacement[] = [
	{ file: 'database/sqlite.ts', from: "['synchronous', 'FULL', 2]", to: "['synchronous', 'OFF', 0]" },
];
