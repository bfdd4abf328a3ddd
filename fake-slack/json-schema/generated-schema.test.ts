import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { generatedDefinitions } from './generated-schema.ts';

const source = {
	packageName: '@slack/web-api',
	entry: 'dist/types/request/manifest.d.ts',
	types: ['Manifest'],
};

let folder: string;
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), 'slack-schema-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('makes the schema on first use and reads it afterwards', () => {
	const cache = join(folder, 'not', 'there', 'yet');
	const made = generatedDefinitions(source, cache);
	expect(made.Manifest?.required).toEqual(['display_information']);

	const [file] = readdirSync(cache);
	expect(file).toMatch(/^slack-web-api_\d+\.\d+\.\d+_\d+\.\d+\.\d+_Manifest\.json$/);
	const before = statSync(join(cache, String(file))).mtimeMs;
	expect(generatedDefinitions(source, cache)).toEqual(made);
	expect(statSync(join(cache, String(file))).mtimeMs).toBe(before);
});

it('leaves one whole file when two workers start at once', async () => {
	const command = fileURLToPath(new URL('./generate.ts', import.meta.url));
	const declarations = join(folder, 'pair.d.ts');
	const output = join(folder, 'out', 'pair.json');
	writeFileSync(declarations, 'export type Pair = { left: string; right?: number };');
	const generate = () => promisify(execFile)(process.execPath, [command, declarations, output, 'Pair']);
	await Promise.all([generate(), generate()]);
	expect(readdirSync(join(folder, 'out'))).toEqual(['pair.json']);
	expect(JSON.parse(readFileSync(output, 'utf8')).definitions.Pair.required).toEqual(['left']);
});

it('says which package is missing', () => {
	expect(() => generatedDefinitions({ ...source, packageName: '@slack/nope' }, folder)).toThrow(
		'The package @slack/nope is not installed. Run npm ci.',
	);
});
