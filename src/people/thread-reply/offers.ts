import type { AnswerStore } from '../../delivery/answer-store.ts';
import { isAnsweredSince } from '../../domain/answer.ts';
import { isInThread } from '../../domain/channel-settings.ts';
import type { Person } from '../../domain/person.ts';
import type { QuestionSnapshot } from '../../domain/session-snapshot.ts';
import { hashOf } from '../../kernel/values.ts';
import { openQuestionParts } from '../../screens/question.ts';
import {
	chosenTextHelp,
	filesHelp,
	formOffer,
	type OfferedQuestion,
	threadReplyOffer,
} from '../../screens/thread-reply.ts';
import type { WatchStore } from '../../sessions/watch-store.ts';
import type { HandlerContext } from '../../slack/context.ts';
import type { OfferedThreadReply } from '../../slack/ids.ts';
import type { AllowedRequest, PersonRequest, Task } from '../../slack/request.ts';
import { askedOf } from '../../surfaces/post.ts';
import type { Drafting } from '../session/drafts.ts';
import { createMessageReader } from './message-reader.ts';

type Found = Awaited<ReturnType<WatchStore['findByPost']>>[number];

/** Whether the thread of a post is about the watch's open question. A card's thread is, if its channel wants that. */
function isAboutOpen({ watch, style, post, question }: Found): boolean {
	if (watch.ended !== null || question === null || question.settledHow !== null) return false;
	if (post.kind === 'card') return isInThread(watch.mode, style);
	return post.questionId === question.id;
}

/** Watches of a channel that are searched for open questions. */
const MOST_SEARCHED = 100;
const MOST_OFFERED = 10;

interface Offered {
	readonly offered: readonly OfferedQuestion[];
	readonly left: number;
	readonly onlySecret: boolean;
}

/** Offers messages in threads to their authors as answers. A draft holds the text until they decide. */
export function createOffers(
	core: HandlerContext<{ watches: WatchStore; answers: AnswerStore }> & { drafting: Drafting },
) {
	const { drafting, reply, whoMayAnswer } = core;
	const { watches, answers } = core.store;
	const messages = createMessageReader(core);

	/** The watches that a thread is about: those with an open question, else one. A reminder is about several. */
	async function findWatches({ channelId, threadTs, person: { teamId } }: PersonRequest) {
		if (channelId === null || threadTs === null) return [];
		const found = await watches.findByPost({ teamId, channelId }, threadTs);
		const open = found.filter(isAboutOpen);
		return open.length > 0 ? open : found.slice(0, 1);
	}

	/** The watch with its question, in a list. Empty when nobody can answer that now. */
	async function openOf(found: Found) {
		const asked = askedOf(found);
		if (asked === null || asked.question.openCount === 0) return [];
		const standing = await answers.standing({ ...found.watch.session, messageIndex: asked.question.messageIndex });
		return isAnsweredSince(standing, found.checkedAt) ? [] : [{ ...found, asked }];
	}

	/** The item that a text may fill; null: only secret ones are open. */
	const itemFor = ({ items }: QuestionSnapshot) => {
		const position = items.findIndex((item) => item.open && !item.secret);
		return position === -1 ? null : position;
	};

	return {
		...messages,
		findWatches,

		/**
		 * The open questions of a channel that somebody may answer with this text, which is kept for each. `left`: how many
		 * more there are. `onlySecret`: there are only questions for secrets, which no message answers.
		 */
		async questionsFor({ person, channelId, messageTs }: AllowedRequest, text: string): Promise<Offered> {
			if (channelId === null) return { offered: [], left: 0, onlySecret: false };
			const page = { offset: 0, limit: MOST_SEARCHED };
			const { watches: listed } = await watches.list({ teamId: person.teamId, channelId }, page);
			const found = await Promise.all(
				listed.map(async ({ snapshot, session, checkedAt }) => {
					const question = snapshot?.question ?? null;
					if (snapshot === null || question === null || question.openCount === 0) return [];
					const position = itemFor(question);
					const { sessionId, service } = session;
					const { messageIndex } = question;
					const standing = await answers.standing({ service, sessionId, messageIndex });
					if (
						isAnsweredSince(standing, checkedAt) ||
						(await whoMayAnswer.whyNot(person, sessionId, channelId)) !== null
					)
						return [];
					return [{ question, position, sessionId, sessionName: snapshot.name }];
				}),
			);
			const asking = found.flat();
			const open = asking.flatMap(({ position, ...one }) => (position === null ? [] : [{ ...one, position }]));
			const offered = open
				.slice(0, MOST_OFFERED)
				.map(async ({ question, position, sessionId, sessionName }): Promise<OfferedQuestion> => {
					// An edited message, or another question, is another offer.
					const { fingerprint, messageIndex } = question;
					const id = hashOf(JSON.stringify([person, channelId, messageTs, sessionId, messageIndex, fingerprint, text]));
					await drafting.keepAside(person, { formId: id, sessionId, sessionName }, question, { [position]: text });
					return { target: { id, sessionId, messageIndex }, question, sessionName };
				});
			return {
				offered: await Promise.all(offered),
				left: Math.max(0, open.length - MOST_OFFERED),
				onlySecret: open.length === 0 && asking.length > 0,
			};
		},

		/**
		 * The task that offers a mention of the app to its author as the answer, or says why it cannot be one. Null where
		 * the thread is about no watch, or the message has neither text nor files.
		 */
		async offerOf(request: PersonRequest, event: unknown): Promise<Task | null> {
			const { person, channelId, threadTs, messageTs } = request;
			const found = await findWatches(request);
			const [hasText, withFiles] = [messages.hasText(event), messages.hasFiles(event)];
			if (found.length === 0 || !(hasText || withFiles)) return null;
			if (channelId === null || threadTs === null || messageTs === null) return null;
			const [open, ...others] = (await Promise.all(found.map(openOf))).flat();
			if (open === undefined) {
				const say = async (to: PersonRequest) => void (await reply.toPerson(to, chosenTextHelp('nothing_open')));
				return { place: { channelId }, run: say };
			}
			const { sessionId } = open.watch.session;
			const sessionName = open.snapshot?.name ?? '';
			const { question, readAt } = open.asked;
			const isOne = others.length === 0;
			const id = hashOf(JSON.stringify([person, [channelId, messageTs]]));
			const target = { id, sessionId, messageIndex: question.messageIndex };
			const position = isOne ? itemFor(question) : null;
			// A question that is cut, or has several items, needs the form.
			const isWhole =
				question.itemCount === 1 && openQuestionParts(question, { sessionId, discreet: true }).note === '';
			const asked = { ...target, readAt, arrival: question.arrival ?? null, channelId, threadTs, messageTs };
			const run = async (to: PersonRequest) => {
				const text = await messages.textOf(to, event);
				const shown = { text, question, sessionName, withFiles };
				const offer = isWhole ? threadReplyOffer(asked, shown) : formOffer(target, shown);
				const values = position === null || !hasText ? {} : { [position]: text };
				const isNew = await drafting.keepAside(person, { formId: id, sessionId, sessionName }, question, values);
				const files = hasText ? null : filesHelp(core, { sessionId, name: sessionName });
				const help = position === null ? chosenTextHelp(isOne ? 'secret' : 'several') : null;
				if (isNew) await reply.toPerson(to, files ?? help ?? offer);
			};
			return { place: { channelId, answers: sessionId }, run };
		},

		/** The only item of the question that a message was offered to, as last read. Null when another one is asked. */
		async itemOf({ teamId }: Person, { channelId, threadTs }: OfferedThreadReply, fingerprint: string) {
			const found = await watches.findByPost({ teamId, channelId }, threadTs);
			return (
				found.find(({ snapshot }) => snapshot?.question?.fingerprint === fingerprint)?.snapshot?.question?.items[0] ??
				null
			);
		},
	};
}

export type Offers = ReturnType<typeof createOffers>;
