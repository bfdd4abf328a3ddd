import type { MrkdwnElement, PlainTextElement } from '@slack/types';
import { boundaryBefore, fitText } from './text/cut.ts';
import { escapeMrkdwn } from './text/escape.ts';
import { toMarkdownBlockText } from './text/markdown-block.ts';
import { markdownToMrkdwn } from './text/mrkdwn.ts';
import { neutralise } from './text/neutralise.ts';

/*
 * The only way in which text that others wrote (agents, sessions, people) enters a block or a message. Limits count
 * UTF-16 units of the result, which is never less than what Slack counts. Nothing here fails on any string, and
 * nothing looks at more than a few times its limit of a longer one.
 */

export { escapeMrkdwn, neutralise };

/**
 * A plain_text object, in which Slack resolves nothing. `fallback` stands in for a text without anything to see (Slack
 * refuses empty ones). One line, cut to `limit` saying how much was cut (limits under 100: with "…").
 */
export function plain(text: string, limit: number, fallback = '(empty)'): PlainTextElement {
	const shown = oneLine(text, limit);
	return { type: 'plain_text', text: shown === '' ? fallback : shown, emoji: false };
}

/** The text on one line without anything invisible, cut to `limit`; not escaped: for plain_text alone. May be empty. */
export function oneLine(text: string, limit: number): string {
	return fitText(text, limit, squeeze);
}

/** The same for mrkdwn and for the `text` of messages: escaped. May be empty. */
export function oneLineMrkdwn(text: string, limit: number): string {
	return fitText(text, limit, (part) => escapeMrkdwn(squeeze(part)));
}

/** Escaped text with its lines, cut to `limit` saying how much was cut: what people wrote. May be empty. */
export function mrkdwnText(text: string, limit: number): string {
	return fitText(text, limit, escapeMrkdwn);
}

/** An agent's Markdown as mrkdwn for modals and `text`, cut to `limit` saying how much was cut. May be empty. */
export function markdownAsMrkdwn(text: string, limit: number): string {
	return fitText(text, limit, markdownToMrkdwn);
}

/** An agent's Markdown for the `text` of a `markdown` block in a message; those of one message hold 12,000 in all. */
export function markdownBlockText(text: string, limit: number): string {
	return fitText(text, limit, toMarkdownBlockText);
}

/** Each line quoted, escaped, cut to `limit`: somebody's answer repeated to people. */
export function quoted(text: string, limit: number): string {
	return fitText(text, limit, (part) => `> ${escapeMrkdwn(part).replaceAll('\n', '\n> ')}`);
}

/** Wraps our own or already converted mrkdwn. `verbatim`: Slack is not to make links of names and channels. */
export function mrkdwn(text: string): MrkdwnElement {
	return { type: 'mrkdwn', text };
}

/** Cuts without a note, between characters: what an input is offered as its initial value. */
export function cutTo(text: string, limit: number): string {
	return text.length <= limit ? text : text.slice(0, boundaryBefore(text.slice(0, limit + 512), limit));
}

/** True when people would see nothing of it. */
export function isBlank(text: string): boolean {
	return !/[!-~]/.test(text) && neutralise(text.slice(0, 10_000)).trim() === '';
}

function squeeze(text: string): string {
	return text.replace(/\s+/g, ' ').trim();
}
