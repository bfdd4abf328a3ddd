import type { MrkdwnElement, PlainTextElement } from '@slack/types';
import { boundaryBefore, GRAPHEMES, LONGEST_CLUSTER, NOTE_LENGTH, noteOf, type OnCut, withoutNote } from '../cut.ts';
import { escapeMrkdwn, nameWithin, neutralise, titleWithin } from './text/clean.ts';
import { markdownToMrkdwn } from './text/mrkdwn.ts';

/*
 * The only way for text that others wrote (agents, sessions, people) into a block or a message. It is always marked as
 * theirs: `quoted…` marks every line, `quotedName…` puts names and titles between quotation marks. Limits count UTF-16
 * units of the result, which Slack never counts as more. No string makes these functions fail, and they read at most a few
 * times their limit.
 */

export { escapeMrkdwn };

/**
 * A plain_text object of one line, cut to `limit` with a note of how much was cut (limits under 100: with "…").
 * `fallback` replaces a text in which nothing is visible, because Slack refuses empty texts.
 */
export function plain(text: string, limit: number, fallback = '(empty)'): PlainTextElement {
	const shown = oneLine(text, limit);
	return { type: 'plain_text', text: shown === '' ? fallback : shown, emoji: false };
}

/** The text on one line, cut to `limit`. Not escaped: for plain_text only. May be empty. */
export function oneLine(text: string, limit: number): string {
	return fitText(text, limit, squeeze);
}

/** The same, escaped for mrkdwn and for the `text` of messages. May be empty. */
export function oneLineMrkdwn(text: string, limit: number): string {
	return fitText(text, limit, (part) => escapeMrkdwn(withoutFences(squeeze(part))));
}

/** The same, cut with "…" to so many `characters` as people see them, and to `limit` units. May be empty. */
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

/** For plain text: a name between quotation marks that nothing in it closes, without symbols before it. May be empty. */
export function quotedName(text: string, limit: number): string {
	return betweenMarks(text, limit, nameWithin);
}

/** `quotedName` for mrkdwn and for the `text` of messages. Nothing in it ends the bold text around it. */
export function quotedNameMrkdwn(text: string, limit: number): string {
	return betweenMarks(text, limit, (part) => inBold(nameWithin(part)));
}

/** `quotedName` for what people decide by (titles, options, values): symbols and emoji at its beginning stay. */
export function quotedTitle(text: string, limit: number, onCut?: OnCut): string {
	return betweenMarks(text, limit, titleWithin, onCut);
}

/** `quotedTitle` for mrkdwn. */
export function quotedTitleMrkdwn(text: string, limit: number, onCut?: OnCut): string {
	return betweenMarks(text, limit, (part) => inBold(titleWithin(part)), onCut);
}

/** Removes the quotation marks of `quotedName`; keeps the text after them. */
export function withoutMarks(text: string): string {
	return text.replace(/^“([^”]*)”/, '$1');
}

/** An agent's Markdown as mrkdwn, each line quoted, cut to `limit` with a note. Empty when nothing of it is visible. */
export function quotedMarkdown(text: string, limit: number, onCut?: OnCut): string {
	return isBlank(text) ? '' : fitText(text, limit, (part) => quoteLines(markdownToMrkdwn(part)), onCut);
}

/** What a person wrote: each line quoted, escaped, cut to `limit` with a note. */
export function quoted(text: string, limit: number): string {
	return fitText(text, limit, (part) => quoteLines(escapeMrkdwn(withoutFences(part))));
}

/** The same on one line. Empty when nothing of it is visible. */
export function quotedLine(text: string, limit: number, onCut?: OnCut): string {
	const convert = (part: string) => quoteLines(escapeMrkdwn(withoutFences(squeeze(part))));
	return isBlank(text) ? '' : fitText(text, limit, convert, onCut);
}

/** For mrkdwn that is escaped already. `verbatim`: Slack makes no links of names, channels and addresses. */
export function mrkdwn(text: string): MrkdwnElement {
	return { type: 'mrkdwn', text, verbatim: true };
}

/** Cuts between characters, without a note: for the initial value of an input. */
export function cutTo(text: string, limit: number): string {
	return text.slice(0, boundaryBefore(text, limit));
}

/** Whether nothing of the text is visible. */
export function isBlank(text: string): boolean {
	return !/[!-~]/.test(text) && neutralise(text.slice(0, 10_000)).trim() === '';
}

function squeeze(text: string): string {
	return text.replace(/\s+/g, ' ').trim();
}

function inBold(text: string): string {
	return escapeMrkdwn(text).replaceAll('*', '∗');
}

function betweenMarks(text: string, limit: number, convert: (text: string) => string, onCut?: OnCut): string {
	const shown = fitText(text, limit - 2, convert, onCut);
	return shown === '' ? '' : `“${shown}”`;
}

function quoteLines(text: string): string {
	return `> ${text.replaceAll('\n', '\n> ')}`;
}

/** Code over several lines would hide the quote marks of these lines. */
function withoutFences(text: string): string {
	return text.replace(/`{3,}/g, (marks) => "'".repeat(marks.length));
}

/** Slack escapes each `<` that people type, so a `<` begins a new mark. The pattern stops there, so the work is linear. */
const MARKED = /<([^<>]*)>/g;

/**
 * A message's text as the person typed it: links and addresses without mark-up, named mentions as `@name`, entities as
 * characters. `leftOut`: a user id whose mentions are removed. Linear in the length of the text.
 */
export function typedText(text: string, leftOut: string | null = null): string {
	return unescaped(text.replace(MARKED, (whole, inside: string) => typed(inside, leftOut) ?? whole)).trim();
}

/** Undoes `escapeMrkdwn`. */
export function unescaped(text: string): string {
	return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** What replaces one pair of brackets; null if it stays. */
function typed(inside: string, leftOut: string | null): string | null {
	const [, target = '', label = null] = /^([^|]*)(?:\|(.*))?$/s.exec(inside) ?? [];
	const user = /^@([UW][A-Z0-9]+)$/.exec(target)?.[1];
	if (user !== undefined) return user === leftOut ? '' : label === null ? null : `@${label}`;
	if (/^#[CG][A-Z0-9]+$/.test(target)) return label === null || label === '' ? null : `#${label}`;
	if (/^(?:https?|tel):./s.test(target)) return target;
	return /^mailto:(.+)$/s.exec(target)?.[1] ?? null;
}

/** Below this length there is no room for a note of what was cut. */
const SHORT_LIMIT = 100;

/**
 * Cuts `whole` so that the converted part and a note of how much is missing take at most `limit` UTF-16 units. It cuts the
 * source, so it splits no entity, mark-up or character. A note at its end (`cutWithNote`) counts for what it stands for.
 */
export function fitText(whole: string, limit: number, convert: (text: string) => string, onCut?: OnCut): string {
	const { text: source, missing } = withoutNote(whole);
	if (missing > 0) onCut?.(true);
	const windowEnd = source.length <= limit * 4 ? source.length : boundaryBefore(source, limit * 4);
	const text = neutralise(source.slice(0, windowEnd)).trimEnd();
	const beyond = source.length - windowEnd + missing;
	if (windowEnd === source.length && text.length <= limit) {
		const converted = convert(missing > 0 ? neutralise(whole) : text);
		if (converted.length <= limit) return converted;
	}
	onCut?.();
	const short = limit < SHORT_LIMIT;
	const room = short ? limit - 1 : limit - NOTE_LENGTH;
	let length = Math.min(text.length, room);
	for (let round = 0; ; round += 1) {
		length = boundaryBefore(text, length);
		const shown = convert(text.slice(0, length).trimEnd());
		if (shown.length <= room || length === 0) {
			if (short) return `${shown}…`.slice(0, limit);
			return `${shown}${noteOf(text.length - length + beyond)}`;
		}
		// Proportional steps need a few rounds; halving is for texts made to need more.
		const next = Math.floor((length * room) / shown.length);
		length = Math.min(length - 1, round < 8 ? next : length >> 1);
	}
}
