import type { ModalView } from '@slack/types';
import type { MessageContent } from '../blocks/parts.ts';

/** One view or message as Slack gets it, with the name to find it by: its builder and what is special about it. */
export type Shape = { readonly name: string } & (
	| { readonly view: ModalView; readonly message?: never }
	| { readonly message: MessageContent; readonly view?: never }
);

type Built = ModalView | MessageContent | readonly MessageContent[];

/** What a builder makes of each list of arguments. */
export function shapesOf<Args extends readonly unknown[]>(
	builder: (...args: Args) => Built,
	cases: Readonly<Record<string, Args>>,
): Shape[] {
	return Object.entries(cases).flatMap(([what, args]) => {
		const built = builder(...args);
		if ('blocks' in built) return [shapeOf(`${builder.name}, ${what}`, built)];
		return built.map((message, index) => shapeOf(`${builder.name}, ${what}, form ${index + 1}`, message));
	});
}

function shapeOf(name: string, built: ModalView | MessageContent): Shape {
	return 'type' in built ? { name, view: built } : { name, message: built };
}

/** The same cases for each entry of a table. */
export function casesOf<Value, Args extends readonly unknown[]>(
	table: Readonly<Record<string, Value>>,
	argumentsOf: (value: Value) => Args,
): Record<string, Args> {
	return Object.fromEntries(Object.entries(table).map(([what, value]) => [what, argumentsOf(value)]));
}
