import { isOver } from '../domain/session.ts';
import type { QuestionView, SessionSnapshot } from '../domain/session-snapshot.ts';
import { createCutMark, withoutNote } from '../domain/texts.ts';
import { agentLine, agentText, tableOf } from '../slack/agent-text.ts';
import {
	button,
	buttons,
	context,
	dashboardButton,
	fitting,
	type KnownBlock,
	labelAboutSession,
	type MessageContent,
	message,
	moreMenu,
	row,
	section,
} from '../slack/blocks.ts';
import { errorWords } from '../slack/error-view.ts';
import { ACTIONS, encodeTarget } from '../slack/ids.ts';
import { actionsLine, endWords, linkWords, momentOf, sessionTitle, statusWords, titleLine } from '../slack/phrases.ts';
import { joined, line, type Piece, quote, rich, richText } from '../slack/rich-text.ts';
import { endedWords } from './notice.ts';
import { claimsWords, handOverLine, openQuestionParts, POST_ROOMS, questionText } from './question.ts';
import { asksWords, type PostContext, postTitle, waitingLine, watchAgain } from './question-post.ts';

/** The data of a card. It has no link that gives access to whoever has it. */
export interface CardModel
	extends Pick<PostContext, 'claimedBy' | 'discreet' | 'handOver' | 'isUpdate' | 'names'>,
		Pick<PostContext, 'adminContact' | 'again' | 'dashboardUrl' | 'ended'> {
	readonly snapshot: SessionSnapshot;
	/** The card shows the open question, because no post in the channel does. */
	readonly asks: boolean;
	/** Another message tells the end of the session. */
	readonly isEndTold: boolean;
	/** To the message of the end, or to the question's post; null: there is none, or Slack does not tell it. */
	readonly link: string | null;
	/** The code of why this session cannot be read while others can; null when it can. */
	readonly unreadCode: string | null;
	/** When the session was read last, in milliseconds since the epoch; null while that is recent. */
	readonly checkedAt: number | null;
}

/**
 * The card of a session in a channel: a line, and its newest step, its question or its result unless another post has
 * it.
 */
export function watchCard(model: CardModel): MessageContent {
	if (model.isEndTold) return endedCard(model);
	const { snapshot, discreet } = model;
	// Nobody reads a session that is not watched, so its state may have changed.
	const isLeft = model.ended !== null && !isOver(snapshot.status);
	const title = sessionTitle(snapshot.name, snapshot.sessionId);
	const asked = (snapshot.question?.openCount ?? 0) > 0 ? snapshot.question : null;
	const open = model.asks && !isLeft ? asked : null;
	const isAskedElsewhere = asked !== null && open === null && !isOver(snapshot.status);
	const asks = isAskedElsewhere ? asksWords(title) : titleLine(snapshot);
	const first = isLeft ? rich`🔹 *${title}*` : asks;
	const told = open === null ? first : questionText({ question: open, sessionName: snapshot.name, discreet });
	const value = encodeTarget({ sessionId: snapshot.sessionId, messageIndex: null });
	const result = isOver(snapshot.status) ? firstLines(snapshot.result ?? '', CARD_RESULT) : null;
	// Behind *Show all*, the window has the whole result, screenshot, files and dashboard.
	const all = result?.isWhole === false ? [button(ACTIONS.open, 'Show all', { value })] : null;
	const offered = all ?? cardMenu(model, value);
	const says = labelAboutSession(snapshot.sessionId, snapshot.name);
	const below = open !== null ? [] : (result?.pieces ?? newestStep(snapshot));
	const link = isAskedElsewhere && !isLeft && model.link !== null ? linkWords(model.link, 'question') : '';
	const blocks = fitting(POST_ROOMS, (room) => [
		...richText(...line(joined(first, link)), ...line(isLeft ? '' : waitingLine(snapshot)), ...below),
		...(open !== null ? askedParts(open, model, room) : []),
		...buttons(says(watchAgain({ ...model, sessionId: snapshot.sessionId })), ...offered.map(says)),
		...smallLines(model),
	]);
	return message(told, blocks);
}

/** The card of a session whose end another message tells: `✅ *Book a flight* · done`, with a link to that message. */
function endedCard(model: CardModel): MessageContent {
	const { sessionId, name, status } = model.snapshot;
	const end = endWords(status).replace(/^(?:is|was) /, '');
	const first = rich`${statusWords(status).emoji} *${sessionTitle(name, sessionId)}* · ${end}`;
	const link = model.link === null ? '' : linkWords(model.link, status === 'completed' ? 'result' : 'end');
	return message(first, [
		...section(joined(first, link)),
		...buttons(labelAboutSession(sessionId, name)(watchAgain({ ...model, sessionId }))),
		...smallLines(model),
	]);
}

/** Why the watch ended, that the session cannot be read, and when it was read. */
function smallLines({ snapshot, unreadCode, checkedAt, ...watch }: CardModel): KnownBlock[] {
	// The first line of the card says already that the session is over.
	const isSaid = watch.ended === 'sessionOver' && watch.again !== 'done' && isOver(snapshot.status);
	return context(
		isSaid ? '' : endedWords(watch),
		unreadCode === null || watch.ended !== null
			? ''
			: rich`⚠️ This session cannot be read. ${errorWords(unreadCode).what} Handraise keeps looking.`,
		checkedAt === null ? '' : rich`Checked ${momentOf(checkedAt)}`,
	);
}

/** The post that a session is over, with the beginning of its result. */
export function endPost(status: string, post: PostContext): MessageContent {
	const { sessionId, snapshot, discreet } = post;
	const { emoji } = statusWords(status);
	const title = postTitle(post);
	const taken = tableOf(snapshot?.result ?? '');
	const { pieces, isWhole } = firstLines(taken?.others ?? snapshot?.result ?? '', END_RESULT);
	const value = encodeTarget({ sessionId, messageIndex: null });
	// Of a very long result only the beginning is stored, and the window shows no more of it.
	const isCut = withoutNote(snapshot?.result ?? '').missing > 0;
	const says = labelAboutSession(sessionId, discreet ? '' : snapshot?.name);
	const all = isCut || !isWhole ? button(ACTIONS.open, isCut ? 'Show more' : 'Show all', { value }) : null;
	const [menu = null] = snapshot === null ? [] : cardMenu({ ...post, snapshot }, value).map(says);
	return message(`${emoji} ${discreet ? 'A session' : title} ${endWords(status)}`, [
		// The menu stands beside the words, so that it takes no line of its own.
		...row(`${emoji} ${title} ${endWords(status)}`, menu),
		...richText(...pieces),
		...buttons(says(all)),
		// Slack draws a table below all else.
		...(taken === null ? [] : [taken.table]),
	]);
}

function cardMenu(
	{ snapshot, ended, dashboardUrl }: Pick<CardModel, 'snapshot' | 'ended' | 'dashboardUrl'>,
	value: string,
) {
	return moreMenu(
		button(ACTIONS.open, 'Open session', { value }),
		snapshot.fileCount > 0 ? button(ACTIONS.showFiles, `Files (${snapshot.fileCount})`, { value }) : null,
		dashboardButton(dashboardUrl, snapshot.sessionId, 'Open in the dashboard'),
		ended === null ? button(ACTIONS.unwatch, 'Stop watching', { value }) : null,
	);
}

function askedParts(question: QuestionView, model: CardModel, room: (typeof POST_ROOMS)[number]): KnownBlock[] {
	const { sessionId, name } = model.snapshot;
	const asked = openQuestionParts(question, { sessionId, sessionName: name, discreet: model.discreet, room });
	return [
		...asked.blocks(''),
		...buttons(...asked.row),
		...context(asked.note, handOverLine(model, model.names), claimsWords(model.claimedBy)),
	];
}

/** The newest step in one line; empty if it is the question, which another post shows. */
function newestStep({ steps: [newest], question }: SessionSnapshot): Piece[] {
	if (newest === undefined || question?.goneOn === false) return [];
	return [...agentLine(newest.text, 200), ...quote(actionsLine(newest.actions, 3))];
}

/** `most`: lines; `length`: UTF-16 units, which fill about as many lines. */
const CARD_RESULT = { most: 3, length: 240 };
const END_RESULT = { most: 8, length: 640 };

function firstLines(result: string, { most, length }: typeof CARD_RESULT) {
	const all = result.trim().split('\n');
	// Empty lines are shown, but not counted.
	const [, end = all.length] = all.flatMap((text, at) => (text.trim() === '' ? [] : [at])).slice(most - 1);
	const mark = createCutMark(true);
	const pieces = agentText(all.slice(0, end).join('\n').trimEnd(), length, mark.onCut);
	const isWhole = end === all.length && !mark.isCut;
	// An ellipsis, because a number of cut characters would not count the lines that are left out.
	return { pieces: isWhole || mark.isCut ? pieces : [...pieces, ...quote('…')], isWhole };
}
