import type { KnownBlock } from '@slack/types';
import { isBlocking } from '../../questions/answer.ts';
import type { QuestionView, SessionSnapshot } from '../../questions/session-snapshot.ts';
import { ACTIONS, encodeTarget } from '../../slack/ids.ts';
import {
	button,
	buttons,
	context,
	dashboardLink,
	divider,
	type MessageContent,
	message,
	moreMenu,
	section,
} from '../../slack/parts.ts';
import { handOverLine, openQuestion, questionText } from '../../slack/question-view.ts';
import { isBlank, markdownLine, quotedNameMrkdwn } from '../../slack/text.ts';
import {
	actionsLine,
	joined,
	momentMrkdwn,
	sessionName,
	sessionTitle,
	statusLine,
	statusWords,
	stepWords,
} from '../../slack/words.ts';
import {
	answeredLine,
	answeredWords,
	claimsLine,
	endedWords,
	isThere,
	OUTSIDE,
	type PostContext,
	resultBlocks,
	waitingLine,
	watchAgain,
} from './post-view.ts';

/** What a card shows, for its newest question. Holds no link that gives access to whoever has it. */
export interface CardModel
	extends Pick<PostContext, 'claims' | 'discreet' | 'handOver' | 'isUpdate' | 'names' | 'standing'>,
		Pick<PostContext, 'adminContact' | 'again' | 'dashboardUrl' | 'ended' | 'watchMaxDays'> {
	readonly view: SessionSnapshot;
	/** When the session was read last, in milliseconds since the epoch; null while that is recent. */
	readonly checkedAt: number | null;
	/** Of the open question; null when that is not told. */
	readonly waitedMs: number | null;
}

const MOST_STEPS = 3;

/** The one message of a session in a channel: status, the open question, who answers, the last steps, the result. */
export function watchCard(model: CardModel): MessageContent {
	const { view, waitedMs, discreet } = model;
	const status = statusWords(view.status);
	const title = sessionTitle(view.name, view.sessionId);
	const open = (view.question?.openCount ?? 0) > 0 ? view.question : null;
	const told = open === null ? null : questionText({ question: open, sessionName: view.name, waitedMs, discreet });
	return message(told ?? `${status.emoji} ${title}: ${status.mrkdwn}, ${stepWords(view)}`, [
		...section(`*${title}*\n${statusLine(view)}`),
		...context(
			isBlank(view.name) ? '' : sessionName(view.sessionId),
			view.task === null ? '' : `Task: ${quotedNameMrkdwn(view.task, 250)}`,
		),
		...section(waitingLine(view)),
		...(open !== null ? askedParts(open, model) : settledQuestion(model)),
		...(view.result === null ? latestSteps(view, open) : [divider(), ...resultBlocks(view.result)]),
		...footer(model),
	]);
}

function askedParts(question: QuestionView, model: CardModel): KnownBlock[] {
	const { view, standing } = model;
	const asked = openQuestion(question, { sessionId: view.sessionId, room: 'card' });
	return [
		divider(),
		...asked.blocks('The agent asks'),
		...buttons(...asked.row),
		...context(
			asked.note,
			handOverLine(model, model.isUpdate ? null : model.names),
			claimsLine(model),
			standing !== null && isBlocking(standing.state)
				? `📨 ${answeredLine(standing, question)}. The answer is being delivered.`
				: '',
		),
	];
}

function settledQuestion({ view, standing }: CardModel): KnownBlock[] {
	if (view.question === null) return [];
	if (isThere(standing)) return context(`${answeredWords(standing, view.question)}.`);
	const isAnswered = (view.digest.question?.answered ?? []).length > 0;
	return context(isAnswered ? `✅ ${OUTSIDE}.` : '');
}

function latestSteps(view: SessionSnapshot, open: QuestionView | null): KnownBlock[] {
	// The newest step is often the question, which the card shows above.
	const [newest, ...older] = view.steps;
	const isAsked = newest !== undefined && newest.text === open?.context;
	const lines = (isAsked ? older : view.steps).slice(0, MOST_STEPS).map(({ step, text, actions }) => {
		const line = actionsLine(actions, 3);
		return `> *${step}.* ${joined(markdownLine(text, 200), line === '' ? '' : `_${line}_`) || '…'}`;
	});
	return lines.length === 0 ? [] : [divider(), ...section(`*The agent says*\n${lines.join('\n')}`)];
}

function footer(model: CardModel): KnownBlock[] {
	const { view, checkedAt, ended, dashboardUrl } = model;
	const value = encodeTarget({ sessionId: view.sessionId, messageIndex: null });
	const url = dashboardLink(dashboardUrl, view.sessionId);
	return [
		...buttons(
			watchAgain({ ...model, sessionId: view.sessionId }),
			button(ACTIONS.open, 'Open', { value }),
			...moreMenu(
				view.hasScreenshot ? button(ACTIONS.showScreenshot, 'Screenshot', { value }) : null,
				view.fileCount > 0 ? button(ACTIONS.showFiles, `Files (${view.fileCount})`, { value }) : null,
				url === null ? null : button(ACTIONS.dashboard, 'Dashboard', { url }),
				ended === null ? button(ACTIONS.unwatch, 'Stop watching', { value }) : null,
			),
		),
		...context(endedWords(model), checkedAt === null ? '' : `Checked ${momentMrkdwn(checkedAt)}`),
	];
}
