import type { Drafting } from '../drafting.ts';
import { ACTIONS, CALLBACKS } from '../ids.ts';
import type { Listen } from '../listen.ts';
import type { SessionFlow } from '../session/flow.ts';
import { channelOf, forAnybody, ifAllowed, NOTHING_TO_DO, silently } from '../task.ts';

/** Typing in a form, and closing views. Who may not answer is not interrupted: they hear it at "Send answer". */
export function registerTyping(listen: Listen, { drafting, flow }: { drafting: Drafting; flow: SessionFlow }): void {
	for (const id of [ACTIONS.field, ACTIONS.otherText]) {
		listen.action(id, (asked, { view, blockId }) => {
			if (view === null) return NOTHING_TO_DO;
			return ifAllowed(channelOf(asked, view), ({ person }) => drafting.typed(person, view, blockId), silently);
		});
	}
	listen.closed(CALLBACKS.loading, (_, view) => forAnybody(async () => flow.left(view.id)));
	listen.closed(CALLBACKS.session, (asked, view) => {
		flow.left(view.id);
		return ifAllowed(
			channelOf(asked, view),
			({ person }) => drafting.closed(person, view),
			// Whoever they are, they are not answering any more.
			() => drafting.left(asked.person, view),
		);
	});
	// Receipts ask to hear of their closing so that Slack keeps telling when a view is gone; there is nothing to do.
	listen.closed(CALLBACKS.receipt, () => NOTHING_TO_DO);
}
