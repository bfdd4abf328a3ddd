import { createHash } from 'node:crypto';
import type { InboxDisplay, ShowOutcome } from '../inbox/ports.ts';
import { homeView, inboxModal } from './blocks/inbox.ts';
import type { ReceiptContext } from './blocks/receipt.ts';
import { type SlackClients, slackFailure } from './clients.ts';

interface Dependencies {
	readonly clients: SlackClients;
	/** The setting `QUICK_ANSWERS`: whether questions offer short options as buttons. */
	readonly quickAnswers: boolean;
	readonly receiptContext: () => ReceiptContext;
}

const MINUTE_MS = 60_000;
/** Nobody sees this view any more, or there is no such person. */
const GONE = new Set(['not_found', 'view_not_found', 'user_not_found']);
/** The same view would be refused again. `not_enabled`: the app's manifest has no Home tab. */
const REFUSED = new Set(['invalid_arguments', 'invalid_blocks', 'invalid_view', 'view_too_large', 'not_enabled']);

/** Shows inboxes: in the Home tab by `views.publish`, in a window by `views.update`. */
export function createInboxDisplay({ clients, quickAnswers, receiptContext }: Dependencies): InboxDisplay {
	return {
		prepare(inbox, content, now) {
			const { person, viewId } = inbox;
			// All ages change in the same moment.
			const minute = Math.floor(now / MINUTE_MS) * MINUTE_MS;
			const model = { inbox, content, quickAnswers, receipt: { ...receiptContext(), now: minute } };
			const home = viewId === null ? homeView(model) : null;
			const view = home ?? inboxModal(model);
			return {
				key: createHash('sha256').update(JSON.stringify(view)).digest('base64url').slice(0, 22),
				async send({ isAsked }) {
					const { views } = isAsked ? clients.people : clients.background;
					try {
						if (home !== null) await views.publish({ user_id: person.userId, view: home });
						else await views.update({ view_id: viewId ?? '', view });
						return { kind: 'shown' };
					} catch (error) {
						return outcomeOf(error);
					}
				},
			};
		},
	};
}

function outcomeOf(error: unknown): ShowOutcome {
	const { code, retryAfterMs } = slackFailure(error);
	if (retryAfterMs !== null) return { kind: 'later', ms: retryAfterMs, limited: true };
	if (GONE.has(code)) return { kind: 'gone' };
	return REFUSED.has(code) ? { kind: 'refused', code } : { kind: 'later', ms: null, limited: false };
}
