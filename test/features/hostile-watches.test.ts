import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { watchCard } from '../../src/features/watch/card-view.ts';
import { type PostedContent, watchPost } from '../../src/features/watch/notice-view.ts';
import { askedPost, settledQuestionPost, switchingPost } from '../../src/features/watch/post-view.ts';
import { snapshotOf } from '../../src/questions/session-snapshot.ts';
import { answerOf, now } from '../slack/support/answers.ts';
import { expectSafeMessage } from '../slack/support/check.ts';
import { hostileSession } from '../slack/support/hostile-session.ts';
import { hostileText } from '../slack/support/hostile-text.ts';
import { answeredContent, askedContent, postContext } from '../slack/support/posts.ts';
import { randomRuns } from '../support/random-runs.ts';
import { gatedResponse } from '../support/sessions.ts';

const sessionId = hostileText.map((text) => text.slice(0, 400).toWellFormed() || 'x');

describe('hostile watched sessions', () => {
	it('shows a hostile session in a card and posts without mentions, links or signed addresses', () => {
		fc.assert(
			fc.property(hostileSession, sessionId, hostileText, fc.boolean(), (raw, id, name, isAnswered) => {
				const session = gatedResponse({ session: raw }, id);
				fc.pre(session !== null);
				const view = { ...snapshotOf(session, now), sessionId: id };
				const names = { displayName: () => name };
				const card = watchCard({
					view,
					checkedAt: now,
					waitedMs: now,
					discreet: isAnswered,
					asks: isAnswered,
					claimedBy: [name],
					handOver: null,
					isUpdate: true,
					ended: isAnswered ? null : 'channelShared',
					watchMaxDays: 7,
					adminContact: name,
					names,
					dashboardUrl: 'https://dash.example',
				});
				expectSafeMessage(card);
				expect(JSON.stringify(card)).not.toContain('"url":"https://bucket.example');
				const standing = isAnswered ? answerOf({ person: { teamId: 'T1', userId: name } }) : null;
				const options = { standing, names, adminContact: name, discreet: isAnswered };
				const post = postContext({ ...options, sessionId: id, view, now });
				for (const content of posts(view)) expectSafeMessage(watchPost(content, post));
				if (view.question === null) return;
				expectSafeMessage(settledQuestionPost(answeredContent(view.question, name), 'answered', post));
				expectSafeMessage(askedPost(askedContent(view.question), false, post));
				expectSafeMessage(switchingPost(view.question, post));
			}),
			randomRuns(400),
		);
	});
});

function posts(view: ReturnType<typeof snapshotOf>): PostedContent[] {
	const { status } = view;
	return [{ kind: 'status', from: status, to: status }];
}
