import { z } from 'zod';
import type { DraftStore } from '../../answers/ports.ts';
import type { Gatekeeper } from '../../answers/who-may.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { WatchStore } from '../../watches/ports.ts';
import type { SessionView } from '../../watches/session-view.ts';
import { chosenTextHelp, chosenTextOffer } from '../blocks/chosen-text.ts';
import { helpMessage, refusedMessage } from '../blocks/messages.ts';
import { ACTIONS, decodeTarget } from '../ids.ts';
import type { Listen } from '../listen.ts';
import type { Reply } from '../reply.ts';
import { originOf, type PersonRequest } from '../request.ts';
import { KEPT_ASIDE } from '../session/draft-for.ts';
import type { SessionFlow } from '../session/flow.ts';
import { newFormId } from '../session/presenter.ts';
import { typedText } from '../text/from-slack.ts';

const mention = z.object({
	user: z.string(),
	channel: z.string(),
	ts: z.string(),
	thread_ts: z.string().nullish(),
	text: z.string().default(''),
	/** The workspace of whoever wrote it, in shared channels. */
	user_team: z.string().nullish(),
	bot_id: z.null().optional(),
});

interface Dependencies {
	readonly service: string;
	readonly botUserId: string;
	readonly watches: Pick<WatchStore, 'findByPost'>;
	readonly drafts: DraftStore;
	readonly gatekeeper: Gatekeeper;
	readonly flow: SessionFlow;
	readonly reply: Reply;
	readonly adminContact: string | null;
	readonly clock: Clock;
	readonly log: Log;
}

/**
 * Somebody mentions the bot. In the thread of a watched session the message is offered as an answer, only to its author,
 * by a button: a mention carries no trigger. Elsewhere they get help. Talk without a mention is nobody's answer.
 */
export function registerMention(listen: Listen, deps: Dependencies): void {
	const { service, botUserId, watches, drafts, gatekeeper, flow, reply, adminContact, clock, log } = deps;

	async function offer(request: PersonRequest, sessionId: string, view: SessionView | null, text: string) {
		const question = view?.question ?? null;
		const open = question?.items.map((item, position) => ({ item, position })).filter(({ item }) => item.open) ?? [];
		const target = open.find(({ item }) => !item.secret);
		if (question === null || open.length === 0) return reply.toPerson(request, chosenTextHelp('nothing_open'));
		if (target === undefined) return reply.toPerson(request, chosenTextHelp('secret'));
		const formId = newFormId();
		await drafts.save({
			formId,
			person: request.person,
			question: { service, sessionId, messageIndex: KEPT_ASIDE },
			fingerprint: question.fingerprint,
			values: { [target.position]: text },
			updatedAt: clock.now(),
		});
		return reply.toPerson(request, chosenTextOffer(formId, { sessionId, messageIndex: question.messageIndex }, text));
	}

	listen.event('app_mention', async (event, teamId) => {
		const parsed = mention.safeParse(event);
		if (!parsed.success) return;
		const { user, channel, ts, thread_ts: threadTs, text, user_team: userTeam } = parsed.data;
		const request: PersonRequest = {
			id: ts,
			person: { teamId: userTeam ?? teamId, userId: user },
			channelId: channel,
			threadTs: threadTs ?? null,
			messageTs: ts,
			wroteInThread: threadTs != null && threadTs !== ts,
			triggerId: null,
			responseUrl: null,
			log: log.child({ request: ts, user }),
		};
		const verdict = await gatekeeper.check(request.person, channel);
		if (!verdict.allowed) {
			await reply.toPerson(request, refusedMessage(verdict.refusal, adminContact));
			return;
		}
		const found = threadTs == null ? null : await watches.findByPost(teamId, channel, threadTs);
		const said = typedText(text, botUserId);
		if (found === null || said === '') {
			await reply.toPerson(request, helpMessage('asked'));
			return;
		}
		await offer(request, found.watch.session.sessionId, found.view, said);
	});

	listen.action(ACTIONS.useText, async (request, press) => {
		const [formId = '', ...rest] = (press.value ?? '').split('|');
		const target = decodeTarget(rest.join('|'));
		const draft = await drafts.get(formId);
		if (target === null) return;
		const isOwn = draft?.person.userId === request.person.userId && draft.person.teamId === request.person.teamId;
		const text = isOwn ? Object.values(draft?.values ?? {})[0] : undefined;
		// Submitted or forgotten meanwhile: the form opens all the same.
		await flow.open(request, {
			...target,
			toAnswer: true,
			origin: originOf(request),
			...(text === undefined ? {} : { text }),
		});
	});
}
