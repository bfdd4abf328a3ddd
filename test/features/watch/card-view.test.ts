import { describe, expect, it } from 'vitest';
import { settledQuestionPost } from '../../../src/features/watch/post-view.ts';
import type { Answer } from '../../../src/questions/answer.ts';
import { snapshotOf } from '../../../src/questions/session-snapshot.ts';
import { answerOf, now } from '../../slack/support/answers.ts';
import { expectSafeMessage } from '../../slack/support/check.ts';
import { askedContent, postContext } from '../../slack/support/posts.ts';
import { sessionAsking, textsOf } from '../../slack/support/questions.ts';
import { throughGate } from '../../support/sessions.ts';

const AUTHOR = { teamId: 'T1', userId: 'U0OURS1' };
const names = { displayName: () => 'Ann' };
const view = snapshotOf(throughGate(sessionAsking([{ title: 'Hall', value: 'The small one' }])), now);

/** What a channel reads about an answered question. */
function wordsOf(standing: Answer | null): string {
	const { sessionId, question } = view;
	if (question === null) throw new Error('there is no question');
	const post = postContext({ sessionId, view, standing, names, now });
	const message = settledQuestionPost(askedContent(question), 'answered', post);
	expectSafeMessage(message);
	return textsOf(message.blocks).join('\n');
}

describe('answered questions in a channel', () => {
	it.each(['delivered', 'resumed'] as const)('names the author of an answer from Handraise that is %s', (state) => {
		expect(wordsOf(answerOf({ state, person: AUTHOR }))).toContain(`<@${AUTHOR.userId}>`);
	});

	it.each(['waiting', 'accepted'] as const)(
		'does not name the author of an answer from Handraise that is %s',
		(state) => {
			expect(wordsOf(answerOf({ state, person: AUTHOR }))).toContain('Answered in the dashboard');
		},
	);
});
