import { parseSync } from 'oxc-parser';

/** A node of the syntax tree, as ESTree has it. `start` and `end` are offsets in the source. */
export interface Node {
	readonly type: string;
	readonly start: number;
	readonly end: number;
	readonly [field: string]: unknown;
}

/** Parses TypeScript. @throws Error with the parser's message */
export function parse(source: string): Node {
	const { program, errors } = parseSync('edited.ts', source);
	const [error] = errors;
	if (error !== undefined) throw new Error(`it does not parse: ${error.message}\n${error.codeframe ?? ''}`);
	return program as unknown as Node;
}

function isNode(value: unknown): value is Node {
	return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

const childrenOf = (node: Node) => Object.values(node).flat().filter(isNode);

export function childOf(node: Node, field: string): Node | null {
	const child = node[field];
	return isNode(child) ? child : null;
}

const nodesIn = (node: Node, field: string) => [node[field]].flat().filter(isNode);

const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];
export const isFunction = (node: Node) => FUNCTIONS.includes(node.type);

/** A node and all below it. */
export function* within(node: Node): Generator<Node> {
	yield node;
	for (const child of childrenOf(node)) yield* within(child);
}

/** All below a node, without what stands in functions there. */
export function* belowIn(scope: Node): Generator<Node> {
	for (const child of childrenOf(scope)) {
		yield child;
		if (!isFunction(child)) yield* belowIn(child);
	}
}

/** The name of an identifier, or the value of a string. */
export function nameOf(node: Node | null): string | null {
	const name = node?.type === 'Identifier' ? node.name : node?.type === 'Literal' ? node.value : null;
	return typeof name === 'string' ? name : null;
}

/** `f` of `f()` and of `a.b.f()`. */
export function calledName(call: Node): string | null {
	const callee = childOf(call, 'callee');
	return nameOf(callee?.type === 'MemberExpression' ? childOf(callee, 'property') : callee);
}

/** A value without `as const`, `satisfies` and the like. */
function bare(value: Node | null): Node | null {
	return value !== null && /^TS.*Expression$/.test(value.type) ? bare(childOf(value, 'expression')) : value;
}

/** The function or value that a declaration or a property gives a name. */
function named(node: Node): { name: string | null; value: Node | null } {
	if (node.type === 'FunctionDeclaration') return { name: nameOf(childOf(node, 'id')), value: node };
	if (node.type === 'VariableDeclarator') return { name: nameOf(childOf(node, 'id')), value: childOf(node, 'init') };
	if (['Property', 'MethodDefinition', 'PropertyDefinition'].includes(node.type))
		return { name: nameOf(childOf(node, 'key')), value: childOf(node, 'value') };
	return { name: null, value: null };
}

/** The functions called `place`; `outer.inner` for one inside of another, directly or not. */
export function functionsNamed(root: Node, place: string): Node[] {
	const names = place.split('.');
	const found: Node[] = [];
	function visit(node: Node, left: readonly string[]): void {
		const { name, value } = named(node);
		const body = bare(value);
		const isNext = name === left[0] && body !== null && isFunction(body);
		if (isNext && left.length === 1) found.push(body);
		for (const child of childrenOf(node)) visit(child, isNext && left.length > 1 ? left.slice(1) : left);
	}
	visit(root, names);
	return [...new Set(found)];
}

/** The value of a constant of the module. */
export function constantsNamed(root: Node, constant: string): Node[] {
	return nodesIn(root, 'body')
		.map((node) => (node.type === 'ExportNamedDeclaration' ? (childOf(node, 'declaration') ?? node) : node))
		.flatMap((node) => nodesIn(node, 'declarations').map(named))
		.flatMap(({ name, value }) => (name === constant && value !== null ? value : []));
}

function namesIn(pattern: Node | null): string[] {
	if (pattern === null) return [];
	if (pattern.type === 'Identifier') return [String(pattern.name)];
	if (pattern.type === 'AssignmentPattern') return namesIn(childOf(pattern, 'left'));
	if (pattern.type === 'Property') return namesIn(childOf(pattern, 'value'));
	return ['properties', 'elements', 'argument'].flatMap((field) => nodesIn(pattern, field).flatMap(namesIn));
}

/** What a module or a function declares, without what functions in it declare. */
export function declaredIn(scope: Node): string[] {
	const params = nodesIn(scope, 'params').flatMap(namesIn);
	const inside = [...belowIn(scope)].flatMap((node) => {
		if (node.type === 'ImportDeclaration') return nodesIn(node, 'specifiers').map((one) => childOf(one, 'local'));
		if (node.type === 'CatchClause') return [childOf(node, 'param')];
		return node.type === 'VariableDeclarator' || node.type.endsWith('Declaration') ? [childOf(node, 'id')] : [];
	});
	return [...params, ...inside.flatMap(namesIn)];
}

/** The names that a piece of code uses and does not declare itself. */
export function namesFrom(code: Node): string[] {
	const used: string[] = [];
	const declared = new Set<string>();
	for (const node of within(code)) {
		if (isFunction(node)) for (const name of declaredIn(node)) declared.add(name);
		// Names of properties are no variables.
		const key = node.type === 'MemberExpression' ? 'property' : node.type === 'Property' ? 'key' : null;
		for (const [field, value] of Object.entries(node)) {
			if (field === key && node.computed !== true) continue;
			for (const child of [value].flat())
				if (isNode(child) && child.type === 'Identifier') used.push(String(child.name));
		}
	}
	return used.filter((name) => !declared.has(name));
}
