import { z } from 'zod';
import { helpMessage } from '../../screens/help.ts';
import { chooseQuestion, chosenTextHelp, filesHelp } from '../../screens/thread-reply.ts';
import type { MessageContent } from '../../slack/blocks.ts';
import { ACTIONS, CALLBACKS, decodeTextTarget } from '../../slack/ids.ts';
import { type AllowedRequest, ifAllowed, type PersonRequest, type Task } from '../../slack/request.ts';
import type { SessionFlow } from '../session/session-flow.ts';
import { createOffers } from './offers.ts';
import { registerThreadReplies } from './thread-replies.ts';

/** Registers *Use as answer*, and mentions of the app. A message opens no modal: it gets a button. */
export function registerTextAsAnswer(
	core: Parameters<typeof createOffers>[0] & Parameters<typeof registerThreadReplies>[0] & { flow: SessionFlow },
): void {
	const { listen, flow, drafting, reply } = core;
	const offers = createOffers(core);
	registerThreadReplies(core, offers);

	function replying(
		{ channelId }: PersonRequest,
		contentFor: (request: AllowedRequest) => MessageContent | Promise<MessageContent>,
	): Task {
		return ifAllowed(channelId, async (request) => void (await reply.toPerson(request, await contentFor(request))));
	}

	listen.message('app_mention', async (asked, event) => {
		return (await offers.offerOf(asked, event)) ?? replying(asked, () => helpMessage());
	});

	listen.valued(ACTIONS.useText, decodeTextTarget, async (request, { id, ...target }) => {
		const { draft = null, text = null } = (await drafting.keptAside(request.person, id)) ?? {};
		// The form opens also without the text, which may be submitted or removed by now.
		const chosen = text === null ? null : { text, givenFor: draft, withFiles: false };
		return flow.open(request, { ...target, toAnswer: true, chosen: async () => chosen });
	});

	listen.shortcut(CALLBACKS.useAsAnswer, async (request, body) => {
		const { message } = z.object({ message: z.unknown() }).parse(body);
		if (offers.isOurs(message)) return replying(request, () => chosenTextHelp('ours'));
		const withFiles = offers.hasFiles(message);
		const [found, ...others] = await offers.findWatches(request);
		if (!offers.hasText(message)) {
			const about = found && { sessionId: found.watch.session.sessionId, name: found.snapshot?.name ?? '' };
			return replying(request, () => {
				const files = withFiles ? filesHelp(core, about ?? null) : null;
				return files ?? chosenTextHelp('no_text');
			});
		}
		if (found === undefined)
			return replying(request, async (allowed) => {
				const text = await offers.textOf(allowed, message);
				const { offered, left, onlySecret } = await offers.questionsFor(allowed, text);
				if (offered.length > 0) return chooseQuestion(text, offered, left);
				return chosenTextHelp(onlySecret ? 'secret' : 'no_session');
			});
		if (others.length > 0) return replying(request, () => chosenTextHelp('several'));
		const { sessionId } = found.watch.session;
		const chosen = async () => ({ text: await offers.textOf(request, message), givenFor: null, withFiles });
		return flow.open(request, { sessionId, messageIndex: null, toAnswer: true, chosen });
	});
}
