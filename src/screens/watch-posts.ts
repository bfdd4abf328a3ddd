import { isInThread } from '../domain/channel-settings.ts';
import { isOver } from '../domain/session.ts';
import { HOUR_MS, MINUTE_MS } from '../kernel/clock.ts';
import { hashOf } from '../kernel/values.ts';
import { textMessage } from '../slack/blocks.ts';
import { sentences, unescaped } from '../slack/rich-text.ts';
import type { SlackCore } from '../slack/slack-core.ts';
import type { Watch } from '../store/watch.ts';
import { askedOf, type ContentOf, type Drawing, type Drawn, type DuePost, lookOf } from '../surfaces/post.ts';
import { type CardModel, endPost, watchCard } from './card.ts';
import { NO_LINK_MS, type QuestionFacts } from './facts.ts';
import { endedWords, type PlainKind, type PostedContent, plainKinds, watchPost } from './notice.ts';
import { askedPost, drawAgainAt, isLastLook, type SettledLook, settledQuestionPost } from './question-post.ts';

const NO_MORE_CHANGES = '↪️ Slack takes no more changes of the message above.';

/** Draws cards, questions, what else a watch posts, and what a channel is told of `watch all`. */
export function createWatchDrawing({ directory }: SlackCore, facts: QuestionFacts) {
	async function drawCard(_: unknown, due: DuePost): Promise<Drawn> {
		const { watch, snapshot, checkedAt, unreadCode, lead } = due;
		if (watch === null || snapshot === null) return null;
		const post = await facts.contextOf(due);
		const { isUpdate, now } = post;
		const asks = isInThread(watch.mode, due.style) || due.isQuestionLost;
		const isEnd = isOver(snapshot.status);
		const isEndTold = isEnd && watch.ended?.reason === 'sessionOver' && lead !== null;
		const isAskedElsewhere = !asks && watch.ended === null && (snapshot.question?.openCount ?? 0) > 0;
		const { link, linkAgainAt } =
			isEndTold || isAskedElsewhere ? await leadOf(due, watch, now) : { link: null, linkAgainAt: null };
		const model: CardModel = { ...post, snapshot, asks, isEndTold, link, unreadCode, checkedAt: null };
		// The key leaves out the time of the read, which would make every card look new.
		const timeless = watchCard({ ...model, isUpdate: true });
		// A card that was read a moment ago does not say when.
		const isOld = isUpdate && checkedAt !== null && now - checkedAt > MINUTE_MS;
		// The post of a question or an end comes before the card, which then links to it. One more read tells the end.
		const isEndToCome = isEnd && watch.ended === null;
		const isEarly = isEndToCome || (lead?.ts === null && (isEndTold || (!isEnd && !asks)));
		return {
			key: (isEarly ? shownKeyOf(due) : null) ?? hashOf(JSON.stringify(timeless)),
			message: isUpdate && !isOld ? timeless : watchCard({ ...model, checkedAt: isOld ? checkedAt : null }),
			isLast: watch.ended !== null && !isEarly && linkAgainAt === null,
			againAt: asks ? post.claimedUntil : linkAgainAt,
		};
	}

	/**
	 * The link to the post of a card's question or end. `linkAgainAt`: Slack did not tell it and is asked for an hour.
	 */
	async function leadOf({ question, lead }: DuePost, { channelId, ended }: Watch, now: number) {
		const link = await facts.linkTo(channelId, lead?.ts ?? null);
		const since = ended?.at ?? question?.askedAt ?? 0;
		const isAskedAgain = link === null && lead?.ts != null && now - since < HOUR_MS;
		return { link, linkAgainAt: isAskedAgain ? now + NO_LINK_MS : null };
	}

	async function drawQuestion({ changed }: ContentOf<'question'>, due: DuePost): Promise<Drawn> {
		const asked = askedOf(due);
		if (asked === null) return null;
		const how = endOf(due);
		const post = await facts.contextOf(due, asked);
		const message = how === null ? askedPost(asked, changed, post) : settledQuestionPost(asked, how, post);
		return lookOf(message, { isLast: isLastLook(how, post), againAt: drawAgainAt(post) });
	}

	/** Mentions nobody: a new post would notify them, and Slack may take no changes of it either. */
	async function drawOutcome({ questionId }: ContentOf<'outcome'>, due: DuePost): Promise<Drawn> {
		const kind = questionId === null ? ('card' as const) : ('question' as const);
		const drawn = kind === 'card' ? await drawCard({}, due) : await drawQuestion({ kind, changed: false }, due);
		if (drawn === null || 'kind' in drawn) return drawn;
		const { message, isLast, againAt = null } = drawn;
		const why = kind === 'card' ? endedWords(await facts.contextOf(due)) : '';
		return lookOf(textMessage(sentences(NO_MORE_CHANGES, unescaped(message.text), why)), { isLast, againAt });
	}

	async function drawEnd({ status }: ContentOf<'sessionEnded'>, due: DuePost): Promise<Drawn> {
		return lookOf(endPost(status, await facts.contextOf(due)));
	}

	async function once(content: PostedContent, due: DuePost): Promise<Drawn> {
		if ('by' in content) await directory.learnName(content.by);
		return lookOf(watchPost(content, await facts.contextOf(due)));
	}

	return {
		...plainKinds(once),
		card: drawCard,
		question: drawQuestion,
		outcome: drawOutcome,
		sessionEnded: drawEnd,
	} satisfies Drawing<PlainKind | 'card' | 'question' | 'outcome' | 'sessionEnded'>;
}

/** The key of what a posted card shows, by which it stays as it is; null while Slack's reply to a call is unknown. */
function shownKeyOf({ post: { ts, shownKey, sendingSince } }: DuePost): string | null {
	return ts !== null && sendingSince === null ? shownKey : null;
}

/** How the question of a post ended, or its watch in the channel; null while it is open there. */
export function endOf({ question, watch, snapshot }: DuePost): SettledLook | null {
	const settled = question?.settledHow ?? null;
	const reason = watch?.ended?.reason;
	const mayWait = settled === null || settled === 'unwatched' || settled === 'wentOn';
	if ((settled === 'closed' || settled === 'wentOn') && isOver(snapshot?.status ?? '')) return 'ended';
	if (reason === undefined || !mayWait) return settled;
	return reason === 'gaveWay' ? 'gaveWay' : reason === 'handLowered' ? 'closed' : 'unwatched';
}
