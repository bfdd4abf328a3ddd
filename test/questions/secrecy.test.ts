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
		['nobody answered here, by the guess', door, [], false],
		['nobody answered here, by the guess', password, [], true],
		['an answer of ours is secret', door, [mark(door, { secret: [0] })], true],
		['it is what an author left unticked', password, [mark(password, { values: ['none'] })], false],
		['it is not what an author left unticked', password, [mark(password, { values: ['other'] })], true],
		['its author had no box', password, [mark(password, { values: ['none'], boxed: false })], true],
		['its author’s text never left', password, [mark(password, { values: ['none'], mayHaveArrived: false })], true],
		['its author’s text is gone', password, [mark(password, { values: [] })], true],
		['a secret one of ours was too late', door, [mark(door, { secret: [0], mayHaveArrived: false })], true],
		[
			'a secret one of ours was too late, and it is an ordinary one of ours',
			door,
			[mark(door, { secret: [0], mayHaveArrived: false }), mark(door, { values: ['blue'] })],
			false,
		],
		[
			'an ordinary one of ours says the same as a secret one that may stand there',
			door,
			[mark(door, { secret: [0] }), mark(door, { values: ['blue'] })],
			true,
		],
		['the secret one stood at another place', door, [mark(door, { secret: [0], messageIndex: 7 })], true],
		['the secret one was for another question', door, [mark(password, { secret: [0], messageIndex: 7 })], false],
		['its message asked something else when it got a secret', door, [mark(password, { secret: [0] })], true],
		[
			'its message asked something else, for which a secret never left',
			door,
			[mark(password, { secret: [0], mayHaveArrived: false })],
			false,
		],
		[
			'its message asked something else, and this is an ordinary one of ours',
			door,
			[mark(password, { secret: [0] }), mark(door, { values: ['blue'] })],
			false,
		],
	])('when %s', (_when, question, marks, secret) => {
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
