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
 * text, in which Slack reads no markup, so nothing in it can leave its place. Only our own literals have marks of
 * their own: `*bold*` and code in backticks.
 */

/** A piece of a line. */
export type Part =
	| RichTextText
	| RichTextUserMention
	| RichTextUsergroupMention
	| RichTextChannelMention
	| RichTextDate
	| RichTextLink;

/** What stands in a line. A string is shown as it is, character by character. */
export type Words = string | readonly Part[];

const STYLES = ['bold', 'code', 'strike'] as const;
type Style = (typeof STYLES)[number];

/** Our words with `*bold*` and code in backticks. What is put in stands as it is, in the style around it. */
export function rich(own: TemplateStringsArray, ...values: readonly (Words | number)[]): readonly Part[] {
	return read(own, values);
}

/** The same for a constant: `{name}` is replaced with the words of that name. Never for text from outside. */
export function marked(own: string, slots: Readonly<Record<string, Words>> = {}): readonly Part[] {
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

/** One behind the other. */
export const together = (words: readonly Words[]): readonly Part[] => merged(words.flatMap(partsOf));

export const isEmpty = (words: Words) => words.length === 0;

function between(separator: string, words: readonly Words[]): Words {
	const all = words.filter((one) => !isEmpty(one));
	if (all.every((one) => typeof one === 'string')) return all.join(separator);
	return merged(all.flatMap((one, at) => [...(at === 0 ? [] : partsOf(separator)), ...partsOf(one)]));
}

/** What is not empty, with ` · ` between. Strings alone make a string. */
export function joined(...words: readonly string[]): string;
export function joined(...words: readonly Words[]): Words;
export function joined(...words: readonly Words[]): Words {
	return between(' · ', words);
}

/** What is not empty, with a space between. */
export function sentences(...words: readonly string[]): string;
export function sentences(...words: readonly Words[]): Words;
export function sentences(...words: readonly Words[]): Words {
	return between(' ', words);
}

/** What is not empty, each on a line of its own. */
export function lines(...words: readonly string[]): string;
export function lines(...words: readonly Words[]): Words;
export function lines(...words: readonly Words[]): Words {
	return between('\n', words);
}

/** The lines of these words. */
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

/** What is not empty, with `, ` between. */
export const listed = (...words: readonly Words[]): Words => between(', ', words);

/** A piece of rich text: a line of ours, something behind the bar of what others wrote, or code. */
export type Piece = RichTextSection | RichTextQuote | RichTextPreformatted;

export function line(words: Words): Piece[] {
	return isNothing(words) ? [] : [{ type: 'rich_text_section', elements: [...partsOf(words)] }];
}

/** Behind the bar. */
export function quote(words: Words): Piece[] {
	return isNothing(words) ? [] : [{ type: 'rich_text_quote', elements: [...partsOf(words)] }];
}

/** What a person wrote, behind the bar, cut to `limit` with a note. */
export function quotedText(text: string, limit: number, onCut?: OnCut): Piece[] {
	const { text: shown, note } = shownPart(text, limit, onCut);
	return quote(isBlank(shown) ? note : shown + note);
}

/** Code with a frame, as it stands: Slack reads nothing in it. */
export function code(text: string): Piece {
	return { type: 'rich_text_preformatted', border: 1, elements: [{ type: 'text', text }] };
}

/** These pieces as a block; none when nothing of them is visible. One bar stands beside neighbours behind it. */
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

/** What people read of these pieces. */
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

/** The words as the `text` of a message, which notifications show: escaped, with mentions and dates. */
export const notificationText = (words: Words) => partsOf(words).map(markupOf).join('');

/** A mention, date or link in mrkdwn; a text escaped. */
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

/** The words as plain text, in which times are in UTC and an id means nothing to people. */
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

/** Closes what stands before it. */
const CLOSING = /^[.,;:!?)]*/;

/** For small lines: texts as plain text without styles, and what Slack has to fill in as mrkdwn of ours alone. */
export function smallElements(words: Words) {
	const parts = merged(partsOf(words).map((part) => (part.type === 'text' ? { type: 'text', text: part.text } : part)));
	return parts.flatMap((part, at): (PlainTextElement | MrkdwnElement)[] => {
		// Slack leaves a gap between elements. Behind a mention, our own words come first.
		const isAfterMark = at > 0 && parts[at - 1]?.type !== 'text';
		const text = part.type === 'text' ? (isAfterMark ? part.text.replace(CLOSING, '') : part.text).trim() : '';
		if (part.type === 'text') return isBlank(text) ? [] : [{ type: 'plain_text', text, emoji: false }];
		const next = parts[at + 1];
		const [mark = ''] = next?.type === 'text' ? (CLOSING.exec(next.text) ?? []) : [];
		return [{ type: 'mrkdwn', text: `${markupOf(part)}${mark}`, verbatim: true }];
	});
}
