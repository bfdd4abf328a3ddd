import type { Surface } from './problem.ts';

export type JsonObject = Record<string, unknown>;

/** An object of a payload that has a `type` of its own, or the message or view around everything. */
export type Part = {
	/** Slack's `type`; `message` or `view` for what surrounds the blocks. */
	type: string;
	value: JsonObject;
	pointer: string;
	/** The block it belongs to, itself for a block; undefined for the message or view. */
	block: Part | undefined;
	/** The typed object it stands in. */
	parent: Part | undefined;
};

/** A payload opened up for the rules. */
export type Payload = {
	kind: 'message' | 'view';
	surface: Surface;
	/** The method that carries it, where it matters. */
	method: string;
	/** The JSON text that travels; empty for nothing. */
	json: string;
	/** As the other side reads it: without what JSON leaves out. */
	value: unknown;
	/** Every typed object in the order of the payload, the surrounding message or view first. */
	parts: readonly Part[];
	/** The same by their type: a hundred rules look for one type each. */
	partsByType: ReadonlyMap<string, readonly Part[]>;
};

export function isObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A field's name as a step of a JSON pointer (RFC 6901). */
export function escapePointer(name: string): string {
	return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Where a value stands: in which typed object, and whether as a block. */
type Within = { parent: Part; isBlock: boolean };

function collect(value: unknown, pointer: string, within: Within, parts: Part[]): void {
	const { parent, isBlock } = within;
	if (Array.isArray(value)) {
		value.forEach((item, index) => {
			collect(item, `${pointer}/${index}`, within, parts);
		});
		return;
	}
	if (!isObject(value)) return;
	let part = parent;
	if (typeof value.type === 'string') {
		part = { type: value.type, value, pointer, block: isBlock ? undefined : parent.block, parent };
		if (isBlock) part.block = part;
		parts.push(part);
	}
	for (const [name, child] of Object.entries(value)) {
		collect(child, `${pointer}/${escapePointer(name)}`, { parent: part, isBlock: false }, parts);
	}
}

export type PayloadInput = { kind: Payload['kind']; surface: Surface; method: string; value: unknown };

/** Opens a payload for the rules: `value` is the message's arguments or the view. */
export function openPayload(input: PayloadInput): Payload {
	const json = JSON.stringify(input.value) ?? '';
	const value: unknown = json === '' ? undefined : JSON.parse(json);
	const parts: Part[] = [];
	if (isObject(value)) {
		const root: Part = {
			type: input.kind,
			value,
			pointer: input.kind === 'view' ? '/view' : '',
			block: undefined,
			parent: undefined,
		};
		parts.push(root);
		collect(value.blocks, `${root.pointer}/blocks`, { parent: root, isBlock: true }, parts);
		if (input.kind === 'view') {
			for (const name of ['title', 'submit', 'close']) {
				collect(value[name], `/view/${name}`, { parent: root, isBlock: false }, parts);
			}
		}
	}
	return { ...input, json, value, parts, partsByType: Map.groupBy(parts, (part) => part.type) };
}

export type Found = { value: unknown; pointer: string };

type Step = { name: string; depth: number };

const steps = new Map<string, Step[]>();

/** `options[].value` as steps, each with how many lists to enter; paths come from tables, so they are parsed once. */
function stepsOf(path: string): Step[] {
	let known = steps.get(path);
	if (known === undefined) {
		known = path.split('.').map((step) => {
			const name = step.replace(/(\[\])+$/, '');
			return { name, depth: (step.length - name.length) / 2 };
		});
		steps.set(path, known);
	}
	return known;
}

/**
 * What stands at a path inside a part: `text.text`, `options[].value`, `rows[]`. Absent fields and fields of another
 * shape give nothing: the shape is another rule's business.
 */
export function at(part: Part, path: string): Found[] {
	let found: Found[] = [{ value: part.value, pointer: part.pointer }];
	for (const { name, depth } of stepsOf(path)) {
		const next: Found[] = [];
		for (const { value, pointer } of found) {
			if (isObject(value) && value[name] !== undefined) enter(value[name], `${pointer}/${name}`, depth, next);
		}
		if (next.length === 0) return next;
		found = next;
	}
	return found;
}

function enter(value: unknown, pointer: string, depth: number, found: Found[]): void {
	if (depth === 0) {
		found.push({ value, pointer });
	} else if (Array.isArray(value)) {
		value.forEach((item, index) => {
			enter(item, `${pointer}/${index}`, depth - 1, found);
		});
	}
}
