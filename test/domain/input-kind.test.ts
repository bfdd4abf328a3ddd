import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { looksSecret } from '../../src/domain/asks-for-secret.ts';
import { guessInput, INPUT_RULES } from '../../src/domain/input-kind.ts';
import { anyCharacter } from '../support/any-text.ts';
import { runs } from '../support/runs.ts';
import { type Example, INPUT_EXAMPLES } from './rule-examples.ts';

function itemOf(example: Example): { title: string; description: string } {
	return typeof example === 'string'
		? { title: example, description: '' }
		: { title: example[0], description: example[1] };
}

function guess(title: string, description = '') {
	const item = { title, description };
	return { ...guessInput(item), secret: looksSecret(item) };
}

describe('the rules for inputs', () => {
	it('have examples for each', () => {
		const kinds = INPUT_EXAMPLES.map(({ kind }) => kind).filter((kind) => kind !== 'yesNo');
		expect(kinds).toEqual(INPUT_RULES.map(({ kind }) => kind));
	});
	for (const [index, rule] of INPUT_EXAMPLES.entries()) {
		it.each(rule.yes)(`give %j the input ${rule.kind} (rule ${index})`, (...args) => {
			const example = (args.length > 1 ? args : args[0]) as Example;
			expect(guessInput(itemOf(example)).kind).toBe(rule.kind);
		});
		it.each(rule.no)(`do not give %j the input ${rule.kind} (rule ${index})`, (...args) => {
			const example = (args.length > 1 ? args : args[0]) as Example;
			expect(guessInput(itemOf(example)).kind).not.toBe(rule.kind);
		});
	}
	it.each(['', 'What do you think?', 'Describe the problem', 'Address', 'Comments', 'Notes for the courier'])(
		'give %j long text',
		(title) => {
			expect(guess(title)).toEqual({ kind: 'longText', secret: false });
		},
	);
	it('use a question in the description only for yes or no', () => {
		expect(guess('Notes', 'How many tickets did you have in mind?').kind).toBe('longText');
	});
	it('give long text for a long description', () => {
		expect(guess('How many tickets?', 'x '.repeat(300)).kind).toBe('longText');
	});
});

it('handles any strings without throwing and returns only what the type allows', () => {
	const hostile = fc.oneof(
		fc.string({ unit: anyCharacter, maxLength: 300 }),
		fc.string({ unit: 'grapheme', maxLength: 300 }),
		fc
			.array(fc.constantFrom(...'one of|:| or |,|(|)|/|?|\n|- |1. |"|\'|password|Which |a|code | '.split('|')), {
				maxLength: 200,
			})
			.map((parts) => parts.join('')),
	);
	fc.assert(
		fc.property(hostile, hostile, (title, description) => {
			const found = guess(title, description);
			if (found.secret) expect(found.kind).toBe('line');
			if (found.kind === 'choice') {
				expect(found.options.length).toBeGreaterThanOrEqual(2);
				expect(found.options.length).toBeLessThanOrEqual(100);
				expect(new Set(found.options).size).toBe(found.options.length);
				for (const option of found.options) expect(option.trim()).toBe(option);
				expect(found.options).not.toContain('');
			}
		}),
		{ numRuns: runs(1_000) },
	);
});
