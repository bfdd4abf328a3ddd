import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { looksSecret } from '../../src/questions/asks-for-secret.ts';
import { readingsOf } from '../../src/questions/texts.ts';
import { processorMs } from '../support/processor-ms.ts';

describe('look-alike characters', () => {
	it.each([
		['Cyrillic', '\u0420\u0430\u0455\u0455\u0460\u043erd'.replace('\u0460', 'w'), 'Password'],
		['Cyrillic capitals', '\u0422\u041e\u041a\u0415N', 'TOKEN'],
		['Greek', '\u03a1\u0399\u039d', 'PIN'],
		['a stroke', 'has\u0142o', 'haslo'],
	])('of the kind "%s" are read as Latin letters', (_script, text, plain) => {
		expect(readingsOf(text)).toContain(plain.toLowerCase());
	});
});

describe('the readings of a text', () => {
	it('are one for a text without look-alikes', () => {
		expect(readingsOf('Which colour should the door have in 2026?')).toHaveLength(1);
	});
	it('replace digits and signs only in words with letters', () => {
		expect(readingsOf('P4$$w0rd 1234 $5 l0g1n')).toContain('password 1234 $5 login');
		expect(readingsOf('to1en')).toEqual(['to1en', 'toien', 'tolen']);
	});
	it('join three or more spaced-out letters, but not two', () => {
		expect(readingsOf('The P I N is?')).toContain('the pin is?');
		expect(readingsOf('a b and c d')).toHaveLength(1);
	});
	it.each([
		'p a s s w o r d p l e a s e',
		'P\u200ba\u0301s\u0301sword',
		'𝗣𝗮𝘀𝘀𝘄𝗼𝗿𝗱',
		'Ｐａｓｓｗｏｒｄ',
		'userPa55word',
		'S.S.N.',
		'0TP',
	])('find the secret in %j', (title) => {
		expect(looksSecret({ title, description: '' })).toBe(true);
	});
});

it('takes time linear in the length of any text', () => {
	const part = fc.constantFrom(
		'p ',
		'a.',
		'0',
		'$',
		'@',
		'а',
		'ꓢ',
		'A b',
		'aB',
		' the',
		'paste',
		' your',
		'.',
		'\n',
		'sms ',
		'6 ',
		'digits of ',
		'what did ',
		'ﷺ',
		'비',
		'パ',
	);
	fc.assert(
		fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
			const unit = parts.join('');
			const start = processorMs();
			looksSecret({ title: unit.repeat(2_000), description: unit.repeat(20_000) });
			// About 60 ms on an idle core. Quadratic work takes seconds.
			expect(processorMs() - start).toBeLessThan(1_000);
		}),
		{ numRuns: 60 },
	);
});
