import type { QuestionView } from '../../../src/domain/session-snapshot.ts';
import type { PostContext } from '../../../src/screens/question-post.ts';
import type { Asked } from '../../../src/store/question-store.ts';

/** The context of a post in a channel that shows everything. */
export function postContext(
	overrides: Partial<PostContext> & Pick<PostContext, 'sessionId' | 'snapshot' | 'names' | 'now'>,
): PostContext {
	return {
		standing: null,
		handOver: null,
		isUpdate: true,
		channelId: 'C1',
		threadTs: null,
		watchedBy: 'U0EXAMPLE1',
		reader: null,
		claimedBy: [],
		claimedUntil: null,
		ended: null,
		offersOptions: true,
		showAnswers: 'always',
		discreet: false,
		adminContact: null,
		dashboardUrl: null,
		...overrides,
	};
}

/** A question as it was announced. */
export function askedContent(question: QuestionView): Asked {
	return { question, readAt: 0 };
}

/** A question of which each item was answered with this value. */
export function answeredContent(question: QuestionView, value: string): Asked {
	const answered = question.items.map((item) => ({ ...item, open: false, value }));
	return { ...askedContent(question), answered };
}
