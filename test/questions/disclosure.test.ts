import { describe, expect, it } from 'vitest';
import { disclosureOf, isShownInChannels, withoutSignedLinks } from '../../src/questions/disclosure.ts';
import { questionAt } from '../../src/questions/open-question.ts';
import { buildSession } from '../support/sessions.ts';
import { asking } from './sessions.ts';

const free = { title: 'What now?', description: '' };
const choice = { title: 'Flight?', description: 'One of: LH 1173 at 06:05 for 129 €, BA 947' };
const yesNo = { title: 'Proceed?', description: '(yes/no)' };

describe('what channels see by "auto"', () => {
	it.each([
		[choice, 'LH 1173 at 06:05 for 129 €'],
		[yesNo, 'Yes'],
		[free, 'The garden, please!'],
		[free, "Let's take the 3rd one (A4, 30%)"],
		[free, '12'],
		[free, '€15'],
		[free, '2026-12-24'],
		[free, '09:30'],
		[free, 'at 09:30'],
		[free, 'Forêt d’Émeraude'],
		[free, 'はい、そうです'],
	])('is the answer to %j: %j', (item, value) => {
		expect(isShownInChannels('auto', item, value)).toBe(true);
	});

	it.each([
		[choice, 'LH 1173 at 06:05'],
		[free, '271828'],
		[free, '27 18 28'],
		[free, '271-828'],
		[free, '2718'],
		[free, 'it is hunter2'],
		[free, 'Passw0rd'],
		[free, 'abc$def'],
		[free, 'x'.repeat(31)],
		[free, 'see https://example.com/a'],
		[free, 'example.com'],
		[free, 'ada@example.com'],
		[free, 'one\ntwo'],
		[free, 'word '.repeat(17)],
		[free, 'DE89 3704 0044'],
	])('is only that there is one, to %j: %j', (item, value) => {
		expect(isShownInChannels('auto', item, value)).toBe(false);
	});
});

it('shows everything by "always" and nothing by "never", and what is secret by none', () => {
	const question = questionAt(
		buildSession({ messages: [asking(['271828'], 'Which one?'), asking(['271828'], 'PIN')] }),
		0,
	);
	const secret = questionAt(buildSession({ messages: [asking(['yes'], 'PIN')] }), 0);
	if (question === null || secret === null) throw new Error('nothing is asked');
	const seen = (mode: 'auto' | 'always' | 'never') => disclosureOf([], mode)(question, 0);
	expect([seen('auto'), seen('always'), seen('never')]).toEqual(['withheld', 'shown', 'withheld']);
	for (const mode of ['auto', 'always', 'never'] as const) expect(disclosureOf([], mode)(secret, 0)).toBe('secret');
});

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
