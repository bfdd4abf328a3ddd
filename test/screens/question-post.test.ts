import { describe, expect, it } from 'vitest';
import type { Answer } from '../../src/domain/answer.ts';
import { type QuestionView, snapshotOf } from '../../src/domain/session-snapshot.ts';
import { isAnswering, outcomeWords, type PostContext } from '../../src/screens/question-post.ts';
import { asking } from '../domain/sessions.ts';
import { answerOf, item, now } from '../slack/support/answers.ts';
import { answeredContent, askedContent, postContext } from '../slack/support/posts.ts';
import { buildSession } from '../support/sessions.ts';

function questionOf(...values: string[]): QuestionView {
	const { question } = snapshotOf(buildSession({ status: 'humanInput', messages: [asking(values)] }), now);
	if (question === null) throw new Error('the session asks nothing');
	return question;
}

/** An answer of Ada to `question`, which arrived as the `arrival`th of its session. */
function arrived(question: QuestionView, arrival: number, more: Partial<Answer> = {}): Answer {
	const timeline = [{ state: 'delivered', at: now, arrival }] as const;
	const { fingerprint, shownHash } = question;
	return answerOf({ state: 'delivered', deliveredAt: now, fingerprint, shownHash, timeline, ...more });
}

describe('a post of a question', () => {
	it('is over when an answer arrived after the read that shows it open, not when one arrived before', () => {
		const question = { ...questionOf('', 'x'), arrival: 4 };
		const isOver = (arrival: number) => isAnswering(askedContent(question), arrived(question, arrival));
		expect([3, 4, 5].map(isOver)).toEqual([false, false, true]);
	});

	const words = (more: Partial<Answer> | null, post: Partial<PostContext> = {}) => {
		const question = questionOf('');
		const context = { sessionId: '3f9a2c1d', snapshot: null, names: { displayName: () => 'Ada' }, now, ...post };
		const standing = more && arrived(question, 1, more);
		return outcomeWords(answeredContent(question, 'Sand'), 'answered', postContext({ ...context, standing }));
	};
	const PRESS = { press: { undoUntil: 0 }, content: { kind: 'readable', items: [item('Title', 'Reed')], other: null } };

	it.each<[what: string, answer: Partial<Answer> | null, channel: Partial<PostContext>, said: string]>([
		['an answer from the dashboard', null, {}, 'Answered in the dashboard: Sand'],
		['a value that stands there', {}, {}, 'Ada: Sand · delivered'],
		[
			'no value of somebody else',
			{ agentOutcome: 'overwritten' },
			{},
			'Ada answered · delivered · not in the field any more',
		],
		['a choice', PRESS as Partial<Answer>, {}, 'Ada: Reed · delivered'],
		[
			'no choice in a channel that sees none',
			PRESS as Partial<Answer>,
			{ showAnswers: 'never' },
			'Ada answered · delivered',
		],
	])('shows %s', (_, answer, channel, said) => {
		expect(words(answer, channel)).toBe(said);
	});
});
