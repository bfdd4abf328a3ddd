import type { Core } from '../core.ts';
import { hashOf, MINUTE_MS } from '../kernel/basics.ts';
import { homeView, inboxModal } from '../screens/inbox.ts';
import type { Discovered } from '../screens/inbox-content.ts';
import { receiptContext } from '../screens/receipt.ts';
import { slackOutcome } from '../slack/clients.ts';
import type { HandlerContext } from '../slack/context.ts';
import type { InboxStore } from '../surfaces/inbox-store.ts';
import { createInboxes, type InboxDisplay, type ShowOutcome } from '../surfaces/inboxes.ts';
import { registerOpening } from './inbox-handler.ts';
import { registerSnooze } from './snooze.ts';

/** Keeps inboxes current, and registers what people do in them. `open` is for `/session` alone. */
export function registerInbox(
	core: HandlerContext<{ inboxes: InboxStore }>,
	{ discovered }: { discovered(): Promise<Discovered | null> },
) {
	const { config } = core;
	const inboxes = createInboxes(core, {
		...core,
		onListed: core.directory.onListed,
		// Nobody opens a session from the inbox where only some channels are allowed.
		discovered: async () => (config.ALLOWED_CHANNELS.length > 0 ? null : discovered()),
		display: createInboxDisplay(core),
	});
	registerSnooze(core);
	return { ...inboxes, open: registerOpening(core, inboxes) };
}

/** Nobody sees this view any more, or there is no such person. */
const GONE = new Set(['not_found', 'view_not_found', 'user_not_found']);
/** The same view would be refused again. `not_enabled`: the app's manifest has no Home tab. */
const REFUSED = new Set(['invalid_arguments', 'invalid_blocks', 'invalid_view', 'view_too_large', 'not_enabled']);

/** Shows inboxes: in the Home tab by `views.publish`, in a window by `views.update`. */
function createInboxDisplay(core: Core): InboxDisplay {
	const { clients } = core;
	return (inbox, content, now) => {
		const { person, viewId } = inbox;
		// Ages in the content change once a minute, all in the same moment.
		const receipt = { ...receiptContext(core), now: Math.floor(now / MINUTE_MS) * MINUTE_MS };
		const model = { inbox, content, receipt };
		const home = viewId === null ? homeView(model) : null;
		const view = home ?? inboxModal(model);
		return {
			key: hashOf(JSON.stringify(view)),
			async send({ isAsked }) {
				const { views } = isAsked ? clients.people : clients.background;
				const call: Promise<unknown> =
					home === null
						? views.update({ view_id: viewId ?? '', view })
						: views.publish({ user_id: person.userId, view: home });
				return call.then((): ShowOutcome => ({ kind: 'shown' }), outcomeOf);
			},
		};
	};
}

function outcomeOf(error: unknown): ShowOutcome {
	const outcome = slackOutcome(error);
	if (GONE.has(outcome.code)) return { kind: 'gone' };
	if (outcome.kind === 'later') return outcome;
	return REFUSED.has(outcome.code) ? { kind: 'refused', code: outcome.code } : { kind: 'later', ms: null };
}
