import { describe, expect, it } from 'vitest';
import { disclosureOf, isShownInChannels } from '../../src/domain/disclosure.ts';
import { questionAt } from '../../src/domain/session.ts';
import { withoutSignedLinks } from '../../src/domain/signed-links.ts';
import { buildSession } from '../support/sessions.ts';
import { asking } from './sessions.ts';

const openQuestion = { title: 'What now?', description: '' };
const choice = { title: 'Flight?', description: 'One of: LH 1173 at 06:05 for 129 €, BA 947' };
const yesNo = { title: 'Proceed?', description: '(yes/no)' };

const open = (values: string) => values.split(' | ').map((value): [typeof choice, string] => [openQuestion, value]);

describe('isShownInChannels with "auto"', () => {
	it.each<[item: typeof choice, value: string]>([
		[choice, 'LH 1173 at 06:05 for 129 €'],
		[yesNo, 'Yes'],
		[openQuestion, 'The garden, please!'],
		[openQuestion, "Let's take the 3rd one (A4, 30%)"],
		...open('12 | €15 | 2026-12-24 | 09:30 | at 09:30 | Forêt d’Émeraude | はい、そうです'),
	])('shows the answer to %j: %j', (item, value) => {
		expect(isShownInChannels('auto', item, value)).toBe(true);
	});

	it.each<[item: typeof choice, value: string]>([
		[choice, 'LH 1173 at 06:05'],
		...open('271828 | 27 18 28 | 271-828 | 2718 | it is hunter2 | Passw0rd | abc$def'),
		[openQuestion, 'x'.repeat(31)],
		...open('see https://example.com/a | example.com | ada@example.com | one\ntwo'),
		[openQuestion, 'word '.repeat(17)],
		[openQuestion, 'DE89 3704 0044'],
	])('withholds the answer to %j: %j', (item, value) => {
		expect(isShownInChannels('auto', item, value)).toBe(false);
	});
});

it('shows ordinary answers with "always", none with "never", and secret ones in no mode', () => {
	const question = questionAt(
		buildSession({ messages: [asking(['271828'], 'Which one?'), asking(['271828'], 'PIN')] }),
		0,
	);
	const secret = questionAt(buildSession({ messages: [asking(['yes'], 'PIN')] }), 0);
	if (question === null || secret === null) throw new Error('the message asks nothing');
	const seen = (mode: 'auto' | 'always' | 'never') => disclosureOf([], mode)(question, 0);
	expect([seen('auto'), seen('always'), seen('never')]).toEqual(['withheld', 'shown', 'withheld']);
	for (const mode of ['auto', 'always', 'never'] as const) expect(disclosureOf([], mode)(secret, 0)).toBe('secret');
});

it.each([
	['https://b.example/a.pdf?X-Amz-Algorithm=A&X-Amz-Signature=0f', 'https://b.example/a.pdf?…'],
	[
		'see [it](https://b.example/a.pdf?x=1&X-Amz-Credential=K%2F1&y=2) now',
		'see [it](https://b.example/a.pdf?x=1&…&y=2) now',
	],
	['https://b.example/next?sig=1&and=pay&se=2&sp=r&X-Amz-Date=3#all', 'https://b.example/next?…&and=pay&…#all'],
	['https://b.example/a?sig=0f&token=0f&access_token=0f&amp;x=1?sig=0f;sig=0f', 'https://b.example/a?…&amp;x=1?…'],
	['<https://b.example/a?X-Goog-Signature=0f|a>', '<https://b.example/a?…|a>'],
	['HTTPS://b.example/a?Expires=1&Signature=x~&Key-Pair-Id=K, then', 'HTTPS://b.example/a?… then'],
	['https://b.example/a?sv=2024&amp;sig=0f', 'https://b.example/a?…'],
	['a\nhttps://b.example/a?sig=0f\nhttps://c.example/?q=1', 'a\nhttps://b.example/a?…\nhttps://c.example/?q=1'],
])('removes the signature from %j', (text, cut) => {
	expect(withoutSignedLinks(text)).toBe(cut);
});

it.each([
	'https://shop.example/?q=signature&design=1',
	'What is X-Amz-Signature= for?',
	'https://a.example/page?significant=1',
	'no address? sig=1',
	'',
])('does not change %j', (text) => {
	expect(withoutSignedLinks(text)).toBe(text);
});
