import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { choicesFrom, optionsOr, splitNote, withNote } from '../../src/domain/choices.ts';
import { isShownInChannels } from '../../src/domain/disclosure.ts';
import { choicesOf, guessInput } from '../../src/domain/input-kind.ts';
import { runs } from '../support/runs.ts';

const TOPPINGS = { title: 'Which toppings? Select all that apply.', description: '- Ham\n- Olives\n- Basil' };
const SHOPS = { title: 'Which shops? Select all that apply.', description: '- Acme, Inc.\n- Bolt\n- Nut, Ltd.' };
const toppings = choicesOf(guessInput(TOPPINGS));
const shops = choicesOf(guessInput(SHOPS));

it('are chosen from a list', () => {
	expect(guessInput(TOPPINGS)).toEqual({ kind: 'choice', options: ['Ham', 'Olives', 'Basil'], separator: ', ' });
	expect(shops).toMatchObject({ options: ['Acme, Inc.', 'Bolt', 'Nut, Ltd.'], separator: '\n' });
	expect(guessInput({ ...TOPPINGS, title: 'Which topping?' })).not.toHaveProperty('separator');
});

describe('as one text', () => {
	it.each([
		[toppings, ['Basil', 'Ham'], '', 'Ham, Basil'],
		[toppings, ['Basil', 'Ham'], ' Thin, please ', 'Ham, Basil. Thin, please'],
		[toppings, ['Ham'], '', 'Ham'],
		[toppings, [], 'None', 'None'],
		[toppings, ['Ham', 'Olives'], 'ham, olives', 'Ham, Olives'],
		[toppings, ['Ham', 'Olives'], 'Ham, olives and corn', 'Ham, Olives. Ham, olives and corn'],
		[choicesOf({ kind: 'yesNo' }), ['No'], 'no problem if it takes longer', 'No. no problem if it takes longer'],
		[choicesFrom(['1', '2'], false), ['1'], '1.5 please', '1. 1.5 please'],
		[choicesFrom(['A', 'A. Seat 12'], false), ['A'], 'Seat 12', 'A\nSeat 12'],
		[shops, ['Nut, Ltd.', 'Acme, Inc.'], '', 'Acme, Inc.\nNut, Ltd.'],
		[shops, ['Nut, Ltd.', 'Bolt'], 'By Friday', 'Bolt\nNut, Ltd.\nBy Friday'],
		[shops, ['Bolt'], 'By Friday', 'Bolt\nBy Friday'],
	])('%j: %j and %j are sent as %j', (choices, chosen, note, text) => {
		expect(withNote(chosen, note, choices)).toBe(text);
	});

	it.each([
		[toppings, 'Ham, Basil', ['Ham', 'Basil'], ''],
		[toppings, 'Basil, Ham. Thin', ['Basil', 'Ham'], 'Thin'],
		[toppings, 'Ham, and Basil later', [], 'Ham, and Basil later'],
		[toppings, 'Ham, Ham', [], 'Ham, Ham'],
		[toppings, 'Ham, ', [], 'Ham, '],
		[shops, 'Bolt\nNut, Ltd.\nBy Friday\nor later', ['Bolt', 'Nut, Ltd.'], 'By Friday\nor later'],
		[shops, 'Acme, Inc., Bolt', [], 'Acme, Inc., Bolt'],
		[choicesFrom(['Ham', 'Basil'], false), 'Ham, Basil', [], 'Ham, Basil'],
	])('of %j, %j is taken apart into %j and %j', (choices, text, chosen, note) => {
		expect(splitNote(text, choices)).toEqual({ chosen, note });
	});

	it.each([
		[toppings, '“basil”, ham', 'Ham, Basil'],
		[toppings, 'basil; ham', 'basil; ham'],
		[toppings, 'OLIVES', 'Olives'],
		[toppings, 'Ham, Ham', 'Ham'],
		[toppings, 'Ham, Olives, Basil, Ham, and more', 'Ham, Olives, Basil, Ham, and more'],
		[toppings, 'ham and basil', 'ham and basil'],
		[shops, 'nut, ltd.\r\nbolt', 'Bolt\nNut, Ltd.'],
		[{ options: [] }, 'ham', 'ham'],
	])('of %j, a typed %j is %j', (choices, typed, text) => {
		expect(optionsOr(typed, choices)).toBe(text);
	});

	it('are those of the item in a reply', () => {
		expect(optionsOr('basil, ham', choicesOf(guessInput(TOPPINGS)))).toBe('Ham, Basil');
	});

	it('can be taken apart again, whatever the options and the note are', () => {
		const alike = ['a', 'b', 'ab', 'a b', 'a. b', 'a, b', 'b, a', 'a, b, a', 'a,b'];
		const lists = fc.shuffledSubarray(alike, { minLength: 2 });
		fc.assert(
			fc.property(
				lists,
				fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
				fc.boolean(),
				(options, ticks, noted) => {
					const chosen = options.filter((_, at) => ticks[at]);
					// No option begins with it.
					const note = noted ? '_ as said, if possible' : '';
					const choices = choicesFrom(options, true);
					expect(splitNote(withNote(chosen, note, choices), choices)).toEqual({ chosen, note });
				},
			),
			{ numRuns: runs(100) },
		);
	});

	it('looks once for each of many options in a long text', () => {
		const options = Array.from({ length: 99 }, (_, at) => `option ${at} ${'x'.repeat(60)}`);
		let lookCount = 0;
		class Counting extends Array<string> {
			override toSorted(compare?: (a: string, b: string) => number): string[] {
				lookCount += 1;
				return super.toSorted(compare);
			}
		}
		const choices = { ...choicesFrom(options, true), options: Counting.from(options) };
		const all = options.join(', ');
		expect(splitNote(all, choices).chosen).toHaveLength(99);
		splitNote(`${all}, `.repeat(20), choices);
		expect(lookCount).toBeLessThanOrEqual(2 * (99 + 1));
		expect(optionsOr(`${all}, `.repeat(20), choices)).toBe(`${all}, `.repeat(20));
	});
});

it('are shown in channels with "auto" as one is', () => {
	const flights = {
		title: 'Which flights? Select all that apply.',
		description: '- LH 1173 for 129 €\n- BA 947 for 98 €',
	};
	const shown = [
		'LH 1173 for 129 €, BA 947 for 98 €',
		'BA 947 for 98 €, LH 1173 for 129 €. The first ones',
		'BA 947 for 98 €',
	];
	for (const value of shown) expect(isShownInChannels('auto', flights, value)).toBe(true);
	for (const value of ['LH 1173 for 129 €, hunter2', 'BA 947 for 98 €. Code 271828'])
		expect(isShownInChannels('auto', flights, value)).toBe(false);
});
