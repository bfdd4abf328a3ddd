import {
	belowIn,
	calledName,
	childOf,
	constantsNamed,
	declaredIn,
	functionsNamed,
	isFunction,
	type Node,
	nameOf,
	namesFrom,
	parse,
	within,
} from './tree.ts';

/**
 * A change of one place of the program, to see that somebody notices. The place is a function, by its name (`inner`, or
 * `outer.inner` where a file has several), or a constant of a module. A file may be formatted and ordered anew, and
 * its variables may get other names where the edit does not use them, and the edit still finds its place.
 *
 * What comes in may name what stands there: `$call`, its `$callee` and its arguments `$1`, `$2`; the `$result` that was
 * returned; the `$value` of a constant.
 */
export type Edit = { readonly file: string } & (
	| { readonly constant: string; readonly becomes: string }
	| ({ readonly in: string } & Change)
);

type Change =
	/** All statements of the function. */
	| { readonly body: string }
	/** What it returns, wherever it does. */
	| { readonly returns: string }
	/** The call of `f()` or `a.b.f()`. */
	| { readonly call: string; readonly becomes: string; readonly every?: true }
	/** The condition of the `if` that mentions this name or text. */
	| { readonly if: string; readonly becomes: string }
	/** A property of an object that is written; null: left out. */
	| { readonly property: string; readonly becomes: string | null; readonly every?: true };

interface Span {
	readonly start: number;
	readonly end: number;
	readonly text: string;
}

/** The source with its edit. @throws Error that names the place when it is gone or ambiguous, or the result is no program */
export function edited(source: string, edit: Edit): string {
	const place = `src/${edit.file}, ${'constant' in edit ? edit.constant : edit.in}`;
	try {
		const root = parse(source);
		const spans = spansOf(source, root, edit);
		const result = spans
			.toSorted((one, other) => other.start - one.start)
			.reduce((text, { start, end, text: own }) => text.slice(0, start) + own + text.slice(end), source);
		parse(result);
		if (result === source) throw new Error('the edit changes nothing');
		return result;
	} catch (error) {
		throw new Error(`${place}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
	}
}

function spansOf(source: string, root: Node, edit: Edit): Span[] {
	const textOf = ({ start, end }: Node) => source.slice(start, end);
	if ('constant' in edit) {
		const value = only(constantsNamed(root, edit.constant), 'constant of this name');
		return [{ ...value, text: filled(edit.becomes, { value: `(${textOf(value)})` }, [root]) }];
	}
	const own = only(functionsNamed(root, edit.in), 'function of this name');
	const around = (node: Node) => [root, ...within(root)].filter((scope) => encloses(scope, node));
	if ('body' in edit) {
		const body = bodyOf(own);
		return [{ ...body, text: `{\n${filled(edit.body, {}, around(body), true)}\n}` }];
	}
	if ('returns' in edit) {
		const results = resultsOf(own);
		if (results.length === 0) throw new Error('it returns nothing');
		return results.map((result) => ({
			...result,
			text: `(${filled(edit.returns, { result: textOf(result) }, around(result))})`,
		}));
	}
	if ('call' in edit) {
		const calls = [...within(own)].filter((node) => node.type === 'CallExpression' && calledName(node) === edit.call);
		return chosen(calls, `call of ${edit.call}()`, edit).map((call) => {
			const given = Object.fromEntries((call.arguments as Node[]).map((one, index) => [index + 1, textOf(one)]));
			const callee = childOf(call, 'callee') ?? call;
			const parts = { call: textOf(call), callee: textOf(callee), ...given };
			return { ...call, text: `(${filled(edit.becomes, parts, around(call))})` };
		});
	}
	if ('if' in edit) {
		const tests = [...within(own)].flatMap((node) =>
			node.type === 'IfStatement' ? (childOf(node, 'test') ?? []) : [],
		);
		const mentions = (test: Node) => [...within(test)].some((node) => nameOf(node) === edit.if);
		const test = only(tests.filter(mentions), `"if" that mentions ${edit.if}`);
		return [{ ...test, text: filled(edit.becomes, {}, around(test)) }];
	}
	const { property, becomes } = edit;
	const properties = [...within(own)]
		.filter((node) => node.type === 'ObjectExpression')
		.flatMap((node) => node.properties as Node[])
		.filter((node) => nameOf(childOf(node, 'key')) === property);
	return chosen(properties, `property ${property}`, edit).map((node) => {
		const text = becomes === null ? '...{}' : `${property}: (${filled(becomes, {}, around(node))})`;
		return { ...node, text };
	});
}

function chosen(found: readonly Node[], what: string, { every }: { readonly every?: true }): readonly Node[] {
	return every === true && found.length > 0 ? found : [only(found, what)];
}

function only(found: readonly Node[], what: string): Node {
	const [first, ...others] = found;
	if (first === undefined) throw new Error(`there is no ${what} any more`);
	if (others.length > 0) throw new Error(`there is more than one ${what}: ${found.length}`);
	return first;
}

const encloses = (scope: Node, { start, end }: Node) =>
	(isFunction(scope) || scope.type === 'Program') && scope.start <= start && end <= scope.end;

function bodyOf(own: Node): Node {
	const body = childOf(own, 'body');
	if (body === null) throw new Error('it has no body');
	return body;
}

function resultsOf(own: Node): Node[] {
	const body = bodyOf(own);
	if (body.type !== 'BlockStatement') return [body];
	return [...belowIn(body)].flatMap((node) =>
		node.type === 'ReturnStatement' ? (childOf(node, 'argument') ?? []) : [],
	);
}

/** `code` with what stands for `$...`. Names that nothing declares there would break the program in another way. */
function filled(
	code: string,
	parts: Readonly<Record<string, string>>,
	scopes: readonly Node[],
	areStatements = false,
): string {
	const declared = new Set([...Object.keys(parts).map((name) => `$${name}`), ...scopes.flatMap(declaredIn)]);
	const own = parse(`async () => ${areStatements ? `{${code}}` : `(${code})`};`);
	const unknown = namesFrom(own).filter((name) => !declared.has(name) && !(name in globalThis));
	if (unknown.length > 0) throw new Error(`the edit names what is not there: ${unknown.join(', ')}`);
	return code.replaceAll(/\$(\w+)/g, (whole, name: string) => parts[name] ?? whole);
}
