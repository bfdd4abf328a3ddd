import fc from 'fast-check';
import { expect, it } from 'vitest';
import { choiceOf, YES_NO } from '../../src/questions/options.ts';

const word = fc.constantFrom(
	'Basic',
	'Pro',
	'blue',
	'Wi-Fi',
	'x2',
	'C++',
	'#12',
	'größer',
	'São',
	'東京',
	'Москва',
	'naïve',
	'A*',
);
const words = fc.array(word, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(' '));
const day = fc.integer({ min: 1, max: 28 });
const clock = fc.tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 10, max: 59 })).map(([h, m]) => `${h}:${m}`);
const price = fc
	.tuple(fc.constantFrom('$', '€', '£'), fc.integer({ min: 1, max: 9_999_999 }), fc.integer({ min: 10, max: 99 }))
	.map(([sign, whole, cents]) => `${sign}${whole.toLocaleString('en-US')}.${cents}`);
/** What an option may have inside. `safe`: no comma that stands like one between options. */
const safe = fc.oneof(
	words,
	price,
	fc.tuple(words, fc.oneof(words, price, clock)).map(([name, note]) => `${name} (${note}, ${note}x)`),
	fc.tuple(day, clock).map(([date, time]) => `${date} Mar ${time}`),
	words.map((name) => `${name} incl. tax`),
	words.map((name) => `${name} [draft]`),
	words.map((name) => `${name} “quoted”`),
	words.map((name) => `${name} 9:30 a.m.`),
);
const withComma = fc.oneof(
	safe,
	fc.tuple(day, clock).map(([date, time]) => `${date} Mar, ${time}`),
	fc.tuple(word, word).map(([one, other]) => `${one}, ${other}`),
	word.map((name) => `${name}, Inc.`),
	fc.tuple(word, word).map(([one, other]) => `${one} or ${other}`),
);
const options = (of: fc.Arbitrary<string>) => fc.uniqueArray(of, { minLength: 2, maxLength: 5 });
const introduction = fc.constantFrom('One of:', 'Options:', 'Please choose one:', 'Which one? Choices:');

/** How often these options were found; anything else fails. */
function countFound(property: fc.Arbitrary<readonly [description: string, options: readonly string[]]>): number {
	let found = 0;
	fc.assert(
		fc.property(property, ([description, expected]) => {
			const choice = choiceOf({ title: 'Plan', description });
			if (choice === null) return;
			found += 1;
			expect(choice.options === YES_NO ? [] : choice.options).toEqual(expected);
		}),
		{ numRuns: 2_000 },
	);
	return found;
}

it('are exactly those of a list with an entry a line, whatever they contain', () => {
	const list = fc
		.tuple(introduction, options(withComma), fc.constantFrom('- ', '* ', '• ', '#. ', '#) '))
		.map(([before, all, mark]): [string, string[]] => [
			[before, ...all.map((option, at) => mark.replace('#', String(at + 1)) + option)].join('\n'),
			all,
		]);
	expect(countFound(list)).toBeGreaterThan(1_500);
});

it('are exactly those of a list with semicolons, bars or commas in a line, or none', () => {
	const strong = fc
		.tuple(introduction, options(withComma), fc.constantFrom('; ', ' | '))
		.map(([before, all, separator]): [string, string[]] => [`${before} ${all.join(separator)}`, all]);
	const commas = fc
		.tuple(introduction, options(safe), fc.constantFrom(', ', ' / ', ', or '))
		.map(([before, all, separator]): [string, string[]] => {
			const between = separator === ', or ' ? ', ' : separator;
			return [`${before} ${all.slice(0, -1).join(between)}${separator}${all.at(-1)}`, all];
		});
	// Commas inside only one of two options may be a remark, and numbers beside words a pair.
	expect(countFound(strong)).toBeGreaterThan(400);
	expect(countFound(commas)).toBeGreaterThan(500);
});
