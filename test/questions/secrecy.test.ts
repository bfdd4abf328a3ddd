import { describe, expect, it } from 'vitest';
import { questionAt } from '../../src/questions/open-question.ts';
import { type AnswerMarks, isSecretValue, secretAtFirst } from '../../src/questions/secrecy.ts';
import { buildSession } from '../support/sessions.ts';
import { asking } from './sessions.ts';

function asked(title: string, value: string) {
	const question = questionAt(buildSession({ messages: [asking([value], title)] }), 0);
	if (question === null) throw new Error('nothing is asked');
	return question;
}

const door = asked('Which door?', 'blue');
const password = asked('Password', 'none');

function mark({ fingerprint }: { fingerprint: string }, more: Partial<AnswerMarks> = {}): AnswerMarks {
	return { messageIndex: 0, fingerprint, secret: [], boxed: true, mayHaveArrived: true, values: [null], ...more };
}

describe('a value', () => {
	it.each([
		{ when: 'nobody answered here, by the guess', question: door, marks: [], secret: false },
		{ when: 'nobody answered here, by the guess', question: password, marks: [], secret: true },
		{ when: 'an answer of ours is secret', question: door, marks: [mark(door, { secret: [0] })], secret: true },
		{
			when: 'it is what an author left unticked',
			question: password,
			marks: [mark(password, { values: ['none'] })],
			secret: false,
		},
		{
			when: 'it is not what an author left unticked',
			question: password,
			marks: [mark(password, { values: ['other'] })],
			secret: true,
		},
		{
			when: 'its author had no box',
			question: password,
			marks: [mark(password, { values: ['none'], boxed: false })],
			secret: true,
		},
		{
			when: 'its author’s text never left',
			question: password,
			marks: [mark(password, { values: ['none'], mayHaveArrived: false })],
			secret: true,
		},
		{ when: 'its author’s text is gone', question: password, marks: [mark(password, { values: [] })], secret: true },
		{
			when: 'a secret one of ours was too late',
			question: door,
			marks: [mark(door, { secret: [0], mayHaveArrived: false })],
			secret: true,
		},
		{
			when: 'a secret one of ours was too late, and it is an ordinary one of ours',
			question: door,
			marks: [mark(door, { secret: [0], mayHaveArrived: false }), mark(door, { values: ['blue'] })],
			secret: false,
		},
		{
			when: 'an ordinary one of ours says the same as a secret one that may stand there',
			question: door,
			marks: [mark(door, { secret: [0] }), mark(door, { values: ['blue'] })],
			secret: true,
		},
		{
			when: 'the secret one stood at another place',
			question: door,
			marks: [mark(door, { secret: [0], messageIndex: 7 })],
			secret: true,
		},
		{
			when: 'the secret one was for another question',
			question: door,
			marks: [mark(password, { secret: [0], messageIndex: 7 })],
			secret: false,
		},
		{
			when: 'its message asked something else when it got a secret',
			question: door,
			marks: [mark(password, { secret: [0] })],
			secret: true,
		},
		{
			when: 'its message asked something else, for which a secret never left',
			question: door,
			marks: [mark(password, { secret: [0], mayHaveArrived: false })],
			secret: false,
		},
		{
			when: 'its message asked something else, and this is an ordinary one of ours',
			question: door,
			marks: [mark(password, { secret: [0] }), mark(door, { values: ['blue'] })],
			secret: false,
		},
	])('when $when', ({ question, marks, secret }) => {
		expect(isSecretValue(marks, question, 0)).toBe(secret);
	});

	it('is secret where there is no such item', () => {
		expect(isSecretValue([], door, 5)).toBe(true);
	});
});

it('ticks the box for what looks secret, and for what somebody kept secret before', () => {
	expect([secretAtFirst([], door), secretAtFirst([], password)]).toEqual([[], [0]]);
	expect(secretAtFirst([mark(door, { secret: [0], mayHaveArrived: false, messageIndex: 4 })], door)).toEqual([0]);
	expect(secretAtFirst([mark(password, { secret: [0] })], door)).toEqual([]);
});
