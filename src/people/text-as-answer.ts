import { z } from 'zod';
import { chooseQuestion, chosenTextHelp, filesHelp } from '../screens/reply.ts';
import { helpMessage } from '../screens/watch.ts';
import { ACTIONS, CALLBACKS, decodeCarriage } from '../slack/ids.ts';
import { ifAllowed, type PersonRequest } from '../slack/request.ts';
import type { Forms } from './drafts.ts';
import { createOffers } from './offers.ts';
import { registerReplies } from './replies.ts';

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
		const { draft: textFor = null, text = null } = (await drafting.keptAside(request.person, id)) ?? {};
		return flow.open(request, { ...target, toAnswer: true, text, textFor });
	});

	listen.shortcut(CALLBACKS.useAsAnswer, async (request, body) => {
		const { message } = z.object({ message: z.unknown() }).parse(body);
		// Before the text: reading that may ask Slack for names.
		if (offers.isOurs(message))
			return ifAllowed(
				request.channelId,
				async (allowed) => void (await reply.toPerson(allowed, chosenTextHelp('ours'))),
			);
		const [text, withFiles] = [await offers.textOf(request, message), offers.hasFiles(message)];
		const [found, ...others] = await offers.findWatches(request);
		if (found === undefined && text !== '')
			return ifAllowed(request.channelId, async (allowed) => {
				const { offered, left, onlySecret } = await offers.questionsFor(allowed, text);
				const none = chosenTextHelp(onlySecret ? 'secret' : 'no_session');
				await reply.toPerson(allowed, offered.length === 0 ? none : chooseQuestion(text, offered, left));
			});
		if (found === undefined || others.length > 0 || text === '')
			return ifAllowed(request.channelId, async (allowed) => {
				const why = text === '' ? 'no_text' : found === undefined ? 'no_session' : 'several';
				const about = found && { sessionId: found.watch.session.sessionId, name: found.view?.name ?? '' };
				const files = text === '' && withFiles ? filesHelp(core, about ?? null) : null;
				await reply.toPerson(allowed, files ?? chosenTextHelp(why));
			});
		const { sessionId } = found.watch.session;
		return flow.open(request, { sessionId, messageIndex: null, toAnswer: true, text, withFiles });
	});
}
