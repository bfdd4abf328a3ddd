import {
	type Answer,
	arrivalOf,
	forOthers,
	hasArrived,
	isAwaited,
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
import { inlineState, markOf, notSentWords, showQuestionButton } from './answer.ts';
import type { QuestionFacts } from './facts.ts';
import {
	answeredItem,
	askedLine,
	claimsWords,
	handOverLine,
	openQuestionParts,
	POST_ROOMS,
	questionText,
	sayingQuestion,
} from './question.ts';

type PostRoom = (typeof POST_ROOMS)[number];
type Found = Awaited<ReturnType<QuestionFacts['contextOf']>>;
type Seldom = 'refused' | 'lost' | 'isLostElsewhere' | 'perhaps' | 'named' | 'again';
/** What a post shows besides its content. */
export type PostContext = Omit<Found, Seldom> & Partial<Pick<Found, Seldom>>;

/** How a post shows the end of its question. */
export type SettledLook = SettledHow | 'ended' | keyof typeof SETTLED_WORDS;

/** The post of an open question; `changed`: the message asked something else before. */
export function askedPost(asked: Asked, changed: boolean, post: PostContext): MessageContent {
	if (isAnswering(asked, post.standing)) return settledQuestionPost(asked, null, post);
	const { question, readAt } = asked;
	const { discreet, view } = post;
	// The agent may have asked the same before.
	const refused = post.refused != null && post.refused.acceptedAt >= readAt ? post.refused : null;
	const sessionName = view?.name ?? '';
	const blocks = fitting(POST_ROOMS, (room) => {
		const open = openOf(asked, post, room);
		return [
			...open.blocks(joined(asksWords(postTitle(post), changed), stepsWords(question, view))),
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
	const { sessionId, channelId, offersOptions, view, discreet } = post;
	const choices = offersOptions ? { channelId, readAt } : null;
	const sessionName = view?.name ?? '';
	// Everybody has the same buttons. Whoever may not hand it over is told when they press.
	const holding = { handOver: null };
	return openQuestionParts(question, { sessionId, sessionName, discreet, room, choices, holding, hasMenu: true });
}

/** Who has an open question, and who is answering it. */
function whoLines(post: PostContext): Words[] {
	return [handOverLine(post, post.names), claimsWords(post.claimedBy), namedWords(post.named)];
}

/** Who alone may answer: names, which notify nobody. Empty: everybody may. */
export function namedWords(named: Named | null = null): Words {
	if (named === null) return '';
	if (named.isNobodyLeft) return '🔒 Nobody who may answer is left.';
	const only = rich`🔒 Only ${named.names} may answer`;
	return isEmpty(named.places) ? rich`${only}.` : joined(only, rich`named in ${named.places}`);
}

/** How far the agent has gone on since it asked, unless it waits visibly; else empty. */
export function stepsWords({ stepsSince = 0 }: QuestionView, view: Pick<SessionSnapshot, 'status'> | null): string {
	return stepsSince === 0 || isWaiting(view?.status ?? '') ? '' : `${counted(stepsSince, 'step')} since`;
}

/** Why the agent asks again. */
function lostWords(question: QuestionView, post: PostContext): string {
	const { lost, names } = post;
	if (lost == null)
		return post.isLostElsewhere ? 'Asked again. The answer from the dashboard is not in the field any more.' : '';
	// What it gave beside that may stand there still.
	const positions = lost.positions.filter((at) => question.items[at]?.open === true);
	const given = ownWords(question, { ...lost, positions }, post);
	const which = `${personName(lost.person.userId, names)}'s answer`;
	return given === ''
		? `Asked again. ${which} is not in the field any more.`
		: `Asked again. Not in the field any more: ${which}, ${given}`;
}

/** Whether `answer` is to this question as it is asked now, is on its way or has arrived, and was not taken back. */
export function isAnswering({ question, readAt }: Asked, answer: Answer | null): answer is Answer {
	if (answer === null || answer.fingerprint !== question.fingerprint) return false;
	if (isReworded(answer.shownHash, question.shownHash)) return false;
	// The agent may have asked the same before.
	if (isBlocking(answer.state)) return true;
	const number = arrivalOf(answer.timeline)?.arrival;
	if (number !== undefined && question.arrival !== undefined) return number > question.arrival;
	return answer.deliveredAt !== null && answer.deliveredAt > readAt;
}

/** The post of a question that is answered or over: its end in two lines, all of it while an answer is under way. */
export function settledQuestionPost(asked: Asked, how: SettledLook | null, post: PostContext): MessageContent {
	const title = postTitle(post);
	const answer = shownAnswer(asked, how, post.standing);
	const outcome = outcomeWords(asked, how, post);
	const says = saysOf(asked.question, post);
	if (answer !== null && isBlocking(answer.state)) {
		const isHeld = isUnderUndo(answer, post.now);
		const undo = says(button(ACTIONS.undo, 'Undo', { value: answer.id }));
		const sendsAt = rich`⏳ Sends at ${momentOf(answer.press?.undoUntil ?? 0, 'seconds')}`;
		// One line above it, and one element in place of its buttons: a press never makes it taller, on a phone neither.
		const above = openOf(asked, post).blocks(isHeld ? sendsAt : rich`⏳ *${title}* asks`);
		return message(`⏳ ${title}: ${outcome}`, [...above, ...row(outcome, isHeld ? undo : null)]);
	}
	const mark = answer === null ? (how === 'answered' ? '✅' : '🔹') : markOf(answer);
	const count = asked.question.itemCount;
	const what = count > 1 ? `asked ${counted(count, 'question')}` : `asked: ${askedLine(asked.question)}`;
	// One element beside the words, so that the post stays two lines.
	const [menu = null] = moreMenu(showQuestion(answer, post), answerAgain(asked, how, answer, post)).map(says);
	// Where there is a card, that offers it.
	const isAlone = post.reader === null && post.threadTs === null;
	const watch = how === 'unwatched' && answer === null && isAlone ? watchAgain(post) : null;
	return message(`${mark} ${title}: ${outcome}`, [
		...row(`${mark} ${title} ${what}\n${outcome}`, menu),
		...buttons(says(watch)),
	]);
}

/** Not in the direct message of a hand-over: it may be another's answer, in a channel that its reader is not in. */
const showQuestion = (answer: Answer | null, { reader }: PostContext) =>
	answer === null || reader !== null ? null : showQuestionButton(answer);

/** Where nobody has answered, another label; null: another post asks, or the session is over. */
function answerAgain(
	{ question: { fingerprint } }: Asked,
	how: SettledLook | null,
	answer: Answer | null,
	post: PostContext,
): Button | null {
	const { sessionId, view, reader, perhaps = null } = post;
	const isSettled = answer !== null || how === 'answered' || how === 'wentOn';
	if (!isSettled || reader !== null || isOver(view?.status ?? '')) return null;
	const isUnanswered = answer === null && perhaps === null && how === 'wentOn';
	return answerAgainButton({ sessionId, fingerprint }, isUnanswered ? 'Answer anyway' : 'Answer again…');
}

export function watchAgain({ again, sessionId }: Pick<PostContext, 'again' | 'sessionId'>) {
	const value = encodeTarget({ sessionId, messageIndex: null });
	return again === 'offered' ? button(ACTIONS.watch, 'Watch again', { value }) : null;
}

const saysOf = (question: QuestionView, { view, ...post }: PostContext) =>
	sayingQuestion(question, { ...post, sessionName: view?.name ?? '' });

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
	if (how === 'ended') return `The session ${endWords(post.view?.status ?? '')}`;
	if (how !== 'answered') return SETTLED_WORDS[how];
	return given === '' ? OUTSIDE : `${OUTSIDE}: ${given}`;
}

/** The answer from Handraise that a post shows: of a question that is over, only one that did that. */
function shownAnswer(asked: Asked, how: SettledLook | null, standing: Answer | null): Answer | null {
	// A choice that was not sent yet is not the answer that the session got.
	if (how === 'answered') return standing?.state === 'waiting' || standing?.state === 'accepted' ? null : standing;
	// Nobody reads here any more what becomes of it.
	const isStillShown = how === null || how === 'unwatched' || how === 'gaveWay' || how === 'wentOn';
	return isStillShown && isAnswering(asked, standing) ? standing : null;
}

/** Longer than the time for Undo: an answer delivered within this time is never shown as being sent. */
const UNDO_SLACK_MS = 5_000;

/** Whether the post still says when this one-press answer is sent, and offers *Undo*. */
function isUnderUndo({ press, acceptedAt, lastError }: Answer, now: number): boolean {
	if (press === null || press.undoUntil <= acceptedAt || lastError !== null) return false;
	return now < press.undoUntil + UNDO_SLACK_MS;
}

/** When time alone changes a question's look: an answer should be delivered, or nobody is answering; null: never. */
export function drawAgainAt({ standing, claimedUntil, now }: PostContext): number | null {
	if (standing === null || !isBlocking(standing.state)) return claimedUntil;
	return isUnderUndo(standing, now) ? (standing.press?.undoUntil ?? 0) + UNDO_SLACK_MS : null;
}

const MOST_VALUES = 3;

/** What was answered, in one line, as far as this channel may see it; or empty. `answer`: null from outside. */
function givenWords({ question, answered = [] }: Asked, answer: Answer | null, post: PostContext): string {
	// *Show question* has those of a form.
	if (post.showAnswers === 'never' || (answer !== null && question.itemCount > 1)) return '';
	const item = answer?.press == null ? undefined : itemsOf(answer).find(({ value }) => value);
	const pressed = answer && item && forOthers(item, repeatsIn(answer)).value;
	if (pressed) return valueWords(pressed);
	// What a read found may be somebody else's.
	if (answer !== null && (isBlocking(answer.state) || answer.agentOutcome === 'overwritten')) return '';
	const read = valuesWords(asShownBy(post.showAnswers, { ...question, items: answered }), question);
	return read === '' && answer !== null && hasArrived(answer.state) ? ownWords(question, answer, post) : read;
}

/** What an answer of ours said that stands in no field, as far as this channel may see it. */
function ownWords(question: QuestionView, answer: Answer, { showAnswers }: PostContext): string {
	const values = shownValuesOf(answer);
	// `shownByAuto` is of the empty field.
	const items = question.items.map(({ shownByAuto: _empty, ...one }, at) => {
		return { ...one, open: false, value: one.secret ? null : (values[at] ?? null) };
	});
	// Also those that count as closed since.
	const open = question.items.map((one, at) => ({ ...one, open: answer.positions.includes(at) }));
	return valuesWords(asShownBy(showAnswers, { ...question, items }), { ...question, items: open });
}

/** Perhaps an option of the agent, which may be a credential. */
const valueWords = (whole: string) => oneLine(masked(whole).text, 120);

/** The values of these items, in one line, of those that were open; empty when none is shown. */
function valuesWords({ items }: QuestionView, question: QuestionView): string {
	const given = items.filter(
		({ value, secret, withheld }, position) =>
			question.items[position]?.open !== false && (value || secret || withheld),
	);
	if (given.every(({ value }) => !value)) return '';
	const values = given.slice(0, MOST_VALUES).map(({ value }) => (value ? valueWords(value) : '(hidden)'));
	// Of very many items, the last are not stored.
	const count = given.length + question.itemCount - question.items.length;
	return [...values, andMoreWords(count - MOST_VALUES)].filter((text) => text !== '').join('; ');
}

/** Whether a post that is over stays so: its answer and agent cannot change, nor can it be answered or wait again. */
export function isLastLook(how: SettledLook | null, { standing }: Pick<PostContext, 'standing'>): boolean {
	const mayChange = standing !== null && (isAwaited(standing) || standing.agentOutcome === 'lost');
	return how !== null && how !== 'wentOn' && !mayChange && !isBlocking(standing?.state ?? '');
}

export const postTitle = ({ view, sessionId }: PostContext) => sessionTitle(view?.name ?? '', sessionId);

const MOST_ITEMS = 5;

/** Why the agent waits; empty when it does not wait, or when its question is shown. */
export function waitingLine({ status, question }: SessionSnapshot): Words {
	if (!isWaiting(status) || question?.goneOn === false || (question?.openCount ?? 0) > 0) return '';
	return waitingWords(question, null);
}

/** The items no longer open, with their values as the channel may see them. */
function answerBlocks(question: QuestionView, { showAnswers }: PostContext, room: PostRoom): KnownBlock[] {
	const { items, itemCount, openCount } = asShownBy(showAnswers, question);
	const answered = items.flatMap((item, position) => (item.open ? [] : [answeredItem(item, position, room)]));
	const shown = answered.slice(0, MOST_ITEMS).flat();
	return [...richText(...shown), ...context(andMoreWords(itemCount - openCount - MOST_ITEMS))];
}

export function asksWords(title: string, changed = false): Words {
	return changed ? rich`✋ *${title}* asks something else now` : rich`✋ *${title}* asks`;
}

/** Its author saw another text than the question has now. */
export const BEFORE_NEW_TEXT = 'for an earlier text of the question';
export const OUTSIDE = 'Answered in the dashboard';

export const WATCHED_AGAIN = 'Watched again, in newer posts.';

/** For a question settled without an answer, and for a direct message whose person does not have it now. */
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
