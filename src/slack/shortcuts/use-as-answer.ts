import { z } from 'zod';
import type { WatchStore } from '../../watches/ports.ts';
import { chosenTextHelp } from '../blocks/chosen-text.ts';
import { CALLBACKS } from '../ids.ts';
import type { Listen } from '../listen.ts';
import type { Reply } from '../reply.ts';
import { originOf, type PersonRequest } from '../request.ts';
import type { SessionFlow } from '../session/flow.ts';
import { ifAllowed } from '../task.ts';
import { typedText } from '../text/from-slack.ts';

const shortcut = z.object({ message: z.object({ text: z.string().default(''), ts: z.string() }) });

interface Dependencies {
	readonly watches: Pick<WatchStore, 'findByPost'>;
	/** A message that mentions us is meant without that. */
	readonly botUserId: string;
	readonly flow: SessionFlow;
	readonly reply: Reply;
}

/** The message shortcut "Use as answer": opens the form of the thread's session with the message in it. */
export function registerUseAsAnswer(listen: Listen, { botUserId, watches, flow, reply }: Dependencies): void {
	async function sessionOf(request: PersonRequest): Promise<string | null> {
		const { channelId, threadTs, person } = request;
		if (channelId === null || threadTs === null) return null;
		const found = await watches.findByPost(person.teamId, channelId, threadTs);
		return found?.watch.session.sessionId ?? null;
	}

	listen.shortcut(CALLBACKS.useAsAnswer, async (request, body) => {
		const parsed = shortcut.safeParse(body);
		const text = parsed.success ? typedText(parsed.data.message.text, botUserId) : '';
		const sessionId = await sessionOf(request);
		if (sessionId === null || text === '') {
			return ifAllowed(request.channelId, async (allowed) => {
				await reply.toPerson(allowed, chosenTextHelp(text === '' ? 'no_text' : 'no_session'));
			});
		}
		return flow.open(request, { sessionId, messageIndex: null, toAnswer: true, origin: originOf(request), text });
	});
}
