import { createHash } from 'node:crypto';
import type { InboxContent } from '../inbox/content.ts';
import type { Inbox } from '../inbox/inbox.ts';
import { homeView, inboxModal } from './blocks/inbox.ts';
import type { ReceiptContext } from './blocks/receipt.ts';
import { type SlackClients, slackFailure } from './clients.ts';

export type ShowOutcome =
	| { readonly kind: 'shown' }
	/** Nobody can see it any more: the window was closed, or the person is unknown. */
	| { readonly kind: 'gone' }
	/** Slack refuses the content or the surface: the same call fails again. */
	| { readonly kind: 'refused'; readonly code: string }
	/** `ms`: the wait that Slack asks for. `limited`: Slack limits these calls for the whole workspace. */
	| { readonly kind: 'later'; readonly ms: number | null; readonly limited: boolean };

const MINUTE_MS = 60_000;
/** Nobody sees this view any more, or there is no such person. */
const GONE = new Set(['not_found', 'view_not_found', 'user_not_found']);
/** The same view would be refused again. `not_enabled`: the app's manifest has no Home tab. */
const REFUSED = new Set(['invalid_arguments', 'invalid_blocks', 'invalid_view', 'view_too_large', 'not_enabled']);

/**
 * Shows inboxes: in the Home tab by `views.publish`, in a window by `views.update`.
 * @param quickAnswers `QUICK_ANSWERS`: whether questions offer short options as buttons
 */
export function createInboxDisplay(clients: SlackClients, quickAnswers: boolean, receiptContext: () => ReceiptContext) {
	return {
		/** Ages in the content change once a minute, all in the same moment. */
		prepare(inbox: Inbox, content: InboxContent, now: number) {
			const { person, viewId } = inbox;
			const minute = Math.floor(now / MINUTE_MS) * MINUTE_MS;
			const model = { inbox, content, quickAnswers, receipt: { ...receiptContext(), now: minute } };
			const home = viewId === null ? homeView(model) : null;
			const view = home ?? inboxModal(model);
			return {
				/** Equal keys look the same. */
				key: createHash('sha256').update(JSON.stringify(view)).digest('base64url').slice(0, 22),
				/** `isAsked`: the person waits for it. */
				async send({ isAsked }: { isAsked: boolean }): Promise<ShowOutcome> {
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

export type InboxDisplay = ReturnType<typeof createInboxDisplay>;

function outcomeOf(error: unknown): ShowOutcome {
	const { code, retryAfterMs } = slackFailure(error);
	if (retryAfterMs !== null) return { kind: 'later', ms: retryAfterMs, limited: true };
	if (GONE.has(code)) return { kind: 'gone' };
	return REFUSED.has(code) ? { kind: 'refused', code } : { kind: 'later', ms: null, limited: false };
}
