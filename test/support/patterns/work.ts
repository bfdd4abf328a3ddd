import type { Pattern } from './find.ts';
import { type Part, partsOf } from './parts.ts';

interface Work {
	/** How often a part of the pattern was held against a place of the text. */
	readonly steps: number;
	readonly found: readonly string[];
}

/** Linear work on texts of some thousand characters takes less. */
const MOST_STEPS = 1_000_000;

type Many = Part & { kind: 'many' };

const LINE_END = /[\n\r\u2028\u2029]/;

/**
 * Counts what a regular expression does with a text, by a machine that tries and goes back as that of JavaScript does. The engine
 * of Node.js leaves some of these steps out, and counts none.
 * @throws RangeError after too many steps
 */
export function workOf({ source, flags }: Pick<Pattern, 'source' | 'flags'>): (text: string) => Work {
	const whole = partsOf(source);
	const known = new Map<string, boolean>();
	let units: readonly string[] = [];
	/** Where each group begins and ends. */
	let groups: (readonly [number, number] | undefined)[] = [];
	let steps = 0;

	function takes(one: string, at: number): boolean {
		const unit = units[at];
		if (unit === undefined) return false;
		const key = `${unit}${one}`;
		const isTaken = known.get(key) ?? new RegExp(`^${one}$`, flags.replace(/[dgmy]/g, '')).test(unit);
		known.set(key, isTaken);
		return isTaken;
	}

	function step(): void {
		if (++steps > MOST_STEPS) throw new RangeError('too many steps');
	}

	const isWord = (at: number) => /^\w$/.test(units[at] ?? '');
	const isLineEnd = (at: number) => flags.includes('m') && LINE_END.test(units[at] ?? '');

	function isEdge(source: string, at: number): boolean {
		if (source === '^') return at === 0 || isLineEnd(at - 1);
		if (source === '$') return at === units.length || isLineEnd(at);
		return (isWord(at - 1) !== isWord(at)) === (source === '\\b');
	}

	/** What `change` does to the groups stays only if it succeeds. */
	function trying(change: () => boolean): boolean {
		const before = groups;
		groups = [...before];
		if (change()) return true;
		groups = before;
		return false;
	}

	/** Whether a part, and then all the rest, takes what stands at a place. `by`: 1, or -1 in a look behind. */
	function match(part: Part, at: number, by: 1 | -1, rest: (at: number) => boolean): boolean {
		step();
		switch (part.kind) {
			case 'one':
				return takes(part.source, by === 1 ? at : at - 1) && rest(at + by);
			case 'edge':
				return isEdge(part.source, at) && rest(at);
			case 'either':
				return part.ways.some((way) => match(way, at, by, rest));
			case 'row': {
				const { parts } = part;
				const from = (index: number, place: number): boolean => {
					const next = parts[by === 1 ? index : parts.length - 1 - index];
					return next === undefined ? rest(place) : match(next, place, by, (end) => from(index + 1, end));
				};
				return from(0, at);
			}
			case 'group':
				return match(part.of, at, by, (end) =>
					trying(() => {
						groups[part.number] = by === 1 ? [at, end] : [end, at];
						return rest(end);
					}),
				);
			case 'look':
				return trying(() => match(part.of, at, part.isBehind ? -1 : 1, () => true) !== part.isNegated && rest(at));
			case 'back': {
				const [from, to] = groups[part.to] ?? [0, 0];
				const start = by === 1 ? at : at - (to - from);
				for (let index = 0; index < to - from; index++) if (units[start + index] !== units[from + index]) return false;
				return rest(at + by * (to - from));
			}
			default:
				return (part.of.kind === 'one' ? ofOne : ofMany)(part, at, by, rest);
		}
	}

	/** A repeat of single characters. */
	function ofOne({ of, min, most, isLazy }: Many, at: number, by: 1 | -1, rest: (at: number) => boolean): boolean {
		const { source } = of as Part & { kind: 'one' };
		let count = 0;
		const isMore = () => {
			step();
			return count < most && takes(source, by === 1 ? at + count : at - count - 1);
		};
		while (count < (isLazy ? min : most) && isMore()) count += 1;
		while (!isLazy && count >= min) if (rest(at + by * count--)) return true;
		while (isLazy && count >= min) {
			if (rest(at + by * count)) return true;
			if (!isMore()) return false;
			count += 1;
		}
		return false;
	}

	function ofMany(part: Many, at: number, by: 1 | -1, rest: (at: number) => boolean): boolean {
		const turn = (count: number, place: number): boolean => {
			const again = () =>
				count < part.most &&
				trying(() => {
					for (const group of part.groups) groups[group] = undefined;
					return match(part.of, place, by, (end) => (end !== place || count < part.min) && turn(count + 1, end));
				});
			const enough = () => count >= part.min && rest(place);
			return part.isLazy ? enough() || again() : again() || enough();
		};
		return turn(0, at);
	}

	return (text) => {
		units = /[uv]/.test(flags) ? Array.from(text) : text.split('');
		steps = 0;
		const found: string[] = [];
		for (let start = 0; start <= units.length; start++) {
			groups = [];
			let end = -1;
			const isFound = match(whole, start, 1, (at) => {
				end = at;
				return true;
			});
			if (isFound) found.push(units.slice(start, end).join(''));
			if (isFound ? !flags.includes('g') : flags.includes('y')) break;
			if (isFound && end > start) start = end - 1;
		}
		return { steps, found };
	};
}
