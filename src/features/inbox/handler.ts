import { z } from 'zod';
import { hashOf } from '../../core/basics.ts';
import { codeOf, type SlackClients, slackFailure, slackOutcome } from '../../slack/clients.ts';
import { ACTIONS, CALLBACKS } from '../../slack/ids.ts';
import type { HandlerContext } from '../../slack/listen.ts';
import {
	forAnybody,
	homeOf,
	ifAllowedAnywhere,
	inboxOf,
	logAccess,
	logged,
	NOTHING_TO_DO,
	type PersonRequest,
	windowOf,
} from '../../slack/request.ts';
import type { ReceiptContext } from '../answer/receipt-view.ts';
import type { createInboxes, InboxDisplay, ShowOutcome } from './inboxes.ts';
import { homeView, INBOX_LOADING, inboxModal } from './view.ts';

/** The other tab holds the messages. */
const HOME_EVENT = z.object({ tab: z.literal('home') });
const MEMBER_EVENT = z.object({ user: z.string() });

/** Registers the Home tab and the buttons of inboxes, which `inboxes` fills; the returned function is for `/session inbox`. */
export function registerInbox(core: HandlerContext & { inboxes: ReturnType<typeof createInboxes> }) {
	const { listen, clients, personReads, reply, inboxes, memberships } = core;

	/** Shows the inbox, or why there is none. Who is too fast keeps what they see, because they have just got it. */
	async function showHome(request: PersonRequest, refusal: string | null): Promise<void> {
		const { person, log } = request;
		const home = homeOf(person);
		const tooFast = await personReads.turn(request);
		if (tooFast !== null) return logAccess(request, 'inbox', null, tooFast.code);
		if (refusal !== null) await inboxes.closed(home.id);
		const code = refusal ?? (await inboxes.ask(home, 0).then(() => null, codeOf));
		if (code !== null) {
			const view = homeView(reply.words(code).line);
			await clients.people.views.publish({ user_id: person.userId, view }).catch((error: unknown) => {
				log.warn('home_not_filled', { code: slackFailure(error).code });
			});
		}
		logAccess(request, 'inbox', null, code ?? 'opened');
	}

	listen.message('app_home_opened', (asked, event) => {
		if (!HOME_EVENT.safeParse(event).success) return null;
		return {
			...ifAllowedAnywhere((request) => showHome(request, null)),
			refused: (refusal) => showHome(asked, codeOf(refusal)),
		};
	});

	listen.action([ACTIONS.inboxOlder, ACTIONS.inboxNewer, ACTIONS.inboxRefresh], (asked, { view, number: page }) => {
		const place = inboxOf(asked, view);
		if (place === null) return NOTHING_TO_DO;
		const turnPage = async (request: PersonRequest) => {
			logAccess(request, 'inbox', null, 'opened');
			await inboxes.ask(place, page);
		};
		return ifAllowedAnywhere(turnPage, { takesTurn: true, asksInbox: true });
	});

	listen.closed(CALLBACKS.inbox, ({ person }, view) => forAnybody(() => inboxes.closed(windowOf(person, view.id).id)));

	for (const name of ['member_joined_channel', 'member_left_channel']) {
		listen.event(name, async (event) => {
			const { data } = MEMBER_EVENT.safeParse(event);
			if (data === undefined) return;
			await memberships.forget(data.user);
			inboxes.touch();
		});
	}

	return (request: PersonRequest) =>
		logged(request, 'inbox', null, async () => {
			const handle = await reply.openWindow(request, 'inbox', () => inboxModal(INBOX_LOADING), { needsId: true });
			if (handle?.id == null) return 'no_window';
			await inboxes.ask(windowOf(request.person, handle.id), 0);
			return 'opened';
		});
}

const MINUTE_MS = 60_000;
/** Nobody sees this view any more, or there is no such person. */
const GONE = new Set(['not_found', 'view_not_found', 'user_not_found']);
/** The same view would be refused again. `not_enabled`: the app's manifest has no Home tab. */
const REFUSED = new Set(['invalid_arguments', 'invalid_blocks', 'invalid_view', 'view_too_large', 'not_enabled']);

/** Shows inboxes: in the Home tab by `views.publish`, in a window by `views.update`. */
export function createInboxDisplay(clients: SlackClients, receiptContext: () => ReceiptContext): InboxDisplay {
	return (inbox, content, now) => {
		const { person, viewId } = inbox;
		// Ages in the content change once a minute, all in the same moment.
		const model = { inbox, content, receipt: { ...receiptContext(), now: Math.floor(now / MINUTE_MS) * MINUTE_MS } };
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
