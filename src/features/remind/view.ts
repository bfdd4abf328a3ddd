import type { Asked } from '../../database/question-store.ts';
import type { Mention } from '../../database/watch.ts';
import type { ReminderEntry } from '../../posts/post.ts';
import { inboxRowId } from '../../slack/ids.ts';
import {
	andMoreWords,
	type Button,
	buttons,
	context,
	counted,
	durationText,
	joined,
	type MessageContent,
	mentionMrkdwn,
	message,
	momentMrkdwn,
	type Names,
	personName,
	section,
	sentences,
	sessionIdMrkdwn,
	sessionTitle,
} from '../../slack/parts.ts';
import { handOverLine, openQuestion, questionText, toldWords } from '../../slack/question-view.ts';
import { isBlank } from '../../slack/text.ts';
import type { PostContext } from '../watch/post-view.ts';

export interface RemindedQuestion
	extends Pick<Asked, 'question'>,
		Pick<PostContext, 'channelId' | 'discreet' | 'handOver'> {
	readonly entry: ReminderEntry;
	readonly sessionName: string;
	/** Whether the channel shows none of the session's questions outside its thread. */
	readonly threadOnly: boolean;
	/** Of the question's post; null when Slack does not tell it, and where the reminder stands in its thread. */
	readonly link: string | null;
	/** What became of it, mrkdwn; empty while it waits. */
	readonly outcome: string;
	/** How far the agent has gone on since. */
	readonly steps: string;
}

interface ReminderContext extends Pick<PostContext, 'names'> {
	/** Null, too, in an update. */
	readonly mention: Mention | null;
}

/** A reminder of one question, which names it in a line. `waitedMs`: null in an update, where it would go stale. */
export function reminderPost(asked: RemindedQuestion, waitedMs: number | null, { mention, names }: ReminderContext) {
	const { entry } = asked;
	const words = sentences(mentionMrkdwn(mention), reminderWords(entry, waitedMs));
	const told = toldOf(asked);
	const [answer, note] = answerOf(asked);
	return message(`${words} ${told.text}`, [
		...section(`${words}\n> ${joined(told.mrkdwn, asked.steps)}`),
		...context(note, linkWords(asked), handOverLine(asked, names), heldWords(entry.heldBy, names)),
		...buttons(answer),
	]);
}

/** *Answer*, or why Slack can show no form for the question. */
function answerOf({ question, sessionName, ...asked }: RemindedQuestion): [answer: Button | null, note: string] {
	const discreet = asked.discreet || asked.threadOnly;
	const { row, note } = openQuestion(question, { sessionId: asked.entry.sessionId, sessionName, discreet });
	const [answer] = row.filter((element) => element?.type === 'button');
	return answer === undefined ? [null, note] : [answer, ''];
}

const linkWords = ({ link }: RemindedQuestion) => (link === null ? '' : `<${link}|open thread>`);

export function settledReminderPost(asked: RemindedQuestion): MessageContent {
	const { outcome } = asked;
	const words = asked.entry.stage === 'reminder' ? '⏰ Reminder' : '📣 Escalation';
	const told = toldOf(asked, { settled: true });
	return message(`${words}: ${told.text} ${outcome}`, [...section(`${words}\n> ${told.mrkdwn}`), ...context(outcome)]);
}

/** Questions in the list: a message holds about 12,000 characters, and a line takes up to 900 with its link. */
export const MOST_LISTED = 13;

/**
 * Reminders of several questions of a channel, with *Answer* and a link to each thread; what does not wait any more is
 * crossed out, or left out of more than `MOST_LISTED`.
 */
export function digestPost(asked: readonly RemindedQuestion[], { mention, names }: ReminderContext): MessageContent {
	const waiting = asked.filter(({ outcome }) => outcome === '');
	const entries = waiting.map(({ entry }) => entry);
	const words = sentences(mentionMrkdwn(mention), digestWords(entries));
	const listed = (asked.length > MOST_LISTED ? waiting : asked).slice(0, MOST_LISTED);
	// The message says that all its reminders are the last, so the lines need not.
	const areLast = entries.every(({ isLast }) => isLast);
	const lines = listed.flatMap((one) => {
		const { entry, channelId, threadOnly, outcome } = one;
		const told = toldOf(one, { inChannel: true, settled: outcome !== '' }).mrkdwn;
		if (outcome !== '') return section(joined(`~${told}~`, outcome));
		const [answer, note] = answerOf(one);
		const line = joined(
			told,
			`waiting since ${momentMrkdwn(entry.postedAt)}`,
			one.steps,
			linkWords(one),
			handOverLine(one, names),
			entry.isLast && !areLast ? 'last reminder' : '',
			heldWords(entry.heldBy, names),
			note,
		);
		// What is pressed here belongs to the question's thread.
		const origin = { channelId, threadTs: threadOnly ? null : entry.postTs || null };
		const block_id = inboxRowId(origin, `question ${entry.questionId}`);
		return section(line, answer === null ? {} : { block_id, accessory: answer });
	});
	const leftOut = andMoreWords(waiting.length - listed.filter(({ outcome }) => outcome === '').length);
	return message(`${words}.`, [
		...section(`*${words}${entries.length === 0 ? '.' : ':'}*`),
		...lines,
		...context(leftOut === '' ? '' : `${leftOut}: \`/session inbox\` shows all.`),
	]);
}

/** The words about a question for a notification, and for the message. `inChannel`: it is shown in the channel too. */
function toldOf(
	{ question, sessionName, entry, threadOnly, ...asked }: RemindedQuestion,
	{ inChannel = entry.stage === 'escalation', settled = false } = {},
) {
	const discreet = asked.discreet || (inChannel && threadOnly);
	const shown = { question, sessionName, waitedMs: null, discreet, settled };
	const text = questionText(shown);
	return { text, mrkdwn: toldWords(shown) === null ? sessionAsksWords(sessionName, entry.sessionId, settled) : text };
}

type Stage = Pick<ReminderEntry, 'stage' | 'isLast'>;

export function reminderWords({ stage, isLast }: Stage, waitedMs: number | null): string {
	const waited = waitedMs === null ? null : durationText(waitedMs);
	if (stage === 'reminder') return `⏰ Nobody has answered ${waited === null ? 'yet' : `for ${waited}`}.`;
	const last = isLast ? ' This is the last reminder.' : '';
	return `📣 Still no answer${waited === null ? '' : ` after ${waited}`}. The agent waits.${last}`;
}

/** The opening words of several reminders in one message. Questions may wait whose reminders are not due. mrkdwn. */
export function digestWords(entries: readonly Stage[]): string {
	if (entries.length === 0) return '✅ None of these questions waits any more';
	const emoji = entries.some(({ stage }) => stage === 'escalation') ? '📣' : '⏰';
	const last = entries.every(({ isLast }) => isLast) ? '. This is the last reminder' : '';
	return `${emoji} ${counted(entries.length, 'question waits', 'questions wait')} for an answer${last}`;
}

/** A question of which only the session is shown. mrkdwn. The id tells sessions of the same name apart. */
export function sessionAsksWords(name: string, sessionId: string, settled: boolean): string {
	const id = isBlank(name) ? '' : ` (${sessionIdMrkdwn(sessionId)})`;
	return `${sessionTitle(name, sessionId)}${id} ${settled ? 'asked' : 'asks'} for an answer`;
}

/** Who was answering when the reminder was due. mrkdwn; mentions nobody, because only the channel's settings do. */
export function heldWords(userId: string | null, names: Names): string {
	if (userId === null) return '';
	return `${personName(userId, names)} was answering, and has not sent an answer yet.`;
}
