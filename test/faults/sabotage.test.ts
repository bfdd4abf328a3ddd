import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PRESS_SABOTAGES, QUICK_LOOKS, SABOTAGES } from './answers/sabotage.ts';
import { type Edit, edited } from './edits/edit.ts';
import { SABOTAGES as KEY_SABOTAGES } from './keys/sabotage.ts';
import { SABOTAGES as POWER_CUT_SABOTAGES } from './powercut/sabotage.ts';
import { REMINDER_SABOTAGES } from './watches/reminders/sabotage.ts';
import { SHORTER, USUAL } from './watches/reminders/times.ts';
import { POST_SABOTAGES } from './watches/sabotage.ts';

const TABLES: Readonly<Record<string, Readonly<Record<string, readonly Edit[]>>>> = {
	answers: SABOTAGES,
	presses: PRESS_SABOTAGES,
	posts: POST_SABOTAGES,
	'reminders under kills': REMINDER_SABOTAGES,
	keys: KEY_SABOTAGES,
	'power cuts': POWER_CUT_SABOTAGES,
	'other copies': { 'short leases': SHORTER, 'early escalations': USUAL.edits, 'quick looks': QUICK_LOOKS },
};

const SABOTAGE = Object.entries(TABLES).flatMap(([run, table]) =>
	Object.entries(table).map(([name, edits]) => [run, name, edits] as const),
);

const SRC = new URL('../../src/', import.meta.url).pathname;
const readSource = (file: string) => readFileSync(`${SRC}${file}`, 'utf8');
const WORDS: ReadonlySet<string> = new Set(
	globSync('**/*.ts', { cwd: SRC }).flatMap((file) => readSource(file).match(/\w+/g) ?? []),
);

/** Fails at once, and not in the next long run, when the program has changed. */
it.each(SABOTAGE)('%s: "%s" still finds its places in the program', (_, __, edits) => {
	const files = new Map<string, string>();
	for (const edit of edits) {
		files.set(edit.file, edited(files.get(edit.file) ?? readSource(edit.file), edit));
	}
	expect(files.size).toBeGreaterThan(0);
	// Of variables the edit knows where they are declared; a property must at least be one of the program's.
	const code = edits.flatMap((edit) => Object.values(edit)).join('\n');
	expect((code.match(/(?<=\.)\w+/g) ?? []).filter((property) => !WORDS.has(property))).toEqual([]);
});
