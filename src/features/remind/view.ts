import type { Mention } from '../../database/channel-settings.ts';
import type { ReminderEntry } from '../../posts/kinds.ts';
import type { Asked } from '../../posts/post.ts';
import { buttons, context, type MessageContent, message, section, sectionsOf } from '../../slack/parts.ts';
import { handOverLine, openQuestion, questionText, toldWords } from '../../slack/question-view.ts';
import { isBlank } from '../../slack/text.ts';
import {
	andMoreWords,
	counted,
	durationText,
	joined,
	mentionMrkdwn,
	type Names,
	personName,
	sentences,
	sessionIdMrkdwn,
	sessionTitle,
} from '../../slack/words.ts';
import { asksWords, type PostContext } from '../watch/post-view.ts';

export interface RemindedQuestion
	extends Asked,
		Pick<PostContext, 'channelId' | 'discreet' | 'offersOptions' | 'handOver'> {
	readonly entry: ReminderEntry;
	readonly sessionName: string;
	/** Whether the channel shows none of the session's questions outside of its thread. */
	readonly threadOnly: boolean;
	/** Of the question's post; null when Slack does not tell it. */
	readonly link: string | null;
}

interface ReminderContext extends Pick<PostContext, 'names'> {
	/** Null, too, in an update. */
	readonly mention: Mention | null;
}

/** A reminder of one question, in its thread. `waitedMs`: null in an update, which no other follows as time passes. */
export function reminderPost(asked: RemindedQuestion, waitedMs: number | null, { mention, names }: ReminderContext) {
	const { entry, question, channelId } = asked;
	const { sessionId } = entry;
	const words = sentences(mentionMrkdwn(mention), reminderWords(entry, waitedMs));
	const told = toldOf(asked);
	const choices = asked.offersOptions && told.tells ? { channelId, readAt: asked.readAt } : null;
	const open = openQuestion(question, { sessionId, choices });
	const headline = asksWords(sessionTitle(asked.sessionName, sessionId));
	return message(`${words} ${told.text}`, [
		// The line leaves out a part of most questions, so nothing below it may answer in one press.
		...(open.hasOptions ? [...section(words), ...open.blocks(headline)] : section(`${words}\n> ${told.mrkdwn}`)),
		...context(open.note, handOverLine(asked, names), heldWords(entry.heldBy, names)),
		...buttons(...open.row),
	]);
}

/** A reminder of a question that does not wait any more. `outcome`: what became of it, mrkdwn. */
export function settledReminderPost(asked: RemindedQuestion, outcome: string): MessageContent {
	const words = asked.entry.stage === 'reminder' ? '⏰ Reminder' : '📣 Escalation';
	const told = toldOf(asked, { settled: true });
	return message(`${words}: ${told.text} ${outcome}`, [...section(`${words}\n> ${told.mrkdwn}`), ...context(outcome)]);
}

/** Questions in the list: a message holds about 12,000 characters, and a line takes up to 900 with its link. */
export const MOST_LISTED = 13;

/** Reminders of several questions of a channel, with a link to each thread. Lists at most `MOST_LISTED`. */
export function digestPost(
	asked: readonly RemindedQuestion[],
	{ mention, names, now }: ReminderContext & Pick<PostContext, 'now'>,
): MessageContent {
	const entries = asked.map(({ entry }) => entry);
	const words = sentences(mentionMrkdwn(mention), digestWords(entries));
	const listed = asked.slice(0, MOST_LISTED);
	// The message says that all its reminders are the last, so the lines need not.
	const areLast = entries.every(({ isLast }) => isLast);
	const lines = listed.map((one) =>
		joined(
			`• ${toldOf(one, { inChannel: true }).mrkdwn}`,
			`waiting ${durationText(now - one.entry.postedAt)}`,
			one.link === null ? '' : `<${one.link}|open thread>`,
			handOverLine(one, names),
			one.entry.isLast && !areLast ? 'last reminder' : '',
			heldWords(one.entry.heldBy, names),
		),
	);
	const leftOut = andMoreWords(asked.length - listed.length);
	return message(`${words}.`, [
		...section(`*${words}:*`),
		...sectionsOf(lines),
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
	const [text, tells] = [questionText(shown), toldWords(shown) !== null];
	return { text, tells, mrkdwn: tells ? text : sessionAsksWords(sessionName, entry.sessionId, settled) };
}

type Stage = Pick<ReminderEntry, 'stage' | 'isLast'>;

/** The opening words of a reminder. mrkdwn. */
export function reminderWords({ stage, isLast }: Stage, waitedMs: number | null): string {
	const waited = waitedMs === null ? null : durationText(waitedMs);
	if (stage === 'reminder') return `⏰ Nobody has answered ${waited === null ? 'yet' : `for ${waited}`}.`;
	const last = isLast ? ' This is the last reminder.' : '';
	return `📣 Still no answer${waited === null ? '' : ` after ${waited}`}. The agent waits.${last}`;
}

/** The opening words of several reminders in one message. Questions may wait whose reminders are not due. mrkdwn. */
export function digestWords(entries: readonly Stage[]): string {
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
