import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createContext, Script } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { attacksOn } from './attacks.ts';
import { type allPatterns, literalsIn, sourceFiles, textOf } from './find.ts';

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

const LENGTH = 50_000;
/** Linear work on so many characters takes milliseconds, quadratic work many seconds. */
const MOST_MS = 1_000;

const context = createContext({ run: null });
const script = new Script('run()');

/** Milliseconds that a pattern takes for a text; infinite when that is too long. */
function timeOf({ source, flags }: { source: string; flags: string }, text: string, mostMs = MOST_MS): number {
	const pattern = new RegExp(source, flags);
	const start = performance.now();
	context.run = () => (pattern.global ? Array.from(text.matchAll(pattern)).length : pattern.test(text));
	try {
		script.runInContext(context, { timeout: mostMs });
	} catch {
		return Number.POSITIVE_INFINITY;
	}
	return performance.now() - start;
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
		const sources = new Set(patterns.map(({ source }) => source));
		expect(Object.keys(MAY).filter((source) => !sources.has(source))).toEqual([]);
	});

	it.each(patterns.filter(({ source }) => MAY[source] === undefined))(
		'take linear time for texts made for them: $at /$source/',
		(pattern) => {
			for (const text of attacksOn(pattern, LENGTH)) {
				const ends = JSON.stringify([text.slice(0, 20), text.slice(-5)]);
				expect(timeOf(pattern, text), ends).toBeLessThan(MOST_MS);
			}
		},
	);
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
	])('make it take longer than that: %s', ({ source, flags }) => {
		// Quadratic work on twice as many characters takes a quarter of the time of that on four times as many.
		const isLong = (text: string) => timeOf({ source, flags }, text, MOST_MS / 4) === Number.POSITIVE_INFINITY;
		expect(attacksOn({ source, flags }, 2 * LENGTH).some(isLong)).toBe(true);
	});
});
