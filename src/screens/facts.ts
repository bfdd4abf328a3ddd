import type { Core } from '../core.ts';
import type { AnswerStore } from '../delivery/answer-store.ts';
import type { Answer } from '../domain/answer.ts';
import { type HandOver, holderOf } from '../domain/hand-over.ts';
import type { Person } from '../domain/person.ts';
import type { QuestionKey } from '../domain/session.ts';
import type { WatchStore } from '../sessions/watch-store.ts';
import type { MayAct } from '../slack/access-policy.ts';
import type { WhoMayAnswer } from '../slack/answerers.ts';
import { linkOf } from '../slack/clients.ts';
import type { Names } from '../slack/phrases.ts';
import type { Asked, StoredQuestion } from '../store/question-store.ts';
import type { Watch } from '../store/watch.ts';
import { CAN_GO_ON } from '../store/watch.ts';
import { type DuePost, NOWHERE, WATCH_KINDS } from '../surfaces/post.ts';
import type { ViewStore } from '../surfaces/view-store.ts';

const NO_ANSWERS = { standing: null, refused: null };

const MOST_LINKS = 1_000;
/** What Slack did not tell is asked again after this. */
export const NO_LINK_MS = 3 * 60_000;

/** Reads what is stored about a question that a card or a post shows, and who may still read or answer it. */
export function createQuestionFacts(
	core: Core<{ answers: AnswerStore; views: Pick<ViewStore, 'claims'>; watches: WatchStore }>,
	{ mayAct, whoMayAnswer }: { readonly mayAct: MayAct; readonly whoMayAnswer: Pick<WhoMayAnswer, 'of'> },
) {
	const { config, clients, directory, clock } = core;
	const { answers, views, watches } = core.store;
	/** By the `ts` of posts. They never change, and what has them is drawn often. A number: when Slack did not tell. */
	const links = new Map<string, string | number>();
	/** The answer from Handraise to a question of this message: not one to what the message asked before. */
	async function answerTo(question: StoredQuestion | null, key: QuestionKey, newest: Answer | null) {
		if (question === null || question.messageIndex !== key.messageIndex) return newest;
		const { answerId, askedAt } = question;
		if (answerId !== null) return answerId === newest?.id ? newest : answers.arrived(answerId);
		if (newest !== null && newest.questionId !== null) return newest.questionId === question.id ? newest : null;
		const isOlder = newest?.deliveredAt != null && newest.deliveredAt < askedAt;
		// One that nobody watches any more may still be answered.
		const settledAt = question.settled === 'unwatched' ? null : question.settledAt;
		// It may be to a later question in the same place.
		const isNewer = settledAt !== null && newest !== null && newest.acceptedAt > settledAt;
		return isOlder || isNewer ? null : newest;
	}

	async function answersTo(question: StoredQuestion | null, key: QuestionKey, fingerprint: string) {
		const { standing: newest, refused } = await answers.standingAndRefused(key, fingerprint);
		return { standing: await answerTo(question, key, newest), refused };
	}

	async function againOf(watch: DuePost['watch']): Promise<'offered' | 'done' | null> {
		if (watch === null || !CAN_GO_ON.some((reason) => reason === watch.ended?.reason)) return null;
		if ((await watches.find(watch, watch.session)) !== null) return 'done';
		return (await watches.isNewestEnded(watch)) ? 'offered' : null;
	}

	return {
		/** Why somebody may not answer the question of a post. */
		refusal: (person: Person, { channelId, session }: Watch) =>
			mayAct(person, { channelId, answers: session.sessionId }, 'send'),
		remindedOf: watches.remindedOf,

		/** `asked`: the question of the post; left out, of a card, that of the newest read. */
		async contextOf(due: DuePost, asked: Asked | null = null) {
			const { post, watch, style, view, threadTs } = due;
			const { content, target } = post;
			const isUpdate = post.ts !== null;
			const { messageIndex } = asked?.question ?? view?.question ?? {};
			const key = watch === null || messageIndex === undefined ? null : { ...watch.session, messageIndex };
			const showsClaims = WATCH_KINDS.includes(content.kind) && isUpdate;
			// A new post names nobody: it would notify them.
			const goneOn = due.question?.settled === 'wentOn' ? due.question : null;
			const isOpen = asked !== null && due.question?.settled == null;
			const fingerprint = asked !== null && isUpdate ? asked.question.fingerprint : '';
			const [{ standing, refused }, active, lost, perhaps, answerers] = await Promise.all([
				key === null ? NO_ANSWERS : answersTo(due.question, key, fingerprint),
				key !== null && showsClaims ? views.claims(key, clock.now()) : [],
				due.question?.lost ? answers.arrived(due.question.lost) : null,
				key && goneOn && answers.perhapsArrived(key, goneOn),
				watch !== null && isOpen ? whoMayAnswer.of(watch.session.sessionId, watch.channelId) : null,
			]);
			const handOver = holderOf(handOverOf(due));
			const claimedBy: readonly string[] = active.map(({ person }) => person.userId);
			const authors = [standing, refused, lost, perhaps].flatMap((answer) => answer?.person.userId ?? []);
			// Posts name people without a mention, which could notify them.
			const named = [...authors, ...(handOver === null ? [] : [handOver.from, handOver.to])];
			await directory.recallNames(named);
			const names: Names = directory;
			return {
				sessionId: watch?.session.sessionId ?? '',
				/** The newest read of the session. */
				view,
				/** The answer from Handraise to the question of the post. */
				standing,
				/** The newest answer to it whose author could no longer send it. */
				refused,
				/** The answer that is no longer in the field, so that the agent asks again. */
				lost,
				/** That answer was not given in Slack. */
				isLostElsewhere: due.question?.lost === '',
				/** Of a question without which the agent went on: an answer that ended and may have arrived. */
				perhaps,
				/** Whom lists of channels name as those who may answer its open question; null: everybody may. */
				named: answerers,
				handOver,
				/** Where the question is asked, and the thread of the watch's card there. */
				channelId: watch?.channelId ?? '',
				threadTs,
				/** Who began the watch: the person of `channelId` if that is a direct message with the app. */
				watchedBy: watch?.createdBy ?? '',
				/** Slack user id of the reader of a direct message; null in channels. */
				reader: target.kind === 'person' ? target.userId : null,
				claimedBy,
				/** When the first of them lapses; null: nobody is. */
				claimedUntil: active.length === 0 ? null : Math.min(...active.map(({ until }) => until)),
				ended: watch?.ended?.reason ?? null,
				/** Whether somebody can watch it again there, or has done so; null: neither. */
				again: await againOf(watch),
				offersOptions: config.QUICK_ANSWERS && style.buttons,
				/** Which answers its channel sees. */
				showAnswers: style.discreet ? 'never' : config.SHOW_ANSWERS,
				/** Notifications say only that an agent asks. */
				discreet: style.discreet,
				/** It is posted already: an update notifies nobody whom it mentions. */
				isUpdate,
				now: clock.now(),
				names,
				adminContact: config.ADMIN_CONTACT,
				dashboardUrl: config.SESSION_DASHBOARD_URL,
			};
		},

		holderOf: (due: Pick<DuePost, 'watch' | 'question'>) =>
			activeHolder(handOverOf(due), due.watch?.session.sessionId ?? '', mayAct),

		/** Null when Slack does not tell it, and of no post (`ts` null or `NOWHERE`). */
		async linkTo(channel: string, ts: string | null): Promise<string | null> {
			if (ts === null || ts === NOWHERE) return null;
			const key = `${channel} ${ts}`;
			const known = links.get(key);
			if (typeof known === 'string') return known;
			if (known !== undefined && Math.abs(clock.now() - known) < NO_LINK_MS) return null;
			const link = await linkOf(clients.background, channel, ts);
			if (links.size > MOST_LINKS) links.clear();
			links.set(key, link ?? clock.now());
			return link ?? null;
		},
	};
}

export type QuestionFacts = ReturnType<typeof createQuestionFacts>;

/** By which hand-over somebody has a question; null when they may no longer answer, so nobody has it. */
export async function activeHolder(handOver: HandOver | null, sessionId: string, mayAct: MayAct) {
	const held = holderOf(handOver);
	if (held === null) return null;
	const place = { channelId: held.channelId, answers: sessionId };
	const refused = await mayAct({ teamId: held.teamId, userId: held.to }, place, 'send');
	return refused === null || refused === 'could_not_check' ? held : null;
}

/** The newest hand-over of the open question of a post, also when its person has given the question back. */
export function handOverOf({ watch, question }: Pick<DuePost, 'watch' | 'question'>): HandOver | null {
	const handOver = question?.handOver ?? null;
	return handOver?.teamId === watch?.teamId ? handOver : null;
}
