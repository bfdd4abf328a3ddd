/** What a pattern is made of. */
export type Part =
	| { readonly kind: 'one'; readonly source: string }
	/** `groups`: the numbers of those in it, which each turn empties. */
	| {
			readonly kind: 'many';
			readonly of: Part;
			readonly min: number;
			readonly most: number;
			readonly isLazy: boolean;
			readonly groups: readonly number[];
	  }
	| { readonly kind: 'group'; readonly of: Part; readonly number: number }
	| { readonly kind: 'look'; readonly of: Part; readonly isBehind: boolean; readonly isNegated: boolean }
	| { readonly kind: 'back'; readonly to: number }
	| { readonly kind: 'edge'; readonly source: string }
	| { readonly kind: 'row'; readonly parts: readonly Part[] }
	| { readonly kind: 'either'; readonly ways: readonly Part[] };

/** Reads a pattern's source. It knows what the patterns of the program use. */
export function partsOf(source: string): Part {
	let at = 0;
	let groupCount = 0;

	function either(): Part {
		const ways = [row()];
		while (source[at] === '|') {
			at++;
			ways.push(row());
		}
		if (ways.length === 1 && ways[0] !== undefined) return ways[0];
		const ones = ways.flatMap((way) => (way.kind === 'one' ? [way.source] : []));
		return ones.length === ways.length ? { kind: 'one', source: `(?:${ones.join('|')})` } : { kind: 'either', ways };
	}

	function row(): Part {
		const parts: Part[] = [];
		while (at < source.length && source[at] !== '|' && source[at] !== ')') parts.push(repeated());
		return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: 'row', parts };
	}

	function atom(): Part {
		const rest = source.slice(at);
		const group = /^\((?:\?(?:[:=!]|<[=!]|<\w+>|[a-z-]+:))?/.exec(rest)?.[0];
		if (group !== undefined) {
			at += group.length;
			const number = /^\((?!\?)|^\(\?<\w/.test(group) ? ++groupCount : 0;
			const of = either();
			at++;
			if (number > 0) return { kind: 'group', of, number };
			if (/[=!]$/.test(group)) return { kind: 'look', of, isBehind: group[2] === '<', isNegated: group.endsWith('!') };
			return of;
		}
		const one =
			/^(?:\[(?:[^\]\\]|\\.)*\]|\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|c.|k<\w+>|.)|[\s\S])/iu.exec(
				rest,
			)?.[0] ?? '';
		at += one.length;
		if (/^\\[1-9]/.test(one)) return { kind: 'back', to: Number(one[1]) };
		return /^(?:[\^$]|\\[bB])/.test(one) ? { kind: 'edge', source: one } : { kind: 'one', source: one };
	}

	function repeated(): Part {
		const before = groupCount;
		const of = atom();
		const [whole = '', min, comma, most] = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(source.slice(at)) ?? [];
		if (whole === '') return of;
		at += whole.length;
		const groups = Array.from({ length: groupCount - before }, (_, index) => before + index + 1);
		const many = { kind: 'many', of, isLazy: whole.length > 1 && whole.endsWith('?'), groups } as const;
		const sign = whole[0];
		if (sign !== '{') return { ...many, min: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Number.POSITIVE_INFINITY };
		const least = Number(min);
		return { ...many, min: least, most: comma === '' ? least : most === '' ? Number.POSITIVE_INFINITY : Number(most) };
	}

	return either();
}
