import type { RungEntry } from '../../watches/announcements.ts';
import type { Mention } from '../../watches/channel-settings.ts';
import type { QuestionView } from '../../watches/session-snapshot.ts';
import type { Names } from '../words/people.ts';
import { questionText } from '../words/question-text.ts';
import {
	hasItWords,
	heldWords,
	lastWords,
	mentionMrkdwn,
	notListedWords,
	OPEN_THREAD,
	RUNG_OVER_WORDS,
	rungsWords,
	rungWords,
	waitingTimeWords,
} from '../words/reminders.ts';
import { MAYBE_REPEAT } from '../words/watching.ts';
import { context, type MessageContent, message, section } from './parts.ts';
import { answerButtons } from './quick-answer.ts';
import type { PostContext } from './watch-posts.ts';

/** A question as its reminder shows it. */
export interface RungQuestion extends Pick<PostContext, 'channelId' | 'discreet' | 'offersOptions' | 'handOver'> {
	readonly entry: RungEntry;
	readonly question: QuestionView;
	/** When the read began that found the question, clock milliseconds. */
	readonly readAt: number;
	readonly sessionName: string;
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
	const { entry } = asked;
	const words = [mentionMrkdwn(mention), rungWords(entry, now - entry.postedAt)].filter(Boolean).join(' ');
	const { text, blocks } = openParts(asked, words, names);
	return message(text, [...blocks, ...context(maybeRepeat ? MAYBE_REPEAT : '')]);
}

/**
 * A posted reminder as it is now. It mentions nobody whom the settings name.
 * @param outcome what became of the question, mrkdwn; empty while it waits
 */
export function updatedRungPost(asked: RungQuestion, outcome: string, names: Names): MessageContent {
	const { entry } = asked;
	if (outcome === '') {
		const { text, blocks } = openParts(asked, rungWords(entry, null), names);
		return message(text, blocks);
	}
	const words = RUNG_OVER_WORDS[entry.rung];
	const told = textOf(asked, true);
	return message(`${words}: ${told} ${outcome}`, [...section(`${words}\n> ${told}`), ...context(outcome)]);
}

/** A reminder of a question that waits. */
function openParts(asked: RungQuestion, words: string, names: Names) {
	const { entry, question, channelId, readAt, offersOptions, handOver } = asked;
	const told = textOf(asked);
	return {
		text: `${words} ${told}`,
		blocks: [
			...section(`${words}\n> ${told}`),
			...context(hasItWords(handOver, names), heldWords(entry.heldBy, names)),
			...answerButtons(question, { sessionId: entry.sessionId, channelId, readAt }, offersOptions),
		],
	};
}

/** Questions in the list: a message holds about 12,000 characters, and a line takes up to 800 with its link. */
export const MOST_LISTED = 15;
/** Slack's limit for the text of a section. */
const SECTION_LENGTH = 3_000;

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
	return message(words, [
		...section(`*${words}*`),
		...sectionTexts(lines).flatMap((text) => section(text)),
		...context(notListedWords(count - asked.length), maybeRepeat ? MAYBE_REPEAT : ''),
	]);
}

/** The lines in as few texts as sections may hold. */
function sectionTexts(lines: readonly string[]): readonly string[] {
	const texts: string[] = [];
	for (const line of lines) {
		const longer = [...texts.slice(-1), line].join('\n');
		if (texts.length > 0 && longer.length <= SECTION_LENGTH) texts[texts.length - 1] = longer;
		else texts.push(line);
	}
	return texts;
}

function lineOf(asked: RungQuestion, names: Names, now: number): string {
	const { entry, link, handOver } = asked;
	const waited = waitingTimeWords(now - entry.postedAt);
	const way = link === null ? '' : `<${link}|${OPEN_THREAD}>`;
	const notes = [hasItWords(handOver, names), lastWords(entry), heldWords(entry.heldBy, names)];
	return [`• ${textOf(asked)} · ${waited}`, way, ...notes].filter(Boolean).join(' · ');
}

function textOf({ question, sessionName, discreet }: RungQuestion, settled = false): string {
	return questionText({ question, quick: question.quick, sessionName, waitedMs: null, discreet, settled });
}
