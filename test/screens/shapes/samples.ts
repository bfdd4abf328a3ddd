import {
	AT_WORK,
	answerItem,
	answerOf,
	HOSTILE,
	MODEL,
	NOW,
	OTHER,
	throughGate,
} from '../../../sandbox/gallery/shapes/samples.ts';
import {
	AGENT_OUTCOMES,
	ANSWER_STATES,
	type Answer,
	FAILED_STATES,
	type OtherAnswer,
} from '../../../src/domain/answer.ts';
import type { Session } from '../../../src/domain/session.ts';
import type { ReceiptContext } from '../../../src/screens/receipt.ts';

/** A case for each entry of a table. */
export function casesOf<Value, Args extends readonly unknown[]>(
	table: Readonly<Record<string, Value>>,
	argumentsOf: (value: Value) => Args,
): Record<string, Args> {
	return Object.fromEntries(Object.entries(table).map(([what, value]) => [what, argumentsOf(value)]));
}

/** Its links are refused, each for another reason. */
export const REFUSED_LINKS: Session = throughGate({
	...AT_WORK,
	files: ['https://10.0.0.1/', 'http://files.example/', 'https://ada:pw@files.example/', 'nowhere'].map(
		(signedUrl) => ({ filename: 'report.pdf', signedUrl, timestamp: null }),
	),
	lastScreenshotUrl: 'https://localhost/screen.png',
});

export function conflictWith(overrides: Partial<OtherAnswer>): Answer {
	const items = [answerItem(HOSTILE, HOSTILE), answerItem('Password', null, { secret: true }), answerItem('', '')];
	return answerOf({ state: 'conflicted', content: { kind: 'readable', items, other: { ...OTHER, ...overrides } } });
}

/** Each state and agent outcome, and each special case of a receipt. */
export const ANSWERS: Readonly<Record<string, Answer>> = {
	...Object.fromEntries(ANSWER_STATES.map((state) => [state, answerOf({ state })])),
	...Object.fromEntries(
		[...FAILED_STATES, 'withdrawn' as const].map((state) => [
			`${state}, may have arrived`,
			answerOf({ state, putStartedAt: NOW - 20_000 }),
		]),
	),
	...Object.fromEntries(
		AGENT_OUTCOMES.map((agentOutcome) => [`then ${agentOutcome}`, answerOf({ state: 'delivered', agentOutcome })]),
	),
	'accepted, failed so far': answerOf({ lastError: 'unavailable', nextAttemptAt: NOW + 30_000 }),
	'delivering, outcome unknown': answerOf({ state: 'delivering', lastError: 'timed_out', putStartedAt: NOW - 20_000 }),
	'waiting, failed for long': answerOf({ state: 'waiting', lastError: 'rate_limited', attempts: 1_000 }),
	'refused with a reason': answerOf({ state: 'refused', lastError: 'unauthorized' }),
	'delivered, agent not started': answerOf({ state: 'delivered', startFailed: true }),
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
};

export const OTHER_RECEIPTS = casesOf(ANSWERS, (answer): [Answer, ReceiptContext] => [answer, MODEL]);
