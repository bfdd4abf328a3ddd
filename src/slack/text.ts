import type { MrkdwnElement, PlainTextElement, TableBlock } from '@slack/types';
import { decisionsAtEnd, jsonList, keyedList, linesOf, markedTitle } from '../domain/contract.ts';
import {
	boundaryBefore,
	GRAPHEMES,
	LONGEST_CLUSTER,
	NOTE_LENGTH,
	noteOf,
	type OnCut,
	withoutNote,
} from '../domain/texts.ts';
import { wordList } from '../domain/word-list.ts';
import { escapeMrkdwn, markdownToMrkdwn, takenTable, withoutFences } from './mrkdwn.ts';

/*
 * The only way for text of others (agents, sessions, people) into a block or a message, always marked as theirs:
 * `quoted…` marks every line, `quotedName…` puts names and titles in quotation marks. Limits count UTF-16 units of the
 * result, which Slack never counts as more. No string makes them fail, and they read at most a few times their limit.
 */

/** A plain_text object of one line, cut to `limit`. `fallback` replaces an invisible text, which Slack refuses. */
export function plain(text: string, limit: number, fallback = '(empty)'): PlainTextElement {
	const shown = oneLine(text, limit);
	return { type: 'plain_text', text: shown === '' ? fallback : shown, emoji: false };
}

/** The text on one line, cut to `limit`. Not escaped: for plain_text only. May be empty. */
export const oneLine = (text: string, limit: number) => fitText(text, limit, squeeze);

/** The text on one line, escaped for mrkdwn and for the `text` of messages. May be empty. */
export function oneLineMrkdwn(text: string, limit: number): string {
	return fitText(text, limit, (part) => escapeMrkdwn(withoutFences(squeeze(part))));
}

/** One escaped line, cut with "…" to `characters` as people see them, and to `limit` units. May be empty. */
export function firstCharactersMrkdwn(text: string, characters: number, limit: number): string {
	const shown: string[] = [];
	for (const { segment } of GRAPHEMES.segment(withoutFences(oneLine(text, limit * 4)))) {
		if (shown.length > characters) break;
		shown.push(...(segment.length > LONGEST_CLUSTER ? Array.from(segment) : [segment]).map(escapeMrkdwn));
	}
	if (shown.length <= characters && shown.join('').length <= limit) return shown.join('');
	shown.length = Math.min(shown.length, characters - 1);
	while (shown.join('').length >= limit) shown.pop();
	return `${shown.join('').trimEnd()}…`;
}

/** For plain text: a name in quotation marks that nothing in it closes, without symbols before it. May be empty. */
export const quotedName = (text: string, limit: number) => betweenMarks(text, limit, nameWithin);

/** `quotedName` for mrkdwn and for the `text` of messages. Nothing in it ends the bold text around it. */
export function quotedNameMrkdwn(text: string, limit: number): string {
	return betweenMarks(text, limit, (part) => inBold(nameWithin(part)));
}

/** `quotedName` for what people decide by (titles, options, values): symbols and emoji at its beginning stay. */
export function quotedTitle(text: string, limit: number, onCut?: OnCut): string {
	return betweenMarks(text, limit, titleWithin, onCut);
}

export const quotedTitleMrkdwn = (text: string, limit: number) =>
	betweenMarks(text, limit, (part) => inBold(titleWithin(part)));

/** Removes the quotation marks of `quotedName`; keeps the text after them. */
export const withoutMarks = (text: string) => text.replace(/^“([^”]*)”/, '$1');

/** An agent's Markdown as mrkdwn, each line quoted, cut to `limit` with a note. Empty when nothing of it is visible. */
export function quotedMarkdown(text: string, limit: number, onCut?: OnCut): string {
	if (isBlank(text)) return '';
	return fitText(text, limit, (part, isCut) => markdownToMrkdwn(part, '> ', isCut, onCut), onCut);
}

/** An agent's Markdown as mrkdwn on one line, which our own mark for quotes precedes. May be empty. */
export function markdownLine(text: string, limit: number): string {
	return fitText(text, limit, (part, isCut) => squeeze(markdownToMrkdwn(part, '', isCut)));
}

/** Of a table in a message. Slack takes 100 rows of 20 cells, and about 12,000 characters in all of a message. */
const MOST_OF_TABLE = { rows: 30, columns: 8, text: 40 };

/** The first table of an agent's Markdown as a block, which Slack draws at a message's end, and the text without it. */
export function tableOf(markdown: string): { table: TableBlock; others: string; isWhole: boolean } | null {
	const taken = takenTable(neutralise(markdown));
	if (taken === null) return null;
	const { rows: all, others } = taken;
	const { rows, columns, text } = MOST_OF_TABLE;
	const width = Math.min(columns, Math.max(...all.map((row) => row.length)));
	const isWhole =
		all.length <= rows && all.every((row) => row.length <= columns && row.every((cell) => cell.length <= text));
	const shown = all.slice(0, rows).map((row) => Array.from({ length: width }, (_, at) => oneLine(row[at] ?? '', text)));
	// No cell may be empty.
	const cells = shown.map((row) => row.map((cell) => ({ type: 'raw_text' as const, text: cell || '–' })));
	const settings = Array.from({ length: width }, () => ({ is_wrapped: true }));
	return { table: { type: 'table', rows: cells, column_settings: settings }, others, isWhole };
}

/** The mark of a list's line, and emphasis of all of it. No button has a longer text. */
const LISTED = /^(?:(?:[-*+•]|\d{1,3}[.)])\s{1,9})?([*_`]{0,3})(.{0,500})\1$/;

/** What only says that there is a choice, without the options. */
const ONLY_CHOOSE =
	/^(?:one|either|any|of|options?|choices?|choose|pick|select|please|answer|reply|with|or|and|[\s,;:.?!/|()"'[\]-])*$/;

/** Whether these options of the contract are what the labels say: "y" is "Yes". */
const areLabels = (options: readonly string[], labels: readonly string[]) =>
	options.length === labels.length &&
	options.every((option, at) => labels[at]?.toLowerCase().startsWith(option.toLowerCase()) === true);

/** A title without its marks, and without the options at its end that stand beside it as labels. */
export function titleText(title: string, labels: readonly string[] = []): string {
	const { name } = markedTitle(title);
	const ending = labels.length > 0 && /[)）][\s?？.!:]*$/.test(name) ? decisionsAtEnd(name) : null;
	if (ending === null || !areLabels(ending.options, labels) || isBlank(ending.others)) return name;
	return `${ending.others}${/[?？]$/.exec(name)?.[0] ?? ''}`;
}

/** The text without its list of the contract, if these are its options; null: it has none. */
function withoutContract(text: string, labels: readonly string[]): string | null {
	const lines = linesOf(text);
	const listed = jsonList(text, 0) ?? keyedList(lines);
	if (listed === null || 'unclear' in listed || !areLabels(listed.options, labels)) return null;
	const around = [...lines.slice(0, listed.from), { text: listed.lead }, ...lines.slice(listed.to)];
	return around
		.map((line) => line.text)
		.join('\n')
		.trim();
}

/** The text without lines that are the whole text of a button, unless one is missing; empty if it only lists them. */
export function withoutListed(text: string, labels: readonly string[]): string {
	if (labels.length === 0) return text;
	const around = withoutContract(text, labels);
	if (around !== null) return around.replace(/\n{3,}/g, '\n\n');
	const longestFirst = labels.map((label) => label.toLowerCase()).sort((a, b) => b.length - a.length);
	const parts = longestFirst.reduce((all, label) => all.replace(label, ' \0 '), text.toLowerCase()).split('\0');
	if (parts.length > labels.length && parts.every((part) => ONLY_CHOOSE.test(part))) return '';
	const listed = text.split('\n').map((line) => LISTED.exec(line.trim())?.[2] ?? '');
	if (!labels.every((label) => listed.includes(label))) return text;
	const others = text.split('\n').filter((_, at) => !labels.includes(listed[at] ?? ''));
	const kept = others.join('\n').trim();
	return kept.replace(/\n{3,}/g, '\n\n');
}

/** What a person wrote: each line quoted, escaped, cut to `limit` with a note. */
export function quoted(text: string, limit: number): string {
	return fitText(text, limit, (part) => quoteLines(escapeMrkdwn(withoutFences(part))));
}

/** A question behind our mark for quotes, bold and on one line. Empty when nothing of it is visible. */
export function quotedBold(text: string, limit: number, onCut?: OnCut): string {
	if (isBlank(text)) return '';
	return `> *${fitText(text, limit, (part) => inBold(withoutFences(squeeze(part))), onCut)}*`;
}

/** What a person wrote, quoted on one line. Empty when nothing of it is visible. */
export function quotedLine(text: string, limit: number): string {
	return isBlank(text) ? '' : fitText(text, limit, (part) => quoteLines(escapeMrkdwn(withoutFences(squeeze(part)))));
}

/** For escaped mrkdwn. `verbatim`: Slack makes no links of names, channels and addresses. */
export const mrkdwn = (text: string): MrkdwnElement => ({ type: 'mrkdwn', text, verbatim: true });

/** Cuts between characters, without a note: for the initial value of an input. */
export const cutTo = (text: string, limit: number) => text.slice(0, boundaryBefore(text, limit));

export const isBlank = (text: string) => !/[!-~]/.test(text) && neutralise(text.slice(0, 10_000)).trim() === '';

const squeeze = (text: string) => text.replace(/\s+/g, ' ').trim();

const inBold = (text: string) => escapeMrkdwn(text).replaceAll('*', '∗');

function betweenMarks(text: string, limit: number, convert: (text: string) => string, onCut?: OnCut): string {
	const shown = fitText(text, limit - 2, convert, onCut);
	return shown === '' ? '' : `“${shown}”`;
}

const quoteLines = (text: string) => `> ${text.replaceAll('\n', '\n> ')}`;

/** Below this length there is no room for a note of what was cut: "…" stands there. */
const SHORT_LIMIT = 100;

/**
 * Cuts `whole` so that the converted part and a note of what is missing take at most `limit` UTF-16 units. It cuts the
 * source, so it splits no entity, mark-up or character. A note at its end (`cutWithNote`) counts in full.
 */
export function fitText(
	whole: string,
	limit: number,
	convert: (text: string, isCut: boolean) => string,
	onCut?: OnCut,
): string {
	const { text: source, missing } = withoutNote(whole);
	if (missing > 0) onCut?.(true);
	const windowEnd = source.length <= limit * 4 ? source.length : boundaryBefore(source, limit * 4);
	const text = neutralise(source.slice(0, windowEnd)).trimEnd();
	const beyond = source.length - windowEnd + missing;
	if (windowEnd === source.length && text.length <= limit) {
		const converted = `${convert(text, missing > 0)}${missing > 0 ? noteOf(missing) : ''}`;
		if (converted.length <= limit) return converted;
	}
	onCut?.();
	const short = limit < SHORT_LIMIT;
	const room = short ? limit - 1 : limit - NOTE_LENGTH;
	let length = Math.min(text.length, room);
	for (let round = 0; ; round += 1) {
		length = boundaryBefore(text, length);
		const shown = convert(text.slice(0, length).trimEnd(), true);
		if (shown.length <= room || length === 0) {
			if (short) return `${shown}…`.slice(0, limit);
			return `${shown}${noteOf(text.length - length + beyond)}`;
		}
		// Proportional steps need a few rounds; halving is for texts made to need more.
		length = Math.min(length - 1, round < 8 ? Math.floor((length * room) / shown.length) : length >> 1);
	}
}

/** Some change how others look: controls, soft hyphens, zero-width spaces, bidi controls, blank letters, BOMs, tags. */
const INVISIBLE =
	/(?![\t\n])\p{Cc}|[\u00AD\u180E\u200B\u202A-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF0-\uFFFB\u{E0000}-\u{E007F}]/gu;
/** Joiners and direction marks: emoji, Persian, Hebrew and Indic scripts need them. Next to ASCII they only deceive. */
const JOINER_NEXT_TO_ASCII = /(?<![^\p{ASCII}])[\u200C-\u200F\u061C]|[\u200C-\u200F\u061C](?![^\p{ASCII}])/gu;
/** No script puts more than a few marks on a letter; hundreds cover the neighbouring lines. */
const MARK_RUN = /(\p{M}{8})\p{M}+/gu;

/** Agents mostly write such text, and this test is much faster than the replacements. */
const PRINTABLE = /^[\t\n -~]*$/;

/** The text without invisible characters and lone surrogates. Line ends become `\n`, tabs stay. */
export function neutralise(text: string): string {
	if (PRINTABLE.test(text)) return text;
	return text
		.replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
		.toWellFormed()
		.replace(INVISIBLE, '')
		.replace(/[\u200C-\u200F\u061C]{2,}/g, (run) => run.charAt(0))
		.replace(JOINER_NEXT_TO_ASCII, '')
		.replace(MARK_RUN, '$1');
}

const LIKE_APOSTROPHES = wordList('like-apostrophes').join('');
const MARK = `[\\p{Quotation_Mark}${wordList('like-quotation-marks').join('')}${LIKE_APOSTROPHES}]`;
const DRAWN_OVER = '[\\p{M}\\p{Cf}]*';
/** What only looks like an apostrophe; no mark of code. */
const LIKE_ONE = LIKE_APOSTROPHES.replace(/[`\u1fef]/g, '');
/** Where a name could seem to end. Group 1 is one alone that ends nothing, such as in "D’Angelo". */
const QUOTATION_MARKS = new RegExp(
	`((?:(?<=\\p{L}\\p{M}*)’(?=\\p{L})|[${LIKE_ONE}])(?!${DRAWN_OVER}${MARK}))|(?:${MARK}${DRAWN_OVER})+`,
	'gu',
);
/** The beginning of an emoji's `:name:`. The minutes in 10:30:15 are none. */
const EMOJI_CODE = /(?!(?<=\d):\d+:\d):(?=[\p{L}\p{M}\p{N}_+'-]{1,100}:)/gu;

/**
 * Emoji, other symbols and `:names:` of emoji at the beginning, where our messages have theirs. Currency and arithmetic
 * signs stay. Marks go too: without a letter they would change the quotation mark before them.
 */
const LEADING_SYMBOLS =
	/^(?:[\s\p{So}\p{Sk}\p{M}\p{Cf}\p{Extended_Pictographic}\p{Emoji_Modifier}]|:[\w+'-]{1,100}:)+/u;

/** A name to put between quotation marks: one line, without anything that looks like a quotation mark. */
export const nameWithin = (text: string) => titleWithin(text.replace(LEADING_SYMBOLS, ''));

/** A title, option or value between quotation marks. Symbols at its beginning stay: 🚫 can make it its opposite. */
function titleWithin(text: string): string {
	return text
		.replace(/^[\s\p{M}\p{Cf}]+/u, '')
		.replace(EMOJI_CODE, '∶')
		.replace(/\s+/g, ' ')
		.replace(QUOTATION_MARKS, (_, apostrophe?: string) => apostrophe ?? "'")
		.trim();
}
