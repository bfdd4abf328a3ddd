import { noticedView } from './screens/answer.ts';
import { createQuestionFacts } from './screens/facts.ts';
import { createHandOverDrawing } from './screens/hand-over-posts.ts';
import { createInboxDrawing } from './screens/inbox.ts';
import type { InboxBuilder } from './screens/inbox-content.ts';
import { createReceiptDrawing, createReceiptView } from './screens/receipt.ts';
import { createReminderDrawing } from './screens/reminder-posts.ts';
import { createSettingsDrawing } from './screens/settings-posts.ts';
import { createWatchDrawing } from './screens/watch-posts.ts';
import type { MayAct } from './slack/access-policy.ts';
import type { WhoMayAnswer } from './slack/answerers.ts';
import type { SlackCore } from './slack/slack-core.ts';
import type { UserGroupList } from './slack/user-groups.ts';
import type { Store } from './stores.ts';
import type { Drawing, Drawn, DuePost } from './surfaces/post.ts';
import type { ViewDrawing } from './surfaces/views.ts';

/** What drawing asks of Slack. */
export interface DrawingParts {
	readonly mayAct: MayAct;
	readonly whoMayAnswer: Pick<WhoMayAnswer, 'of' | 'stillThere'>;
	readonly userGroups: UserGroupList;
}

/** Draws posts by a table of all kinds. The compiler reports a kind that is missing. */
export function createDrawing(
	core: SlackCore<Pick<Store, 'answers' | 'views' | 'watches' | 'channelSettings' | 'posts'>> & DrawingParts,
) {
	const facts = createQuestionFacts(core, core);
	const drawing: Drawing = {
		...createWatchDrawing(core, facts),
		...createReminderDrawing(core, facts),
		...createHandOverDrawing(facts),
		...createReceiptDrawing(core),
		...createSettingsDrawing(core, core.userGroups),
	};
	return (due: DuePost): Promise<Drawn> => {
		const { content } = due.post;
		const draw: (content: never, due: DuePost) => Promise<Drawn> = drawing[content.kind];
		return draw(content as never, due);
	};
}

/** Draws all views that are redrawn when something changes. `inboxes`: the content of inboxes. */
export function createViewDrawing(core: SlackCore<Store>, inboxes: InboxBuilder): ViewDrawing {
	return {
		inbox: createInboxDrawing(core, inboxes),
		form(view, standing) {
			const by = standing?.fingerprint === view.fingerprint ? standing?.person.userId : null;
			return noticedView(core.store.views.formOf(view), view.person.userId, by ?? null, view.learned);
		},
		receipt: createReceiptView(core, inboxes.nextOf),
	};
}
