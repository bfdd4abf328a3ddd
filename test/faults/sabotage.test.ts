import { describe, expect, test } from 'vitest';
import { SABOTAGES } from '../bench/faults/sabotage.ts';
import { copySource } from '../bench/faults/source-copy.ts';
import { UNSYNCED } from '../bench/powercut/unsynced.ts';

describe('the fault runs that must fail', () => {
	test.each(Object.entries({ ...SABOTAGES, unsynced: UNSYNCED }))(
		'still find the place where %s breaks the program',
		async (_name, replacements) => {
			await using copy = await copySource({ replacements });
			expect(copy.entry).toMatch(/main\.ts$/);
		},
	);
});
