import { expect, it } from 'vitest';
import { copySource } from '../../faults/source-copy.ts';
import { POST_SABOTAGES } from '../sabotage.ts';
import { REMINDER_SABOTAGES } from './sabotage.ts';
import { SHORTER } from './times.ts';

it.each(Object.entries({ ...POST_SABOTAGES, ...REMINDER_SABOTAGES, 'short leases': SHORTER }))(
	'still finds the place where %s breaks the program',
	async (_, replacements) => {
		await using copy = await copySource({ replacements });
		expect(copy.entry).toMatch(/main\.ts$/);
	},
);
