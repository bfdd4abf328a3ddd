import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

it('is what the installed packages say: otherwise run node fake-slack/json-schema/generate.ts', async () => {
	const folder = mkdtempSync(join(tmpdir(), 'slack-schema-'));
	try {
		const made = join(folder, 'slack.json');
		await promisify(execFile)(process.execPath, [here('./generate.ts'), made]);
		expect(readFileSync(made, 'utf8')).toBe(readFileSync(here('./slack.json'), 'utf8'));
	} finally {
		rmSync(folder, { recursive: true });
	}
});
