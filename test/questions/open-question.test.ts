import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { askingMessageIndex, isAnswered, openQuestion, questionAt } from '../../src/questions/session.ts';
import { buildSession, saying } from '../support/sessions.ts';
import { anySession, asking } from './sessions.ts';

function openItems(status: string, values: string[], left: number[] = []): readonly number[] | null {
	const session = buildSession({ status, messages: [saying('task', 'user'), asking(values)] });
	return openQuestion(session, () => new Set(left))?.openItems ?? null;
}

describe('openQuestion', () => {
	it.each(['humanInput', 'active', 'inactive', 'paused', 'somethingNew'])(
		'is all items when none has a value and the status is %s',
		(status) => {
			expect(openItems(status, ['', '', ''])).toEqual([0, 1, 2]);
		},
	);
	it.each(['completed', 'failed', 'stopped'])('is null once the session is %s', (status) => {
		expect(openItems(status, ['', ''])).toBeNull();
	});
	it('is the empty items while the agent waits', () => {
		expect(openItems('humanInput', ['', 'x', ''])).toEqual([0, 2]);
	});
	it.each(['active', 'inactive', 'paused'])('is null when any item has a value and the status is %s', (status) => {
		expect(openItems(status, ['', 'x'])).toBeNull();
	});
	it('leaves out items that an answer of ours left empty', () => {
		expect(openItems('humanInput', ['', 'x', ''], [2])).toEqual([0]);
		expect(openItems('humanInput', ['', 'x', ''], [0, 2])).toBeNull();
	});
	it('is all items again when the values of our answer are gone', () => {
		expect(openItems('humanInput', ['', ''], [1])).toEqual([0, 1]);
	});
	it('counts white space as a value', () => {
		expect(openItems('active', [' ', ''])).toBeNull();
		expect(isAnswered([{ value: '' }, { value: ' ' }])).toBe(true);
		expect(isAnswered([{ value: '' }])).toBe(false);
	});
	it.each(['assistant', 'critic', 'unknown', ''])('can be a message of the role %j', (role) => {
		const session = buildSession({ messages: [asking(['x']), { ...asking(['']), role }] });
		expect(openQuestion(session)).toMatchObject({ messageIndex: 1, openItems: [0] });
	});
	it('is the newest message with items that is not from a user, even when other messages follow', () => {
		const user = { ...asking(['']), role: 'user' };
		const messages = [asking(['']), asking(['', '']), user, saying('going on')];
		const question = openQuestion(buildSession({ messages }));
		expect(question).toMatchObject({ messageIndex: 1, goneOn: true, context: 'I have a question', openItems: [0, 1] });
		expect(openQuestion(buildSession({ messages: messages.slice(0, 3) }))?.goneOn).toBe(false);
	});
	it('is null when the newest message that asks is answered and an older one is not', () => {
		expect(openQuestion(buildSession({ status: 'active', messages: [asking(['']), asking(['x'])] }))).toBeNull();
	});
	it('is null in a session that never asks', () => {
		expect(askingMessageIndex(buildSession())).toBeNull();
		expect(openQuestion(buildSession({ messages: [saying('a')] }))).toBeNull();
	});
});

describe('questionAt', () => {
	it('returns a question without open items', () => {
		const session = buildSession({ status: 'completed', messages: [asking([''])] });
		expect(questionAt(session, 0)).toMatchObject({ messageIndex: 0, openItems: [], goneOn: false });
	});
	it('returns null for a message that asks nothing', () => {
		const session = buildSession({ messages: [saying('a'), { ...asking(['']), role: 'user' }] });
		for (const index of [-1, 0, 1, 2, 0.5, Number.NaN]) expect(questionAt(session, index)).toBeNull();
	});
	it('agrees with a plain version of the rule for any session', () => {
		fc.assert(
			fc.property(anySession, fc.array(fc.nat(4)), (session, left) => {
				const question = openQuestion(session, () => new Set(left));
				const asks = session.messages.map((message) => message.role !== 'user' && message.humanInput.length > 0);
				const items = session.messages[asks.lastIndexOf(true)]?.humanInput ?? [];
				const empty = items.flatMap((item, position) => (item.value === '' ? [position] : []));
				const over = ['completed', 'failed', 'stopped'].includes(session.status);
				let expected: number[] = [];
				if (!over && empty.length === items.length) expected = empty;
				else if (session.status === 'humanInput') expected = empty.filter((position) => !left.includes(position));
				expect(question?.openItems ?? []).toEqual(expected);
				if (question !== null) expect(question.messageIndex).toBe(askingMessageIndex(session));
			}),
		);
	});
});
