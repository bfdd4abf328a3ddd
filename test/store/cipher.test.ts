import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCipher } from '../../src/store/cipher.ts';

const cipher = createCipher(Buffer.alloc(32, 1));
const place = { table: 'answers', id: 'a1', column: 'content' };

describe('the cipher', () => {
	it('gives back what it was given, at the same place', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'grapheme' }), (text) => {
				expect(cipher.decrypt(cipher.encrypt(text, place), place)).toBe(text);
			}),
		);
	});

	it('never writes the same twice', () => {
		expect(cipher.encrypt('blue', place)).not.toBe(cipher.encrypt('blue', place));
	});

	it.each([
		['table', { ...place, table: 'drafts' }],
		['row', { ...place, id: 'a2' }],
		['column', { ...place, column: 'other' }],
	])('opens nothing that was moved to another %s', (_what, elsewhere) => {
		expect(cipher.decrypt(cipher.encrypt('blue', place), elsewhere)).toBeNull();
	});

	it('tells places apart that read the same when joined', () => {
		const sealed = cipher.encrypt('blue', { table: 'answers', id: 'a.b', column: 'c' });
		expect(cipher.decrypt(sealed, { table: 'answers', id: 'a', column: 'b.c' })).toBeNull();
	});

	it('opens nothing that was written with another key, even when the key id is forged', () => {
		const other = createCipher(Buffer.alloc(32, 2));
		const sealed = other.encrypt('blue', place);
		expect(cipher.decrypt(sealed, place)).toBeNull();
		const [version, keyId] = cipher.encrypt('x', place).split('.');
		expect(cipher.decrypt([version, keyId, sealed.split('.')[2]].join('.'), place)).toBeNull();
	});

	it('opens nothing that was changed in any byte', () => {
		const sealed = cipher.encrypt('blue', place);
		const start = sealed.lastIndexOf('.') + 1;
		const bytes = Buffer.from(sealed.slice(start), 'base64');
		for (let index = 0; index < bytes.length; index++) {
			const changed = Buffer.from(bytes);
			changed[index] = (changed[index] ?? 0) ^ 1;
			expect(cipher.decrypt(sealed.slice(0, start) + changed.toString('base64'), place)).toBeNull();
		}
	});

	it.each(['', 'blue', '1', '1.abc', '2.00000000.AAAA'])('opens nothing that is no ciphertext: %j', (text) => {
		expect(cipher.decrypt(text, place)).toBeNull();
	});

	it('opens nothing that is too short to be one', () => {
		const prefix = cipher.encrypt('', place).split('.').slice(0, 2).join('.');
		expect(cipher.decrypt(`${prefix}.`, place)).toBeNull();
		expect(cipher.decrypt(`${prefix}.${Buffer.alloc(27).toString('base64')}`, place)).toBeNull();
	});
});
