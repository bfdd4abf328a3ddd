import { z } from 'zod';
import { homeView, INBOX_LOADING, INBOX_WAITING, inboxModal } from '../../screens/inbox.ts';
import type { InboxStore } from '../../screens/inbox-store.ts';
import { isProvenRefusal } from '../../slack/access-policy.ts';
import { slackCodeOf, slackFailure } from '../../slack/clients.ts';
import type { HandlerContext } from '../../slack/context.ts';
import { ACTIONS, CALLBACKS } from '../../slack/ids.ts';
import {
	forAnybody,
	homeOf,
	type InboxPlace,
	ifAllowedAnywhere,
	type PersonRequest,
	type Task,
	windowOf,
} from '../../slack/request.ts';
import type { ViewStore } from '../../surfaces/view-store.ts';
import { registerSnooze } from './snooze.ts';

/** Slack sends the event for the tab *Messages*, too. */
const HOME_EVENT = z.object({ tab: z.literal('home') });
const CHANGE_EVENT = z.object({ user: z.object({ id: z.string() }) });
const MEMBER_EVENT = z.object({ user: z.string() });

/** Registers the Home tab and the buttons of inboxes. Returns what `/session` without an id does. */
export function registerInbox(core: HandlerContext<{ inboxes: InboxStore; views: ViewStore }>) {
	registerSnooze(core);
	const { listen, clients, clock, personReads, reply, memberships, store } = core;
	const { views } = store;

	const ask = (place: InboxPlace) => views.ask(place, 0, clock.now());

	/** Has the Home tab drawn, or shows there why it is refused. A person who is too fast keeps what they see. */
	async function showHome(request: PersonRequest, refusal: string | null): Promise<void> {
		const { person, log } = request;
		const home = homeOf(person);
		if ((await personReads.turn(request)) !== null) return;
		const isOver = isProvenRefusal(refusal);
		if (isOver) await views.remove(home);
		const code = isOver ? refusal : await ask(home).then(() => null, slackCodeOf);
		if (code !== null) {
			const view = homeView(reply.words(code).line);
			await clients.people.views.publish({ user_id: person.userId, view }).catch(async (error: unknown) => {
				log.warn('home_not_filled', { code: slackFailure(error).code });
				await ask(home);
			});
		}
	}

	listen.message('app_home_opened', (asked, event) => {
		if (!HOME_EVENT.safeParse(event).success) return null;
		return {
			...ifAllowedAnywhere((request) => showHome(request, null), { need: 'home' }),
			refused: (refusal) => showHome(asked, slackCodeOf(refusal)),
		};
	});

	listen.action([ACTIONS.inboxOlder, ACTIONS.inboxNewer, ACTIONS.inboxRefresh], (_, { number: page }) =>
		ifAllowedAnywhere(async () => {}, { takesTurn: true, inboxPage: page }),
	);

	listen.closed(CALLBACKS.inbox, ({ person }, view) => forAnybody(() => views.remove(windowOf(person, view.id))));

	for (const name of ['member_joined_channel', 'member_left_channel']) {
		listen.event(name, async (event) => {
			const { data } = MEMBER_EVENT.safeParse(event);
			if (data === undefined) return;
			await memberships.forget(data.user);
			await views.markInboxes(clock.now());
		});
	}

	listen.event('user_change', async (event) => core.directory.changed(CHANGE_EVENT.parse(event).user.id));

	async function openInbox(request: PersonRequest): Promise<void> {
		const handle = await reply.openWindow(request, 'inbox', () => inboxModal(INBOX_LOADING), { needsId: true });
		if (handle?.id != null) await ask(windowOf(request.person, handle.id));
	}
	return (): Task => ifAllowedAnywhere(openInbox, { window: inboxModal(INBOX_WAITING) });
}
