import { z } from 'zod';
import type { DraftStore } from '../../answers/ports.ts';
import type { WatchStore } from '../../watches/ports.ts';
import type { SessionSnapshot } from '../../watches/session-snapshot.ts';
import { chosenTextHelp, chosenTextOffer, helpMessage } from '../blocks/messages.ts';
import { ACTIONS, CALLBACKS, decodeTarget } from '../ids.ts';
import { isSamePerson, type PersonRequest } from '../request.ts';
import { KEPT_ASIDE, newFormId } from '../session/drafts.ts';
import { type AllowedRequest, ifAllowed, NOTHING_TO_DO } from '../task.ts';
import { typedText } from '../text.ts';
import type { HandlerContext } from './context.ts';

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
const shortcut = z.object({ message: z.object({ text: z.string().default(''), ts: z.string() }) });

/**
 * A message becomes the text of an answer, in the thread of a watched session: by the shortcut "Use as answer", or by a
 * mention of the bot. A mention carries no trigger, so its author alone gets a button; elsewhere they get help. Messages
 * without a mention are nobody's answer.
 */
export function registerTextAsAnswer(
	{ listen, service, flow, personReads, reply, clock }: HandlerContext,
	{ botUserId, watches, drafts }: { botUserId: string; watches: Pick<WatchStore, 'findByPost'>; drafts: DraftStore },
): void {
	async function watchedIn({ channelId, threadTs, person }: PersonRequest) {
		if (channelId === null || threadTs === null) return null;
		return watches.findByPost({ teamId: person.teamId, channelId }, threadTs);
	}

	async function offer(request: AllowedRequest, sessionId: string, view: SessionSnapshot | null, text: string) {
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

	/**
	 * Whether a mention is answered: it brings no response_url, and Slack takes about 100 ephemeral messages a minute for
	 * all people together.
	 */
	async function isInTime(request: PersonRequest): Promise<boolean> {
		const tooFast = await personReads.turn(request);
		if (tooFast !== null) await reply.failed(request, tooFast);
		return tooFast === null;
	}

	listen.message('app_mention', (event) => {
		const parsed = mention.safeParse(event);
		if (!parsed.success) return null;
		const { user: userId, channel: channelId, ts, thread_ts: thread, text, user_team: team } = parsed.data;
		const threadTs = thread ?? null;
		return {
			written: { userId, claimedTeamId: team ?? null, channelId, ts, threadTs },
			task(asked) {
				const answer = async (request: AllowedRequest) => {
					if (!(await isInTime(request))) return;
					const found = await watchedIn(request);
					const said = typedText(text, botUserId);
					if (found === null || said === '') await reply.toPerson(request, helpMessage('asked'));
					else await offer(request, found.watch.session.sessionId, found.view, said);
				};
				return ifAllowed(channelId, answer, async (refusal) => {
					if (await isInTime(asked)) await reply.refused(asked, refusal);
				});
			},
		};
	});

	listen.action(ACTIONS.useText, async (request, press) => {
		const [formId = '', ...rest] = (press.value ?? '').split('|');
		const target = decodeTarget(rest.join('|'));
		if (target === null) return NOTHING_TO_DO;
		const draft = await drafts.get(formId);
		const isOwn = draft !== null && isSamePerson(request, draft.person);
		const text = isOwn ? Object.values(draft.values)[0] : undefined;
		// Submitted or forgotten meanwhile: the form opens all the same.
		return flow.open(request, { ...target, toAnswer: true, ...(text === undefined ? {} : { text }) });
	});

	listen.shortcut(CALLBACKS.useAsAnswer, async (request, body) => {
		const parsed = shortcut.safeParse(body);
		const text = parsed.success ? typedText(parsed.data.message.text, botUserId) : '';
		const sessionId = (await watchedIn(request))?.watch.session.sessionId;
		if (sessionId === undefined || text === '') {
			return ifAllowed(request.channelId, async (allowed) => {
				await reply.toPerson(allowed, chosenTextHelp(text === '' ? 'no_text' : 'no_session'));
			});
		}
		return flow.open(request, { sessionId, messageIndex: null, toAnswer: true, text });
	});
}
