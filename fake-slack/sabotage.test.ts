import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SABOTAGES } from './sabotage/table/index.ts';
import { sabotaged } from './sabotage/tree-copy.ts';

it('knows where each behaviour stands and which tests are for it', () => {
	const stale = SABOTAGES.filter((one) => {
		try {
			return sabotaged(one) === '' || one.tests.some((file) => !existsSync(new URL(file, import.meta.url)));
		} catch {
			return true;
		}
	});
	expect(stale.map(({ name }) => name)).toEqual([]);
	expect(new Set(SABOTAGES.map(({ name }) => name)).size).toBe(SABOTAGES.length);
});
