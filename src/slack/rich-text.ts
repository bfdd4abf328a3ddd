import type {
	MrkdwnElement,
	PlainTextElement,
	RichTextBlock,
	RichTextChannelMention,
	RichTextDate,
	RichTextLink,
	RichTextPreformatted,
	RichTextQuote,
	RichTextSection,
	RichTextText,
	RichTextUsergroupMention,
	RichTextUserMention,
} from '@slack/types';
import { isBlank, neutralise, shownPart } from '../domain/shown-text.ts';
import type { OnCut } from '../domain/texts.ts';

/*
 * How words enter Slack. Text from outside (agents, sessions, files, people, the dashboard) is a text element of rich
 * text, in which Slack reads no markup, so it stays text. Only our own literals have marks: `*bold*` and code in
 * backticks.
 */

/** A piece of a line. */
export type Part =
	| RichTextText
	| RichTextUserMention
	| RichTextUsergroupMention
	| RichTextChannelMention
	| RichTextDate
	| RichTextLink;

/** The words of a line. A string is shown as it is, character by character. */
export type Words = string | readonly Part[];

const STYLES = ['bold', 'code', 'strike'] as const;
type Style = (typeof STYLES)[number];

/** Our words with `*bold*` and code in backticks. Values are shown as they are, in the style around them. */
export function rich(own: TemplateStringsArray, ...values: readonly (Words | number)[]): readonly Part[] {
	return read(own, values);
}

/** As `rich`, for a constant: `{name}` is replaced with `slots.name`. Never for text from outside. */
export function template(own: string, slots: Readonly<Record<string, Words>> = {}): readonly Part[] {
	const pieces = own.split(/\{(\w+)\}/);
	const names = pieces.filter((_, at) => at % 2 === 1);
	return read(
		pieces.filter((_, at) => at % 2 === 0),
		names.map((name) => slots[name] ?? ''),
	);
}

function read(own: readonly string[], values: readonly (Words | number)[]): readonly Part[] {
	let style: Style | null = null;
	const parts: Part[] = [];
	for (const [at, literal] of own.entries()) {
		for (const piece of literal.split(/([*`])/)) {
			const toggled = piece === '*' ? 'bold' : piece === '`' ? 'code' : null;
			if (toggled === null) parts.push(...styled(piece, style));
			else style = style === toggled ? null : toggled;
		}
		const value = values[at];
		if (value !== undefined) parts.push(...styled(typeof value === 'number' ? String(value) : value, style));
	}
	return merged(parts);
}

function styled(words: Words, style: Style | null): Part[] {
	return partsOf(words).map((part) => (style === null ? part : { ...part, style: { ...part.style, [style]: true } }));
}

export const bold = (words: Words): readonly Part[] => styled(words, 'bold');
export const struck = (words: Words): readonly Part[] => styled(words, 'strike');

function partsOf(words: Words): readonly Part[] {
	if (typeof words !== 'string') return words;
	const text = neutralise(words);
	return text === '' ? [] : [{ type: 'text', text }];
}

const haveSameStyle = ({ style: one }: Part, { style: other }: Part) =>
	STYLES.every((style) => (one?.[style] === true) === (other?.[style] === true));

function merged(parts: readonly Part[]): readonly Part[] {
	const all: Part[] = [];
	for (const part of parts) {
		const last = all.at(-1);
		if (part.type === 'text' && last?.type === 'text' && haveSameStyle(part, last))
			all[all.length - 1] = { ...last, text: last.text + part.text };
		else all.push(part);
	}
	return all;
}

/** Joins words without a separator. */
export const together = (words: readonly Words[]): readonly Part[] => merged(words.flatMap(partsOf));

export const isEmpty = (words: Words) => words.length === 0;

function between(separator: string, words: readonly Words[]): Words {
	const all = words.filter((one) => !isEmpty(one));
	if (all.every((one) => typeof one === 'string')) return all.join(separator);
	return merged(all.flatMap((one, at) => [...(at === 0 ? [] : partsOf(separator)), ...partsOf(one)]));
}

/** Joins words that are not empty with ` · `. Strings alone make a string. */
export function joined(...words: readonly string[]): string;
export function joined(...words: readonly Words[]): Words;
export function joined(...words: readonly Words[]): Words {
	return between(' · ', words);
}

/** Joins words that are not empty with a space. */
export function sentences(...words: readonly string[]): string;
export function sentences(...words: readonly Words[]): Words;
export function sentences(...words: readonly Words[]): Words {
	return between(' ', words);
}

/** Puts words that are not empty on a line each. */
export function lines(...words: readonly string[]): string;
export function lines(...words: readonly Words[]): Words;
export function lines(...words: readonly Words[]): Words {
	return between('\n', words);
}

/** Splits words into lines. */
export function linesIn(words: Words): Words[] {
	if (typeof words === 'string') return words.split('\n');
	const all: Part[][] = [[]];
	for (const part of words) {
		const texts = part.type === 'text' ? part.text.split('\n') : [];
		const [first = part, ...others] = texts.map((text): Part => ({ ...part, text }) as Part);
		all.at(-1)?.push(first);
		all.push(...others.map((other) => [other]));
	}
	return all;
}

/** Joins words that are not empty with `, `. */
export const listed = (...words: readonly Words[]): Words => between(', ', words);

/** A piece of rich text: a line of ours, a quote behind the bar, or code. */
export type Piece = RichTextSection | RichTextQuote | RichTextPreformatted;

export function line(words: Words): Piece[] {
	return isNothing(words) ? [] : [{ type: 'rich_text_section', elements: [...partsOf(words)] }];
}

/** A quote, with Slack's bar at its left. */
export function quote(words: Words): Piece[] {
	return isNothing(words) ? [] : [{ type: 'rich_text_quote', elements: [...partsOf(words)] }];
}

/** What a person wrote, behind the bar, cut to `limit` UTF-16 units with a note. */
export function quotedText(text: string, limit: number, onCut?: OnCut): Piece[] {
	const { text: shown, note } = shownPart(text, limit, onCut);
	return quote(isBlank(shown) ? note : shown + note);
}

/** Code with a frame. Slack reads no markup in it. */
export function code(text: string): Piece {
	return { type: 'rich_text_preformatted', border: 1, elements: [{ type: 'text', text }] };
}

/** Pieces as one block; no block without pieces. Neighbouring quotes become one, so that one bar stands beside them. */
export function richText(...pieces: readonly Piece[]): RichTextBlock[] {
	const elements: Piece[] = [];
	for (const piece of pieces) {
		const last = elements.at(-1);
		if (piece.type !== 'rich_text_quote' || last?.type !== 'rich_text_quote') elements.push(piece);
		else
			elements[elements.length - 1] = {
				...last,
				elements: [
					...merged([...(last.elements as Part[]), { type: 'text', text: '\n' }, ...(piece.elements as Part[])]),
				],
			};
	}
	return elements.length === 0 ? [] : [{ type: 'rich_text', elements }];
}

/** The pieces as plain text. */
export const piecesText = (pieces: readonly Piece[]) =>
	pieces.map(({ elements }) => plainWords(elements as Part[])).join('\n');

const isNothing = (words: Words) => partsOf(words).every((part) => part.type === 'text' && isBlank(part.text));

/** Escapes for mrkdwn and for the `text` of a message. */
export function escapeMrkdwn(text: string): string {
	if (!/[&<>]/.test(text)) return text;
	return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export function unescaped(text: string): string {
	return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** Words as the `text` of a message, which notifications show: escaped, with mentions, dates and links in mrkdwn. */
export const notificationText = (words: Words) => partsOf(words).map(markupOf).join('');

/** A part in mrkdwn. Text is escaped. */
export function markupOf(part: Part): string {
	switch (part.type) {
		case 'text':
			return escapeMrkdwn(part.text);
		case 'user':
			return `<@${part.user_id}>`;
		case 'usergroup':
			return `<!subteam^${part.usergroup_id}>`;
		case 'channel':
			return `<#${part.channel_id}>`;
		case 'date':
			return `<!date^${part.timestamp}^${part.format}|${part.fallback ?? ''}>`;
		case 'link':
			return `<${part.url}|${escapeMrkdwn(part.text ?? part.url)}>`;
	}
}

/** Words as plain text. Dates are in UTC, and `somebody` replaces mentions, whose ids mean nothing to people. */
export function plainWords(words: Words, somebody = 'somebody'): string {
	const textOf = (part: Part) => {
		switch (part.type) {
			case 'text':
				return part.text;
			case 'user':
			case 'usergroup':
				return somebody;
			case 'channel':
				return 'a channel';
			case 'date':
				return part.fallback ?? '';
			case 'link':
				return part.text ?? part.url;
		}
	};
	return partsOf(words).map(textOf).join('');
}

/** Punctuation that belongs to the word before it. */
const CLOSING = /^[.,;:!?)]*/;

/** Elements of a context block: text as plain text without styles, mentions, dates and links as mrkdwn of ours. */
export function smallElements(words: Words) {
	const parts = merged(partsOf(words).map((part) => (part.type === 'text' ? { type: 'text', text: part.text } : part)));
	return parts.flatMap((part, at): (PlainTextElement | MrkdwnElement)[] => {
		// Slack leaves a gap between elements, so punctuation after a mention moves into the mention's element.
		const isAfterMark = at > 0 && parts[at - 1]?.type !== 'text';
		const text = part.type === 'text' ? (isAfterMark ? part.text.replace(CLOSING, '') : part.text).trim() : '';
		if (part.type === 'text') return isBlank(text) ? [] : [{ type: 'plain_text', text, emoji: false }];
		const next = parts[at + 1];
		const [mark = ''] = next?.type === 'text' ? (CLOSING.exec(next.text) ?? []) : [];
		return [{ type: 'mrkdwn', text: `${markupOf(part)}${mark}`, verbatim: true }];
	});
}
