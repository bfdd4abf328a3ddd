import type { Edit } from '../edits/edit.ts';

const REKEY = 'store/rekey.ts';

/** Ways to break the change of keys, to show that the run notices. */
export const SABOTAGES = {
	/** The file is not compacted at the end. */
	'no-compaction': [{ file: REKEY, in: 'encryptAnew', call: 'markForCompaction', becomes: 'undefined' }],
	/** It says that it is done without a value encrypted again. */
	'ends-early': [{ file: REKEY, in: 'encryptAnew', call: 'sealAnew', becomes: '{ written: 0, left: 0 }' }],
	/** The database is not marked: a program may start meanwhile. */
	'no-mark': [{ file: REKEY, in: 'mark', call: 'writeCheck', becomes: 'undefined' }],
	/** The keys of secrets that the former key encrypts are not read. */
	'forgotten-secrets': [{ file: REKEY, in: 'openGiven', call: 'secretsCipher', becomes: 'null' }],
} as const satisfies Readonly<Record<string, readonly Edit[]>>;
