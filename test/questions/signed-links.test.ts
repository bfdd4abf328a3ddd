import { expect, it } from 'vitest';
import { withoutSignedLinks } from '../../src/questions/signed-links.ts';

it.each([
	['https://b.example/a.pdf?X-Amz-Algorithm=A&X-Amz-Signature=0f', 'https://b.example/a.pdf?…'],
	['see [it](https://b.example/a.pdf?x=1&X-Amz-Credential=K%2F1&y=2) now', 'see [it](https://b.example/a.pdf?…) now'],
	['<https://b.example/a?X-Goog-Signature=0f|a>', '<https://b.example/a?…|a>'],
	['HTTPS://b.example/a?Expires=1&Signature=x~&Key-Pair-Id=K, then', 'HTTPS://b.example/a?… then'],
	['https://b.example/a?sv=2024&amp;sig=0f', 'https://b.example/a?…'],
	['a\nhttps://b.example/a?sig=0f\nhttps://c.example/?q=1', 'a\nhttps://b.example/a?…\nhttps://c.example/?q=1'],
])('cuts the signature off %j', (text, cut) => {
	expect(withoutSignedLinks(text)).toBe(cut);
});

it.each([
	'https://shop.example/?q=signature&design=1',
	'What is X-Amz-Signature= for?',
	'https://a.example/page?significant=1',
	'no address? sig=1',
	'',
])('leaves %j alone', (text) => {
	expect(withoutSignedLinks(text)).toBe(text);
});
