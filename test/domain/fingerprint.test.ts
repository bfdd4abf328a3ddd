import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sameText } from '../../src/domain/texts.ts';
import { runs } from '../support/runs.ts';
import { fingerprintOf, hashOfTexts } from '../support/sessions.ts';

describe('fingerprintOf', () => {
	it('stays the same in new versions, because stored answers have it', () => {
		expect(fingerprintOf([{ title: 'Code', description: 'é😀' }])).toBe('e5230d69d849e422f20c3f2eb6a9d669');
	});
	it('does not depend on values', () => {
		const item = { title: 'a', description: 'b' };
		expect(fingerprintOf([{ ...item, value: 'x' } as typeof item])).toBe(fingerprintOf([item]));
	});
	it('differs for lists that are equal when joined', () => {
		const lists = [
			[],
			[''],
			['', ''],
			['a'],
			['a', ''],
			['', 'a'],
			['ab', 'c'],
			['a', 'bc'],
			['1:a'],
			['1:', 'a'],
			['\ud800'],
			['\ud801'],
			['\ufffd'],
		];
		expect(new Set(lists.map(hashOfTexts)).size).toBe(lists.length);
	});
	it('is equal only for the same texts at the same positions', () => {
		const text = fc.string({ unit: fc.constantFrom('a', ':', '1', '\ud800', '\u0000', ','), maxLength: 4 });
		const items = fc.array(fc.record({ title: text, description: text }), { maxLength: 3 });
		fc.assert(
			fc.property(items, items, (one, other) => {
				expect(fingerprintOf(one) === fingerprintOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
			}),
			{ numRuns: runs(500) },
		);
	});
});

describe('sameText', () => {
	it.each([
		['a', 'a'],
		[' a\n', 'a'],
		['a\r\nb', 'a\nb'],
		['e\u0301', '\u00e9'],
		[`e${'\u0301'.repeat(100)}`, ` e${'\u0301'.repeat(100)}`],
	])('is true for %j and %j', (stored, sent) => {
		expect(sameText(stored, sent)).toBe(true);
	});

	it.each([
		['a  b', 'a b'],
		['A', 'a'],
		['e', '\u00e9'],
		['', 'a'],
		[`e${'\u0301'.repeat(100)}`, `e${'\u0301'.repeat(101)}`],
	])('is false for %j and %j', (stored, sent) => {
		expect(sameText(stored, sent)).toBe(false);
	});

	it('is linear in a million marks on one letter', () => {
		// A quadratic comparison takes many minutes.
		const marks = '\u0301\u0315'.repeat(500_000);
		expect(sameText(`e${marks}`, `e${marks}x`)).toBe(false);
		expect(sameText(` e${marks}`, `e${marks}`)).toBe(true);
	});
});
