import { z } from 'zod';
import type { Refusal } from '../../answers/access-policy.ts';
import type { DraftStore } from '../../answers/ports.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { WatchStore } from '../../watches/ports.ts';
import type { SessionView } from '../../watches/session-view.ts';
import { chosenTextHelp, chosenTextOffer } from '../blocks/chosen-text.ts';
import { errorMessage, helpMessage, refusedMessage } from '../blocks/messages.ts';
import { ACTIONS, decodeTarget } from '../ids.ts';
import type { Listen } from '../listen.ts';
import type { PersonReads } from '../person-reads.ts';
import type { Reply } from '../reply.ts';
import { isSamePerson, originOf, type PersonRequest, writtenRequest } from '../request.ts';
import { KEPT_ASIDE } from '../session/draft-for.ts';
import type { SessionFlow } from '../session/flow.ts';
import { newFormId } from '../session/presenter.ts';
import { type AllowedRequest, ifAllowed, NOTHING_TO_DO } from '../task.ts';
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
	/** The workspace that the app is installed in. */
	readonly teamId: string;
	readonly botUserId: string;
	readonly watches: Pick<WatchStore, 'findByPost'>;
	readonly drafts: DraftStore;
	readonly flow: SessionFlow;
	readonly personReads: PersonReads;
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
	const { service, teamId, botUserId, watches, drafts, flow, personReads, reply, adminContact, clock, log } = deps;

	async function offer(request: AllowedRequest, sessionId: string, view: SessionView | null, text: string) {
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
		if (tooFast === null) return true;
		const context = { kept: 'nothing', adminContact, retryAt: tooFast.retryAt } as const;
		await reply.slowDown(request, tooFast, errorMessage(tooFast.code, null, context));
		return false;
	}

	listen.message('app_mention', (event) => {
		const parsed = mention.safeParse(event);
		if (!parsed.success) return null;
		const { user: userId, channel: channelId, ts, thread_ts: thread, text, user_team: team } = parsed.data;
		const threadTs = thread ?? null;
		const written = { userId, claimedTeamId: team ?? null, channelId, ts, threadTs };
		const asked = writtenRequest(written, teamId, log);
		const answer = async (request: AllowedRequest) => {
			if (!(await isInTime(request))) return;
			const found = threadTs === null ? null : await watches.findByPost(teamId, channelId, threadTs);
			const said = typedText(text, botUserId);
			if (found === null || said === '') await reply.toPerson(request, helpMessage('asked'));
			else await offer(request, found.watch.session.sessionId, found.view, said);
		};
		const refuse = async (refusal: Refusal) => {
			if (await isInTime(asked)) await reply.toPerson(asked, refusedMessage(refusal, adminContact));
		};
		return { request: asked, task: ifAllowed(channelId, answer, refuse) };
	});

	listen.action(ACTIONS.useText, async (request, press) => {
		const [formId = '', ...rest] = (press.value ?? '').split('|');
		const target = decodeTarget(rest.join('|'));
		if (target === null) return NOTHING_TO_DO;
		const draft = await drafts.get(formId);
		const isOwn = draft !== null && isSamePerson(request, draft.person);
		const text = isOwn ? Object.values(draft.values)[0] : undefined;
		// Submitted or forgotten meanwhile: the form opens all the same.
		return flow.open(request, {
			...target,
			toAnswer: true,
			origin: originOf(request),
			...(text === undefined ? {} : { text }),
		});
	});
}
