import type { AskedContent, PostContext } from '../../../src/slack/blocks/watch-posts.ts';
import type { QuestionView } from '../../../src/watches/session-snapshot.ts';

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
		alone: null,
		offersOptions: true,
		showsChoices: true,
		discreet: false,
		adminContact: null,
		maybeRepeat: false,
		...overrides,
	};
}

/** A question as it was announced. */
export function askedContent(question: QuestionView): AskedContent {
	return { kind: 'question', question, changed: false, readAt: 0 };
}
