import { isOver } from '../domain/session.ts';
import type { QuestionView, SessionSnapshot } from '../domain/session-snapshot.ts';
import { createCutMark, withoutNote } from '../domain/texts.ts';
import { agentLine, agentText, tableOf } from '../slack/agent-text.ts';
import {
	type Button,
	button,
	buttons,
	context,
	dashboardButton,
	fitting,
	type KnownBlock,
	type MessageContent,
	message,
	moreMenu,
	row,
	sayingSession,
} from '../slack/blocks.ts';
import { errorWords } from '../slack/error-view.ts';
import { ACTIONS, encodeTarget } from '../slack/ids.ts';
import { actionsLine, endWords, linkWords, momentOf, sessionTitle, statusWords, titleLine } from '../slack/phrases.ts';
import { joined, line, type Piece, quote, rich, richText, type Words } from '../slack/rich-text.ts';
import { endedWords } from './notice.ts';
import { claimsWords, handOverLine, openQuestionParts, POST_ROOMS, questionText } from './question.ts';
import { asksWords, type PostContext, postTitle, waitingLine, watchAgain } from './question-post.ts';

/** What a card shows. Holds no link that gives access to whoever has it. */
export interface CardModel
	extends Pick<PostContext, 'claimedBy' | 'discreet' | 'handOver' | 'isUpdate' | 'names'>,
		Pick<PostContext, 'adminContact' | 'again' | 'dashboardUrl' | 'ended'> {
	readonly view: SessionSnapshot;
	/** It shows the open question, because no post in the channel does. */
	readonly asks: boolean;
	/** A message of its own tells the end. */
	readonly isEndTold: boolean;
	/** Of that message, or of the question's post; null: of neither, or Slack does not tell it. */
	readonly link: string | null;
	/** Why this session alone cannot be read: the code of a failure. Null when it can. */
	readonly unreadCode: string | null;
	/** When the session was read last, in milliseconds since the epoch; null while that is recent. */
	readonly checkedAt: number | null;
}

/** The one message of a session in a channel: one line, and the newest step, or the result if no other shows it. */
export function watchCard(model: CardModel): MessageContent {
	const { view, discreet, isEndTold, unreadCode, checkedAt } = model;
	// The state of a session that nobody watches may be another by now.
	const isLeft = model.ended !== null && !isOver(view.status);
	const title = sessionTitle(view.name, view.sessionId);
	const asked = (view.question?.openCount ?? 0) > 0 && !isEndTold ? view.question : null;
	const open = model.asks && !isLeft ? asked : null;
	const waits = asked === null || open !== null || isOver(view.status) ? null : asksWords(title);
	const led = isEndTold ? endedLine(view.status, title) : waits;
	const first = isLeft ? rich`🔹 *${title}*` : (led ?? titleLine(view));
	const told = open === null ? first : questionText({ question: open, sessionName: view.name, discreet });
	const value = encodeTarget({ sessionId: view.sessionId, messageIndex: null });
	const result = isOver(view.status) && !isEndTold ? firstLines(view.result ?? '', CARD_RESULT) : null;
	// The window has the rest of the result, the screenshot, the files and the dashboard.
	const all = result?.isWhole === false ? [button(ACTIONS.open, 'Show all', { value })] : null;
	const offered = isEndTold ? [] : (all ?? cardMenu(model, value));
	const says = sayingSession(view.sessionId, view.name);
	const below = open !== null || isEndTold ? [] : (result?.pieces ?? newestStep(view));
	const news = !isEndTold ? 'question' : view.status === 'completed' ? 'result' : 'end';
	const link = led === null || isLeft || model.link === null ? '' : linkWords(model.link, news);
	const blocks = fitting(POST_ROOMS, (room) => [
		...richText(...line(joined(first, link)), ...line(isLeft ? '' : waitingLine(view)), ...below),
		...(open !== null ? askedParts(open, model, room) : []),
		...buttons(says(watchAgain({ ...model, sessionId: view.sessionId })), ...offered.map(says)),
		// The first line says that the session is over.
		...context(
			model.ended === 'sessionOver' && model.again !== 'done' && isOver(view.status) ? '' : endedWords(model),
			unreadCode === null || model.ended !== null
				? ''
				: rich`⚠️ This session cannot be read. ${errorWords(unreadCode).what} Handraise keeps looking.`,
			checkedAt === null ? '' : rich`Checked ${momentOf(checkedAt)}`,
		),
	]);
	return message(told, blocks);
}

/** The news that a session is over, with the beginning of its result. */
export function endPost(status: string, post: PostContext): MessageContent {
	const { sessionId, view, discreet } = post;
	const { emoji } = statusWords(status);
	const title = postTitle(post);
	const taken = tableOf(view?.result ?? '');
	const { pieces, isWhole } = firstLines(taken?.others ?? view?.result ?? '', END_RESULT);
	const value = encodeTarget({ sessionId, messageIndex: null });
	// The window, too, shows no more than its snapshot of a very long one.
	const isCut = withoutNote(view?.result ?? '').missing > 0;
	const says = sayingSession(sessionId, discreet ? '' : view?.name);
	const all = isCut || !isWhole ? button(ACTIONS.open, isCut ? 'Show more' : 'Show all', { value }) : null;
	const [menu = null] = view === null ? [] : cardMenu({ ...post, view }, value).map(says);
	return message(`${emoji} ${discreet ? 'A session' : title} ${endWords(status)}`, [
		// One element beside the words: the end takes no more lines than its result.
		...row(`${emoji} ${title} ${endWords(status)}`, menu),
		...richText(...pieces),
		...buttons(says(all)),
		// Slack draws a table below all else.
		...(taken === null ? [] : [taken.table]),
	]);
}

/** `✅ *Book a flight* · done`, of a session whose end another message tells. */
function endedLine(status: string, title: string): Words {
	const { emoji } = statusWords(status);
	return rich`${emoji} *${title}* · ${endWords(status).replace(/^(?:is|was) /, '')}`;
}

function cardMenu(
	{ view, ended, dashboardUrl }: Pick<CardModel, 'view' | 'ended' | 'dashboardUrl'>,
	value: string,
	open: Button | null = button(ACTIONS.open, 'Open session', { value }),
) {
	return moreMenu(
		open,
		view.fileCount > 0 ? button(ACTIONS.showFiles, `Files (${view.fileCount})`, { value }) : null,
		dashboardButton(dashboardUrl, view.sessionId, 'Open in the dashboard'),
		ended === null ? button(ACTIONS.unwatch, 'Stop watching', { value }) : null,
	);
}

function askedParts(question: QuestionView, model: CardModel, room: (typeof POST_ROOMS)[number]): KnownBlock[] {
	const { sessionId, name } = model.view;
	const asked = openQuestionParts(question, { sessionId, sessionName: name, discreet: model.discreet, room });
	return [
		...asked.blocks(''),
		...buttons(...asked.row),
		...context(asked.note, handOverLine(model, model.names), claimsWords(model.claimedBy)),
	];
}

/** The newest step in one line, unless it is the question, which stands elsewhere. */
function newestStep({ steps: [newest], question }: SessionSnapshot): Piece[] {
	if (newest === undefined || question?.goneOn === false) return [];
	return [...agentLine(newest.text, 200), ...quote(actionsLine(newest.actions, 3))];
}

/** `length`: UTF-16 units, of about as many lines. */
const CARD_RESULT = { most: 3, length: 240 };
const END_RESULT = { most: 8, length: 640 };

function firstLines(result: string, { most, length }: typeof CARD_RESULT) {
	const all = result.trim().split('\n');
	// Empty lines stand, and are not counted.
	const [, end = all.length] = all.flatMap((text, at) => (text.trim() === '' ? [] : [at])).slice(most - 1);
	const mark = createCutMark(true);
	const pieces = agentText(all.slice(0, end).join('\n').trimEnd(), length, mark.onCut);
	const isWhole = end === all.length && !mark.isCut;
	// What is left out is the whole rest, not only that of these lines: no number.
	return { pieces: isWhole || mark.isCut ? pieces : [...pieces, ...quote('…')], isWhole };
}
