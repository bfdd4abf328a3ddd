import { blockDefinitions, type Definitions, type JsonSchema } from '../json-schema/slack-schema.ts';
import { escapePointer, isObject, type JsonObject } from './payload.ts';

/** A reason for which a schema refuses a value, in the words of live Slack where they are known. */
type ShapeProblem = { words: string; pointer: string };

const reference = (name: string): JsonSchema => ({ $ref: `#/definitions/${name}` });

const definitions: Definitions = {
	...blockDefinitions,
	// In a view @slack/types lets any object with a `type` stand for a block; Slack does not.
	AnyBlock: blockDefinitions.KnownBlock ?? {},
	/** What Slack checks of a message; other arguments of the method are none of a message's business. */
	message: {
		type: 'object',
		properties: {
			text: { type: 'string' },
			blocks: { type: 'array', items: reference('KnownBlock') },
			metadata: reference('MessageMetadata'),
		},
	},
	view: { anyOf: [reference('ModalView'), reference('HomeView')] },
};

const names: Record<string, string> = { object: 'an object', array: 'an array' };

function resolve(schema: JsonSchema): JsonSchema {
	const name = schema.$ref?.replace('#/definitions/', '');
	return name === undefined ? schema : resolve(definitions[name] ?? {});
}

/** A union's members, those of member unions included. */
function membersOf(union: readonly JsonSchema[]): JsonSchema[] {
	return union.map(resolve).flatMap((member) => (member.anyOf === undefined ? [member] : membersOf(member.anyOf)));
}

/** By their `type`; undefined where one of the members has none of its own. */
function byType(members: readonly JsonSchema[]): ReadonlyMap<unknown, JsonSchema[]> | undefined {
	const found = Map.groupBy(members, ({ properties }) => properties?.type?.const);
	return found.has(undefined) ? undefined : found;
}

const unions = new WeakMap<readonly JsonSchema[], { members: JsonSchema[]; types: ReturnType<typeof byType> }>();

/**
 * What is wrong with a member of a union of objects as the one that was meant: the one with its `type`, and of several the one
 * that it fits best. What is wrong with it when read as each of the twenty others would say nothing.
 */
function* unionProblems(union: readonly JsonSchema[], value: unknown, pointer: string): Generator<ShapeProblem> {
	const known = unions.get(union) ?? { members: membersOf(union), types: byType(membersOf(union)) };
	unions.set(union, known);
	const { members, types } = known;
	const read = (variants: readonly JsonSchema[]) => variants.map((one) => Array.from(problems(one, value, pointer)));
	if (!members.every(({ type }) => type === 'object')) {
		// Free fields of a message's metadata: a string, a number, a boolean or a flat object.
		if (read(members).some((found) => found.length === 0)) return;
		yield { words: 'failed to match all allowed schemas', pointer };
	} else if (!isObject(value)) {
		yield { words: 'must provide an object', pointer };
	} else if (types !== undefined && value.type === undefined) {
		yield { words: 'missing required field: type', pointer };
	} else if (types !== undefined && !types.has(value.type)) {
		const type = typeof value.type === 'string' ? value.type : JSON.stringify(value.type);
		yield { words: `unsupported type: ${type}`, pointer: `${pointer}/type` };
	} else {
		const variants = types?.get(value.type) ?? members;
		yield* read(variants).reduce((best, found) => (found.length < best.length ? found : best));
	}
}

function* fieldProblems(schema: JsonSchema, value: JsonObject, pointer: string): Generator<ShapeProblem> {
	const { properties = {}, required = [], additionalProperties: others } = schema;
	for (const name of required) {
		if (value[name] === undefined) yield { words: `missing required field: ${name}`, pointer };
	}
	for (const [name, child] of Object.entries(value)) {
		const known = Object.hasOwn(properties, name) ? properties[name] : others;
		if (known === false) yield { words: `invalid additional property: ${name}`, pointer };
		if (typeof known === 'object') yield* problems(known, child, `${pointer}/${escapePointer(name)}`);
	}
}

function* problems(given: JsonSchema, value: unknown, pointer: string): Generator<ShapeProblem> {
	const schema = resolve(given);
	if (schema.anyOf !== undefined) return yield* unionProblems(schema.anyOf, value, pointer);
	// Null is no value of any field: it is refused here too.
	const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
	const allowed = schema.const === undefined ? schema.enum : [schema.const];
	if (schema.type !== undefined && ![schema.type].flat().includes(type)) {
		yield { words: `must provide ${names[String(schema.type)] ?? `a ${schema.type}`}`, pointer };
	} else if (allowed !== undefined && !allowed.includes(value)) {
		yield { words: `must be one of: ${allowed.join(', ')}`, pointer };
	} else if (Array.isArray(value)) {
		for (const [index, item] of value.entries()) yield* problems(schema.items ?? {}, item, `${pointer}/${index}`);
	} else if (isObject(value)) {
		yield* fieldProblems(schema, value, pointer);
	}
}

/** What the schema of @slack/types says of a value that is read as a message or a view. */
export function shapeProblems(kind: 'message' | 'view', value: unknown): ShapeProblem[] {
	return Array.from(problems(reference(kind), value, kind === 'message' ? '' : '/view'));
}

/** Every `type` that Slack's objects have. */
export const knownTypes: ReadonlySet<unknown> = new Set(
	Object.values(blockDefinitions)
		.flatMap((one) => membersOf([one]))
		.map(({ properties }) => properties?.type?.const),
);
