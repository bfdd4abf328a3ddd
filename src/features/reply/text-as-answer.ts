import { z } from 'zod';
import { ACTIONS, CALLBACKS, decodeCarriage } from '../../slack/ids.ts';
import { ifAllowed, type PersonRequest } from '../../slack/request.ts';
import type { Forms } from '../answer/drafts.ts';
import { helpMessage } from '../watch/view.ts';
import { createOffers } from './offers.ts';
import { registerReplies } from './replies.ts';
import { chosenTextHelp } from './view.ts';

/** Registers "Use as answer", and messages in watched threads. A message opens no modal: it gets a button. */
export function registerReply(
	core: Parameters<typeof createOffers>[0] & Parameters<typeof registerReplies>[0] & { flow: Forms },
): void {
	const { listen, flow, drafting, reply } = core;
	const offers = createOffers(core);
	registerReplies(core, offers);

	listen.message('app_mention', async (asked, event) => {
		const help = async (request: PersonRequest) => void (await reply.toPerson(request, helpMessage()));
		return (await offers.offerOf(asked, event, true)) ?? ifAllowed(asked.channelId, help);
	});

	listen.valued(ACTIONS.useText, decodeCarriage, async (request, { id, ...target }) => {
		// The form opens also without the text, which may be submitted or removed by now.
		const { text = null } = (await drafting.keptAside(request.person, id)) ?? {};
		return flow.open(request, { ...target, toAnswer: true, text });
	});

	listen.shortcut(CALLBACKS.useAsAnswer, async (request, body) => {
		const text = await offers.textOf(request, z.object({ message: z.unknown() }).parse(body).message);
		const [found, ...others] = await offers.findWatches(request);
		if (found === undefined || others.length > 0 || text === '')
			return ifAllowed(request.channelId, async (allowed) => {
				const why = text === '' ? 'no_text' : found === undefined ? 'no_session' : 'several';
				await reply.toPerson(allowed, chosenTextHelp(why));
			});
		return flow.open(request, { sessionId: found.watch.session.sessionId, messageIndex: null, toAnswer: true, text });
	});
}
