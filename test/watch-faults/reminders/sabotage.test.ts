import { expect, it } from 'vitest';
import { copySource } from '../../faults/source-copy.ts';
import { REMINDER_SABOTAGES } from './sabotage.ts';

it.each(Object.entries(REMINDER_SABOTAGES))(
	'still finds the place where %s breaks the program',
	async (_, replacements) => {
		await using copy = await copySource({ replacements });
		expect(copy.entry).toMatch(/main\.ts$/);
	},
);
