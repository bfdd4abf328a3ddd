import type { KnownBlock } from '@slack/types';
import type { WatchEnd } from '../../database/watch.ts';
import type { ContentOf, PostKind } from '../../posts/kinds.ts';
import type { Asked } from '../../posts/post.ts';
import { type Answer, isBlocking, itemsOf } from '../../questions/answer.ts';
import type { HandOver } from '../../questions/hand-over.ts';
import type { SettledHow } from '../../questions/occurrences.ts';
import type { ShowAnswers } from '../../questions/secrecy.ts';
import { isReworded, isWaiting } from '../../questions/session.ts';
import { asShownBy, type QuestionView, type SessionSnapshot } from '../../questions/session-snapshot.ts';
import { ACTIONS, encodeTarget } from '../../slack/ids.ts';
import { button, buttons, context, type MessageContent, message, section, textMessage } from '../../slack/parts.ts';
import {
	answeredItem,
	claimsWords,
	handOverLine,
	openQuestion,
	questionBlocks,
	questionText,
} from '../../slack/question-view.ts';
import { oneLineMrkdwn, quotedMarkdown } from '../../slack/text.ts';
import {
	andMoreWords,
	contactMrkdwn,
	counted,
	durationText,
	joined,
	momentMrkdwn,
	type Names,
	personMrkdwn,
	personName,
	placeMrkdwn,
	sessionIdMrkdwn,
	sessionName,
	sessionTitle,
	statusWords,
	waitingWords,
} from '../../slack/words.ts';
import { notSentWords } from '../answer/view.ts';
import { leftOutWords } from './view.ts';

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
	readonly handOver: HandOver | null;
	/** Who is answering, and until when at least; null where a card shows it. */
	readonly claims: { readonly userIds: readonly string[]; readonly until: number | null } | null;
	/** Why it is not watched any more; null while it is. */
	readonly ended: WatchEnd | null;
	/** Whether somebody can watch it again there, or has done so; null: neither. */
	readonly again?: 'offered' | 'done' | null;
	readonly watchMaxDays: number;
	/** As buttons. */
	readonly offersOptions: boolean;
	/** When a read found its question settled; null before. */
	readonly settledAt: number | null;
	/** Which answers its channel sees. */
	readonly showAnswers: ShowAnswers;
	/** Whether notifications say only that an agent asks. */
	readonly discreet: boolean;
	/** Whether it is posted already: an update notifies nobody whom it mentions. */
	readonly isUpdate: boolean;
	readonly now: number;
	readonly names: Names;
	readonly adminContact: string | null;
	readonly dashboardUrl: string | null;
}

/** How a post shows the end of its question; see `SETTLED_WORDS`. */
export type SettledLook = SettledHow | keyof typeof SETTLED_WORDS;

/** Words alone are a string. mrkdwn. */
type Draw<K extends PostKind> = (content: ContentOf<K>, post: PostContext) => MessageContent | string;

/** The kinds that need nothing but their content and the context of their post. */
const PLAIN = {
	status({ from, to }, post) {
		const { emoji, mrkdwn } = statusWords(to);
		const text = `${emoji} ${titleOf(post)}: ${mrkdwn} (before: ${statusWords(from).mrkdwn})`;
		const waiting = post.view?.status === to ? waitingLine(post.view) : '';
		return textMessage(text, section(waiting));
	},
	end(_, post) {
		const { status = '', result = null, step = 0 } = post.view ?? {};
		const { emoji, mrkdwn } = statusWords(status);
		const text = `${emoji} ${titleOf(post)}: ${mrkdwn} after ${counted(step, 'step')}`;
		return message(text, [...section(`*${text}*`), ...resultBlocks(result)]);
	},
	watchEnded: (_, post) => `👋 ${endedWords(post)}`,
	serviceDown: ({ since }) =>
		`⚠️ The session service has been unavailable since ${momentMrkdwn(since)}: it is down, limits our requests or refuses our key. Cards in this channel are not updated until it is back. Answers are saved and sent then.`,
	serviceBack: ({ downMs }) => `✅ The session service is back after ${durationText(downMs)}. Cards are current again.`,
	// A new post mentions nobody.
	discoveryBegun: ({ by }, { names }) =>
		`✋ ${personName(by, names)} turned on questions from all sessions in this channel. \`/session unwatch all\` ends that, and all other watches here.`,
	discoveryEnded: ({ by }, { names }) =>
		`👋 ${personName(by, names)} turned off questions from all sessions in this channel. Nothing else is watched here either.`,
	discoveryFull: (content, { adminContact }) => leftOutWords(content, adminContact),
	discoveryPaused: (content, { adminContact }) => leftOutWords(content, adminContact),
	creatorTold: creatorToldWords,
} as const satisfies { readonly [K in PostKind]?: Draw<K> };
export type PlainKind = keyof typeof PLAIN;
export type PostedContent = ContentOf<PlainKind>;

export function plainKinds<Draw>(draw: Draw): Readonly<Record<PlainKind, Draw>> {
	return Object.fromEntries(Object.keys(PLAIN).map((kind) => [kind, draw])) as Record<PlainKind, Draw>;
}

/** A post in a watch's thread, in a channel or to a person. Holds no link that gives access. */
export function watchPost(content: PostedContent, post: PostContext): MessageContent {
	const draw = PLAIN[content.kind] as Draw<PlainKind>;
	const drawn = draw(content, post);
	return typeof drawn === 'string' ? textMessage(drawn) : drawn;
}

/** The post of an open question; `changed`: the message asked something else before. */
export function askedPost(asked: Asked, changed: boolean, post: PostContext): MessageContent {
	if (isChosen(asked, post.standing)) return settledQuestionPost(asked, null, post);
	const { question, readAt } = asked;
	const { sessionId, channelId, discreet } = post;
	// The agent may have asked the same before.
	const refused = post.refused != null && post.refused.acceptedAt >= readAt ? post.refused : null;
	const sessionName = post.view?.name ?? '';
	const choices = post.offersOptions ? { channelId, readAt } : null;
	// Everybody has the same buttons. Whoever may not hand it over is told when they press.
	const open = openQuestion(question, { sessionId, choices, holding: { handOver: null } });
	return message(questionText({ question, sessionName, waitedMs: post.now - readAt, discreet, changed }), [
		...open.blocks(asksWords(titleOf(post), changed)),
		...buttons(...open.row),
		...answerBlocks(question, post),
		...context(
			question.openCount < question.itemCount ? `Still open: ${counted(question.openCount, 'question')}.` : '',
			open.note,
			notSentWords(refused),
			handOverLine(post, post.isUpdate ? null : post.names),
		),
		...context(claimsLine(post)),
		...idBlocks(post),
	]);
}

/** The one post of a session that changes its question often. Its button opens whatever is asked then. */
export function switchingPost(question: QuestionView, post: PostContext): MessageContent {
	const value = encodeTarget({ sessionId: post.sessionId, messageIndex: null });
	const row = buttons(button(ACTIONS.answer, 'Answer…', { value }));
	const text = switchingWords(titleOf(post));
	const isOpen = question.openCount > 0;
	return message(text, [
		...(isOpen ? [...questionBlocks(text, question), ...row, ...answerBlocks(question, post)] : section(`*${text}*`)),
		...context(isOpen ? NEWEST_SHOWN : NOTHING_ASKED, handOverLine(post, post.isUpdate ? null : post.names)),
		...context(claimsLine(post)),
		...idBlocks(post),
	]);
}

/** Who is answering; empty for nobody, and where a card shows it. mrkdwn. */
export function claimsLine({ claims }: Pick<PostContext, 'claims'>): string {
	return claims === null ? '' : claimsWords(claims.userIds, claims.until);
}

/** The session's id, where no card shows it. */
function idBlocks({ sessionId, claims }: PostContext): KnownBlock[] {
	return claims === null ? [] : context(`session ${sessionIdMrkdwn(sessionId)}`);
}

/** Whether `answer` is a choice of one of the options of this question, and neither failed nor was taken back. */
export function isChosen({ question, readAt }: Asked, answer: Answer | null): answer is Answer {
	if (answer === null || answer.press === null || answer.fingerprint !== question.fingerprint) return false;
	if (isReworded(answer.shownHash, question.shownHash)) return false;
	// The agent may have asked the same before.
	return isBlocking(answer.state) || (answer.deliveredAt !== null && answer.deliveredAt > readAt);
}

/** The post of a settled question, without buttons. `how`: null when somebody has chosen an option. */
export function settledQuestionPost(asked: Asked, how: SettledLook | null, post: PostContext): MessageContent {
	const title = titleOf(post);
	const words = outcomeWords(asked, how, post);
	const question = withAnswers(asked, post.standing);
	const isOpen = words === SETTLED_WORDS.gaveWay || how === 'own' || how === 'handedOn' || how === 'givenBack';
	return message(`${title}: ${words}`, [
		...questionBlocks(isOpen ? asksWords(title) : `${title} asked`, question),
		...answerBlocks(question, post),
		...context(words),
		...(how === 'unwatched' && post.reader === null ? buttons(watchAgain(post)) : []),
		...idBlocks(post),
	]);
}

/** Null where nobody can watch it again. */
export function watchAgain({ again, sessionId }: Pick<PostContext, 'again' | 'sessionId'>) {
	const value = encodeTarget({ sessionId, messageIndex: null });
	return again === 'offered' ? button(ACTIONS.watch, 'Watch again', { value }) : null;
}

/** What became of a question; empty while it waits. mrkdwn; mentions people: for updates only. `how`: null before its end. */
export function outcomeWords(asked: Asked, how: SettledLook | null, post: PostContext): string {
	const { standing, settledAt, showAnswers } = post;
	let chosen = '';
	if (isChosen(asked, standing)) {
		const option = showAnswers === 'never' ? null : itemsOf(standing).find(({ value }) => value)?.value;
		// Escaping makes its 30 characters longer.
		const did = option == null ? 'answered' : `chose ${oneLineMrkdwn(option, 200)}`;
		chosen = joined(`👉 ${personMrkdwn(standing.person.userId)} ${did}`, momentMrkdwn(standing.acceptedAt));
	}
	if (how === null) return chosen;
	// Somebody pressed before the post showed it.
	if (how === 'gaveWay' && chosen !== '') return `${chosen} ${SETTLED_WORDS.gaveWay}`;
	if (how === 'unwatched' && post.again === 'done') return WATCHED_AGAIN;
	if (how !== 'answered') return SETTLED_WORDS[how];
	// A choice that was not sent yet is not the answer that the session got.
	if (!isThere(standing)) return `✅ ${joined(OUTSIDE, settledAt === null ? '' : momentMrkdwn(settledAt))}`;
	return chosen === '' ? answeredWords(standing, asked.question) : chosen;
}

/** Whether a post that is over looks like this for good: not while nobody knows what becomes of an answer. */
export function isLastLook(isOver: boolean, { standing }: Pick<PostContext, 'standing'>): boolean {
	return isOver && !isBlocking(standing?.state ?? '');
}

/** The question as it was answered, or as far as it was. What somebody chose, the words below it say. */
function withAnswers(asked: Asked, standing: Answer | null): QuestionView {
	const { question, answered } = asked;
	if (answered === undefined || (isChosen(asked, standing) && isThere(standing))) return question;
	return { ...question, items: answered, openCount: 0 };
}

/** The session's name, or its id. mrkdwn. */
export function titleOf({ view, sessionId }: PostContext): string {
	return sessionTitle(view?.name ?? '', sessionId);
}

/** What the agent reports at the end; no block when it reports nothing. */
export function resultBlocks(result: string | null): KnownBlock[] {
	const text = quotedMarkdown(result ?? '', 2_900);
	return section(text === '' ? '' : `*The agent's result*\n${text}`);
}

const MOST_ITEMS = 5;

/** Why the agent waits; empty when it does not wait, or when its question is shown. */
export function waitingLine({ status, question }: SessionSnapshot): string {
	if (!isWaiting(status) || question?.goneOn === false || (question?.openCount ?? 0) > 0) return '';
	return waitingWords(question, null);
}

/** Whether `answer` reached the session, or may have: not while it waits for its author or was never sent. */
export function isThere(answer: Answer | null): answer is Answer {
	return answer !== null && answer.state !== 'waiting' && answer.state !== 'accepted';
}

/** Who answered a settled question. While `answer` is on its way, another one may have been the first. mrkdwn. */
export function answeredWords(answer: Answer, question: QuestionView | null): string {
	if (!isBlocking(answer.state)) return `✅ ${answeredLine(answer, question)}`;
	return `📨 Handraise is checking whether the answer of ${personMrkdwn(answer.person.userId)} arrived`;
}

/** `Answered by @ada today 10:12`. `question`: as it stands now; its text may be another than that answered. */
export function answeredLine({ person, acceptedAt, shownHash }: Answer, question: QuestionView | null) {
	const which = isReworded(shownHash, question?.shownHash ?? null) ? `, ${BEFORE_NEW_TEXT}` : '';
	return `Answered by ${personMrkdwn(person.userId)} ${momentMrkdwn(acceptedAt)}${which}`;
}

/** The items that are not open any more, with their values as the channel may see them. */
function answerBlocks(question: QuestionView, { showAnswers }: PostContext): KnownBlock[] {
	const { items, itemCount, openCount } = asShownBy(showAnswers, question);
	const answered = items.flatMap((item, position) =>
		item.open ? [] : [answeredItem(item, position, openCount === 0)],
	);
	const shown = answered.slice(0, MOST_ITEMS);
	return [...shown.flatMap((text) => section(text)), ...context(andMoreWords(itemCount - openCount - MOST_ITEMS))];
}

export function asksWords(title: string, changed = false): string {
	return changed ? `✏️ ${title} asks something else now` : `✋ ${title} asks for an answer`;
}

const NEWEST_SHOWN =
	'This post shows the newest question, up to a few seconds late, instead of a new post for each. *Answer…* opens the question that the agent asks when you press it. A question that stays for a minute is posted by itself.';
export const NOTHING_ASKED = 'The agent asks nothing at the moment.';

/** Instead of many posts: the agent changes its question often. mrkdwn. */
export function switchingWords(title: string): string {
	return `🔀 ${title} changes its question often`;
}

/** Its author saw another text than the question has now. */
export const BEFORE_NEW_TEXT = 'for an earlier text of the question';
export const OUTSIDE = "Answered outside Slack, on the session service's own page";

const WATCHED_AGAIN = '👀 Watched again, in newer posts.';

/** For a question that was settled without an answer, and for a direct message whose person does not have it now. */
export const SETTLED_WORDS = {
	closed: '💨 Closed without an answer',
	changed: '✏️ The agent asks something else now',
	renewed: '🔁 The agent asks this again, in a new post',
	unwatched: '👋 No longer watched.',
	gaveWay:
		'💤 Not followed here any more: a newer question needed the place. `/session` with its id opens it, and the *Home* tab lists it where that lists waiting sessions.',
	own: '⬇️ The agent asks the same for a minute now: its question has a post of its own.',
	handedOn: '↪️ Handed over again.',
	givenBack: '↩️ You gave this question back. It is open for all again.',
} as const;

function creatorToldWords(told: ContentOf<'creatorTold'>, post: PostContext): string {
	const { sessionIds, channelId, reason } = told;
	const isAll = sessionIds.length === 0;
	const what = `The watch of ${isAll ? 'all sessions' : sessionNames(sessionIds)}`;
	const why = endedWords({ ...post, ended: reason });
	const command = isAll ? '`/session watch all`' : '`/session watch`';
	return `👋 ${what} in ${placeMrkdwn(channelId)} has ended: ${why.replace('`/session watch`', command)}`;
}

const NAMED_SESSIONS = 10;

function sessionNames(ids: readonly string[]): string {
	if (ids.length === 1) return sessionName(ids[0] ?? '');
	const named = ids.slice(0, NAMED_SESSIONS).map((id) => `*${sessionIdMrkdwn(id)}*`);
	return `the sessions ${named.join(', ')} ${andMoreWords(ids.length - NAMED_SESSIONS)}`.trimEnd();
}

/** `{days}` is replaced with how long nothing changed, `{contact}` with whom to ask. */
const ENDS: Readonly<Record<WatchEnd, string>> = {
	sessionOver: 'The session is over; this card stays as it is.',
	unwatched: 'No longer watched.',
	noChange: 'Nothing changed for {days} days, so I stopped watching. `/session watch` starts again.',
	handLowered: 'The question is not open any more.',
	gaveWay: 'A newer question needed the place.',
	discoveryEnded: 'No longer watched.',
	sessionGone: 'The session service does not know this session any more, so I stopped watching.',
	channelArchived: 'The channel was archived.',
	channelGone: 'The channel is gone.',
	botRemoved: 'I was removed from the channel. Invite me and use `/session watch` to start again.',
	channelShared:
		'Another organisation can read this channel, or is invited to it, so I post nothing more there. What I posted there before stays, and they can read it: ask a workspace admin to delete the card and the posts in its thread, or to stop the sharing. To go on, use `/session watch` in another channel. To allow watching in shared channels, ask {contact}.',
	channelNotAllowed:
		'Handraise is no longer allowed there, so I post nothing more there. What I posted there before stays. To change that, ask {contact}.',
};

/** Why a watch ended; empty while it goes on. mrkdwn. */
export function endedWords(post: Pick<PostContext, 'ended' | 'again' | 'watchMaxDays' | 'adminContact'>): string {
	if (post.ended === null) return '';
	if (post.again === 'done') return WATCHED_AGAIN;
	const why = ENDS[post.ended].replace('{days}', `${post.watchMaxDays}`);
	return why.replace('{contact}', () => contactMrkdwn(post.adminContact));
}
