import type { ErrorObject } from 'ajv';
import { compiledChecks } from '../json-schema/compiled-schema.ts';
import { type Definitions, generatedDefinitions, type JsonSchema } from '../json-schema/generated-schema.ts';
import { type SchemaExtension, schemaExtensions } from './schema-extensions.ts';

/** Where the condition holds, so must the schema; without `then`, which would make the object look like a promise. */
function when(condition: JsonSchema, schema: JsonSchema): JsonSchema {
	return { if: { not: condition }, else: schema };
}

/**
 * A union of object types rebuilt as a choice by `type`, so that an error names what is wrong in the block that was
 * meant, and not what is wrong with it when read as each of the twenty others.
 */
function choice(variants: JsonSchema[], definitions: Definitions): JsonSchema | undefined {
	const byType = Map.groupBy(variants, (variant) => resolve(variant, definitions).properties?.type?.const);
	if (byType.has(undefined)) return variantsWithoutType(variants, definitions);
	const types = [...byType.keys()];
	return {
		type: 'object',
		required: ['type'],
		properties: { type: { enum: types } },
		allOf: [...byType].map(([type, group]) =>
			when(
				{ type: 'object', required: ['type'], properties: { type: { const: type } } },
				variantsWithoutType(group, definitions) ?? { anyOf: group },
			),
		),
	};
}

/** Objects told apart by a required field of their own (`image_url` or `slack_file`) or by one field's type (an option's text). */
function variantsWithoutType(variants: JsonSchema[], definitions: Definitions): JsonSchema | undefined {
	if (variants.length === 1) return variants[0];
	const [first, second] = variants.map((variant) => resolve(variant, definitions));
	if (variants.length !== 2 || first?.properties === undefined || second?.properties === undefined) return undefined;
	const own = second.required?.find((name) => first.required?.includes(name) !== true);
	if (own !== undefined) {
		const hasOwn: JsonSchema = { type: 'object', required: [own] };
		return { type: 'object', allOf: [when(hasOwn, second), when({ not: hasOwn }, first)] };
	}
	const properties: Record<string, JsonSchema> = {};
	for (const [name, schema] of Object.entries(first.properties)) {
		const other = second.properties[name];
		const same = JSON.stringify(other) === JSON.stringify(schema);
		properties[name] = same || other === undefined ? schema : (choice([schema, other], definitions) ?? schema);
	}
	return { ...first, properties };
}

function resolve(schema: JsonSchema, definitions: Definitions): JsonSchema {
	const name = schema.$ref?.replace('#/definitions/', '');
	return name === undefined ? schema : resolve(definitions[name] ?? {}, definitions);
}

/** A union's members, members of member unions included; `Record<string, unknown>` beside a real type says nothing. */
function members(schema: JsonSchema, definitions: Definitions): JsonSchema[] {
	return (schema.anyOf ?? []).flatMap((member) => {
		const target = resolve(member, definitions);
		if (target.anyOf !== undefined) return members(target, definitions);
		const anything = target.properties === undefined && typeof target.additionalProperties === 'object';
		return anything ? [] : [member];
	});
}

function withChoices(schema: JsonSchema, definitions: Definitions): JsonSchema {
	if (schema.anyOf !== undefined) {
		const found = members(schema, definitions);
		const isObjects = found.every((member) => resolve(member, definitions).type === 'object');
		const rebuilt = isObjects ? choice(found, definitions) : undefined;
		return rebuilt ?? { ...schema, anyOf: found };
	}
	const result = { ...schema };
	if (schema.items !== undefined) result.items = withChoices(schema.items, definitions);
	if (schema.properties !== undefined) {
		result.properties = Object.fromEntries(
			Object.entries(schema.properties).map(([name, property]) => [name, withChoices(property, definitions)]),
		);
	}
	return result;
}

const blocks: JsonSchema = { type: 'array', items: { $ref: '#/definitions/KnownBlock' } };

/** What Slack checks of a message; other arguments of the method are none of a message's business. */
const message: JsonSchema = {
	type: 'object',
	properties: {
		text: { type: 'string' },
		markdown_text: { type: 'string' },
		blocks,
		attachments: { type: 'array', items: { type: 'object', properties: { blocks } } },
		metadata: { $ref: '#/definitions/MessageMetadata' },
	},
};

export type ShapeChecks = {
	/** Ajv's errors for a value read as a message, a view or an array of blocks. */
	errors: (kind: 'message' | 'view' | 'blocks', value: unknown) => ErrorObject[];
};

let loaded: ShapeChecks | undefined;

/** The compiled schema of @slack/types with its extensions; made on first use and kept. */
export function shapeChecks(): ShapeChecks {
	loaded ??= compileShapes(schemaExtensions);
	return loaded;
}

/** The schema of @slack/types with these extensions, compiled. */
export function compileShapes(extensions: readonly SchemaExtension[]): ShapeChecks {
	const generated = generatedDefinitions({
		packageName: '@slack/types',
		entry: 'dist/index.d.ts',
		types: ['KnownBlock', 'ModalView', 'HomeView', 'MessageMetadata'],
	});
	for (const { extend } of extensions) extend(generated);
	// In a view @slack/types lets any object with a `type` stand for a block; Slack does not.
	const source: Definitions = { ...generated, AnyBlock: generated.KnownBlock ?? {} };
	const definitions: Definitions = {};
	for (const [name, schema] of Object.entries(source)) definitions[name] = withChoices(schema, source);
	const view = choice([{ $ref: '#/definitions/ModalView' }, { $ref: '#/definitions/HomeView' }], source) ?? {};

	const checks = compiledChecks({ ...definitions, message, view, blocks }, ['message', 'view', 'blocks']);
	return { errors: (kind, value) => checks[kind](value) };
}
