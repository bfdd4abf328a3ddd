import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AGENT_OUTCOMES, ANSWER_STATES, type Answer, type AnswerContent } from '../src/domain/answer.ts';
import { HISTORY_PAGE, historyView } from '../src/screens/answer.ts';
import { receiptMessage, receiptModal } from '../src/screens/receipt.ts';
import { errorMessage } from '../src/slack/error-view.ts';
import { newMetadata } from '../src/slack/ids.ts';
import { answerOf, now } from './slack/support/answers.ts';
import { expectSafeMessage, expectSafeView } from './slack/support/check.ts';
import { CANARY } from './slack/support/hostile-session.ts';
import { hostileText } from './slack/support/hostile-text.ts';
import { runs } from './support/runs.ts';

const time = fc.oneof(fc.integer({ min: now - 1e10, max: now }), fc.constantFrom(0, -1, 8.64e15, Number.NaN));

const item = fc.oneof(
	fc.record({
		title: hostileText,
		value: fc.option(hostileText),
		secret: fc.constant(false),
		wiped: fc.constant(false),
	}),
	fc.record({ title: hostileText, value: fc.constant(CANARY), secret: fc.constant(true), wiped: fc.boolean() }),
);

const content: fc.Arbitrary<AnswerContent> = fc.oneof(
	{
		weight: 8,
		arbitrary: fc.record({
			kind: fc.constant('readable' as const),
			items: fc.array(item, { maxLength: 50 }),
			other: fc.option(
				fc.record({
					person: fc.option(fc.record({ teamId: fc.constant('T1'), userId: fc.constantFrom('U0OURS2', '<!here>') })),
					values: fc.array(fc.option(hostileText), { maxLength: 50 }),
					at: fc.option(time),
					answerId: fc.constant(null),
					same: fc.boolean(),
				}),
			),
		}),
	},
	fc.constantFrom({ kind: 'removed' as const }, { kind: 'unreadable' as const }),
);

const answer: fc.Arbitrary<Answer> = fc
	.record({
		content,
		state: fc.constantFrom(...ANSWER_STATES),
		agentOutcome: fc.constantFrom(null, ...AGENT_OUTCOMES),
		lastError: fc.option(
			fc.oneof(fc.constantFrom('unavailable', 'unauthorized', 'refused', 'request_too_large'), hostileText),
		),
		at: time,
		attempts: fc.nat(500),
		inThread: fc.boolean(),
		mayHaveArrived: fc.boolean(),
		startFailed: fc.boolean(),
		sessionId: hostileText.map((text) => text.slice(0, 400).toWellFormed() || 'x'),
		states: fc.array(fc.record({ state: fc.constantFrom(...ANSWER_STATES), at: time }), { maxLength: 30 }),
	})
	.map((chosen) =>
		answerOf({
			question: { service: 'https://service.example', sessionId: chosen.sessionId, messageIndex: 3 },
			content: chosen.content,
			origin: { channelId: chosen.inThread ? 'C1' : null, threadTs: chosen.inThread ? '1.2' : null },
			state: chosen.state,
			attempts: chosen.attempts,
			acceptedAt: chosen.at,
			giveUpAt: chosen.at,
			nextAttemptAt: chosen.at,
			putStartedAt: chosen.mayHaveArrived ? chosen.at : null,
			agentOutcome: chosen.agentOutcome,
			lastError: chosen.lastError,
			timeline: chosen.states,
			startFailed: chosen.startFailed,
		}),
	);

describe('hostile answers', () => {
	it('shows a hostile answer in a receipt without mentions, links or secrets', () => {
		fc.assert(
			fc.property(answer, hostileText, (given, name) => {
				const receipt = { now, adminContact: name };
				expectSafeView(receiptModal(given, receipt));
				expectSafeMessage(receiptMessage(given, receipt));
				expectSafeMessage(errorMessage('could_not_check', null, { kept: 'unchanged', adminContact: name }));
			}),
			{ numRuns: runs(63) },
		);
	});

	it('shows hostile answers in a history that Slack accepts', () => {
		fc.assert(
			fc.property(fc.array(answer, { maxLength: HISTORY_PAGE }), fc.nat(1000), (answers, offset) => {
				const metadata = { ...newMetadata({ sessionId: '3f9a2c1d', formId: 'form' }), offset };
				const view = historyView(metadata, answers, offset + answers.length + (offset % 3));
				expectSafeView(view);
				expect(view.submit).toBeUndefined();
			}),
			{ numRuns: runs(19) },
		);
	});
});
