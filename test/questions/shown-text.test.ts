import { describe, expect, it } from 'vitest';
import { isReworded } from '../../src/questions/session.ts';
import { shownHashOf } from '../support/sessions.ts';

const item = { title: 'Which plan?', description: 'One of: A, B', value: '' };
const shown = (content: string, ...humanInput: (typeof item)[]) => shownHashOf({ content, humanInput });

describe('the hash of what an asking message shows', () => {
	it('stays the same in new versions, because posts and stored answers have it', () => {
		expect(shown('May I?', item)).toBe('b54be4253648bfc66641d162d1f33673');
	});

	it.each([
		['white space', ' Look  at\n\tthis\u00a0plan ', 'Look at this plan'],
		['the signature of a link', 'https://x.example/a?X-Amz-Signature=1', 'https://x.example/a?X-Amz-Signature=2'],
		['the composition of a letter', 'the café'.normalize('NFC'), 'the café'.normalize('NFD')],
		['a value', '', ''],
	])('does not depend on %s', (_, one, other) => {
		expect(shown(one, { ...item, value: 'x' })).toBe(shown(other, item));
	});

	it.each([
		['a word', shown('May I READ it?', item), shown('May I DELETE it?', item)],
		['the order of the items', shown('', item, { ...item, title: 'b' }), shown('', { ...item, title: 'b' }, item)],
		['a description', shown('', item), shown('', { ...item, description: 'One of: B, A' })],
		['where a text stands', shown('a', { ...item, title: '' }), shown('', { ...item, title: 'a' })],
		['the path of a signed link', shown('https://x.example/a?sig=1', item), shown('https://x.example/b?sig=1', item)],
		['another parameter', shown('https://x.example/a?b=5&sig=1', item), shown('https://x.example/a?b=9&sig=1', item)],
		['a joined word', shown('no where', item), shown('nowhere', item)],
	])('depends on %s', (_, one, other) => {
		expect(one).not.toBe(other);
		expect(isReworded(one, other)).toBe(true);
	});

	it('is not another one where one of two is not known', () => {
		expect([isReworded(null, 'a'), isReworded('a', null), isReworded(null, null), isReworded('a', 'a')]).toEqual(
			Array(4).fill(false),
		);
	});
});
