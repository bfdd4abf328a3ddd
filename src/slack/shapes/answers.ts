import { AFTERMATHS, ANSWER_STATES, type Answer, FAILED_STATES, type OtherAnswer } from '../../answers/answer.ts';
import type { ReceiptContext } from '../blocks/receipt.ts';
import { answerItem, answerOf, GIANT, HOSTILE, LONGEST_ID, NAMES, NOW, USER_ID } from './samples.ts';
import { casesOf } from './shape.ts';

const person = { teamId: 'T0EXAMPLE1', userId: USER_ID };
const other: OtherAnswer = { person, values: [HOSTILE, null, ''], at: NOW - 30_000, same: false };

function conflictWith(overrides: Partial<OtherAnswer>): Answer {
	const items = [answerItem(HOSTILE, HOSTILE), answerItem('Password', null, { secret: true }), answerItem('', '')];
	return answerOf({ state: 'conflicted', content: { kind: 'readable', items, other: { ...other, ...overrides } } });
}

/** All of it as long as it can be: 90 items, the longest id, an outcome that nobody knows. */
export const GIANT_ANSWER = answerOf({
	state: 'conflicted',
	putStartedAt: NOW,
	question: { service: 'https://service.example', sessionId: LONGEST_ID, messageIndex: 999_999_999 },
	content: {
		kind: 'readable',
		items: Array.from({ length: 90 }, () => answerItem(GIANT, GIANT)),
		other: { ...other, person: null, values: Array.from({ length: 90 }, () => GIANT) },
	},
	timeline: Array.from({ length: 40 }, (_, index) => ({ state: 'delivering', at: NOW + index })),
});

/** Every receipt: each state and outcome, what went wrong, and what is odd about the text. */
export const ANSWERS: Readonly<Record<string, Answer>> = {
	...Object.fromEntries(ANSWER_STATES.map((state) => [state, answerOf({ state })])),
	...Object.fromEntries(
		[...FAILED_STATES, 'withdrawn' as const].map((state) => [
			`${state}, may have arrived`,
			answerOf({ state, putStartedAt: NOW - 20_000 }),
		]),
	),
	...Object.fromEntries(
		AFTERMATHS.map((aftermath) => [`then ${aftermath}`, answerOf({ state: 'delivered', aftermath })]),
	),
	'accepted, failed so far': answerOf({ lastError: 'unavailable', nextAttemptAt: NOW + 30_000 }),
	'delivering, outcome unknown': answerOf({ state: 'delivering', lastError: 'timed_out', putStartedAt: NOW - 20_000 }),
	'waiting, failed for long': answerOf({ state: 'waiting', lastError: 'rate_limited', attempts: 1_000 }),
	'refused with a reason': answerOf({ state: 'refused', lastError: 'unauthorized' }),
	'delivered, agent not started': answerOf({ state: 'delivered', startFailed: true }),
	'delivered, sent again': answerOf({ state: 'delivered', startFailed: true, restartAskedAt: NOW }),
	'another answer was first': conflictWith({}),
	'the same answer was first': conflictWith({ same: true }),
	'an answer from outside was first': conflictWith({ person: null, at: null }),
	'from a direct message': answerOf({ state: 'refused', origin: { channelId: null, threadTs: null } }),
	'from a command in a channel': answerOf({ state: 'ended', origin: { channelId: 'C0EXAMPLE1', threadTs: null } }),
	'secrets removed': answerOf({
		state: 'waiting',
		content: { kind: 'readable', items: [answerItem('Code', null, { secret: true, wiped: true })], other: null },
	}),
	'text removed': answerOf({ state: 'delivered', content: { kind: 'removed' } }),
	'text unreadable': answerOf({ state: 'waiting', content: { kind: 'unreadable' } }),
	giant: GIANT_ANSWER,
};

/** What the builders of receipts are called with for each of them. */
export const RECEIPTS = casesOf(ANSWERS, (answer): [Answer, ReceiptContext] => [
	answer,
	{ names: NAMES, now: NOW, adminContact: USER_ID },
]);
