/*
 * Makes slack.json anew, after an update of @slack/types or @slack/web-api:
 *   node fake-slack/json-schema/generate.ts [another file]
 */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createGenerator } from 'ts-json-schema-generator';

/** The definitions of a package's exported types, `additionalProperties: false` throughout. */
function definitionsOf(packageName: string, declarations: string, types: readonly string[]): object {
	const folder = dirname(createRequire(import.meta.url).resolve(packageName));
	const generator = createGenerator({
		path: join(folder, declarations),
		skipTypeCheck: true,
		additionalProperties: false,
		encodeRefs: false,
		jsDoc: 'none',
	});
	return Object.assign({}, ...types.map((type) => generator.createSchema(type).definitions));
}

const blocks = ['KnownBlock', 'ModalView', 'HomeView', 'MessageMetadata'];
const schema = {
	blocks: definitionsOf('@slack/types', 'index.d.ts', blocks),
	manifest: definitionsOf('@slack/web-api', 'types/request/manifest.d.ts', ['Manifest']),
};
const [file = fileURLToPath(new URL('./slack.json', import.meta.url))] = process.argv.slice(2);
writeFileSync(file, `${JSON.stringify(schema, null, '\t')}\n`);
