import type { Button, KnownBlock } from '@slack/types';
import { type Answer, isBlocking, itemsOf } from '../../answers/answer.ts';
import type { OnCut } from '../../cut.ts';
import type { HandOver } from '../../inbox/hand-over.ts';
import { isWaiting } from '../../questions/session.ts';
import { isReworded } from '../../questions/shown-text.ts';
import type { AnnouncementContent, SettledHow } from '../../watches/announcements.ts';
import type { ItemView, QuestionView, SessionSnapshot } from '../../watches/session-snapshot.ts';
import { ACTIONS, encodeTarget } from '../ids.ts';
import { quoted, quotedLine, quotedMarkdown, quotedNameMrkdwn } from '../text.ts';
import { notSentWords } from '../words/answers.ts';
import { discoveryBegunWords, discoveryEndedWords, leftOutWords } from '../words/discovery.ts';
import { handOverLine } from '../words/hand-over.ts';
import { claimsWords } from '../words/notices.ts';
import { type Names, personMrkdwn } from '../words/people.ts';
import { QUESTION_CUT, questionText } from '../words/question-text.ts';
import { chosenWords } from '../words/quick-answers.ts';
import {
	andMoreWords,
	questionCountWords,
	sessionIdMrkdwn,
	sessionTitle,
	statusWords,
	waitingWords,
} from '../words/sessions.ts';
import { momentMrkdwn } from '../words/times.ts';
import {
	asksWords,
	BEFORE_NEW_TEXT,
	creatorToldWords,
	endWords,
	MAYBE_REPEAT,
	NOTHING_ASKED,
	OUTSIDE,
	QUESTION_CLOSED,
	SETTLED_WORDS,
	SWITCHING,
	serviceBackWords,
	serviceDownWords,
	switchingWords,
} from '../words/watching.ts';
import { button, buttons, context, handOverButton, type MessageContent, message, section, UNFOLDED } from './parts.ts';
import { answerButtons, noForm } from './quick-answer.ts';

/** What a post needs besides its content. */
export interface PostContext {
	readonly sessionId: string;
	/** The newest read of the session. */
	readonly view: SessionSnapshot | null;
	/** The answer from Handraise to the question of the post. */
	readonly standing: Answer | null;
	/** The newest answer to it whose author was not allowed to send it any more. */
	readonly refused?: Answer | null;
	/** Where the question is asked, and the thread of the watch's card there. */
	readonly channelId: string;
	readonly threadTs: string | null;
	/** Who began the watch: the person of `channelId` if that is a direct message with the app. */
	readonly watchedBy: string;
	/** Slack user id of the reader of a direct message; null in channels. */
	readonly reader: string | null;
	/** Who has the question of the post, because it was handed over to them. */
	readonly handOver: HandOver | null;
	/** For a post in a channel without a card, which else shows these: who is answering, and until when at least. */
	readonly alone: { readonly claims: readonly string[]; readonly claimedUntil: number | null } | null;
	/** Whether the post offers short options as buttons. */
	readonly offersOptions: boolean;
	/** Whether channels see which option somebody chose. */
	readonly showsChoices: boolean;
	/** Whether notifications say only that an agent asks, and posts only that somebody answered. */
	readonly discreet: boolean;
	/** Whether it is posted already: an update notifies nobody whom it mentions. */
	readonly isUpdate: boolean;
	readonly now: number;
	readonly names: Names;
	readonly adminContact: string | null;
	/** An earlier attempt may have posted it; the post says so. */
	readonly maybeRepeat: boolean;
}

/** Cards, reminders, hand-overs and changes of settings have builders of their own, and settling changes a post. */
export type PostedContent = Exclude<
	AnnouncementContent,
	{ kind: 'card' | 'settle' | 'redraw' | 'rung' | 'rungs' | 'handedOver' | 'givenBack' | 'settingsChanged' }
>;
/** A question as it was announced. */
export type AskedContent = Extract<AnnouncementContent, { kind: 'question' }>;
/** The same, or as it was handed over. */
type Asked = Pick<AskedContent, 'question' | 'readAt'>;

/** A post in a watch's thread, in a channel or to a person. Holds no link that gives access. */
export function watchPost(content: PostedContent, post: PostContext): MessageContent {
	const { text, blocks } = postParts(content, post);
	return message(text, [...blocks, ...context(post.maybeRepeat ? MAYBE_REPEAT : '')]);
}

function postParts(content: PostedContent, post: PostContext): { text: string; blocks: KnownBlock[] } {
	const title = titleOf(post);
	switch (content.kind) {
		case 'question':
			if (isChosen(content, post.standing)) return overParts(content, null, post);
			return content.switching === true ? switchingParts(content, post) : askedParts(content, post);
		case 'answered': {
			const text = `✅ ${answeredWords(post, content.question)}`;
			const openCount = content.stillOpen.length;
			return {
				text,
				blocks: [
					...section(text),
					...(content.question === null ? [] : answerBlocks(content.question, content.items)),
					...context(openCount === 0 ? '' : `Still open: ${questionCountWords(openCount)}.`),
				],
			};
		}
		case 'questionClosed':
			return textOnly(QUESTION_CLOSED);
		case 'status': {
			const { emoji, mrkdwn } = statusWords(content.to);
			const text = `${emoji} ${title}: ${mrkdwn} (before: ${statusWords(content.from).mrkdwn})`;
			const waiting = post.view?.status === content.to ? waitingLine(post.view, post.names) : '';
			return { text, blocks: [...section(text), ...section(waiting)] };
		}
		case 'end': {
			const { emoji, mrkdwn } = statusWords(content.status);
			const text = `${emoji} ${title}: ${mrkdwn} after ${content.step} ${content.step === 1 ? 'step' : 'steps'}`;
			return { text, blocks: [...section(`*${text}*`), ...resultBlocks(content.result)] };
		}
		case 'watchEnded':
			return textOnly(`👋 ${endWords(content.reason, { ...post, days: content.days })}`);
		case 'serviceDown':
			return textOnly(serviceDownWords(content.since));
		case 'serviceBack':
			return textOnly(serviceBackWords(content.downMs));
		case 'discoveryBegun':
			return textOnly(discoveryBegunWords(content.by, post.names));
		case 'discoveryEnded':
			return textOnly(discoveryEndedWords(content.by, post.names));
		case 'discoveryFull':
		case 'discoveryPaused':
			return textOnly(leftOutWords(content, post.adminContact));
		case 'creatorTold':
			return textOnly(creatorToldWords(content, post.adminContact));
	}
}

/** The post of a question that is open. */
function askedParts({ question, changed, readAt }: AskedContent, post: PostContext) {
	const { sessionId, discreet } = post;
	// The agent may have asked the same before.
	const refused = post.refused != null && post.refused.acceptedAt >= readAt ? post.refused : null;
	const quick = post.offersOptions ? question.quick : null;
	const sessionName = post.view?.name ?? '';
	const handOver = handOverButton({ sessionId, fingerprint: question.fingerprint });
	const asked = openQuestion(asksWords(titleOf(post), changed), { question, readAt }, post, [handOver]);
	return {
		text: questionText({ question, quick, sessionName, waitedMs: post.now - readAt, discreet, changed }),
		blocks: [
			...asked.blocks,
			...asked.row,
			...context(asked.note, notSentWords(refused, post.names), handOverLine(post.handOver, post.names, post)),
			...(post.alone === null ? [] : context(claimsWords(post.alone.claims, post.names, post.alone.claimedUntil))),
			...idBlocks(post),
		],
	};
}

/**
 * An open question and its buttons, without options where a part of it is cut. `others`: what comes after them. `note`: why
 * it has no form, or that a part is cut; empty otherwise.
 */
export function openQuestion(
	headline: string,
	{ question, readAt }: Asked,
	{ sessionId, channelId, offersOptions }: Pick<PostContext, 'sessionId' | 'channelId' | 'offersOptions'>,
	others: readonly Button[] = [],
): Record<'blocks' | 'row', KnownBlock[]> & { readonly note: string } {
	let isWhole = true;
	const blocks = questionBlocks(headline, question, 2_500, (isNote) => {
		isWhole &&= isNote === true && question.quick !== null;
	});
	const row = answerButtons(question, { sessionId, channelId, readAt }, offersOptions && isWhole, others);
	return { blocks, row, note: noForm(question) || (isWhole ? '' : QUESTION_CUT) };
}

/** The one post of a session that changes its question often. Its button opens whatever is asked then. */
function switchingParts({ question }: AskedContent, post: PostContext) {
	const { sessionId, names, alone } = post;
	const text = switchingWords(titleOf(post));
	const open = button(ACTIONS.answer, 'Answer…', { value: encodeTarget({ sessionId, messageIndex: null }) });
	return {
		text,
		blocks: [
			...(question.openCount > 0 ? [...questionBlocks(text, question, 2_500), ...buttons(open)] : section(`*${text}*`)),
			...context(question.openCount > 0 ? SWITCHING : NOTHING_ASKED, handOverLine(post.handOver, names, post)),
			...(alone === null ? [] : context(claimsWords(alone.claims, names, alone.claimedUntil))),
			...idBlocks(post),
		],
	};
}

/** The session's id, where no card shows it. */
function idBlocks({ sessionId, alone }: PostContext): KnownBlock[] {
	return alone === null ? [] : context(`session ${sessionIdMrkdwn(sessionId)}`);
}

/** Whether `answer` is a choice of one of the options of this question, and neither failed nor was taken back. */
export function isChosen({ question, readAt }: Asked, answer: Answer | null): answer is Answer {
	if (answer === null || answer.press === null || answer.fingerprint !== question.fingerprint) return false;
	if (isReworded(answer.shownHash, question.shownHash)) return false;
	// The agent may have asked the same before.
	return isBlocking(answer.state) || (answer.deliveredAt !== null && answer.deliveredAt > readAt);
}

/** The post of a question for which somebody has chosen an option, or that is settled. */
function overParts(asked: Asked, how: SettledHow | null, post: PostContext) {
	const title = titleOf(post);
	const words = outcomeWords(asked, how, post);
	const isOpen = words === SETTLED_WORDS.gaveWay || how === 'own' || how === 'handedOn' || how === 'givenBack';
	return {
		text: `${title}: ${words}`,
		blocks: [
			...questionBlocks(isOpen ? asksWords(title) : `${title} asked`, asked.question, 2_500),
			...context(words),
			...idBlocks(post),
		],
	};
}

/**
 * What became of a question: who has chosen an option or answered, or why it takes no more answers; empty while it waits.
 * mrkdwn; mentions people, so it is for updates only.
 * @param how null while its posts are not settled
 */
export function outcomeWords(asked: Asked, how: SettledHow | null, post: PostContext): string {
	const { standing } = post;
	if (how === null) return isChosen(asked, standing) ? `👉 ${choiceWords(post)}` : '';
	// Somebody pressed before the post showed it.
	if (how === 'gaveWay' && isChosen(asked, standing)) return `👉 ${choiceWords(post)} ${SETTLED_WORDS.gaveWay}`;
	if (how !== 'answered') return SETTLED_WORDS[how];
	// A choice that was not sent yet is not the answer that the session got.
	return isThere(standing) && isChosen(asked, standing)
		? `👉 ${choiceWords(post)}`
		: `✅ ${answeredWords(post, asked.question)}`;
}

function choiceWords({ standing, names, discreet, showsChoices }: PostContext): string {
	if (standing === null) return OUTSIDE;
	const option = discreet || !showsChoices ? null : (itemsOf(standing).find(({ value }) => value)?.value ?? null);
	return chosenWords(standing.person.userId, option, names);
}

/** The session's name, or its id. mrkdwn. */
export function titleOf({ view, sessionId }: PostContext): string {
	return sessionTitle(view?.name ?? '', sessionId);
}

function textOnly(words: string): { text: string; blocks: KnownBlock[] } {
	return { text: words, blocks: section(words) };
}

function answeredWords({ standing, names }: PostContext, question: QuestionView | null): string {
	return isThere(standing) ? answeredLine(standing, names, question) : OUTSIDE;
}

/** The post of a settled question: what was asked, who settled it, no button. */
export function settledQuestionPost(asked: Asked, how: SettledHow, post: PostContext): MessageContent {
	const { text, blocks } = overParts(asked, how, post);
	return message(text, blocks);
}

/** What the agent reports at the end; no block when it reports nothing. */
export function resultBlocks(result: string | null): KnownBlock[] {
	const text = quotedMarkdown(result ?? '', 2_900);
	return section(text === '' ? '' : `*The agent's result*\n${text}`);
}

const MOST_ITEMS = 5;

/** A headline, at most `room` characters of what the agent said, and the open items. For cards and posts. */
export function questionBlocks(headline: string, question: QuestionView, room: number, onCut?: OnCut): KnownBlock[] {
	const asked = question.items.filter((item) => item.open).slice(0, MOST_ITEMS);
	const moreCount = question.openCount - asked.length;
	return [
		...section(`*${headline}*\n${quotedMarkdown(question.context, room, onCut)}`.trim(), UNFOLDED),
		...asked.flatMap((item, index) => section(itemText(item, index, onCut), UNFOLDED)),
		...context(andMoreWords(moreCount, moreCount === 1 ? 'question' : 'questions')),
	];
}

function itemText({ title, description }: ItemView, index: number, onCut?: OnCut): string {
	const name = quotedNameMrkdwn(title, 250, onCut) || `Question ${index + 1}`;
	return `❓ *${name}*\n${quotedLine(description, 500, onCut)}`.trimEnd();
}

/** Why the agent waits; empty when it does not wait, or when its question is shown. */
export function waitingLine({ status, question }: SessionSnapshot, names: Names): string {
	if (!isWaiting(status) || question?.goneOn === false || (question?.openCount ?? 0) > 0) return '';
	return waitingWords(question, null, names);
}

/** Whether `answer` reached the session: not while it waits for its author or was never sent. */
export function isThere(answer: Answer | null): answer is Answer {
	return answer !== null && answer.state !== 'waiting' && answer.state !== 'accepted';
}

/** `Answered by @ada today 10:12`. `question`: as it stands now; its text may be another than that answered. */
export function answeredLine({ person, acceptedAt, shownHash }: Answer, names: Names, question: QuestionView | null) {
	const which = isReworded(shownHash, question?.shownHash ?? null) ? `, ${BEFORE_NEW_TEXT}` : '';
	return `Answered by ${personMrkdwn(person.userId, names)} ${momentMrkdwn(acceptedAt)}${which}`;
}

/** The values of these items as a channel may see them. */
function answerBlocks(question: QuestionView, positions: readonly number[]): KnownBlock[] {
	const shown = positions.slice(0, MOST_ITEMS).flatMap((position) => {
		const item = question.items[position];
		return item === undefined ? [] : section(answeredItem(item, position));
	});
	return [...shown, ...context(andMoreWords(positions.length - MOST_ITEMS))];
}

/** The title and the value of an item that is not open, at most about 700 characters of mrkdwn. */
export function answeredItem(
	item: Pick<ItemView, 'title' | 'value' | 'secret' | 'withheld'>,
	position: number,
): string {
	const name = quotedNameMrkdwn(item.title, 200) || `Question ${position + 1}`;
	const value = item.secret
		? '(hidden)'
		: item.withheld
			? '(not shown in channels)'
			: item.value === null
				? '(left empty)'
				: quoted(item.value, 500);
	return `*${name}*\n${value}`;
}
