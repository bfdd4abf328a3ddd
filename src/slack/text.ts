import type { MrkdwnElement, PlainTextElement } from '@slack/types';
import { escapeMrkdwn, nameWithin, neutralise } from './text/clean.ts';
import { boundaryBefore, fitText } from './text/cut.ts';
import { markdownToMrkdwn } from './text/mrkdwn.ts';

/*
 * The only way in which text that others wrote (agents, sessions, people) enters a block or a message. It is always marked
 * as theirs: `quoted` and its kin mark every line, `quotedName` puts names and titles between quotation marks. Limits count
 * UTF-16 units of the result, which is never less than what Slack counts. No string makes these functions fail, and they
 * look at no more than a few times their limit.
 */

export { escapeMrkdwn };

/**
 * A plain_text object of one line, cut to `limit` with a note of how much was cut (limits under 100: with "…").
 * `fallback` replaces a text without anything visible, because Slack refuses empty ones.
 */
export function plain(text: string, limit: number, fallback = '(empty)'): PlainTextElement {
	const shown = oneLine(text, limit);
	return { type: 'plain_text', text: shown === '' ? fallback : shown, emoji: false };
}

/** The visible text on one line, cut to `limit`; not escaped: for plain_text only. May be empty. */
export function oneLine(text: string, limit: number): string {
	return fitText(text, limit, squeeze);
}

/** The same for mrkdwn and for the `text` of messages: escaped. May be empty. */
export function oneLineMrkdwn(text: string, limit: number): string {
	return fitText(text, limit, (part) => escapeMrkdwn(withoutFences(squeeze(part))));
}

/**
 * A name, title or other single line between quotation marks that nothing in it can close, for plain text; without the
 * symbols and emoji it begins with. Empty when nothing is left to see.
 */
export function quotedName(text: string, limit: number): string {
	return betweenMarks(fitText(text, limit - 2, nameWithin));
}

/** Undoes the quotation marks of `quotedName`; keeps what follows them. */
export function withoutMarks(text: string): string {
	return text.replace(/^“([^”]*)”/, '$1');
}

/** The same as `quotedName` for mrkdwn and for the `text` of messages. */
export function quotedNameMrkdwn(text: string, limit: number): string {
	return betweenMarks(fitText(text, limit - 2, (part) => escapeMrkdwn(nameWithin(part))));
}

/** An agent's Markdown as mrkdwn, each line quoted, cut to `limit` saying how much was cut. Empty when it says nothing. */
export function quotedMarkdown(text: string, limit: number): string {
	return isBlank(text) ? '' : fitText(text, limit, (part) => quoteLines(markdownToMrkdwn(part)));
}

/** Each line quoted, escaped, cut to `limit`: what a person wrote. */
export function quoted(text: string, limit: number): string {
	return fitText(text, limit, (part) => quoteLines(escapeMrkdwn(withoutFences(part))));
}

/** The same on one line. Empty when it says nothing. */
export function quotedLine(text: string, limit: number): string {
	return isBlank(text) ? '' : quoted(squeeze(text.slice(0, limit * 4)), limit);
}

/** Wraps our own or already converted mrkdwn. `verbatim`: Slack links no names, channels and addresses. */
export function mrkdwn(text: string): MrkdwnElement {
	return { type: 'mrkdwn', text, verbatim: true };
}

/** Cuts without a note, between characters: what an input is offered as its initial value. */
export function cutTo(text: string, limit: number): string {
	return text.length <= limit ? text : text.slice(0, boundaryBefore(text.slice(0, limit + 512), limit));
}

/** Whether nothing of it is visible. */
export function isBlank(text: string): boolean {
	return !/[!-~]/.test(text) && neutralise(text.slice(0, 10_000)).trim() === '';
}

function squeeze(text: string): string {
	return text.replace(/\s+/g, ' ').trim();
}

function betweenMarks(text: string): string {
	return text === '' ? '' : `“${text}”`;
}

function quoteLines(text: string): string {
	return `> ${text.replaceAll('\n', '\n> ')}`;
}

/** Code over several lines would swallow the quote marks before them. */
function withoutFences(text: string): string {
	return text.replace(/`{3,}/g, (marks) => "'".repeat(marks.length));
}

/**
 * The angle brackets in a message's text. Slack escapes the `<` that people type, so the next one begins another mark:
 * stopping there keeps the work linear.
 */
const MARKED = /<([^<>]*)>/g;

/**
 * A message's text as the person typed it: links and addresses without mark-up, named mentions as `@name`, entities as
 * characters. `without`: a user id whose mentions are left out. Linear in the length of the text.
 */
export function typedText(text: string, without: string | null = null): string {
	return text
		.replace(MARKED, (whole, inside: string) => typed(inside, without) ?? whole)
		.replaceAll('&lt;', '<')
		.replaceAll('&gt;', '>')
		.replaceAll('&amp;', '&')
		.trim();
}

/** The replacement of one pair of brackets; null where it stays. */
function typed(inside: string, without: string | null): string | null {
	const bar = inside.indexOf('|');
	const target = bar === -1 ? inside : inside.slice(0, bar);
	const label = bar === -1 ? null : inside.slice(bar + 1);
	const user = /^@([UW][A-Z0-9]+)$/.exec(target)?.[1];
	if (user !== undefined) return user === without ? '' : label === null ? null : `@${label}`;
	if (/^#[CG][A-Z0-9]+$/.test(target)) return label === null || label === '' ? null : `#${label}`;
	return (
		/^(?:mailto:(.+)|((?:https?|tel):.+))$/s
			.exec(target)
			?.slice(1)
			.find((part) => part !== undefined) ?? null
	);
}
