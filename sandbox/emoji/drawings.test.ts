import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DRAWINGS } from './drawings.ts';

const SRC = join(import.meta.dirname, '../../src');
/** Signs that Slack's own font has, and the one of a machine without fonts has not. */
const SIGNS = /[\p{Extended_Pictographic}→◦☐☑]/gu;

it('every sign that the program writes is drawn where a machine has no font for it', () => {
	const files = globSync('**/*{view,words,mrkdwn,state-line,parts}.ts', { cwd: SRC });
	const written = new Set(files.flatMap((file) => readFileSync(join(SRC, file), 'utf8').match(SIGNS) ?? []));
	expect(written.size).toBeGreaterThan(10);
	expect([...written].filter((sign) => !(sign in DRAWINGS))).toEqual([]);
});
