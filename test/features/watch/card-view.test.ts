import { describe, expect, it } from 'vitest';
import { watchCard } from '../../../src/features/watch/card-view.ts';
import { settledQuestionPost } from '../../../src/features/watch/post-view.ts';
import type { Answer } from '../../../src/questions/answer.ts';
import { snapshotOf } from '../../../src/questions/session-snapshot.ts';
import { answerOf, now } from '../../slack/support/answers.ts';
import { expectSafeMessage } from '../../slack/support/check.ts';
import { askedContent, postContext } from '../../slack/support/posts.ts';
import { sessionAsking, textsOf } from '../../slack/support/questions.ts';

const AUTHOR = { teamId: 'T1', userId: 'U0OURS1' };
const names = { displayName: () => 'Ann' };
const view = snapshotOf(sessionAsking([{ title: 'Hall', value: 'The small one' }]), now);

/** What a channel reads about an answered question: the card and the post of the question. */
function wordsOf(standing: Answer | null): string[] {
	const { sessionId, question } = view;
	if (question === null) throw new Error('there is no question');
	const post = postContext({ sessionId, view, standing, names, now });
	const card = watchCard({
		view,
		checkedAt: null,
		waitedMs: null,
		discreet: false,
		claims: null,
		handOver: null,
		isUpdate: true,
		standing,
		ended: null,
		watchMaxDays: 7,
		adminContact: null,
		names,
		dashboardUrl: null,
	});
	const messages = [card, settledQuestionPost(askedContent(question), 'answered', post)];
	for (const message of messages) expectSafeMessage(message);
	return messages.map(({ blocks }) => textsOf(blocks).find((text) => text.startsWith('✅')) ?? 'nothing');
}

describe('answered questions in a channel', () => {
	it.each(['delivered', 'resumed'] as const)('names the author of an answer from Handraise that is %s', (state) => {
		for (const words of wordsOf(answerOf({ state, person: AUTHOR })))
			expect(words).toContain(`Answered by <@${AUTHOR.userId}>`);
	});

	it.each(['waiting', 'accepted'] as const)(
		'does not name the author of an answer from Handraise that is %s',
		(state) => {
			for (const words of wordsOf(answerOf({ state, person: AUTHOR })))
				expect(words).toContain("Answered outside Slack, on the session service's own page");
		},
	);
});
