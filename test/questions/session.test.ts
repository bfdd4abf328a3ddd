import { describe, expect, it } from 'vitest';
import { isOver, isReworded, isWaiting, statusKind } from '../../src/questions/session.ts';
import { shownHashOf } from '../support/sessions.ts';

it.each([
	{ status: 'active', kind: 'active', over: false, waiting: false },
	{ status: 'humanInput', kind: 'humanInput', over: false, waiting: true },
	{ status: 'inactive', kind: 'inactive', over: false, waiting: false },
	{ status: 'paused', kind: 'paused', over: false, waiting: false },
	{ status: 'stopped', kind: 'stopped', over: true, waiting: false },
	{ status: 'completed', kind: 'completed', over: true, waiting: false },
	{ status: 'failed', kind: 'failed', over: true, waiting: false },
	{ status: 'Completed', kind: 'unknown', over: false, waiting: false },
	{ status: '', kind: 'unknown', over: false, waiting: false },
	{ status: 'constructor', kind: 'unknown', over: false, waiting: false },
])('classifies the status "$status"', ({ status, kind, over, waiting }) => {
	expect(statusKind(status)).toBe(kind);
	expect(isOver(status)).toBe(over);
	expect(isWaiting(status)).toBe(waiting);
});

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
