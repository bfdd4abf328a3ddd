import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Config, createGenerator, type Schema } from 'ts-json-schema-generator';

// A command of its own, so that the TypeScript compiler inside the generator is not loaded when the schema is cached:
//   node generate.ts <entry .d.ts> <output .json> <type> [type …]
const [entry, output, ...types] = process.argv.slice(2);
if (entry === undefined || output === undefined || types.length === 0) {
	throw new Error('Expected: generate.ts <entry .d.ts> <output .json> <type> [type …]');
}

const config: Config = {
	path: entry,
	skipTypeCheck: true,
	additionalProperties: false,
	encodeRefs: false,
	jsDoc: 'none',
};
const generator = createGenerator(config);
const definitions: NonNullable<Schema['definitions']> = {};
for (const type of types) Object.assign(definitions, generator.createSchema(type).definitions);

// Several test workers may start at once: each writes its own file, and the rename replaces the whole file.
const temporary = `${output}.${process.pid}.tmp`;
mkdirSync(dirname(output), { recursive: true });
writeFileSync(temporary, JSON.stringify({ definitions }));
renameSync(temporary, output);
