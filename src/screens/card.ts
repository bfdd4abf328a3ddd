import { isOver } from '../domain/session.ts';
import type { QuestionView, SessionSnapshot } from '../domain/session-snapshot.ts';
import { withoutNote } from '../domain/texts.ts';
import { errorWords } from '../slack/error-view.ts';
import { ACTIONS, encodeTarget } from '../slack/ids.ts';
import {
	actionsLine,
	type Button,
	button,
	buttons,
	context,
	dashboardButton,
	endWords,
	joined,
	type KnownBlock,
	linkWords,
	type MessageContent,
	message,
	momentMrkdwn,
	moreMenu,
	sayingSession,
	section,
	sessionTitle,
	statusWords,
	titleLine,
} from '../slack/parts.ts';
import { markdownLine, quotedMarkdown, tableOf } from '../slack/text.ts';
import { endedWords } from './notice.ts';
import { claimsWords, handOverLine, openQuestion, questionText, UNFOLDED } from './question.ts';
import { type PostContext, titleOf, waitingLine, watchAgain } from './question-post.ts';

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
	/** Of the open question; null when that is not told. */
	readonly waitedMs: number | null;
}

/** The one message of a session in a channel: one line, and the newest step, or the result if no other shows it. */
export function watchCard(model: CardModel): MessageContent {
	const { view, waitedMs, discreet, isEndTold, unreadCode, checkedAt } = model;
	// The state of a session that nobody watches may be another by now.
	const isLeft = model.ended !== null && !isOver(view.status);
	const title = `*${sessionTitle(view.name, view.sessionId)}*`;
	const asked = (view.question?.openCount ?? 0) > 0 && !isEndTold ? view.question : null;
	const open = model.asks && !isLeft ? asked : null;
	const waits = asked === null || open !== null || isOver(view.status) ? null : `✋ ${title} · waits for an answer`;
	const led = isEndTold ? endedLine(view.status, title) : waits;
	const line = isLeft ? `🔹 ${title}` : (led ?? titleLine(view));
	const told = open === null ? line : questionText({ question: open, sessionName: view.name, waitedMs, discreet });
	const value = encodeTarget({ sessionId: view.sessionId, messageIndex: null });
	const result = isOver(view.status) && !isEndTold ? firstLines(view.result ?? '', CARD_RESULT) : null;
	// The window has the rest of the result, the screenshot, the files and the dashboard.
	const offered = result?.isWhole === false ? [button(ACTIONS.open, 'Show all', { value })] : cardMenu(model, value);
	const says = sayingSession(view.sessionId, view.name);
	const more = offered.map(says);
	const accessory = more.at(-1);
	const below = open !== null || isEndTold ? '' : (result?.mrkdwn ?? newestStep(view));
	const news = !isEndTold ? 'question' : view.status === 'completed' ? 'result' : 'end';
	const link = line !== led || model.link === null ? '' : linkWords(model.link, news);
	const lines = [joined(line, link), isLeft ? '' : waitingLine(view), below].filter((text) => text !== '');
	return message(told, [
		...section(lines.join('\n'), accessory && { accessory }),
		...(open !== null ? askedParts(open, model) : []),
		...buttons(says(watchAgain({ ...model, sessionId: view.sessionId })), ...more.slice(0, -1)),
		// The first line says that the session is over.
		...context(
			model.ended === 'sessionOver' && model.again !== 'done' && isOver(view.status) ? '' : endedWords(model),
			unreadCode === null || model.ended !== null
				? ''
				: `⚠️ This session cannot be read. ${errorWords(unreadCode).what} Handraise keeps looking.`,
			checkedAt === null ? '' : `Checked ${momentMrkdwn(checkedAt)}`,
		),
	]);
}

/** The news that a session is over, with the beginning of its result. */
export function endPost(status: string, post: PostContext, takesTable = true): MessageContent {
	const { sessionId, view, discreet } = post;
	const { emoji } = statusWords(status);
	const title = titleOf(post);
	const taken = takesTable ? tableOf(view?.result ?? '') : null;
	const { mrkdwn, isWhole } = firstLines(taken?.others ?? view?.result ?? '', END_RESULT);
	const value = encodeTarget({ sessionId, messageIndex: null });
	// The window, too, shows no more than its snapshot of a very long one.
	const isCut = withoutNote(view?.result ?? '').missing > 0;
	const label = isCut ? 'Show more' : isWhole && taken?.isWhole !== false ? 'Open session' : 'Show all';
	const says = sayingSession(sessionId, discreet ? '' : view?.name);
	const open = says(button(ACTIONS.open, label, { value }));
	const words = `${emoji} *${title}* ${endWords(status)}\n${mrkdwn}`.trim();
	return message(`${emoji} ${discreet ? 'A session' : title} ${endWords(status)}`, [
		...section(words, taken === null ? UNFOLDED : { ...UNFOLDED, accessory: open }),
		// Slack draws a table below all else, so there is no row of buttons above it.
		...(taken === null
			? buttons(open, ...(view === null ? [] : cardMenu({ ...post, view }, value, null).map(says)))
			: [taken.table]),
	]);
}

/** `✅ *“Book a flight”* · done`, of a session whose end another message tells. */
function endedLine(status: string, title: string): string {
	return joined(`${statusWords(status).emoji} ${title}`, endWords(status).replace(/^(?:is|was) /, ''));
}

/** The last of these has room beside the first line. */
function cardMenu(
	{ view, ended, dashboardUrl }: Pick<CardModel, 'view' | 'ended' | 'dashboardUrl'>,
	value: string,
	open: Button | null = button(ACTIONS.open, 'Open', { value }),
) {
	return moreMenu(
		open,
		view.hasScreenshot ? button(ACTIONS.showScreenshot, 'Screenshot', { value }) : null,
		view.fileCount > 0 ? button(ACTIONS.showFiles, `Files (${view.fileCount})`, { value }) : null,
		dashboardButton(dashboardUrl, view.sessionId, 'Dashboard'),
		ended === null ? button(ACTIONS.unwatch, 'Stop watching', { value }) : null,
	);
}

function askedParts(question: QuestionView, model: CardModel): KnownBlock[] {
	const { sessionId, name } = model.view;
	const asked = openQuestion(question, { sessionId, sessionName: name, discreet: model.discreet, room: 'card' });
	return [
		...asked.blocks(''),
		...buttons(...asked.row),
		...context(asked.note, handOverLine(model, model.isUpdate ? null : model.names), claimsWords(model.claimedBy)),
	];
}

/** The newest step in one line, unless it is the question, which stands elsewhere. */
function newestStep({ steps: [newest], question }: SessionSnapshot): string {
	if (newest === undefined || question?.goneOn === false) return '';
	const text = joined(markdownLine(newest.text, 200), actionsLine(newest.actions, 3));
	return text === '' ? '' : `> ${text}`;
}

/** `length`: UTF-16 units, of about as many lines. */
const CARD_RESULT = { most: 3, length: 240 };
const END_RESULT = { most: 8, length: 640 };

function firstLines(result: string, { most, length }: typeof CARD_RESULT) {
	const lines = result.trim().split(/\n\s*/);
	// What is left out is the whole rest, not only that of these lines: no number.
	const { text, missing } = withoutNote(quotedMarkdown(lines.slice(0, most).join('\n'), length));
	const isWhole = lines.length <= most && missing === 0;
	// Nothing stands behind a block of code on its last line.
	return { mrkdwn: isWhole ? text : `${text}${text.endsWith('```') ? '\n' : ' '}…`, isWhole };
}
