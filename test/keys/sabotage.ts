import type { Replacement } from '../faults/source-copy.ts';

/** Ways to break the change of keys, to show that the run notices. */
export const SABOTAGES = {
	/** The file is not compacted at the end. */
	'no-compaction': [
		{
			file: 'database/key-ring.ts',
			from: 'if (sqlite !== null) await markForCompaction(trx);',
			to: 'void trx;',
		},
	],
	/** It says that it is done without a value encrypted again. */
	'ends-early': [
		{
			file: 'database/reencryption.ts',
			from: 'if (needed === 0) return end();',
			to: 'return end();',
		},
	],
	/** The check value of the former key stays. */
	'kept-check': [
		{
			file: 'database/key-ring.ts',
			from: 'before.filter((sealed) => !fits([sealed], former))',
			to: 'before',
		},
	],
	/** The keys of secrets that the former key encrypts are not read. */
	'forgotten-secrets': [
		{
			file: 'database/secret-wiping.ts',
			from: 'ciphers = ring.all.flatMap((master)',
			to: 'ciphers = ring.all.slice(0, 1).flatMap((master)',
		},
	],
} as const satisfies Readonly<Record<string, readonly Replacement[]>>;
