import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprintOf, hashOfTexts } from '../../src/questions/fingerprint.ts';

describe('the fingerprint', () => {
	it('stays what it was, since stored answers carry it', () => {
		expect(fingerprintOf([{ title: 'Code', description: 'é😀' }])).toBe('e5230d69d849e422f20c3f2eb6a9d669');
	});
	it('does not depend on values', () => {
		const item = { title: 'a', description: 'b' };
		expect(fingerprintOf([{ ...item, value: 'x' } as typeof item])).toBe(fingerprintOf([item]));
	});
	it('tells apart what runs together when joined', () => {
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
	it('is the same only for the same texts at the same positions', () => {
		const text = fc.string({ unit: fc.constantFrom('a', ':', '1', '\ud800', '\u0000', ','), maxLength: 4 });
		const items = fc.array(fc.record({ title: text, description: text }), { maxLength: 3 });
		fc.assert(
			fc.property(items, items, (one, other) => {
				expect(fingerprintOf(one) === fingerprintOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
			}),
			{ numRuns: 500 },
		);
	});
});
