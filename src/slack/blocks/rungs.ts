import type { RungEntry } from '../../watches/announcements.ts';
import type { Mention } from '../../watches/channel-settings.ts';
import type { QuestionView } from '../../watches/session-snapshot.ts';
import type { Names } from '../words/people.ts';
import { questionText } from '../words/question-text.ts';
import {
	heldWords,
	lastWords,
	mentionMrkdwn,
	notListedWords,
	OPEN_THREAD,
	rungsWords,
	rungWords,
	waitingTimeWords,
} from '../words/reminders.ts';
import { MAYBE_REPEAT } from '../words/watching.ts';
import { answerButton, buttons, context, type MessageContent, message, section } from './parts.ts';

/** A question that still waits, as its reminder shows it. */
export interface RungQuestion {
	readonly entry: RungEntry;
	readonly question: QuestionView;
	readonly sessionName: string;
	/** Whether the reminder says only that an agent asks. */
	readonly discreet: boolean;
	/** Of the question's post; null when Slack does not tell it. */
	readonly link: string | null;
}

interface RungContext {
	readonly mention: Mention | null;
	readonly names: Names;
	readonly now: number;
	/** An earlier attempt may have posted it; the post says so. */
	readonly maybeRepeat: boolean;
}

/** A reminder of one question, in its thread. */
export function rungPost(asked: RungQuestion, { mention, names, now, maybeRepeat }: RungContext): MessageContent {
	const { entry, question } = asked;
	const words = [mentionMrkdwn(mention), rungWords(entry, now - entry.postedAt)].filter(Boolean).join(' ');
	const told = textOf(asked);
	return message(`${words} ${told}`, [
		...section(`${words}\n> ${told}`),
		...context(heldWords(entry.heldBy, names)),
		...buttons(answerButton({ sessionId: entry.sessionId, messageIndex: question.messageIndex })),
		...context(maybeRepeat ? MAYBE_REPEAT : ''),
	]);
}

/** Questions in the list: a message holds about 12,000 characters, and a line takes up to 600 with its link. */
export const MOST_LISTED = 15;
/** Slack allows 3,000 characters in a section. */
const LINES_PER_SECTION = 4;

/**
 * Reminders of several questions of a channel, with a link to each thread.
 * @param asked those that are listed, at most `MOST_LISTED`
 * @param count all that wait
 */
export function rungsPost(
	asked: readonly RungQuestion[],
	count: number,
	{ mention, names, now, maybeRepeat }: RungContext,
): MessageContent {
	const words = [mentionMrkdwn(mention), rungsWords(count)].filter(Boolean).join(' ');
	const lines = asked.map((one) => lineOf(one, names, now));
	const sections = Array.from({ length: Math.ceil(lines.length / LINES_PER_SECTION) }, (_, index) =>
		section(lines.slice(index * LINES_PER_SECTION, (index + 1) * LINES_PER_SECTION).join('\n')),
	);
	return message(words, [
		...section(`*${words}*`),
		...sections.flat(),
		...context(notListedWords(count - asked.length), maybeRepeat ? MAYBE_REPEAT : ''),
	]);
}

function lineOf(asked: RungQuestion, names: Names, now: number): string {
	const { entry, link } = asked;
	const waited = waitingTimeWords(now - entry.postedAt);
	const way = link === null ? '' : `<${link}|${OPEN_THREAD}>`;
	return [`• ${textOf(asked)} · ${waited}`, way, lastWords(entry), heldWords(entry.heldBy, names)]
		.filter(Boolean)
		.join(' · ');
}

function textOf({ question, sessionName, discreet }: RungQuestion): string {
	return questionText({ question, quick: question.quick, sessionName, waitedMs: null, discreet });
}
