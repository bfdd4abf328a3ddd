/** What a pattern is made of, as far as it tells how to make it work for long. */
type Part =
	| { readonly kind: 'one'; readonly source: string }
	| { readonly kind: 'many'; readonly of: Part; readonly min: number; readonly most: number }
	| { readonly kind: 'row'; readonly parts: readonly Part[] }
	| { readonly kind: 'either'; readonly ways: readonly Part[] }
	| { readonly kind: 'nothing' };

const NOTHING = { kind: 'nothing' } as const;

/** Reads a pattern's source. Of looks ahead and behind it keeps the inner parts: they repeat too. */
function partsOf(source: string): Part {
	let at = 0;

	function either(): Part {
		const ways = [row()];
		while (source[at] === '|') {
			at++;
			ways.push(row());
		}
		return ways.length === 1 && ways[0] !== undefined ? ways[0] : { kind: 'either', ways };
	}

	function row(): Part {
		const parts: Part[] = [];
		while (at < source.length && source[at] !== '|' && source[at] !== ')') parts.push(repeated(atom()));
		return { kind: 'row', parts };
	}

	function atom(): Part {
		const rest = source.slice(at);
		const group = /^\((?:\?(?:[:=!]|<[=!]|<\w+>|[a-z-]+:))?/.exec(rest)?.[0];
		if (group !== undefined) {
			at += group.length;
			const inner = either();
			at++;
			return inner;
		}
		const one =
			/^(?:\[(?:[^\]\\]|\\.)*\]|\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|c.|k<\w+>|.)|[\s\S])/iu.exec(
				rest,
			)?.[0] ?? '';
		at += one.length;
		return /^(?:[\^$]|\\[bB1-9k])/.test(one) ? NOTHING : { kind: 'one', source: one };
	}

	function repeated(of: Part): Part {
		const [whole = '', min, comma, most] = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(source.slice(at)) ?? [];
		if (whole === '') return of;
		at += whole.length;
		const sign = whole[0];
		if (sign !== '{')
			return { kind: 'many', of, min: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Number.POSITIVE_INFINITY };
		const least = Number(min);
		return {
			kind: 'many',
			of,
			min: least,
			most: comma === '' ? least : most === '' ? Number.POSITIVE_INFINITY : Number(most),
		};
	}

	return either();
}

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
			return sampleOf(part.ways[0] ?? NOTHING, flags, first);
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
	if (part.kind === 'either') for (const way of part.ways) yield* repeatsIn(way, before, flags, first);
	if (part.kind !== 'row') return;
	let start = before;
	for (const one of part.parts) {
		yield* repeatsIn(one, start, flags, first);
		start += sampleOf(one, flags, first);
	}
}

/** Texts of this length that make the work of a pattern grow: each of its repeats alone and with what stands before it. */
export function attacksOn({ source, flags }: { source: string; flags: string }, length: number): readonly string[] {
	const parts = partsOf(source);
	const attacks = new Set<string>();
	const add = (before: string, unit: string, after: string) => {
		if (unit !== '')
			attacks.add((before + unit.repeat(Math.ceil((length - before.length) / unit.length))).slice(0, length) + after);
	};
	for (const first of [' ', 'a', '1', '\n', '漢']) {
		add('', first, '\0');
		add('', sampleOf(parts, flags, first), '');
		add('', sampleOf(parts, flags, first).slice(0, -1), '\0');
		for (const [before, body] of repeatsIn(parts, '', flags, first)) {
			add(before, body, '\0');
			add('', before + body, '\0');
			add(before, body, 'x\u2028\0');
		}
	}
	return [...attacks];
}
