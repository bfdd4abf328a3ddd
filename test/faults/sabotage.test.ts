import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { REMINDER_SABOTAGES } from '../watch-faults/reminders/sabotage.ts';
import { POST_SABOTAGES } from '../watch-faults/sabotage.ts';
import { PRESS_SABOTAGES, SABOTAGES } from './sabotage.ts';
import { copySource } from './source-copy.ts';
import { UNSYNCED } from './unsynced.ts';

describe('the fault runs with sabotage', () => {
	it.each(
		Object.entries({ ...SABOTAGES, ...PRESS_SABOTAGES, ...POST_SABOTAGES, ...REMINDER_SABOTAGES, unsynced: UNSYNCED }),
	)('still find the place where %s breaks the program', async (_name, replacements) => {
		await using copy = await copySource({ replacements });
		expect(copy.entry).toMatch(/main\.ts$/);
	});

	it('replaces several places of one file', async () => {
		await using copy = await copySource({
			replacements: [
				{ file: 'core/clock.ts', from: 'export function createWaker(', to: 'export function createSleeper(' },
				{ file: 'core/clock.ts', from: 'export function createSleeper(', to: 'export function createDreamer(' },
			],
		});
		expect(await readFile(join(dirname(copy.entry), 'core/clock.ts'), 'utf8')).toContain('createDreamer(');
	});

	it.each([
		['is not there', 'no such words', 0],
		['is there twice', 'WOKEN', 2],
	])('refuses a place that %s', async (_why, from, times) => {
		const copied = copySource({ replacements: [{ file: 'core/clock.ts', from, to: '' }] });
		await expect(copied).rejects.toThrow(`src/core/clock.ts must hold this text once, and holds it ${times} times`);
	});
});
