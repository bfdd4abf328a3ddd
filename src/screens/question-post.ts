import {
	type Answer,
	arrivalOf,
	awaitsAgentOutcome,
	forOthers,
	hasArrived,
	isBlocking,
	itemsOf,
	repeatsIn,
	shownValuesOf,
} from '../domain/answer.ts';
import { masked } from '../domain/masking.ts';
import type { SettledHow } from '../domain/occurrences.ts';
import { isOver, isReworded, isWaiting } from '../domain/session.ts';
import { asShownBy, type QuestionView, type SessionSnapshot } from '../domain/session-snapshot.ts';
import { oneLine } from '../domain/shown-text.ts';
import type { Named } from '../slack/answerers.ts';
import {
	answerAgainButton,
	type Button,
	button,
	buttons,
	context,
	fitting,
	type KnownBlock,
	type MessageContent,
	message,
	moreMenu,
	row,
} from '../slack/blocks.ts';
import { ACTIONS, encodeTarget } from '../slack/ids.ts';
import { andMoreWords, counted, endWords, momentOf, personName, sessionTitle, waitingWords } from '../slack/phrases.ts';
import { isEmpty, joined, rich, richText, type Words } from '../slack/rich-text.ts';
import type { Asked } from '../store/question-store.ts';
import { emojiOf, inlineState, notSentWords, showQuestionButton } from './answer.ts';
import type { QuestionFacts } from './facts.ts';
import {
	answeredItem,
	askedLine,
	claimsWords,
	handOverLine,
	labelAboutQuestion,
	openQuestionParts,
	POST_ROOMS,
	questionText,
} from './question.ts';

type PostRoom = (typeof POST_ROOMS)[number];
type Found = Awaited<ReturnType<QuestionFacts['contextOf']>>;
/** What may be left out, because few posts have it. */
type Seldom = 'refused' | 'lost' | 'isLostElsewhere' | 'perhaps' | 'named' | 'again';
/** What a post shows besides its content. */
export type PostContext = Omit<Found, Seldom> & Partial<Pick<Found, Seldom>>;

/** How a post shows the end of its question. */
export type SettledLook = SettledHow | 'ended' | keyof typeof SETTLED_WORDS;

/** The post of an open question; `changed`: the message asked something else before. */
export function askedPost(asked: Asked, changed: boolean, post: PostContext): MessageContent {
	if (isAnswering(asked, post.standing)) return settledQuestionPost(asked, null, post);
	const { question, readAt } = asked;
	const { discreet, snapshot } = post;
	// An older refused answer is to an earlier time that the agent asked the same.
	const refused = post.refused != null && post.refused.acceptedAt >= readAt ? post.refused : null;
	const sessionName = snapshot?.name ?? '';
	const blocks = fitting(POST_ROOMS, (room) => {
		const open = openOf(asked, post, room);
		return [
			...open.blocks(joined(asksWords(postTitle(post), changed), stepsWords(question, snapshot))),
			...answerBlocks(question, post, room),
			...buttons(...open.row),
			...context(
				question.openCount < question.itemCount ? `Still open: ${counted(question.openCount, 'question')}.` : '',
				open.note,
				notSentWords(refused, post.names),
				lostWords(question, post),
				...whoLines(post),
			),
		];
	});
	return message(questionText({ question, sessionName, discreet, changed }), blocks);
}

function openOf({ question, readAt }: Asked, post: PostContext, room: PostRoom = 'post') {
	const { sessionId, channelId, offersOptions, snapshot, discreet } = post;
	const choices = offersOptions ? { channelId, readAt } : null;
	const sessionName = snapshot?.name ?? '';
	// All readers see the same buttons. A press is refused for those who may not hand over.
	const holding = { handOver: null };
	return openQuestionParts(question, { sessionId, sessionName, discreet, room, choices, holding, menu: 'post' });
}

/** Who has an open question, and who is answering it. */
function whoLines(post: PostContext): Words[] {
	return [handOverLine(post, post.names), claimsWords(post.claimedBy), namedWords(post.named)];
}

/** The only people who may answer, as names, which notify nobody. Empty if everybody may. */
export function namedWords(named: Named | null = null): Words {
	if (named === null) return '';
	if (named.isNobodyLeft) return '🔒 Nobody who may answer is left.';
	const only = rich`🔒 Only ${named.names} may answer`;
	return isEmpty(named.places) ? rich`${only}.` : joined(only, rich`named in ${named.places}`);
}

/** `3 steps since`: how far the agent has continued since it asked; empty while it waits. */
export function stepsWords({ stepsSince = 0 }: QuestionView, snapshot: Pick<SessionSnapshot, 'status'> | null): string {
	return stepsSince === 0 || isWaiting(snapshot?.status ?? '') ? '' : `${counted(stepsSince, 'step')} since`;
}

/** Why the agent asks again. */
function lostWords(question: QuestionView, post: PostContext): string {
	const { lost, names } = post;
	if (lost == null)
		return post.isLostElsewhere ? 'Asked again. The answer from the dashboard is not in the field any more.' : '';
	// Only items that are open again lost their value.
	const positions = lost.positions.filter((at) => question.items[at]?.open === true);
	const given = ownWords(question, { ...lost, positions }, post);
	const which = `${personName(lost.person.userId, names)}'s answer`;
	return given === ''
		? `Asked again. ${which} is not in the field any more.`
		: `Asked again. Not in the field any more: ${which}, ${given}`;
}

/** Whether `answer` is to the question as it is asked now, and is being sent or has arrived. */
export function isAnswering({ question, readAt }: Asked, answer: Answer | null): answer is Answer {
	if (answer === null || answer.fingerprint !== question.fingerprint) return false;
	if (isReworded(answer.shownHash, question.shownHash)) return false;
	// An answer that arrived earlier is to an earlier time that the agent asked the same.
	if (isBlocking(answer.state)) return true;
	const number = arrivalOf(answer.timeline)?.arrival;
	if (number !== undefined && question.arrival !== undefined) return number > question.arrival;
	return answer.deliveredAt !== null && answer.deliveredAt > readAt;
}

/**
 * The post of a question that is answered or over, in two lines. While an answer is being sent, it shows the question.
 */
export function settledQuestionPost(asked: Asked, how: SettledLook | null, post: PostContext): MessageContent {
	const title = postTitle(post);
	const answer = shownAnswer(asked, how, post.standing);
	const outcome = outcomeWords(asked, how, post);
	const says = saysOf(asked.question, post);
	if (answer !== null && isBlocking(answer.state)) {
		const isHeld = isUnderUndo(answer, post.now);
		const undo = says(button(ACTIONS.undo, 'Undo', { value: answer.id }));
		const sendsAt = rich`⏳ Sends at ${momentOf(answer.press?.undoUntil ?? 0, 'seconds')}`;
		// One line above the question and one row in place of its buttons, so that a press makes the post no taller.
		const above = openOf(asked, post).blocks(isHeld ? sendsAt : rich`⏳ *${title}* asks`);
		return message(`⏳ ${title}: ${outcome}`, [...above, ...row(outcome, isHeld ? undo : null)]);
	}
	const mark = answer === null ? (how === 'answered' ? '✅' : '🔹') : emojiOf(answer);
	const count = asked.question.itemCount;
	const what = count > 1 ? `asked ${counted(count, 'question')}` : `asked: ${askedLine(asked.question)}`;
	// The menu stands beside the words, so that the post has two lines.
	const [menu = null] = moreMenu(showQuestion(answer, post), answerAgain(asked, how, answer, post)).map(says);
	// If there is a card, it offers *Watch again*.
	const isAlone = post.reader === null && post.threadTs === null;
	const watch = how === 'unwatched' && answer === null && isAlone ? watchAgain(post) : null;
	return message(`${mark} ${title}: ${outcome}`, [
		...row(`${mark} ${title} ${what}\n${outcome}`, menu),
		...buttons(says(watch)),
	]);
}

/** Null in direct messages: the answer may be of a channel that its reader is not in. */
const showQuestion = (answer: Answer | null, { reader }: PostContext) =>
	answer === null || reader !== null ? null : showQuestionButton(answer);

/** Null when another post asks, or the session is over. The label differs if nobody has answered. */
function answerAgain(
	{ question: { fingerprint } }: Asked,
	how: SettledLook | null,
	answer: Answer | null,
	post: PostContext,
): Button | null {
	const { sessionId, snapshot, reader, perhaps = null } = post;
	const isSettled = answer !== null || how === 'answered' || how === 'wentOn';
	if (!isSettled || reader !== null || isOver(snapshot?.status ?? '')) return null;
	const isUnanswered = answer === null && perhaps === null && how === 'wentOn';
	return answerAgainButton({ sessionId, fingerprint }, isUnanswered ? 'Answer anyway' : 'Answer again…');
}

export function watchAgain({ again, sessionId }: Pick<PostContext, 'again' | 'sessionId'>) {
	const value = encodeTarget({ sessionId, messageIndex: null });
	return again === 'offered' ? button(ACTIONS.watch, 'Watch again', { value }) : null;
}

const saysOf = (question: QuestionView, { snapshot, ...post }: PostContext) =>
	labelAboutQuestion(question, { ...post, sessionName: snapshot?.name ?? '' });

/** `Ada: LH 1173 · delivered`: what became of a question, in one line that notifies nobody. `how` null: open. */
export function outcomeWords(asked: Asked, how: SettledLook | null, post: PostContext): string {
	const answer = shownAnswer(asked, how, post.standing);
	const given = givenWords(asked, answer, post);
	if (answer !== null) {
		const who = personName(answer.person.userId, post.names);
		const which = isReworded(answer.shownHash, asked.question.shownHash) ? BEFORE_NEW_TEXT : '';
		const said = given === '' ? `${who} answered` : `${who}: ${given}`;
		const isHeld = isBlocking(answer.state) && isUnderUndo(answer, post.now);
		return joined(said, which, isHeld ? '' : inlineState(answer));
	}
	if (how === null) return '';
	if (how === 'unwatched' && post.again === 'done') return WATCHED_AGAIN;
	const { perhaps = null } = how === 'wentOn' ? post : {};
	if (perhaps !== null) return `${personName(perhaps.person.userId, post.names)}'s answer may have arrived`;
	if (how === 'ended') return `The session ${endWords(post.snapshot?.status ?? '')}`;
	if (how !== 'answered') return SETTLED_WORDS[how];
	return given === '' ? OUTSIDE : `${OUTSIDE}: ${given}`;
}

/** The answer of ours that a post shows. If the question is settled by an answer, only an answer that was sent. */
function shownAnswer(asked: Asked, how: SettledLook | null, standing: Answer | null): Answer | null {
	// An answer that was not sent yet did not settle the question.
	if (how === 'answered') return standing?.state === 'waiting' || standing?.state === 'accepted' ? null : standing;
	const isStillShown = how === null || how === 'unwatched' || how === 'gaveWay' || how === 'wentOn';
	return isStillShown && isAnswering(asked, standing) ? standing : null;
}

/** Added to the time for Undo, so that an answer delivered in this time is never shown as being sent. */
const UNDO_LEEWAY_MS = 5_000;

/** Whether the post still shows *Undo*, and when the one-press answer is sent. */
function isUnderUndo({ press, acceptedAt, lastError }: Answer, now: number): boolean {
	if (press === null || press.undoUntil <= acceptedAt || lastError !== null) return false;
	return now < press.undoUntil + UNDO_LEEWAY_MS;
}

/** When time alone changes the post: *Undo* goes, or a claim lapses. Clock milliseconds; null: never. */
export function drawAgainAt({ standing, claimedUntil, now }: PostContext): number | null {
	if (standing === null || !isBlocking(standing.state)) return claimedUntil;
	return isUnderUndo(standing, now) ? (standing.press?.undoUntil ?? 0) + UNDO_LEEWAY_MS : null;
}

const MOST_VALUES = 3;

/** What was answered, in one line, as far as the channel may see it; else empty. `answer`: null from the dashboard. */
function givenWords({ question, answered = [] }: Asked, answer: Answer | null, post: PostContext): string {
	// *Show question* shows the values of a form.
	if (post.showAnswers === 'never' || (answer !== null && question.itemCount > 1)) return '';
	const item = answer?.press == null ? undefined : itemsOf(answer).find(({ value }) => value);
	const pressed = answer && item && forOthers(item, repeatsIn(answer)).value;
	if (pressed) return valueWords(pressed);
	// In these states, the values of the newest read may be somebody else's.
	if (answer !== null && (isBlocking(answer.state) || answer.agentOutcome === 'overwritten')) return '';
	const read = valuesWords(asShownBy(post.showAnswers, { ...question, items: answered }), question);
	return read === '' && answer !== null && hasArrived(answer.state) ? ownWords(question, answer, post) : read;
}

/** What an answer of ours said, as far as the channel may see it. Its value may be in no field any more. */
function ownWords(question: QuestionView, answer: Answer, { showAnswers }: PostContext): string {
	const values = shownValuesOf(answer);
	// `shownByAuto` was decided for the empty field, so it does not count.
	const items = question.items.map(({ shownByAuto: _empty, ...one }, at) => {
		return { ...one, open: false, value: one.secret ? null : (values[at] ?? null) };
	});
	// Items of the answer count as open, even if they are closed by now.
	const open = question.items.map((one, at) => ({ ...one, open: answer.positions.includes(at) }));
	return valuesWords(asShownBy(showAnswers, { ...question, items }), { ...question, items: open });
}

/** Masked, because an option of an agent may be a credential. */
const valueWords = (whole: string) => oneLine(masked(whole).text, 120);

/** The values of `items` that were open in `question`, in one line; empty when none is shown. */
function valuesWords({ items }: QuestionView, question: QuestionView): string {
	const given = items.filter(
		({ value, secret, withheld }, position) =>
			question.items[position]?.open !== false && (value || secret || withheld),
	);
	if (given.every(({ value }) => !value)) return '';
	const values = given.slice(0, MOST_VALUES).map(({ value }) => (value ? valueWords(value) : '(hidden)'));
	// The last ones of very many items are not stored, but counted.
	const count = given.length + question.itemCount - question.items.length;
	return [...values, andMoreWords(count - MOST_VALUES)].filter((text) => text !== '').join('; ');
}

/** Whether the post of a settled question cannot change any more, by its answer or its agent. */
export function isLastLook(how: SettledLook | null, { standing }: Pick<PostContext, 'standing'>): boolean {
	const mayChange = standing !== null && (awaitsAgentOutcome(standing) || standing.agentOutcome === 'lost');
	return how !== null && how !== 'wentOn' && !mayChange && !isBlocking(standing?.state ?? '');
}

export const postTitle = ({ snapshot, sessionId }: PostContext) => sessionTitle(snapshot?.name ?? '', sessionId);

const MOST_ITEMS = 5;

/** Why the agent waits without an open question; empty when it does not wait, or a question is open. */
export function waitingLine({ status, question }: SessionSnapshot): Words {
	if (!isWaiting(status) || question?.goneOn === false || (question?.openCount ?? 0) > 0) return '';
	return waitingWords(question, null);
}

/** The answered items, with their values as the channel may see them. */
function answerBlocks(question: QuestionView, { showAnswers }: PostContext, room: PostRoom): KnownBlock[] {
	const { items, itemCount, openCount } = asShownBy(showAnswers, question);
	const answered = items.flatMap((item, position) => (item.open ? [] : [answeredItem(item, position, room)]));
	const shown = answered.slice(0, MOST_ITEMS).flat();
	return [...richText(...shown), ...context(andMoreWords(itemCount - openCount - MOST_ITEMS))];
}

export function asksWords(title: string, changed = false): Words {
	return changed ? rich`✋ *${title}* asks something else now` : rich`✋ *${title}* asks`;
}

/** The answer's author saw another text than the question has now. */
export const BEFORE_NEW_TEXT = 'for an earlier text of the question';
export const OUTSIDE = 'Answered in the dashboard';

export const WATCHED_AGAIN = 'Watched again, in newer posts.';

/** For a question settled without an answer, and for a direct message whose person does not hold it any more. */
export const SETTLED_WORDS = {
	closed: 'No longer asked',
	wentOn: 'The agent continued without an answer',
	changed: 'The agent asks something else now',
	renewed: 'Asked again, in a new post',
	unwatched: 'No longer watched',
	gaveWay: 'No longer followed here: a newer question needed the place. Home still lists it.',
	handedOn: 'Handed over again',
	givenBack: 'You gave it back: it asks everybody again',
} as const;
