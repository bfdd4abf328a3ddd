import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { compiledChecks } from './compiled-schema.ts';
import { type Definitions, generatedDefinitions } from './generated-schema.ts';

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

it('keeps the code of a schema, in one whole file when two workers start at once', async () => {
	const definitions: Definitions = { pair: { type: 'object', required: ['left'] }, text: { type: 'string' } };
	const module = fileURLToPath(new URL('./compiled-schema.ts', import.meta.url));
	const script = `import { compiledChecks } from ${JSON.stringify(module)};
		compiledChecks(${JSON.stringify(definitions)}, ['pair', 'text'], ${JSON.stringify(folder)});`;
	const worker = () => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
	await Promise.all([worker(), worker()]);
	const files = readdirSync(folder);
	expect(files).toEqual([expect.stringMatching(/^ajv_\d+\.\d+\.\d+_[0-9a-f]{16}\.cjs$/)]);
	const before = statSync(join(folder, String(files[0]))).mtimeMs;
	const checks = compiledChecks(definitions, ['pair', 'text'], folder);
	expect(checks.pair({ left: 1 })).toEqual([]);
	expect(checks.pair({})).toMatchObject([{ keyword: 'required', params: { missingProperty: 'left' } }]);
	expect(checks.text(1)).toMatchObject([{ keyword: 'type', data: 1 }]);
	expect(statSync(join(folder, String(files[0]))).mtimeMs).toBe(before);
	// Another schema has another file.
	compiledChecks({ ...definitions, text: { type: 'number' } }, ['pair', 'text'], folder);
	expect(readdirSync(folder)).toHaveLength(2);
});

it('says which package is missing', () => {
	expect(() => generatedDefinitions({ ...source, packageName: '@slack/nope' }, folder)).toThrow(
		'The package @slack/nope is not installed. Run npm ci.',
	);
});
