import { escapeMrkdwn } from './clean.ts';

/** Emphasis that is nested deeper stays as it was written. This bounds the work on hostile text. */
const DEEPEST = 3;

/**
 * Slack's mrkdwn for Markdown: bold, italics, strike, code, headings, lists, quotes. Fenced code and tables become lines of
 * code, because each line is quoted by itself. Links become "label (url)". Everything from the source is escaped, so
 * nothing becomes a mention or a labelled link. What is not Markdown stays as it is. Linear in the length of the source.
 */
export function markdownToMrkdwn(source: string): string {
	const lines: string[] = [];
	let fence: string | null = null;
	for (const line of source.split('\n')) {
		const mark: string | undefined = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
		if (fence !== null) {
			if (mark?.startsWith(fence) && line.trim() === mark) fence = null;
			else lines.push(codeLine(line));
		} else if (mark !== undefined && !line.slice(line.indexOf(mark) + mark.length).includes('`')) {
			fence = mark;
		} else if (/^[ \t]*\|.*\|[ \t]*$/.test(line)) {
			if (!/^[\s:|-]*$/.test(line)) lines.push(codeLine(line.trim()));
		} else lines.push(convertLine(line));
	}
	// Three in a row would begin code over several lines, which ends a quote.
	return lines.join('\n').replace(/`{3,}/g, (marks) => "'".repeat(marks.length));
}

function codeLine(line: string): string {
	return line.trim() === '' ? '' : `\`${escapeMrkdwn(line.replaceAll('`', "'"))}\``;
}

function convertLine(line: string): string {
	const heading = /^ {0,3}#{1,6}[ \t]+(.*)$/.exec(line);
	if (heading !== null) {
		const text = (heading[1] ?? '')
			.replace(/[ \t]#+$/, '')
			.replace(/\*\*|__/g, '')
			.trim();
		return text === '' ? '' : `*${inline(text, DEEPEST)}*`;
	}
	if (/^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/.test(line)) return '———';
	const quote = /^ {0,3}>[ \t]?(.*)$/.exec(line);
	if (quote !== null) return `&gt; ${inline(quote[1] ?? '', 0)}`;
	const item = /^([ \t]*)[-*+][ \t]+(?:\[([ xX])\][ \t]+)?(.*)$/.exec(line);
	if (item !== null) {
		const bullet = item[2] === undefined ? '•' : item[2] === ' ' ? '☐' : '☑';
		return `${item[1]}${bullet} ${inline(item[3] ?? '', 0)}`;
	}
	return inline(line, 0);
}

/** Marks with their mrkdwn, longest first. */
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
/** White space is bounded, because three parts of the pattern could match the same long run of it. */
const LINK_TARGET = /\(\s{0,9}<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?:\s{1,9}["'][^"'\n]*["'])?\s{0,9}\)/y;
const AUTOLINK = /<(https?:\/\/[^\s<>|]+)>/y;

function inline(text: string, depth: number): string {
	let out = '';
	let at = 0;
	const seen: Seen = { without: new Set(), bracket: -1, noTarget: -1 };
	while (at < text.length) {
		const step = tokenAt(text, at, depth, seen);
		if (step !== null) {
			out += step.text;
			at = step.end;
			continue;
		}
		PLAIN_RUN.lastIndex = at;
		const run = PLAIN_RUN.exec(text)?.[0] ?? text.charAt(at);
		out += escapeMrkdwn(run);
		at += run.length;
	}
	return out;
}

interface Token {
	readonly text: string;
	readonly end: number;
}

/** What was searched for in the rest of a line. A new search at each position would be quadratic. */
interface Seen {
	/** Marks that are not closed any more in this line. */
	readonly without: Set<string>;
	/** The next closing bracket; infinite when there is none. */
	bracket: number;
	/** The last closing bracket that has no address after it. */
	noTarget: number;
}

function tokenAt(text: string, at: number, depth: number, seen: Seen): Token | null {
	const char = text.charAt(at);
	if (char === '\\' && /[\\`*_~[\]()#>!-]/.test(text.charAt(at + 1))) {
		return { text: escapeMrkdwn(text.charAt(at + 1)), end: at + 2 };
	}
	if (char === '`') return codeAt(text, at, seen.without);
	if (char === 'h') {
		const url = sticky(URL_START, text, at);
		return url === null ? null : { text: escapeMrkdwn(url[0]), end: at + url[0].length };
	}
	if (char === '<') {
		const auto = sticky(AUTOLINK, text, at);
		return auto === null ? null : { text: escapeMrkdwn(auto[1] ?? ''), end: at + auto[0].length };
	}
	if (char === '[') return linkAt(text, at, seen);
	if (char === '!') return text.charAt(at + 1) === '[' ? linkAt(text, at + 1, seen) : null;
	return depth < DEEPEST && (char === '*' || char === '_' || char === '~')
		? emphasisAt(text, at, depth, seen.without)
		: null;
}

/** The link whose label begins with the bracket at `open`. */
function linkAt(text: string, open: number, seen: Seen): Token | null {
	if (seen.bracket <= open) {
		const close = text.indexOf(']', open);
		seen.bracket = close === -1 ? Number.POSITIVE_INFINITY : close;
	}
	const close = seen.bracket;
	if (close === Number.POSITIVE_INFINITY || close === seen.noTarget) return null;
	const target = sticky(LINK_TARGET, text, close + 1);
	if (target === null) {
		seen.noTarget = close;
		return null;
	}
	const label = inline(text.slice(open + 1, close), DEEPEST);
	return { text: linkText(label, escapeMrkdwn(target[1] ?? '')), end: close + 1 + target[0].length };
}

/** "label (url)"; the address alone if the label is empty or the same. */
function linkText(label: string, url: string): string {
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
		// mrkdwn has no emphasis within a word.
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
	// The whole run of marks is text; otherwise `***` would be read again as `**` and `*`.
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
