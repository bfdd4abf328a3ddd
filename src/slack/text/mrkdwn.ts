import { escapeMrkdwn } from './escape.ts';

/** Emphasis in emphasis deeper than this is left as it was written; it bounds the work on hostile text. */
const deepest = 3;

/**
 * Slack's mrkdwn for Markdown: bold, italics, strike, code, fenced code, headings, lists, quotes; tables become code,
 * which keeps their columns; links become "label (url)". All that comes from the source is escaped, so nothing of it can become a mention or a labelled link.
 * Linear in the length of the source. What is no Markdown stays as it is.
 */
export function markdownToMrkdwn(source: string): string {
	const out: string[] = [];
	let fence: string | null = null;
	let table = false;
	for (const line of source.split('\n')) {
		const isRow = fence === null && /^[ \t]*\|.*\|[ \t]*$/.test(line);
		if (isRow !== table) {
			out.push('```');
			table = isRow;
		}
		if (isRow) {
			if (!/^[\s:|-]*$/.test(line)) out.push(escapeMrkdwn(line.trim().replaceAll('```', "'''")));
			continue;
		}
		const mark: string | undefined = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
		if (fence !== null) {
			if (mark?.startsWith(fence) && line.trim() === mark) {
				out.push('```');
				fence = null;
			} else out.push(escapeMrkdwn(line.replaceAll('```', "'''")));
		} else if (mark !== undefined) {
			out.push('```');
			fence = mark;
		} else out.push(convertLine(line));
	}
	if (fence !== null || table) out.push('```');
	return out.join('\n');
}

function convertLine(line: string): string {
	const heading = /^ {0,3}#{1,6}[ \t]+(.*)$/.exec(line);
	if (heading !== null) {
		const text = (heading[1] ?? '')
			.replace(/[ \t]#+$/, '')
			.replace(/\*\*|__/g, '')
			.trim();
		return text === '' ? '' : `*${inline(text, deepest)}*`;
	}
	if (/^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/.test(line)) return '———';
	const quote = /^ {0,3}>[ \t]?(.*)$/.exec(line);
	if (quote !== null) return `> ${inline(quote[1] ?? '', 0)}`;
	const item = /^([ \t]*)[-*+][ \t]+(?:\[([ xX])\][ \t]+)?(.*)$/.exec(line);
	if (item !== null) {
		const bullet = item[2] === undefined ? '•' : item[2] === ' ' ? '☐' : '☑';
		return `${item[1]}${bullet} ${inline(item[3] ?? '', 0)}`;
	}
	return inline(line, 0);
}

/** Pairs that may stand in each other, longest mark first. */
const EMPHASIS = [
	['***', '*_', '_*'],
	['**', '*', '*'],
	['__', '*', '*'],
	['~~', '~', '~'],
	['*', '_', '_'],
	['_', '_', '_'],
] as const;

const PLAIN_RUN = /[^\\`*_~![<h]+|./suy;
const URL_START = /https?:\/\/[^\s<>"]+/y;
const LINK = /!?\[([^\]\n]*)\]\(\s*<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?:\s+["'][^"'\n]*["'])?\s*\)/y;
const AUTOLINK = /<(https?:\/\/[^\s<>|]+)>/y;

function inline(text: string, depth: number): string {
	let out = '';
	let at = 0;
	/** Marks of which no further closing one exists on this line: looking again would make it quadratic. */
	const without = new Set<string>();
	while (at < text.length) {
		const char = text.charAt(at);
		const step = tokenAt(text, at, char, depth, without);
		if (step !== null) {
			out += step.text;
			at = step.end;
			continue;
		}
		PLAIN_RUN.lastIndex = at;
		const run = PLAIN_RUN.exec(text)?.[0] ?? char;
		out += escapeMrkdwn(run);
		at += run.length;
	}
	return out;
}

interface Token {
	readonly text: string;
	readonly end: number;
}

function tokenAt(text: string, at: number, char: string, depth: number, without: Set<string>): Token | null {
	if (char === '\\' && /[\\`*_~[\]()#>!-]/.test(text.charAt(at + 1))) {
		return { text: escapeMrkdwn(text.charAt(at + 1)), end: at + 2 };
	}
	if (char === '`') return codeAt(text, at, without);
	if (char === 'h') {
		const url = sticky(URL_START, text, at);
		return url === null ? null : { text: escapeMrkdwn(url[0]), end: at + url[0].length };
	}
	if (char === '<') {
		const auto = sticky(AUTOLINK, text, at);
		return auto === null ? null : { text: escapeMrkdwn(auto[1] ?? ''), end: at + auto[0].length };
	}
	if (char === '[' || char === '!') {
		if (without.has('](')) return null;
		if (text.indexOf('](', at) === -1) {
			without.add('](');
			return null;
		}
		const link = sticky(LINK, text, at);
		if (link === null) return null;
		return { text: linkText(inline(link[1] ?? '', deepest), escapeMrkdwn(link[2] ?? '')), end: at + link[0].length };
	}
	return depth < deepest && (char === '*' || char === '_' || char === '~')
		? emphasisAt(text, at, depth, without)
		: null;
}

/** "label (url)"; the address alone where the label says nothing else. */
export function linkText(label: string, url: string): string {
	if (url === '') return label;
	return label.trim() === '' || label === url ? url : `${label} (${url})`;
}

function codeAt(text: string, at: number, without: Set<string>): Token | null {
	let mark = '`';
	while (text.charAt(at + mark.length) === '`') mark += '`';
	if (without.has(mark)) return { text: mark, end: at + mark.length };
	const close = text.indexOf(mark, at + mark.length);
	if (close === -1) {
		without.add(mark);
		return { text: mark, end: at + mark.length };
	}
	const code = text.slice(at + mark.length, close).replaceAll('`', "'");
	return { text: code.trim() === '' ? '' : `\`${escapeMrkdwn(code)}\``, end: close + mark.length };
}

function emphasisAt(text: string, at: number, depth: number, without: Set<string>): Token | null {
	for (const [mark, open, shut] of EMPHASIS) {
		if (!text.startsWith(mark, at) || without.has(mark)) continue;
		const start = at + mark.length;
		if (start >= text.length || /\s/.test(text.charAt(start))) continue;
		// In the middle of a word mrkdwn knows no emphasis.
		if (isWord(text.charAt(at - 1))) continue;
		const close = text.indexOf(mark, start + 1);
		if (close === -1) {
			without.add(mark);
			continue;
		}
		if (/\s/.test(text.charAt(close - 1))) continue;
		if (isWord(text.charAt(close + mark.length))) continue;
		return { text: open + inline(text.slice(start, close), depth + 1) + shut, end: close + mark.length };
	}
	// The whole run of marks is text, or `***` would be looked at again as `**` and `*`.
	let end = at;
	while (text.charAt(end) === text.charAt(at)) end += 1;
	return { text: text.slice(at, end), end };
}

function isWord(char: string): boolean {
	return /^[\p{L}\p{N}_]$/u.test(char);
}

function sticky(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
	pattern.lastIndex = at;
	return pattern.exec(text);
}
