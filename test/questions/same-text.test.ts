import { describe, expect, it } from 'vitest';
import { sameText } from '../../src/questions/same-text.ts';

describe('the same text', () => {
	it.each([
		['a', 'a'],
		[' a\n', 'a'],
		['a\r\nb', 'a\nb'],
		['e\u0301', '\u00e9'],
		[`e${'\u0301'.repeat(100)}`, ` e${'\u0301'.repeat(100)}`],
	])('is %j for %j', (stored, sent) => {
		expect(sameText(stored, sent)).toBe(true);
	});

	it.each([
		['a  b', 'a b'],
		['A', 'a'],
		['e', '\u00e9'],
		['', 'a'],
		[`e${'\u0301'.repeat(100)}`, `e${'\u0301'.repeat(101)}`],
	])('is not %j for %j', (stored, sent) => {
		expect(sameText(stored, sent)).toBe(false);
	});

	it('is found with work in proportion to a million marks on one letter', () => {
		// Work that grows with the square of it takes many minutes.
		const marks = '\u0301\u0315'.repeat(500_000);
		expect(sameText(`e${marks}`, `e${marks}x`)).toBe(false);
		expect(sameText(` e${marks}`, `e${marks}`)).toBe(true);
	});
});
