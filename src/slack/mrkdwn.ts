import { z } from 'zod';
import { GRAPHEMES, type OnCut } from '../domain/texts.ts';
import { parseAddress } from '../kernel/basics.ts';

/** Of a table: the width of a window in columns of a monospaced font, and where more is left out. */
const MOST = { width: 60, columns: 8, rows: 20, linesOfCell: 4 } as const;

/** The lines of the table at `at`; none without one. A line between pipes needs no ruler below it. */
function tableAt(lines: readonly string[], at: number): readonly string[] {
	const isHeaded = (lines[at] ?? '').includes('|') && isRuler(lines[at + 1] ?? '');
	const isRow = (line: string) => (isHeaded ? line.includes('|') : /^\|.*\|$/.test(line.trim()));
	let end = at;
	while (end < lines.length && isRow(lines[end] ?? '')) end += 1;
	return lines.slice(at, end);
}

/** `|---|:-:|` */
const isRuler = (line: string) => line.includes('|') && line.includes('-') && /^[\s|:-]*$/.test(line);

/** The lines of a table with its columns aligned; long cells go over several lines. `read`: the text of a cell. */
function tableLines(source: readonly string[], read: (cell: string) => string, onCut?: OnCut): string[] {
	const all = source.filter((line) => !isRuler(line));
	const cells = all.slice(0, MOST.rows).map(cellsOf);
	const columns = Math.max(0, ...cells.map((row) => row.length));
	const rows = cells.map((row) => row.slice(0, MOST.columns).map((cell) => graphemesOf(read(cell))));
	const natural = Array.from({ length: Math.min(columns, MOST.columns) }, (_, column) =>
		Math.max(1, ...rows.map((row) => widthOf(row[column] ?? []))),
	);
	const room = MOST.width - 3 * natural.length - 1;
	let widest = room;
	while (natural.reduce((sum, width) => sum + Math.min(width, widest), 0) > room) widest -= 1;
	const widths = natural.map((width) => Math.min(width, widest));
	const ruler = isRuler(source[1] ?? '') ? cellsOf(source[1] ?? '') : null;
	const between = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
	const lines = rows.flatMap((row, at) => {
		const parts = widths.map((width, column) => wrapped(row[column] ?? [], width, onCut));
		const shown = Array.from({ length: Math.max(1, ...parts.map((part) => part.length)) }, (_, line) =>
			between(widths.map((width, column) => padded(parts[column]?.[line] ?? [], width, ruler?.[column] ?? ''))),
		);
		return at === 0 && ruler !== null ? [...shown, between(widths.map((width) => '-'.repeat(width)))] : shown;
	});
	const left = Object.entries({ column: columns - widths.length, row: all.length - rows.length })
		.filter(([, count]) => count > 0)
		.map(([what, count]) => `… (${count.toLocaleString('en-US')} more ${what}${count === 1 ? '' : 's'})`);
	if (left.length > 0) onCut?.();
	return [...lines, ...left];
}

function cellsOf(line: string): string[] {
	const cells = line.trim().replace(/^\||(?<!\\)\|$/g, '');
	const read = (mark: string) => (mark === '\\|' ? '|' : ' ');
	return cells.split(/(?<!\\)\|/).map((cell) => cell.replace(/\\\||<br *\/?>|\s+/gi, read).trim());
}

function graphemesOf(text: string): readonly string[] {
	return /^[ -~]*$/.test(text) ? text.split('') : Array.from(GRAPHEMES.segment(text), ({ segment }) => segment);
}

/** East Asian characters and emoji, which take two columns. */
const EAST_ASIAN = String.raw`\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60`;
const WIDE = new RegExp(
	String.raw`^(?:\p{Emoji_Presentation}|.\ufe0f|[${EAST_ASIAN}\uffe0-\uffe6\u{20000}-\u{3fffd}])`,
	'u',
);

const widthOf = (graphemes: readonly string[]) => graphemes.reduce((width, grapheme) => width + columnsOf(grapheme), 0);

const columnsOf = (grapheme: string) => (grapheme > '\u1100' && WIDE.test(grapheme) ? 2 : 1);

function padded(cell: readonly string[], width: number, ruler: string): string {
	const space = ' '.repeat(Math.max(0, width - widthOf(cell)));
	return /^-+:$/.test(ruler) ? space + cell.join('') : cell.join('') + space;
}

/** A cell in lines of this width, broken at spaces if there are some. */
function wrapped(cell: readonly string[], width: number, onCut?: OnCut): (readonly string[])[] {
	const lines: (readonly string[])[] = [];
	let rest = cell;
	while (rest.length > 0 && lines.length < MOST.linesOfCell) {
		const fit = fitting(rest, width);
		const space = fit < rest.length ? rest.lastIndexOf(' ', fit) : -1;
		const end = space > 0 ? space : fit;
		lines.push(rest.slice(0, end));
		rest = rest.slice(rest[end] === ' ' ? end + 1 : end);
	}
	if (rest.length === 0) return lines;
	onCut?.();
	const last = lines.pop() ?? [];
	return [...lines, [...last.slice(0, fitting(last, width - 1)), '…']];
}

/** How many of these fit; at least one. */
function fitting(graphemes: readonly string[], width: number): number {
	let end = 0;
	for (let used = 0; end < graphemes.length; end += 1) {
		used += columnsOf(graphemes[end] ?? '');
		if (used > width) break;
	}
	return Math.max(1, end);
}

/*
 * An agent's Markdown as Slack's mrkdwn, the same in messages and windows. A `markdown` block would show more, but only
 * in messages, without a headline or a picture beside it, and makes mentions and labelled links of an agent's text.
 */

/** Escapes for mrkdwn and for the `text` of a message. */
export function escapeMrkdwn(text: string): string {
	if (!/[&<>]/.test(text)) return text;
	return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export function unescaped(text: string): string {
	return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** Code over several lines would hide the quote marks of these lines. */
export const withoutFences = (text: string) => text.replace(/`{3,}/g, (marks) => "'".repeat(marks.length));

/**
 * Slack's mrkdwn for Markdown. Fenced code becomes lines of code, because each line is quoted by itself, with `quote`;
 * a table becomes one block of code, and lines of it without `quote`. Links become "label (url)", images their
 * description. All of it is escaped, so nothing becomes a mention or a labelled link. What is not Markdown stays as it
 * is. Linear in the length of the source. `isCut`: its end is missing.
 */
export function markdownToMrkdwn(source: string, quote: '> ' | '', isCut = false, onCut?: OnCut): string {
	const lines = source.split('\n');
	const shown: string[] = [];
	// Three ticks in a row would begin code over several lines, which ends a quote.
	const show = (line: string) => shown.push(quote + withoutFences(line));
	let fence: { readonly mark: string; readonly indent: number } | null = null;
	for (let at = 0; at < lines.length; at += 1) {
		const line = lines[at] ?? '';
		const [, space = '', mark] = /^([ \t]*)(`{3,}|~{3,})?/.exec(line) ?? [];
		const table = fence === null ? tableAt(lines, at) : [];
		if (fence !== null) {
			if (mark?.startsWith(fence.mark) && line.trim() === mark) fence = null;
			else show(codeLine(line.slice(Math.min(fence.indent, space.length))));
		} else if (mark !== undefined && !line.slice(space.length + mark.length).includes('`')) {
			fence = { mark, indent: space.length };
		} else if (table.length > 0) {
			const aligned = tableLines(table, textOfCell, onCut);
			if (quote === '') aligned.map(codeLine).forEach(show);
			else if (aligned.length > 0) shown.push(`\`\`\`\n${aligned.map(codeText).join('\n')}\n\`\`\``);
			at += table.length - 1;
		} else show(convertLine(space, (isCut && at === lines.length - 1 ? closed(line) : line).slice(space.length)));
	}
	return shown.join('\n');
}

/** The first table of Markdown, and the text without it; null without one of two rows. A row is its cells' texts. */
export function takenTable(source: string) {
	const lines = source.split('\n');
	let isCode = false;
	for (const [at, line] of lines.entries()) {
		if (/^\s*(?:`{3}|~{3})/.test(line)) isCode = !isCode;
		const table = isCode ? [] : tableAt(lines, at);
		const rows = table.filter((row) => !isRuler(row)).map((row) => cellsOf(row).map(textOfCell));
		if (rows.length > 1) return { rows, others: lines.toSpliced(at, table.length, '(table below)').join('\n') };
	}
	return null;
}

const codeText = (line: string) => escapeMrkdwn(line.replaceAll('`', "'"));
const codeLine = (line: string) => (line.trim() === '' ? '' : `\`${codeText(line)}\``);

/** The last line before a cut: the marks that the cut left open are closed, and one that it halved is left out. */
function closed(line: string): string {
	const whole = line.replace(/[`*~]{1,9}$/, '').trimEnd();
	return ['`', '**', '~~'].reduce((text, mark) => {
		return text.replace(/`[^`]+`/g, '').split(mark).length % 2 === 1 ? text : text + mark;
	}, whole);
}

function convertLine(space: string, line: string): string {
	const width = space.replaceAll('\t', '    ').length;
	// Slack may collapse plain spaces at the beginning of a line.
	const indent = line === '' ? '' : '\u00a0'.repeat(Math.min(width, 12));
	const heading = /^#{1,6}[ \t]+(.*)$/s.exec(line)?.[1];
	if (heading !== undefined) {
		const text = inline(heading.replace(/[ \t]#+$/, '').trim(), 0, IN_BOLD);
		return text === '' ? '' : `*${text}*`;
	}
	if (/^([-*_])(?:[ \t]*\1){2,}[ \t]*$/.test(line)) return '———';
	const quote = /^>[ \t]?(.*)$/.exec(line)?.[1];
	if (quote !== undefined) return `&gt; ${inline(quote)}`;
	const [isItem, box, item = line] = /^[-*+][ \t]+(?:\[([ xX])\][ \t]+)?(.*)$/s.exec(line) ?? [];
	const bullet = box === undefined ? (width < 2 ? '•' : '◦') : box === ' ' ? '☐' : '☑';
	return `${indent}${isItem === undefined ? '' : `${bullet} `}${inline(item)}`;
}

/** How emphasis, code and other text are written. */
type Style = Readonly<Record<'bold' | 'italic' | 'struck', string> & Record<'code' | 'text', (text: string) => string>>;

const MRKDWN: Style = { bold: '*', italic: '_', struck: '~', code: codeLine, text: escapeMrkdwn };
/** Within bold text, which nothing may end. */
const IN_BOLD: Style = { ...MRKDWN, bold: '', text: (text) => escapeMrkdwn(text).replaceAll('*', '∗') };
const BARE: Style = { bold: '', italic: '', struck: '', code: (text) => text, text: (text) => text };
const textOfCell = (cell: string) => inline(cell, 0, BARE);

/** Deeper emphasis stays as it was written, which bounds the work on hostile text. */
const DEEPEST = 3;

/*
 * What is more than text in a line, first match first. The work stays linear: a repeat ends where its pattern could
 * begin again, and white space is bounded where three parts of a pattern could match the same run of it. Groups have
 * numbers, because names take five times as long: 1 escaped; 2 and 3 ticks and code; 4 address; 5 to 7 image, label and
 * target; 8 and 9 mark and what it emphasizes.
 */
const ESCAPED = /\\([\\`*_~[\]()#>!-])/;
const CODE = /(`+)(?!`)(?:(.+?)\2)?/;
const URL_ALONE = /https?:\/\/[^\s<>"]+|<(https?:\/\/[^\s<>|]+)>/;
const LINK =
	/(!)?\[([^[\]]*)\]\(\s{0,9}<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?:\s{1,9}["'][^"'\n]*["'])?\s{0,9}\)/;
/** mrkdwn has no emphasis within a word. */
const IN_WORD = String.raw`[\p{L}\p{N}_]`;
const EMPHASISED = String.raw`(?<!${IN_WORD})(\*\*\*|\*\*|__|~~|\*|_)(?!\s)(.(?:(?!\8).)*)(?<!\s)\8(?!${IN_WORD})`;
/** A whole run of marks is text; otherwise `***` would be read again as `**` and `*`. */
const REST = /\*+|_+|~+|[&<>]+/;
const TOKEN = new RegExp(
	[ESCAPED.source, CODE.source, URL_ALONE.source, LINK.source, EMPHASISED, REST.source].join('|'),
	'gsu',
);

function inline(line: string, depth = 0, style = MRKDWN): string {
	return line.replace(TOKEN, (token: string, ...groups: (string | undefined)[]) => {
		const [escaped, , code, address, image, label, target = '', mark = '', inside] = groups;
		if (code !== undefined) return code.trim() === '' ? '' : style.code(code);
		if (label !== undefined) return linkText(inline(label, depth + 1, style), style.text(target), image !== undefined);
		if (inside === undefined || depth >= DEEPEST) return style.text(escaped ?? address ?? token);
		const open =
			mark === '~~' ? style.struck : (mark.length > 1 ? style.bold : '') + (mark.length === 2 ? '' : style.italic);
		const within = open.includes('*') ? IN_BOLD : style;
		return `${open}${inline(inside, depth + 1, within)}${Array.from(open).reverse().join('')}`;
	});
}

/** "label (url)"; the address alone if the label is empty or the same. */
function linkText(label: string, url: string, isImage: boolean): string {
	if (label.trim() === '' || label === url) return url;
	return url === '' || isImage ? label : `${label} (${url})`;
}

/*
 * The other way: what a person wrote, as they see it. Their client sends rich text, and mrkdwn, in which a mark of
 * emphasis may be a typed asterisk. Both are read as escaped text with what Slack marks in angle brackets.
 */

const FIELDS = z.record(z.string(), z.unknown());
const TEXT = z.string().default('');
const PARTS = z.array(z.unknown()).default([]);
const LIST = z.object({ indent: z.int().min(0).max(9).default(0), offset: z.int().default(0) });

type Write = (text: (name: string) => string, parts: readonly string[], list: z.infer<typeof LIST>) => string;

/** Of elements shown as text, by type: what they are, from their texts by name and their parts. */
const RICH: Readonly<Record<string, Write>> = {
	text: (text) => escapeMrkdwn(text('text')),
	link: (text) => `<${escapeMrkdwn(text('url').replaceAll('|', '%7C'))}|${escapeMrkdwn(text('text'))}>`,
	user: (text) => `<@${text('user_id')}>`,
	channel: (text) => `<#${text('channel_id')}>`,
	usergroup: (text) => `<!subteam^${text('usergroup_id')}>`,
	broadcast: (text) => `<!${text('range')}>`,
	date: (text) => escapeMrkdwn(text('fallback')),
	color: (text) => escapeMrkdwn(text('value')),
	emoji(text) {
		const points = text('unicode')
			.split('-')
			.map((point) => Number.parseInt(point, 16));
		return text('unicode') === '' ? `:${text('name')}:` : String.fromCodePoint(...points);
	},
	rich_text_section: (_, parts) => parts.join(''),
	rich_text_preformatted: (_, parts) => parts.join(''),
	rich_text_quote: (_, parts) => `&gt; ${parts.join('').replaceAll('\n', '\n&gt; ')}`,
	rich_text_list(text, parts, { indent, offset }) {
		const mark = (at: number) => (text('style') === 'ordered' ? `${offset + at + 1}.` : '•');
		return parts.map((part, at) => `${'    '.repeat(indent)}${mark(at)} ${part}`).join('\n');
	},
	rich_text: (_, parts) => parts.map((part) => part.replace(/\n?$/, '\n')).join(''),
};

/** Throws for what it does not know. */
function richText(element: unknown): string {
	const fields = FIELDS.parse(element);
	const text = (name: string) => TEXT.parse(fields[name]);
	const write = Object.hasOwn(RICH, text('type')) ? RICH[text('type')] : undefined;
	if (write === undefined) throw new Error('not known');
	const read = write(text, PARTS.parse(fields.elements).map(richText), LIST.parse(fields));
	// Its author does not say what they struck out: unlike emphasis, it keeps its marks.
	return FIELDS.safeParse(fields.style).data?.strike === true ? `~${read}~` : read;
}

const MESSAGE = z.object({ text: z.string().catch(''), blocks: z.array(z.unknown()).catch([]) });

/** With people's names still ids. */
function markedText(message: unknown): string {
	const { text = '', blocks = [] } = MESSAGE.safeParse(message).data ?? {};
	try {
		if (blocks.length === 1) return richText(blocks[0]);
	} catch {
		// A block of an app, or of a kind that is new: its mrkdwn says nearly the same.
	}
	return withoutEmphasis(text);
}

/** Code (groups 1 and 2), what stands in angle brackets, and emphasis with its mark (3 and 4). */
const MARKED = new RegExp(
	`\`\`\`\\n?(.+?)\\n?\`\`\`|\`([^\`\\n]+)\`|<[^<>]*>|` +
		String.raw`(?<!${IN_WORD})([*_])(?!\s)((?:(?!\3)[^\n])+)(?<!\s)\3(?!${IN_WORD})`,
	'gsu',
);

function withoutEmphasis(text: string): string {
	return text.replace(MARKED, (whole: string, ...[block, code, , inside]: (string | undefined)[]) => {
		return block ?? code ?? (inside === undefined ? whole : withoutEmphasis(inside));
	});
}

/** The people and channels that a message mentions: `@U0ADA`, `#C0AGENTS`. */
export function mentionsIn(message: unknown): ReadonlySet<string> {
	return new Set(Array.from(markedText(message).matchAll(/<([@#]\w+)/g), ([, mention = '']) => mention));
}

/** A message as its author sees it. `names`: of `mentionsIn`, if known. `leftOut`: whose mentions go, with comma. */
export function seenText(message: unknown, leftOut: string, names: ReadonlyMap<string, string> = new Map()): string {
	const text = withoutMention(markedText(message).replace(INVISIBLE, ''), leftOut);
	const read = text.replace(/<([^<>]*)>/g, (whole, inside: string) => seen(inside, names) ?? whole);
	return unescaped(read)
		.replace(/[\u00a0\u2007\u202f]/g, ' ')
		.trim();
}

/** What pasting brings along. Joiners stay: emoji and some scripts need them. */
const INVISIBLE = /[\u00ad\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]/g;

/** Where a mention stood, the text reads on: with a space or a line's end, without the mention's comma. */
function withoutMention(text: string, userId: string): string {
	const [first = '', ...others] = text.split(new RegExp(`<@${userId}(?:\\|[^<>]*)?>`));
	const parts = [first, ...others.map((part) => part.replace(/^\s*(?:[,，、]|[:：](?![\w+'-]+:))/, ''))];
	const kept = parts.map((part, at) => {
		const next = parts[at + 1];
		if (next === undefined) return part.trimStart();
		const own = part.trimEnd();
		const spaces = `${part.slice(own.length)}${next.slice(0, next.length - next.trimStart().length)}`;
		const isEnd = at === others.length - 1 && /^[\s.!?…]*$/.test(next);
		const gap = spaces === '' || /^\s*[.!?…;)]+(?:\s|$)/.test(next) ? '' : spaces.includes('\n') ? '\n' : ' ';
		return `${(isEnd ? own.replace(/[,，、]$/, '') : own).trimStart()}${gap}`;
	});
	return kept.join('');
}

/** What people see instead of one pair of brackets; null if it stays. */
function seen(inside: string, names: ReadonlyMap<string, string>): string | null {
	const [, target = '', label = ''] = /^([^|]*)(?:\|(.*))?$/s.exec(inside) ?? [];
	if (target.startsWith('!date^')) return label || null;
	const name = label || escapeMrkdwn(names.get(target) ?? /^!(here|channel|everyone)$/.exec(target)?.[1] ?? '');
	if (/^[@#!]/.test(target))
		return name === '' ? null : `${target.startsWith('#') ? '#' : '@'}${name.replace(/^@/, '')}`;
	const [, scheme = '', rest = ''] = /^([a-z][a-z\d+.-]*:)(.+)$/is.exec(target) ?? [];
	if (rest === '') return null;
	const address = scheme === 'mailto:' || scheme === 'tel:' ? rest : target;
	return label === '' || isTheAddress(label, scheme, address) ? label || address : `${label} (${address})`;
}

/** Whether Slack, not a person, has made a link of the label. */
function isTheAddress(label: string, scheme: string, address: string): boolean {
	if (label === address || (scheme === 'tel:' && /^[\d\s()+./-]+$/.test(label))) return true;
	const shown = parseAddress(unescaped(label.startsWith(scheme) ? label : `${scheme}//${label}`));
	return shown !== null && shown.href === parseAddress(unescaped(address))?.href;
}
