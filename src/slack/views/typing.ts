import type { Drafting } from '../drafting.ts';
import { ACTIONS, CALLBACKS } from '../ids.ts';
import type { Listen } from '../listen.ts';

/** Typing in a form and closing it. */
export function registerTyping(listen: Listen, { drafting }: { drafting: Drafting }): void {
	for (const id of [ACTIONS.field, ACTIONS.otherText]) {
		listen.action(id, async (request, press) => {
			if (press.view !== null) await drafting.typed(request.person, press.view, press.blockId);
		});
	}
	listen.closed(CALLBACKS.session, (request, view) => drafting.closed(request.person, view));
	// Receipts ask to hear of their closing so that Slack keeps telling when a view is gone; there is nothing to do.
	listen.closed(CALLBACKS.receipt, async () => {});
}
