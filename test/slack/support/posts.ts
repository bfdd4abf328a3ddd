import type { PostContext } from '../../../src/features/watch/post-view.ts';
import type { Asked } from '../../../src/posts/post.ts';
import type { QuestionView } from '../../../src/questions/session-snapshot.ts';

/** The context of a post in a channel that shows everything. */
export function postContext(
	overrides: Partial<PostContext> & Pick<PostContext, 'sessionId' | 'view' | 'names' | 'now'>,
): PostContext {
	return {
		standing: null,
		handOver: null,
		isUpdate: true,
		channelId: 'C1',
		threadTs: null,
		watchedBy: 'U0EXAMPLE1',
		reader: null,
		claims: null,
		ended: null,
		watchMaxDays: 7,
		offersOptions: true,
		showsChoices: true,
		discreet: false,
		adminContact: null,
		...overrides,
	};
}

/** A question as it was announced. */
export function askedContent(question: QuestionView): Asked {
	return { question, readAt: 0 };
}
