import { describe, expect, it } from 'vitest';
import { type AnswerMarks, isSecretValue, looksSecretAt, secretAtFirst } from '../../src/questions/secrecy.ts';
import { questionAt } from '../../src/questions/session.ts';
import { buildSession } from '../support/sessions.ts';
import { AGENTS_HARMLESS, AGENTS_SECRET } from './agent-phrases.ts';
import { HELD_BACK_HARMLESS, HELD_BACK_SECRET } from './held-back-phrases.ts';
import {
	FIFTH_HARMLESS,
	FIFTH_SECRET,
	FOURTH_HARMLESS,
	FOURTH_SECRET,
	OTHERS_HARMLESS,
	OTHERS_SECRET,
	SIXTH_HARMLESS,
	SIXTH_SECRET,
} from './later-rounds-phrases.ts';
import { HARMLESS_PHRASES, SECRET_PHRASES } from './secret-phrases.ts';
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
	it.each<[secret: boolean, when: string, question: typeof door, marks: AnswerMarks[]]>([
		[false, 'nobody answered an ordinary item here', door, []],
		[true, 'nobody answered a secret-looking item here', password, []],
		[true, 'an answer of ours is secret', door, [mark(door, { secret: [0] })]],
		[true, 'it is not known which positions of ours are secret', door, [mark(door, { secret: null })]],
		[
			true,
			'its message asked something else and which was secret is not known',
			door,
			[mark(password, { secret: null })],
		],
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
			'the secret answer was for the same question at another index',
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
	])('is %s when %s', (secret, _, question, marks) => {
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

function isTakenForSecret(phrase: string): boolean {
	const [asked = '', context = ''] = phrase.split(' >> ').toReversed();
	const [title = '', description = ''] = asked.split(' :: ');
	return looksSecretAt({ context, items: [{ title, description }] }, 0);
}

/** The wrong ones, which are printed: the documents give their number. */
function wrong(what: string, phrases: readonly string[], areSecret: boolean): string[] {
	const found = phrases.filter((phrase) => isTakenForSecret(phrase) !== areSecret);
	process.stdout.write(
		`${what}: ${found.length} of ${phrases.length} wrong\n${found.map((one) => `  ${one}\n`).join('')}`,
	);
	return found;
}

it('takes the phrases that the rules were made with for what they are', () => {
	const [secret, harmless] = [SECRET_PHRASES, HARMLESS_PHRASES].map((phrases) => Object.values(phrases).flat());
	expect(secret).toHaveLength(294);
	expect(harmless).toHaveLength(294);
	expect(wrong('asks for a secret', secret ?? [], true)).toEqual([]);
	expect(wrong('harmless', harmless ?? [], false)).toEqual([]);
});

it('takes most of the phrases of agents for what they are', () => {
	expect(wrong('agents, ask for a secret', AGENTS_SECRET, true)).toEqual([
		'The server rejects my key. >> Paste a working one',
		'The front door has a keypad. >> What do I tell the courier to type?',
		'Magic sign-in URL for Notion',
		'The PDF statement is protected; banks usually use the date of birth. >> How do I open it?',
	]);
	expect(wrong('agents, harmless', AGENTS_HARMLESS, false)).toEqual([]);
});

it('takes the held-back phrases for what they are', () => {
	expect([HELD_BACK_SECRET, HELD_BACK_HARMLESS].map(({ length }) => length)).toEqual([30, 30]);
	expect(wrong('held back, asks for a secret', HELD_BACK_SECRET, true)).toEqual([]);
	expect(wrong('held back, harmless', HELD_BACK_HARMLESS, false)).toEqual([]);
});

it('takes the phrases of later rounds for what they are, but for these', () => {
	expect(wrong('fourth round, asks for a secret', FOURTH_SECRET, true)).toEqual([]);
	expect(wrong('fourth round, harmless', FOURTH_HARMLESS, false)).toEqual([
		'Password field :: Should the label sit above or inside the box?',
	]);
	expect(wrong('fifth round, asks for a secret', FIFTH_SECRET, true)).toEqual([]);
	expect(wrong('fifth round, harmless', FIFTH_HARMLESS, false)).toEqual(['Which env var holds the token?']);
	expect(wrong('sixth round, asks for a secret', SIXTH_SECRET, true)).toEqual([]);
	expect(wrong('sixth round, harmless', SIXTH_HARMLESS, false)).toEqual([
		'Ticket tags :: login, billing, password – which apply?',
		'登录失败几次后需要验证码?',
		'क्या पासवर्ड हर 90 दिन में बदलना चाहिए?',
	]);
});

it('looks for the head of what is asked for', () => {
	expect(wrong('others, asks for a secret', OTHERS_SECRET, true)).toEqual([]);
	expect(wrong('others, harmless', OTHERS_HARMLESS, false)).toEqual([]);
});
