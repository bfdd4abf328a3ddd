import { z } from 'zod';
import type { ActRefusal } from '../../answers/access-policy.ts';
import { homeInboxId, type InboxPlace, windowInboxId } from '../../inbox/inbox.ts';
import type { Inboxes } from '../../inbox/inboxes.ts';
import { noWindow } from '../blocks/commands.ts';
import { errorLine } from '../blocks/errors.ts';
import { homeView, INBOX_LOADING, inboxModal } from '../blocks/inbox.ts';
import type { Memberships } from '../channels.ts';
import { codeOf, slackFailure } from '../clients.ts';
import { ACTIONS, CALLBACKS } from '../ids.ts';
import { TooFastError } from '../person-reads.ts';
import { inboxOf, logAccess, type PersonRequest } from '../request.ts';
import { openView } from '../session/view-handle.ts';
import { forAnybody, ifAllowedAnywhere, inTurn, NOTHING_TO_DO } from '../task.ts';
import type { HandlerContext } from './context.ts';

const HOME_EVENT = z.object({
	user: z.string(),
	channel: z.string(),
	/** The other tab holds the messages. */
	tab: z.literal('home'),
	event_ts: z.string().default(''),
});
const MEMBER_EVENT = z.object({ user: z.string() });

/**
 * Registers the Home tab and the buttons of inboxes; the returned `open` is for `/session inbox`. A handler only notes
 * that the person wants to see their inbox; `src/inbox/inboxes.ts` fills it.
 */
export function registerInbox(
	{ listen, client, personReads, reply, adminContact }: HandlerContext,
	{ inboxes, memberships }: { inboxes: Inboxes; memberships: Memberships },
) {
	/** Says why the Home tab shows no inbox. */
	async function publishNotice({ person, log }: PersonRequest, code: string): Promise<void> {
		const view = homeView(errorLine(code, { adminContact }));
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

	listen.message('app_home_opened', (event) => {
		const { data } = HOME_EVENT.safeParse(event);
		if (data === undefined) return null;
		const { user: userId, channel: channelId, event_ts: ts } = data;
		return {
			written: { userId, claimedTeamId: null, channelId, ts, threadTs: null },
			task: (asked) => ({
				...ifAllowedAnywhere((request) => inHome(request, () => openHome(request))),
				refused: (refusal) => inHome(asked, () => refuseHome(asked, refusal)),
			}),
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

	listen.closed(CALLBACKS.inbox, (_, view) => forAnybody(() => inboxes.closed(windowInboxId(view.id))));

	for (const name of ['member_joined_channel', 'member_left_channel']) {
		listen.event(name, async (event) => {
			const { data } = MEMBER_EVENT.safeParse(event);
			if (data === undefined) return;
			await memberships.forget(data.user);
			inboxes.touch();
		});
	}

	/** Resolves to the outcome for the log. */
	async function openWindow(request: PersonRequest): Promise<string> {
		const permit = await personReads.permit(request);
		if (permit instanceof TooFastError) {
			await reply.failed(request, permit);
			return permit.code;
		}
		const handle = await openView(client, request, { view: inboxModal(INBOX_LOADING) });
		if (handle === null || handle.id === null) {
			await reply.toPerson(request, noWindow('inbox'));
			return 'no_window';
		}
		await inboxes.ask({ id: windowInboxId(handle.id), person: request.person, viewId: handle.id }, 0);
		return 'opened';
	}

	return {
		/** Opens the inbox in a window. */
		async open(request: PersonRequest): Promise<void> {
			const outcome = await openWindow(request).catch((error: unknown) => {
				logAccess(request, 'inbox', null, codeOf(error));
				throw error;
			});
			logAccess(request, 'inbox', null, outcome);
		},
	};
}

export type InboxCommand = ReturnType<typeof registerInbox>;

function homeOf({ person }: PersonRequest): InboxPlace {
	return { id: homeInboxId(person), person, viewId: null };
}
