import { z } from 'zod';
import type { ActRefusal } from '../../answers/access-policy.ts';
import { homeView, INBOX_LOADING, inboxModal } from '../blocks/inbox.ts';
import { codeOf, slackFailure } from '../clients.ts';
import { ACTIONS, CALLBACKS } from '../ids.ts';
import { homeOf, inboxOf, logAccess, logged, type PersonRequest, windowOf } from '../request.ts';
import { forAnybody, ifAllowedAnywhere, inTurn, NOTHING_TO_DO } from '../task.ts';
import type { HandlerContext } from './context.ts';

/** The other tab holds the messages. */
const HOME_EVENT = z.object({ tab: z.literal('home') });
const MEMBER_EVENT = z.object({ user: z.string() });

/**
 * Registers the Home tab and the buttons of inboxes; the returned function is for `/session inbox`. A handler only notes
 * that the person wants to see their inbox; `src/inbox/inboxes.ts` fills it.
 */
export function registerInbox(core: HandlerContext) {
	const { listen, client, personReads, reply, inboxes, memberships } = core;

	/** Says why the Home tab shows no inbox. */
	async function publishNotice({ person, log }: PersonRequest, code: string): Promise<void> {
		const view = homeView(reply.words(code).line);
		await client.views.publish({ user_id: person.userId, view }).catch((error: unknown) => {
			log.warn({ code: slackFailure(error).code }, 'the Home tab could not be filled');
		});
	}

	/** Calls `show` unless the person is too fast: they keep what they see, because they have just got it. */
	async function inHome(request: PersonRequest, show: () => Promise<string>): Promise<void> {
		const tooFast = await personReads.turn(request);
		logAccess(request, 'inbox', null, tooFast === null ? await show() : tooFast.code);
	}

	async function openHome(request: PersonRequest): Promise<string> {
		try {
			await inboxes.ask(homeOf(request), 0);
			return 'opened';
		} catch (error) {
			const code = codeOf(error);
			await publishNotice(request, code);
			return code;
		}
	}

	async function refuseHome(request: PersonRequest, refusal: ActRefusal): Promise<string> {
		await inboxes.closed(homeOf(request).id);
		await publishNotice(request, refusal);
		return refusal;
	}

	listen.message('app_home_opened', (asked, event) => {
		if (!HOME_EVENT.safeParse(event).success) return null;
		return {
			...ifAllowedAnywhere((request) => inHome(request, () => openHome(request))),
			refused: (refusal) => inHome(asked, () => refuseHome(asked, refusal)),
		};
	});

	for (const id of [ACTIONS.inboxOlder, ACTIONS.inboxNewer, ACTIONS.inboxRefresh]) {
		listen.action(id, (asked, { view, value }) => {
			const place = inboxOf(asked, view);
			if (place === null) return NOTHING_TO_DO;
			const page = Math.max(0, Math.floor(Number(value)) || 0);
			return inTurn(
				ifAllowedAnywhere(async (request) => {
					logAccess(request, 'inbox', null, 'opened');
					await inboxes.ask(place, page);
				}),
			);
		});
	}

	listen.closed(CALLBACKS.inbox, (asked, view) => forAnybody(() => inboxes.closed(windowOf(asked, view.id).id)));

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
			const loading = () => inboxModal(INBOX_LOADING);
			const handle = await reply.openWindow(request, 'inbox', loading, { needsId: true });
			if (handle?.id == null) return 'no_window';
			await inboxes.ask(windowOf(request, handle.id), 0);
			return 'opened';
		});
}
