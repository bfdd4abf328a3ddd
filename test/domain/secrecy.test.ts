import { describe, expect, it } from 'vitest';
import { type AnswerSecrecy, initiallySecretPositions, isSecretValue } from '../../src/domain/secrecy.ts';
import { questionAt } from '../../src/domain/session.ts';
import { buildSession } from '../support/sessions.ts';
import { asking } from './sessions.ts';

function asked(title: string, value: string) {
	const question = questionAt(buildSession({ messages: [asking([value], title)] }), 0);
	if (question === null) throw new Error('the message asks nothing');
	return question;
}

const door = asked('Which door?', 'blue');
const password = asked('Password', 'none');

function mark({ fingerprint }: { fingerprint: string }, overrides: Partial<AnswerSecrecy> = {}): AnswerSecrecy {
	return { messageIndex: 0, fingerprint, secret: [], boxed: true, mayHaveArrived: true, values: [null], ...overrides };
}

describe('isSecretValue', () => {
	it.each<[secret: boolean, when: string, question: typeof door, marks: AnswerSecrecy[]]>([
		[false, 'nobody answered an ordinary item here', door, []],
		[true, 'nobody answered a secret-looking item here', password, []],
		[true, 'an answer of ours is secret', door, [mark(door, { secret: [0] })]],
		[true, 'it is not known which positions of ours are secret', door, [mark(door, { secret: null })]],
		[true, 'its message asked something else, which was secret is unknown', door, [mark(password, { secret: null })]],
		[false, 'it equals an answer with an empty box', password, [mark(password, { values: ['none'] })]],
		[true, 'it differs from an answer with an empty box', password, [mark(password, { values: ['other'] })]],
		[true, 'the form of the answer had no box', password, [mark(password, { values: ['none'], boxed: false })]],
		[true, 'the answer was never sent', password, [mark(password, { values: ['none'], mayHaveArrived: false })]],
		[true, 'the text of the answer was removed', password, [mark(password, { values: [] })]],
		[true, 'a secret answer of ours was too late', door, [mark(door, { secret: [0], mayHaveArrived: false })]],
		[
			false,
			'a secret answer of ours was too late and it equals an ordinary one',
			door,
			[mark(door, { secret: [0], mayHaveArrived: false }), mark(door, { values: ['blue'] })],
		],
		[
			true,
			'it equals an ordinary answer and a secret one may have arrived',
			door,
			[mark(door, { secret: [0] }), mark(door, { values: ['blue'] })],
		],
		[
			true,
			'the secret answer was for the same question elsewhere',
			door,
			[mark(door, { secret: [0], messageIndex: 7 })],
		],
		[false, 'the secret answer was for another question', door, [mark(password, { secret: [0], messageIndex: 7 })]],
		[true, 'its message asked something else and got a secret answer', door, [mark(password, { secret: [0] })]],
		[
			false,
			'its message asked something else and the secret answer was never sent',
			door,
			[mark(password, { secret: [0], mayHaveArrived: false })],
		],
		[
			false,
			'its message asked something else and it equals an ordinary answer',
			door,
			[mark(password, { secret: [0] }), mark(door, { values: ['blue'] })],
		],
	])('is %s when %s', (secret, _, question, secrecy) => {
		expect(isSecretValue(secrecy, question, 0)).toBe(secret);
	});

	it('is true when the item does not exist', () => {
		expect(isSecretValue([], door, 5)).toBe(true);
	});
});

it('ticks the box of items that look secret or had a secret answer', () => {
	expect([initiallySecretPositions([], door), initiallySecretPositions([], password)]).toEqual([[], [0]]);
	expect(initiallySecretPositions([mark(door, { secret: [0], mayHaveArrived: false, messageIndex: 4 })], door)).toEqual(
		[0],
	);
	expect(initiallySecretPositions([mark(password, { secret: [0] })], door)).toEqual([]);
});
