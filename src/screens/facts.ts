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
import type { SlackCore } from '../slack/slack-core.ts';
import type { Asked, StoredQuestion } from '../store/question-store.ts';
import { CAN_GO_ON, type Watch } from '../store/watch.ts';
import { type DuePost, NOWHERE, WATCH_KINDS } from '../surfaces/post.ts';
import type { ViewStore } from '../surfaces/view-store.ts';

const NO_ANSWERS = { standing: null, refused: null };

const MOST_LINKS = 1_000;
/** A link that Slack did not tell is asked for again after this. */
export const NO_LINK_MS = 3 * 60_000;

/** Reads what is stored about a question that a card or a post shows, and who may still read or answer it. */
export function createQuestionFacts(
	core: SlackCore<{ answers: AnswerStore; views: Pick<ViewStore, 'claims'>; watches: WatchStore }>,
	{ mayAct, whoMayAnswer }: { readonly mayAct: MayAct; readonly whoMayAnswer: Pick<WhoMayAnswer, 'of'> },
) {
	const { config, clients, directory, clock } = core;
	const { answers, views, watches } = core.store;
	/** Links by channel and `ts`; a number: when Slack did not tell one. They never change, and are drawn often. */
	const links = new Map<string, string | number>();
	/**
	 * The answer of ours to a question. `newest`: the newest one to its message, which may have asked something else
	 * before.
	 */
	async function answerTo(question: StoredQuestion | null, key: QuestionKey, newest: Answer | null) {
		if (question === null || question.messageIndex !== key.messageIndex) return newest;
		const { answerId, askedAt } = question;
		if (answerId !== null) return answerId === newest?.id ? newest : answers.arrived(answerId);
		if (newest !== null && newest.questionId !== null) return newest.questionId === question.id ? newest : null;
		const isOlder = newest?.deliveredAt != null && newest.deliveredAt < askedAt;
		// A question that nobody watches any more may still be answered.
		const settledAt = question.settledHow === 'unwatched' ? null : question.settledAt;
		// An answer after the question was settled may be to a later question of the same message.
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

		/** What posts and cards show besides their content. `asked`: the question of the post; null: of the newest read. */
		async contextOf(due: DuePost, asked: Asked | null = null) {
			const { post, watch, style, snapshot, threadTs } = due;
			const { content, target } = post;
			const isUpdate = post.ts !== null;
			const { messageIndex } = asked?.question ?? snapshot?.question ?? {};
			const key = watch === null || messageIndex === undefined ? null : { ...watch.session, messageIndex };
			// A new post shows no claims, because their mentions would notify people.
			const showsClaims = WATCH_KINDS.includes(content.kind) && isUpdate;
			const goneOn = due.question?.settledHow === 'wentOn' ? due.question : null;
			const isOpen = asked !== null && due.question?.settledHow == null;
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
			// Posts name people by text, because a mention could notify them.
			const named = [...authors, ...(handOver === null ? [] : [handOver.from, handOver.to])];
			await directory.recallNames(named);
			const names: Names = directory;
			return {
				sessionId: watch?.session.sessionId ?? '',
				/** The newest read of the session. */
				snapshot,
				/** The answer of ours to the question of the post. */
				standing,
				/** The newest answer to it that was refused because its author may not answer any more. */
				refused,
				/** The answer that is no longer in the field, so that the agent asks again. */
				lost,
				/** The lost answer was not given in Slack. */
				isLostElsewhere: due.question?.lost === '',
				/** An ended answer that may have arrived, to a question after which the agent continued without one. */
				perhaps,
				/** Whom channels' lists name as those who may answer the open question; null: everybody may. */
				named: answerers,
				handOver,
				/** The channel of the watch; `threadTs`: the thread of its card there. */
				channelId: watch?.channelId ?? '',
				threadTs,
				/** Who began the watch: the person of `channelId` if that is a direct message with the app. */
				watchedBy: watch?.createdBy ?? '',
				/** Slack user id of the reader of a direct message; null in channels. */
				reader: target.kind === 'person' ? target.userId : null,
				claimedBy,
				/** When the first of these claims lapses; null without claims. */
				claimedUntil: active.length === 0 ? null : Math.min(...active.map(({ until }) => until)),
				ended: watch?.ended?.reason ?? null,
				/** `offered`: people can watch it again there; `done`: somebody does; null: neither. */
				again: await againOf(watch),
				offersOptions: config.QUICK_ANSWERS && style.buttons,
				/** Which answers the channel sees. */
				showAnswers: style.discreet ? 'never' : config.SHOW_ANSWERS,
				/** Notifications say only that an agent asks. */
				discreet: style.discreet,
				/** The message is posted already. An update notifies nobody whom it mentions. */
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

/** The hand-over by which somebody has a question; null when nobody has it, or its holder may no longer answer. */
export async function activeHolder(handOver: HandOver | null, sessionId: string, mayAct: MayAct) {
	const held = holderOf(handOver);
	if (held === null) return null;
	const place = { channelId: held.channelId, answers: sessionId };
	const refused = await mayAct({ teamId: held.teamId, userId: held.to }, place, 'send');
	return refused === null || refused === 'could_not_check' ? held : null;
}

/** The newest hand-over of a post's open question, even if it was given back. */
export function handOverOf({ watch, question }: Pick<DuePost, 'watch' | 'question'>): HandOver | null {
	const handOver = question?.handOver ?? null;
	return handOver?.teamId === watch?.teamId ? handOver : null;
}
