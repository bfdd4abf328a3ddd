import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type Attack, attacksOn } from './attacks.ts';
import { type allPatterns, literalsIn, type Pattern, sourceFiles, textOf } from './find.ts';
import { workOf } from './work.ts';

type Found = Awaited<ReturnType<typeof allPatterns>>;

/** In a process of its own, which has loaded no file of the program yet. */
const FIND = fileURLToPath(new URL('find.ts', import.meta.url));
const { patterns, builders }: Found = JSON.parse(
	execFileSync(process.execPath, [FIND], { encoding: 'utf8', maxBuffer: 64 * 1_048_576 }),
);

/** What is built for each call, and from what. */
const BUILT_LATER = [
	// From the id of a person that an operator gives to `npm run person`.
	'src/store/person-ids.ts',
	// Of a list's entries in a language, when a text needs them first, linear.
	'src/domain/asking-words.ts',
	// Of the id of the app's own user.
	'src/slack/seen-text.ts',
	// Of letters in its own code, for what an operator types for `npm run doctor -- may`.
	'src/operator/doctor/may.ts',
];

/** Patterns whose work may grow faster than their text, and why. */
const MAY: Readonly<Record<string, string>> = {
	'\\/+$': 'the address of the service, a setting',
	'T(.*)\\..*': 'a time that the program has written',
	'^[("\'“„‘[]+|[)"\'”’\\].,;:!?…%\\p{Sc}]+$': 'the words of a value of at most 80 characters',
	'\\b([1-9]\\d{0,8})\\s*;[^,]*\\bw=([1-9]\\d{0,8})': 'the first 1,000 characters of two headers',
};

/** Of a text, beside what the pattern wants at least. */
const LENGTH = 40;

/**
 * A text under which the work grows faster than the text, null when there is none. Of linear work, the third as many repeats
 * cost as many steps as the second. When they cost more, many more tell whether that goes on: a repeat of a limited length is
 * linear after it, and what is left behind the last match is not always as long.
 */
function longOne(pattern: Pick<Pattern, 'source' | 'flags'>): string | null {
	const work = workOf(pattern);
	const wanted = Array.from(pattern.source.matchAll(/(?<!\\[pPu])\{(\d+)/g), ([, least]) => Number(least));
	/** How much more the third as many repeats cost than the second, as a share of all. */
	const growth = (text: (count: number) => string, count: number) => {
		const [one = 0, two = 0, three = 0] = [1, 2, 3].map((times) => work(text(times * count)).steps);
		return (three - two - (two - one)) / three;
	};
	const isLong = ({ text, count }: Attack) => {
		try {
			return growth(text, count) > 0 && [8, 32].every((times) => growth(text, times * count) > 0.1);
		} catch {
			// Too many steps.
			return true;
		}
	};
	const long = attacksOn(pattern, LENGTH + Math.max(0, ...wanted)).find(isLong);
	return long === undefined ? null : long.text(long.count);
}

describe('the patterns of the program', () => {
	it('are all found: each literal', () => {
		for (const path of sourceFiles()) {
			const text = textOf(path);
			const others = literalsIn(path, text).reduce(
				(left, { source, flags }) => left.replace(`/${source}/${flags}`, '_'),
				text.replace(/^\s*(?:\/\/|\/?\*).*$/gm, ''),
			);
			const calls = /(?:\.(?:test|exec|replace|replaceAll|match|matchAll|search|split)\(|\b[A-Z_]+ =\s)\s*\/[^/*]/;
			expect(calls.exec(others)?.[0], path).toBeUndefined();
		}
	});

	it('are all found: each that is built', () => {
		expect(builders.length).toBeGreaterThan(10);
		const found = new Set(patterns.map(({ at }) => at));
		const missing = builders.filter((at) => !found.has(at)).map((at) => at.replace(/:\d+$/, ''));
		expect(missing.toSorted()).toEqual(BUILT_LATER.toSorted());
	});

	it('have exceptions that are needed', () => {
		const needed = patterns.filter((pattern) => MAY[pattern.source] !== undefined && longOne(pattern) !== null);
		expect(needed.map(({ source }) => source).toSorted()).toEqual(Object.keys(MAY).toSorted());
	});

	it.each(patterns.filter(({ source }) => MAY[source] === undefined))(
		'take steps linear in texts made for them: $at /$source/',
		(pattern) => expect(longOne(pattern)).toBeNull(),
	);

	it.each(patterns)('find in these texts what the counting machine finds: $at /$source/', ({ source, flags }) => {
		const [work, pattern] = [workOf({ source, flags }), new RegExp(source, flags)];
		for (const { text, count } of attacksOn({ source, flags }, 20)) {
			const made = text(count);
			const found = pattern.global
				? Array.from(made.matchAll(pattern), ([whole]) => whole)
				: made.match(pattern)?.slice(0, 1);
			pattern.lastIndex = 0;
			expect(work(made).found, made).toEqual(found ?? []);
		}
	});
});

describe('the texts made for a pattern', () => {
	it.each([
		[/^\s*(?:\||```)/m],
		[/[\s.:;,]+$/],
		[/^\s*(?:[,/|]\s*)?(?:or|and)?\s*$/i],
		[/\s+(?:or|oder)\s+/i],
		[/^(?:(?:[-*+•]|\d{1,3}[.)])\s+)?([*_`]{0,3})(.*)\1$/],
		[/(?:[,:;] | (?=and ))(?=(?:(?:and|but|so) )*(?:which|who))/],
		[/<!date\^[^|]*\|([^>]*)>/g],
		[/(?:a|b)*c(?:a|b)*d/],
		[/(\p{L}+\s?)+!/u],
		[/(?<=x[^y]*)z|[a-z]{150,}\d/],
	])('make it take more than that: %s', (pattern) => {
		expect(longOne(pattern)).not.toBeNull();
	});
});
