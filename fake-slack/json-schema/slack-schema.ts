import { readFileSync } from 'node:fs';

/** A JSON Schema (draft 7), as far as the generator uses it. */
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
};

export type Definitions = Record<string, JsonSchema>;

/**
 * What @slack/types says of blocks, views and metadata, and @slack/web-api of a manifest. The file is generated
 * (`generate.ts`) and committed, because making it takes ten seconds, in each worker of a fresh clone.
 */
export const { blocks: blockDefinitions, manifest: manifestDefinitions } = JSON.parse(
	readFileSync(new URL('./slack.json', import.meta.url), 'utf8'),
) as { blocks: Definitions; manifest: Definitions };
