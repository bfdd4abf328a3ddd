import { isOver } from '../../questions/session.ts';
import type { QuestionView, SessionSnapshot } from '../../questions/session-snapshot.ts';
import { errorWords } from '../../slack/error-view.ts';
import { ACTIONS, encodeTarget } from '../../slack/ids.ts';
import {
	actionsLine,
	button,
	buttons,
	context,
	dashboardLink,
	joined,
	type KnownBlock,
	type MessageContent,
	message,
	momentMrkdwn,
	moreMenu,
	sayingSession,
	section,
	sessionTitle,
	titleLine,
} from '../../slack/parts.ts';
import { claimsWords, handOverLine, openQuestion, questionText } from '../../slack/question-view.ts';
import { markdownLine, quotedMarkdown } from '../../slack/text.ts';
import { endedWords } from './notice-view.ts';
import { type PostContext, waitingLine, watchAgain } from './post-view.ts';

/** What a card shows. Holds no link that gives access to whoever has it. */
export interface CardModel
	extends Pick<PostContext, 'claimedBy' | 'discreet' | 'handOver' | 'isUpdate' | 'names'>,
		Pick<PostContext, 'adminContact' | 'again' | 'dashboardUrl' | 'ended' | 'watchMaxDays'> {
	readonly view: SessionSnapshot;
	/** It shows the open question, because no post in the channel does. */
	readonly asks: boolean;
	/** Why this session alone cannot be read: the code of a failure. Null when it can. */
	readonly unreadCode: string | null;
	/** When the session was read last, in milliseconds since the epoch; null while that is recent. */
	readonly checkedAt: number | null;
	/** Of the open question; null when that is not told. */
	readonly waitedMs: number | null;
}

/** The one message of a session in a channel: one line, and the newest step or the result. */
export function watchCard(model: CardModel): MessageContent {
	const { view, waitedMs, discreet, unreadCode, checkedAt } = model;
	// The state of a session that nobody watches may be another by now.
	const isLeft = model.ended !== null && !isOver(view.status);
	const line = isLeft ? `🔹 *${sessionTitle(view.name, view.sessionId)}*` : titleLine(view);
	const open = model.asks && (view.question?.openCount ?? 0) > 0 ? view.question : null;
	const told = open === null ? line : questionText({ question: open, sessionName: view.name, waitedMs, discreet });
	const value = encodeTarget({ sessionId: view.sessionId, messageIndex: null });
	const result = isOver(view.status) ? firstLines(view.result ?? '') : null;
	// The window has the rest of the result, the screenshot, the files and the dashboard.
	const offered = result?.isWhole === false ? [button(ACTIONS.open, 'Show all', { value })] : cardMenu(model, value);
	const says = sayingSession(view.sessionId, view.name);
	const more = offered.map(says);
	const accessory = more.at(-1);
	const below = open !== null ? '' : (result?.mrkdwn ?? newestStep(view));
	const lines = [line, isLeft ? '' : waitingLine(view), below].filter((text) => text !== '');
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

/** The last of these has room beside the first line. */
function cardMenu({ view, ended, dashboardUrl }: CardModel, value: string) {
	const url = dashboardLink(dashboardUrl, view.sessionId);
	return moreMenu(
		button(ACTIONS.open, 'Open', { value }),
		view.hasScreenshot ? button(ACTIONS.showScreenshot, 'Screenshot', { value }) : null,
		view.fileCount > 0 ? button(ACTIONS.showFiles, `Files (${view.fileCount})`, { value }) : null,
		url === null ? null : button(ACTIONS.dashboard, 'Dashboard', { url }),
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

const RESULT_LINES = 3;
/** UTF-16 units: about three lines. */
const RESULT_LENGTH = 300;

/** The beginning of what the agent reports at the end. */
function firstLines(result: string) {
	const lines = result.trim().split(/\n\s*/);
	const shown = lines.slice(0, RESULT_LINES).join('\n');
	const isShort = lines.length <= RESULT_LINES;
	const mrkdwn = quotedMarkdown(isShort ? shown : `${shown} …`, RESULT_LENGTH);
	return { mrkdwn, isWhole: isShort && shown.length <= RESULT_LENGTH };
}
