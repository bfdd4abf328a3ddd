import type { Edit } from '../edits/edit.ts';

/** Ways to break the change of keys, to show that the run notices. */
export const SABOTAGES = {
	/** The file is not compacted at the end. */
	'no-compaction': [{ file: 'database/key-ring.ts', in: 'finish', call: 'markForCompaction', becomes: 'undefined' }],
	/** It says that it is done without a value encrypted again. */
	'ends-early': [
		{
			file: 'database/reencryption.ts',
			in: 'turn',
			call: 'visit',
			becomes: '({ unreadable: 0, isWhole: true })',
			every: true,
		},
	],
	/** The check value of the former key stays. */
	'kept-check': [{ file: 'database/key-ring.ts', in: 'finish', call: 'fits', becomes: 'false' }],
	/** The keys of secrets that the former key encrypts are not read. */
	'forgotten-secrets': [
		{
			file: 'database/secret-wiping.ts',
			in: 'startSecretWiping',
			call: 'secretsCipher',
			becomes: '$1.keyId === ring.keyId ? $call : null',
		},
	],
} as const satisfies Readonly<Record<string, readonly Edit[]>>;
