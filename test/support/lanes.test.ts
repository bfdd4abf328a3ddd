import { globSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { NAMED } from './lanes.ts';

const ROOT = join(import.meta.dirname, '../..');
/** What somebody may take for the name of a test file. */
const LIKE_A_TEST = '**/*{.test,.tests,.spec,.specs,-test,-spec}.{ts,tsx,mts,cts,js,mjs,cjs,jsx}';
const IN_A_LANE = new RegExp(
	`^(?:fake-session-service|fake-slack|sandbox|test|tools)/(?:[^/]+/)*[^/.]+(?:\\.(?:${NAMED.join('|')})){0,2}\\.test\\.ts$`,
);

it('every test file is in a lane: it stands where lanes look, and its name says none that does not exist', () => {
	const files = globSync(LIKE_A_TEST, { cwd: ROOT, exclude: (name) => ['node_modules', '.git'].includes(name) });
	expect(files.length).toBeGreaterThan(200);
	expect(files.map((file) => relative('.', file)).filter((file) => !IN_A_LANE.test(file))).toEqual([]);
});
