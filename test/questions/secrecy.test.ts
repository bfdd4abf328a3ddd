import { describe, expect, it } from 'vitest';
import { questionAt } from '../../src/questions/open-question.ts';
import { type AnswerMarks, isSecretValue, secretAtFirst } from '../../src/questions/secrecy.ts';
import { buildSession } from '../support/sessions.ts';
import { asking } from './sessions.ts';

function asked(title: string, value: string) {
	const question = questionAt(buildSession({ messages: [asking([value], title)] }), 0);
	if (question === null) throw new Error('the message asks nothing');
	return question;
}

const door = asked('Which door?', 'blue');
const password = asked('Password', 'none');

function mark({ fingerprint }: { fingerprint: string }, overrides: Partial<AnswerMarks> = {}): AnswerMarks {
	return { messageIndex: 0, fingerprint, secret: [], boxed: true, mayHaveArrived: true, values: [null], ...overrides };
}

describe('isSecretValue', () => {
	it.each([
		{ when: 'nobody answered an ordinary item here', question: door, marks: [], secret: false },
		{ when: 'nobody answered a secret-looking item here', question: password, marks: [], secret: true },
		{ when: 'an answer of ours is secret', question: door, marks: [mark(door, { secret: [0] })], secret: true },
		{
			when: 'it equals an answer with an empty box',
			question: password,
			marks: [mark(password, { values: ['none'] })],
			secret: false,
		},
		{
			when: 'it differs from an answer with an empty box',
			question: password,
			marks: [mark(password, { values: ['other'] })],
			secret: true,
		},
		{
			when: 'the form of the answer had no box',
			question: password,
			marks: [mark(password, { values: ['none'], boxed: false })],
			secret: true,
		},
		{
			when: 'the answer was never sent',
			question: password,
			marks: [mark(password, { values: ['none'], mayHaveArrived: false })],
			secret: true,
		},
		{
			when: 'the text of the answer was removed',
			question: password,
			marks: [mark(password, { values: [] })],
			secret: true,
		},
		{
			when: 'a secret answer of ours was too late',
			question: door,
			marks: [mark(door, { secret: [0], mayHaveArrived: false })],
			secret: true,
		},
		{
			when: 'a secret answer of ours was too late and it equals an ordinary one',
			question: door,
			marks: [mark(door, { secret: [0], mayHaveArrived: false }), mark(door, { values: ['blue'] })],
			secret: false,
		},
		{
			when: 'it equals an ordinary answer and a secret one may have arrived',
			question: door,
			marks: [mark(door, { secret: [0] }), mark(door, { values: ['blue'] })],
			secret: true,
		},
		{
			when: 'the secret answer was for the same question at another index',
			question: door,
			marks: [mark(door, { secret: [0], messageIndex: 7 })],
			secret: true,
		},
		{
			when: 'the secret answer was for another question',
			question: door,
			marks: [mark(password, { secret: [0], messageIndex: 7 })],
			secret: false,
		},
		{
			when: 'its message asked something else and got a secret answer',
			question: door,
			marks: [mark(password, { secret: [0] })],
			secret: true,
		},
		{
			when: 'its message asked something else and the secret answer was never sent',
			question: door,
			marks: [mark(password, { secret: [0], mayHaveArrived: false })],
			secret: false,
		},
		{
			when: 'its message asked something else and it equals an ordinary answer',
			question: door,
			marks: [mark(password, { secret: [0] }), mark(door, { values: ['blue'] })],
			secret: false,
		},
	])('is $secret when $when', ({ question, marks, secret }) => {
		expect(isSecretValue(marks, question, 0)).toBe(secret);
	});

	it('is true when the item does not exist', () => {
		expect(isSecretValue([], door, 5)).toBe(true);
	});
});

it('ticks the box of items that look secret or had a secret answer', () => {
	expect([secretAtFirst([], door), secretAtFirst([], password)]).toEqual([[], [0]]);
	expect(secretAtFirst([mark(door, { secret: [0], mayHaveArrived: false, messageIndex: 4 })], door)).toEqual([0]);
	expect(secretAtFirst([mark(password, { secret: [0] })], door)).toEqual([]);
});
