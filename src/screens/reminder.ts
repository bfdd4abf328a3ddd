import type { Mention } from '../domain/channel-settings.ts';
import { oneLine } from '../domain/shown-text.ts';
import { COMMAND } from '../kernel/command-name.ts';
import {
	type Button,
	button,
	buttons,
	context,
	fitting,
	type KnownBlock,
	type MessageContent,
	message,
	row,
	section,
	textMessage,
} from '../slack/blocks.ts';
import { ACTIONS, inboxRowId } from '../slack/ids.ts';
import {
	andMoreWords,
	counted,
	durationText,
	idIfAmbiguous,
	linkWords,
	mentionsOf,
	type Names,
	personName,
	sessionTitle,
} from '../slack/phrases.ts';
import { bold, joined, notificationText, plainWords, rich, sentences, struck, type Words } from '../slack/rich-text.ts';
import type { Asked } from '../store/question-store.ts';
import type { ReminderEntry } from '../surfaces/post.ts';
import { askedLine, handOverLine, LINE_LENGTHS, labelAboutQuestion, openQuestionParts, toldWords } from './question.ts';
import { namedWords, type PostContext } from './question-post.ts';

export interface RemindedQuestion
	extends Pick<Asked, 'question'>,
		Pick<PostContext, 'channelId' | 'discreet' | 'handOver' | 'named'> {
	readonly entry: ReminderEntry;
	readonly sessionName: string;
	/** Whether the channel shows none of the session's questions outside its thread. */
	readonly threadOnly: boolean;
	/** The link to the question's post; null when Slack does not tell it. */
	readonly link: string | null;
	/** What became of the question; empty while it waits. */
	readonly outcome: string;
	/** How far the agent has continued since (`stepsWords`). */
	readonly steps: string;
	/** From the question to this message, in milliseconds. */
	readonly waitedMs: number;
}

interface ReminderContext extends Pick<PostContext, 'names'> {
	/** Whom the message mentions; null in an update, too. */
	readonly mention: Mention | null;
	/** Nobody whom an escalation would mention is left, so it looks like a reminder. */
	readonly isForNobody?: boolean;
}

/**
 * A reminder of one question, with the question in a line. `waitedMs`: null in an update, because it would be outdated.
 */
export function reminderPost(asked: RemindedQuestion, waitedMs: number | null, about: ReminderContext) {
	const { mention, names, isForNobody = false } = about;
	const { entry, sessionName } = asked;
	const title = sessionTitle(sessionName, entry.sessionId);
	const told = toldOf(asked, asked.discreet || (entry.stage === 'escalation' && asked.threadOnly));
	const [answer, note] = answerOf(asked);
	const wordsOf = (who: Words) => reminderWords(shownStage(entry, isForNobody), who, { waitedMs, asked: told });
	const opens = answer && { ...answer, style: 'primary' as const };
	return message(sentences(mentionsOf(mention), wordsOf(told === '' ? 'An agent' : title)), [
		...mentionLine(mention),
		...section(wordsOf(bold(title))),
		...buttons(opens).map((block) => ({ ...block, block_id: rowIdOf(asked) })),
		...context(
			joined(note, linkTo(asked), asked.steps, entry.isLast ? 'last reminder' : ''),
			handOverLine(asked, names),
			heldWords(entry.heldBy, names),
			namedWords(asked.named),
			isForNobody ? NOBODY_THERE : '',
		),
	]);
}

/** Stays true when the message is drawn again. */
const NOBODY_THERE = `⚠️ Nobody named under Mention is here any more. To change that, type ${COMMAND} settings.`;

/** Mentions in a section of their own: mentions in mrkdwn are sure to notify. */
function mentionLine(mention: Mention | null): KnownBlock[] {
	const text = notificationText(mentionsOf(mention));
	return text === '' ? [] : [{ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } }];
}

const shownStage = <E extends Pick<ReminderEntry, 'stage'>>(entry: E, isForNobody: boolean): E =>
	isForNobody ? { ...entry, stage: 'reminder' } : entry;

/** *Answer*, or why Slack can show no form for the question. */
function answerOf({ question, sessionName, ...asked }: RemindedQuestion): [answer: Button | null, note: string] {
	const { sessionId } = asked.entry;
	const showing = { sessionId, sessionName, discreet: asked.discreet || asked.threadOnly };
	const { row, note } = openQuestionParts(question, showing);
	const [opens] = row.filter((element) => element?.type === 'button');
	if (opens === undefined) return [null, note];
	return [labelAboutQuestion(question, showing)(button(ACTIONS.answer, 'Answer', { value: opens.value ?? '' })), ''];
}

const linkTo = ({ link }: RemindedQuestion) => (link === null ? '' : linkWords(link, 'question'));

/** The block_id of a reminder's row: a press belongs to the thread of its question. */
function rowIdOf({ entry, channelId, threadOnly }: RemindedQuestion): string {
	const origin = { channelId, threadTs: threadOnly ? null : entry.postTs || null };
	return inboxRowId(origin, `question ${entry.questionId}`);
}

/** The reminder of a settled question, in one line. */
export function settledReminderPost(
	{ entry, sessionName, outcome }: RemindedQuestion,
	isForNobody = false,
): MessageContent {
	const { stage } = shownStage(entry, isForNobody);
	return textMessage(joined(rich`${STAGE_EMOJI[stage]} *${sessionTitle(sessionName, entry.sessionId)}*`, outcome));
}

/** Questions in the list: with the longest ids, each takes 1,000 of the 12,000 characters of a message. */
export const MOST_LISTED = 10;

const waitingOf = <T extends Pick<RemindedQuestion, 'outcome'>>(asked: readonly T[]) =>
	asked.filter(({ outcome }) => outcome === '');

/** The questions that have a line in the list. Of many, only those that wait, or any if none waits. */
export function listedOf<T extends Pick<RemindedQuestion, 'outcome'>>(asked: readonly T[]): readonly T[] {
	if (asked.length <= MOST_LISTED) return asked;
	const waiting = waitingOf(asked);
	return (waiting.length === 0 ? asked : waiting).slice(0, MOST_LISTED);
}

/**
 * Reminders of several questions, each with *Answer*. A settled question is struck through, with the outcome as its own
 * post says it; of many questions it is left out.
 */
export function digestPost(asked: readonly RemindedQuestion[], about: ReminderContext): MessageContent {
	const { mention, names, isForNobody = false } = about;
	const waiting = waitingOf(asked);
	const isSettled = waiting.length === 0;
	const entries = (isSettled ? asked : waiting).map(({ entry }) => shownStage(entry, isForNobody));
	const words = isSettled ? settledDigestWords(entries) : digestWords(entries);
	const listed = listedOf(asked);
	// If all reminders are the last ones, the headline says so instead of each line.
	const areLast = entries.every(({ isLast }) => isLast);
	const sessions = listed.map(sessionOf);
	const rowOf = (one: RemindedQuestion, length: number): KnownBlock[] => {
		const { entry, outcome } = one;
		const id = idIfAmbiguous(sessions, sessionOf(one));
		const first = digestLine(one, id, length);
		if (outcome !== '') return section(rich`${struck(first)} · ${outcome}`);
		const [answer, note] = answerOf(id === '' ? one : { ...one, sessionName: '' });
		const last = entry.isLast && !areLast ? 'last reminder' : '';
		const who = [handOverLine(one, names), heldWords(entry.heldBy, names), note].map((text) => plainWords(text));
		// The row is plain text, which takes no link.
		const words = joined(first, one.steps, last, oneLine(joined(...who), 3 * length));
		return row(`✋ ${words}`, answer).map((block) => ({ ...block, block_id: rowIdOf(one) }));
	};
	const leftOut = andMoreWords(entries.length - (isSettled ? listed : waitingOf(listed)).length);
	const blocks = fitting(LINE_LENGTHS, (length) => [
		...(isSettled ? [] : mentionLine(mention)),
		...section(isSettled ? `${words}:` : bold(`${words}:`)),
		...listed.flatMap((one) => rowOf(one, length)),
		...context(
			isSettled || leftOut === '' ? leftOut : `${leftOut}: ${COMMAND} shows all.`,
			isForNobody && !isSettled ? NOBODY_THERE : '',
		),
	]);
	return message(sentences(isSettled ? '' : mentionsOf(mention), `${words}.`), blocks);
}

const sessionOf = ({ sessionName: name, entry: { sessionId } }: RemindedQuestion) => ({ name, sessionId });

/** `Which hotel? · Plan the trip · 40 min`; without the question if the channel may not see it. */
function digestLine(one: RemindedQuestion, id: string, length: number): string {
	const { sessionName, entry, outcome, waitedMs } = one;
	const title = sessionTitle(sessionName, entry.sessionId, length);
	const told = toldOf(one, one.discreet || one.threadOnly, length);
	const isTimed = outcome === '' && waitedMs >= 60_000;
	return joined(told, title, id, isTimed ? durationText(waitedMs) : '');
}

/** The question in a line; empty when nothing of it may be told. */
const toldOf = ({ question }: RemindedQuestion, discreet: boolean, length?: number) =>
	toldWords({ question, discreet }) ? askedLine(question, length) : '';

const STAGE_EMOJI = { reminder: '⏰', escalation: '📣' } as const;

/** `who`: the session's title. `asked`: its question; empty when it must not be told. */
export function reminderWords(
	{ stage }: Pick<ReminderEntry, 'stage'>,
	who: Words,
	{ waitedMs, asked }: { readonly waitedMs: number | null; readonly asked: string },
): Words {
	const asks = waitedMs === null ? 'still asks' : `has asked for ${durationText(waitedMs)}`;
	return rich`${STAGE_EMOJI[stage]} ${who} ${asks}${asked === '' ? '' : `: ${asked}`}`;
}

type Stages = readonly Pick<ReminderEntry, 'stage' | 'isLast'>[];

const markOf = (entries: Stages) =>
	STAGE_EMOJI[entries.some(({ stage }) => stage === 'escalation') ? 'escalation' : 'reminder'];

/** The headline of reminders of several open questions. */
export function digestWords(entries: Stages): string {
	const last = entries.every(({ isLast }) => isLast) ? '. This is the last reminder' : '';
	const asks = entries.length === 1 ? 'asks' : 'ask';
	return `${markOf(entries)} ${counted(entries.length, 'question')} still ${asks}${last}`;
}

/** The headline once none of the questions waits here. Each line says what is known of its agent. */
export const settledDigestWords = (entries: Stages) =>
	`${markOf(entries)} Reminder of ${counted(entries.length, 'question')}`;

/** The person who was answering when the reminder was due, as a name. */
export const heldWords = (userId: string | null, names: Names) =>
	userId === null ? '' : `${personName(userId, names)} was answering, and has not sent an answer yet.`;
