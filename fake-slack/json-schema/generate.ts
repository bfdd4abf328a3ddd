import { type Config, createGenerator, type Schema } from 'ts-json-schema-generator';
import { writeWholeFile } from './whole-file.ts';

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

writeWholeFile(output, JSON.stringify({ definitions }));
