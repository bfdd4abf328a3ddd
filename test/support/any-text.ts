import fc from 'fast-check';

/**
 * Any code point, lone surrogates among them: a `unit` of `fc.string`. Its own unit `binary`, and `fc.webUrl`, first make
 * a table of all of Unicode, which takes longer than most properties.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
	.integer({ min: 0, max: 0x10ffff })
	.map((point) => String.fromCodePoint(point));

/** Addresses with all characters that paths and queries may have. */
export const anyWebUrl: fc.Arbitrary<string> = fc
	.tuple(
		fc.constantFrom('http', 'https'),
		fc.domain(),
		fc.string({ unit: fc.constantFrom(..."az09-._~!$&'()*+,;=:@/?#".split(''), '%20', '%C3%A4') }),
	)
	.map(([scheme, host, path]) => `${scheme}://${host}/${path}`);
