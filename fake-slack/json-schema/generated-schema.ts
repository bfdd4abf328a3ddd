import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A JSON Schema (draft 7) as the generator writes it: only the fields that are rebuilt here have types. */
export type JsonSchema = {
	$ref?: string;
	type?: string | string[];
	const?: unknown;
	enum?: unknown[];
	properties?: Record<string, JsonSchema>;
	required?: string[];
	additionalProperties?: boolean | JsonSchema;
	items?: JsonSchema;
	anyOf?: JsonSchema[];
	allOf?: JsonSchema[];
	if?: JsonSchema;
	else?: JsonSchema;
	not?: JsonSchema;
};

export type Definitions = Record<string, JsonSchema>;

/** The package and the types that a schema is made from. */
export type SchemaSource = {
	packageName: string;
	/** The declaration file that exports the types, relative to the package's folder. */
	entry: string;
	types: readonly string[];
};

const require = createRequire(import.meta.url);
const project = fileURLToPath(new URL('../../', import.meta.url));
const command = fileURLToPath(new URL('./generate.ts', import.meta.url));

/** Where what is made from installed packages is kept; `npm ci` empties it. */
export const CACHE_FOLDER = join(project, 'node_modules', '.cache', 'slack-schema');

/** The folder of an installed package. Its `exports` need not name package.json. */
function packageFolder(name: string): string {
	for (const modules of require.resolve.paths(name) ?? []) {
		const folder = join(modules, name);
		if (existsSync(join(folder, 'package.json'))) return folder;
	}
	throw new Error(`The package ${name} is not installed. Run npm ci.`);
}

export function packageVersion(name: string): string {
	const file = join(packageFolder(name), 'package.json');
	return String((JSON.parse(readFileSync(file, 'utf8')) as { version?: unknown }).version);
}

/**
 * The definitions of a package's exported types as JSON Schema, `additionalProperties: false` throughout.
 *
 * Made on first use (about two seconds) and kept under node_modules/.cache, keyed by the versions of the package and of
 * the generator, so that a clean `npm ci` needs no further step and an upgrade needs no cleaning.
 *
 * @throws Error when the package is not installed or the generator does not know a type.
 */
export function generatedDefinitions(
	{ packageName, entry, types }: SchemaSource,
	cache: string = CACHE_FOLDER,
): Definitions {
	const key = [
		packageName.replace(/[@/]+/g, '-').replace(/^-/, ''),
		packageVersion(packageName),
		packageVersion('ts-json-schema-generator'),
		...types,
	].join('_');
	const file = join(cache, `${key}.json`);
	if (!existsSync(file)) {
		const declarations = join(packageFolder(packageName), entry);
		execFileSync(process.execPath, [command, declarations, file, ...types], { cwd: dirname(command), stdio: 'pipe' });
	}
	return (JSON.parse(readFileSync(file, 'utf8')) as { definitions: Definitions }).definitions;
}
