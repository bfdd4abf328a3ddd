import { type Part, partsOf } from './parts.ts';

const CHARACTERS = Array.from(' a1\n.,-"\'`|<&:;?!([/*_…é漢А\u0301\u200d=#~@+$%^{}\\\t\r\u2028😀가\u1161ab');

/** The first of these characters that a class or a literal takes. */
function characterOf(source: string, flags: string, first: string): string {
	if (source.length === 1 && source !== '.') return source;
	const pattern = new RegExp(`^${source}$`, flags.replace(/[gy]/g, ''));
	return [first, ...CHARACTERS].find((one) => pattern.test(one)) ?? '';
}

/** The shortest text that a part takes, of `first` where that is possible. */
function sampleOf(part: Part, flags: string, first: string): string {
	switch (part.kind) {
		case 'one':
			return characterOf(part.source, flags, first);
		case 'many':
			return sampleOf(part.of, flags, first).repeat(part.min);
		case 'row':
			return part.parts.map((one) => sampleOf(one, flags, first)).join('');
		case 'either':
			return part.ways[0] === undefined ? '' : sampleOf(part.ways[0], flags, first);
		case 'group':
		case 'look':
			return sampleOf(part.of, flags, first);
		default:
			return '';
	}
}

/** Repeats that can be long, each with what stands before it. */
function* repeatsIn(part: Part, before: string, flags: string, first: string): Generator<readonly [string, string]> {
	if (part.kind === 'many') {
		const body = sampleOf(part.of, flags, first) || first;
		if (part.most > 5) yield [before, body];
		yield* repeatsIn(part.of, before, flags, first);
	}
	// What is looked at repeats too.
	if (part.kind === 'group' || part.kind === 'look') yield* repeatsIn(part.of, before, flags, first);
	if (part.kind === 'either') for (const way of part.ways) yield* repeatsIn(way, before, flags, first);
	if (part.kind !== 'row') return;
	let start = before;
	for (const one of part.parts) {
		yield* repeatsIn(one, start, flags, first);
		start += sampleOf(one, flags, first);
	}
}

/** `text`: of so many repeats of one thing. `count`: as many as make the wanted length, and some where each is long. */
export interface Attack {
	readonly text: (count: number) => string;
	readonly count: number;
}

/** What makes the work of a pattern grow: each of its repeats alone and with what stands before it. */
export function attacksOn({ source, flags }: { source: string; flags: string }, length: number): readonly Attack[] {
	const parts = partsOf(source);
	const attacks = new Map<string, Attack>();
	const add = (before: string, unit: string, after: string) => {
		if (unit === '') return;
		const text = (count: number) => before + unit.repeat(count) + after;
		const count = Math.max(8, Math.ceil(length / unit.length));
		attacks.set(text(count), { text, count });
	};
	for (const first of [' ', 'a', '1', '\n', '漢']) {
		const sample = sampleOf(parts, flags, first);
		add('', first, '\0');
		add('', sample, '');
		add('', sample.slice(0, -1), '\0');
		for (const [before, body] of repeatsIn(parts, '', flags, first)) {
			add(before, body, '\0');
			add('', before + body, '\0');
			add(before, body, 'x\u2028\0');
		}
	}
	return [...attacks.values()];
}
