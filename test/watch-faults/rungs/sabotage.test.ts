import { expect, it } from 'vitest';
import { copySource } from '../../faults/source-copy.ts';
import { RUNG_SABOTAGES } from './sabotage.ts';

it.each(Object.entries(RUNG_SABOTAGES))(
	'still finds the place where %s breaks the program',
	async (_, replacements) => {
		await using copy = await copySource({ replacements });
		expect(copy.entry).toMatch(/main\.ts$/);
	},
);
