import type { Drafting } from '../drafting.ts';
import { ACTIONS, CALLBACKS } from '../ids.ts';
import type { Listen } from '../listen.ts';
import type { SessionFlow } from '../session/flow.ts';

/** Typing in a form, and closing views. */
export function registerTyping(listen: Listen, { drafting, flow }: { drafting: Drafting; flow: SessionFlow }): void {
	for (const id of [ACTIONS.field, ACTIONS.otherText]) {
		listen.action(id, async (request, press) => {
			if (press.view !== null) await drafting.typed(request.person, press.view, press.blockId);
		});
	}
	listen.closed(CALLBACKS.loading, async (_request, view) => flow.left(view.id));
	listen.closed(CALLBACKS.session, (request, view) => {
		flow.left(view.id);
		return drafting.closed(request.person, view);
	});
	// Receipts ask to hear of their closing so that Slack keeps telling when a view is gone; there is nothing to do.
	listen.closed(CALLBACKS.receipt, async () => {});
}
