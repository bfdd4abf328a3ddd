import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { CACHE_FOLDER, type Definitions, packageVersion } from './generated-schema.ts';
import { writeWholeFile } from './whole-file.ts';

const require = createRequire(import.meta.url);

/** Ajv's errors for a value; empty when the schema accepts it. */
export type Check = (value: unknown) => ErrorObject[];

/**
 * A check for each named definition. Ajv needs half a second for the schema of Slack's blocks, and each test file starts
 * anew: so its code is kept under node_modules/.cache, keyed by the schema itself and by Ajv's version.
 */
export function compiledChecks<Name extends string>(
	definitions: Definitions,
	names: readonly Name[],
	cache: string = CACHE_FOLDER,
): Record<Name, Check> {
	const version = packageVersion('ajv');
	const digest = createHash('sha256')
		.update(JSON.stringify([definitions, names]))
		.digest('hex')
		.slice(0, 16);
	const file = join(cache, `ajv_${version}_${digest}.cjs`);
	if (!existsSync(file)) writeWholeFile(file, codeOf(definitions, names));
	const compiled = require(file) as Record<Name, ValidateFunction>;
	const checks = {} as Record<Name, Check>;
	for (const name of names) {
		const check = compiled[name];
		checks[name] = (value) => (check(value) ? [] : (check.errors ?? []));
	}
	return checks;
}

/** The source of a CommonJS module. What definitions share is compiled once. */
function codeOf(definitions: Definitions, names: readonly string[]): string {
	// Loaded only here, because loading them takes longer than loading the kept code.
	const { Ajv } = require('ajv') as typeof import('ajv');
	const { default: standalone } = require('ajv/dist/standalone') as typeof import('ajv/dist/standalone/index.js');
	// Without optimizations, which take as long as the rest of the compilation.
	const code = { source: true, optimize: false };
	const ajv = new Ajv({ allErrors: true, strict: false, verbose: true, inlineRefs: false, code });
	ajv.addSchema({ $id: 'slack', definitions });
	return standalone(ajv, Object.fromEntries(names.map((name) => [name, `slack#/definitions/${name}`])));
}
