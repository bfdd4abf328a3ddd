import { z } from 'zod';
import type { SessionSnapshot } from '../../questions/session-snapshot.ts';
import { ACTIONS, CALLBACKS, decodeCarriage, newFormId } from '../../slack/ids.ts';
import type { HandlerContext } from '../../slack/listen.ts';
import { type AllowedRequest, ifAllowed, type PersonRequest } from '../../slack/request.ts';
import { typedText } from '../../slack/text.ts';
import { chosenTextHelp, chosenTextOffer, helpMessage } from '../watch/view.ts';
import type { WatchStore } from '../watch/watch-store.ts';
import type { Drafting, Forms } from './drafts.ts';

const MESSAGE = z.object({ text: z.string() }).catch({ text: '' });
const SHORTCUT_BODY = z.object({ message: MESSAGE });

/** Registers the shortcut "Use as answer" and mentions in watched threads. A mention opens no modal: it gets a button. */
export function registerTextAsAnswer({
	listen,
	flow,
	drafting,
	reply,
	botUserId,
	store,
}: HandlerContext<{ watches: WatchStore }> & { flow: Forms; drafting: Drafting }): void {
	async function findWatch({ channelId, threadTs, person }: PersonRequest) {
		if (channelId === null || threadTs === null) return null;
		return store.watches.findByPost({ teamId: person.teamId, channelId }, threadTs);
	}

	async function offer(request: AllowedRequest, sessionId: string, view: SessionSnapshot | null, text: string) {
		const question = view?.question ?? null;
		if (!question?.items.some((item) => item.open)) return reply.toPerson(request, chosenTextHelp('nothing_open'));
		const position = question.items.findIndex((item) => item.open && !item.secret);
		if (position === -1) return reply.toPerson(request, chosenTextHelp('secret'));
		const formId = newFormId();
		await drafting.keepAside(request.person, { formId, sessionId }, question, { [position]: text });
		return reply.toPerson(request, chosenTextOffer(formId, { sessionId, messageIndex: question.messageIndex }, text));
	}

	listen.message('app_mention', ({ channelId }, event) => {
		const text = typedText(MESSAGE.parse(event).text, botUserId);
		return ifAllowed(channelId, async (request) => {
			const found = await findWatch(request);
			if (found === null || text === '') await reply.toPerson(request, helpMessage('asked'));
			else await offer(request, found.watch.session.sessionId, found.view, text);
		});
	});

	listen.action(ACTIONS.useText, async (request, press) => {
		const carriage = decodeCarriage(press.value);
		if (carriage === null) return null;
		const { id, ...target } = carriage;
		// The form opens also without the text, which may have been submitted or removed meanwhile.
		return flow.open(request, { ...target, toAnswer: true, text: await drafting.keptAside(request.person, id) });
	});

	listen.shortcut(CALLBACKS.useAsAnswer, async (request, body) => {
		const text = typedText(SHORTCUT_BODY.parse(body).message.text, botUserId);
		const sessionId = (await findWatch(request))?.watch.session.sessionId;
		if (sessionId === undefined || text === '') {
			return ifAllowed(request.channelId, async (allowed) => {
				await reply.toPerson(allowed, chosenTextHelp(text === '' ? 'no_text' : 'no_session'));
			});
		}
		return flow.open(request, { sessionId, messageIndex: null, toAnswer: true, text });
	});
}
