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

/** Marks with their mrkdwn. */
const EMPHASIS: Readonly<Record<string, readonly [open: string, close: string]>> = {
	'***': ['*_', '_*'],
	'**': ['*', '*'],
	__: ['*', '*'],
	'~~': ['~', '~'],
	'*': ['_', '_'],
	_: ['_', '_'],
};

/*
 * What is more than text in a line, first match first. The work stays linear: a repeat ends where its pattern could begin again, and
 * white space is bounded where three parts of a pattern could match the same run of it.
 */
const ESCAPED = /\\(?<escaped>[\\`*_~[\]()#>!-])/;
const CODE = /(?<ticks>`+)(?!`)(?:(?<code>.+?)\k<ticks>)?/;
const URL_ALONE = /https?:\/\/[^\s<>"]+|<(?<auto>https?:\/\/[^\s<>|]+)>/;
const LINK =
	/!?\[(?<label>[^[\]]*)\]\(\s{0,9}<?(?<target>[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?:\s{1,9}["'][^"'\n]*["'])?\s{0,9}\)/;
/** mrkdwn has no emphasis within a word. */
const EMPHASISED =
	/(?<![\p{L}\p{N}_])(?<mark>\*\*\*|\*\*|__|~~|\*|_)(?!\s)(?<inside>.(?:(?!\k<mark>).)*)(?<!\s)\k<mark>(?![\p{L}\p{N}_])/u;
/** A whole run of marks is text; otherwise `***` would be read again as `**` and `*`. */
const REST = /\*+|_+|~+|[&<>]/;

const patternOf = (...parts: readonly RegExp[]) => new RegExp(parts.map(({ source }) => source).join('|'), 'gsu');
const TOKEN = patternOf(ESCAPED, CODE, URL_ALONE, LINK, EMPHASISED, REST);
const DEEPEST_TOKEN = patternOf(ESCAPED, CODE, URL_ALONE, LINK, REST);

function inline(text: string, depth: number): string {
	return text.replace(depth < DEEPEST ? TOKEN : DEEPEST_TOKEN, (token: string, ...rest) =>
		converted(token, rest.at(-1), depth),
	);
}

function converted(token: string, groups: Readonly<Record<string, string | undefined>>, depth: number): string {
	const { escaped, code, auto, label, target = '', mark = '', inside } = groups;
	if (code !== undefined) return code.trim() === '' ? '' : codeLine(code);
	if (label !== undefined) return linkText(inline(label, DEEPEST), escapeMrkdwn(target));
	if (inside === undefined) return escapeMrkdwn(escaped ?? auto ?? token);
	const [open, close] = EMPHASIS[mark] ?? [mark, mark];
	return `${open}${inline(inside, depth + 1)}${close}`;
}

/** "label (url)"; the address alone if the label is empty or the same. */
function linkText(label: string, url: string): string {
	if (url === '') return label;
	return label.trim() === '' || label === url ? url : `${label} (${url})`;
}
