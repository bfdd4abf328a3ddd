import type { TableBlock } from '@slack/types';
import { isBlank, neutralise, oneLine, shownPart } from '../domain/shown-text.ts';
import type { OnCut } from '../domain/texts.ts';
import { bold, code, type Part, type Piece, quote, rich, together, type Words } from './rich-text.ts';

/*
 * What an agent wrote, as it wrote it. A scanner only finds code, bold words, tables and links of Markdown and leaves
 * out their marks: `**`, backticks, lines of fences, brackets of links and, in a table of a message, bars. Every other
 * character stays, so that nobody approves something else than was written. Our own scanner, because a parser of
 * Markdown drops more: nesting beyond its limits, surplus cells, list marks, entities, backslashes.
 */

/**
 * The line that opens a block of code: a fence (1), then the name of a language, or other words (2), which are shown.
 */
const FENCE = /^\s*(`{3,}(?!`)|~{3,}(?!~))(?:[ \t]*(?:[\w+#.-]{1,20}[ \t]*)?|([^`]+))$/;
/** The second line of a table, such as `|---|:-:|`. */
const RULER = /^(?=.*\|)(?=.*-)[\s|:-]+$/;
const HEADING = /^#{1,6}[ \t]/;

/** A text with more elements is shown as written. Each takes about 45 of a message's 12,000 characters of JSON. */
const MOST_PARTS = 40;

/**
 * What an agent wrote, behind the bar, cut to `limit` UTF-16 units with a note; empty when nothing of it is visible.
 * Calls `onCut` when a part is missing. Lines of code and of tables are framed as code.
 */
export function agentText(whole: string, limit: number, onCut?: OnCut): Piece[] {
	const { text, note } = shownPart(whole, limit, onCut);
	if (isBlank(text)) return quote(note);
	const pieces = piecesOf(text);
	const count = pieces.reduce((sum, { elements }) => sum + elements.length, 0);
	const shown = count > MOST_PARTS ? quote(text) : pieces;
	return note === '' ? shown : [...shown, ...quote(note)];
}

/** What an agent wrote, in one line behind the bar, cut to `limit` UTF-16 units. */
export const agentLine = (text: string, limit: number, onCut?: OnCut): Piece[] =>
	quote(lineOf(oneLine(text, limit, onCut)));

function piecesOf(text: string): Piece[] {
	const lines = text.split('\n');
	const pieces: Piece[] = [];
	let plain: string[] = [];
	const endText = () => {
		// Slack draws a gap around a code frame, so empty lines beside it go.
		while (pieces.length > 0 && plain[0]?.trim() === '') plain.shift();
		pieces.push(...quote(inlineOf(plain)));
		plain = [];
	};
	for (let at = 0; at < lines.length; at += 1) {
		const framed = fencedAt(lines, at) ?? tableAt(lines, at);
		if (framed === null) plain.push(lines[at] ?? '');
		else {
			while (plain.at(-1)?.trim() === '') plain.pop();
			endText();
			pieces.push(code(framed.text));
			at = framed.to - 1;
		}
	}
	endText();
	return pieces;
}

/** The code from the fence at `at` to its closing fence, or to the end of the text; null when no fence is there. */
function fencedAt(lines: readonly string[], at: number) {
	const [, fence, words] = FENCE.exec(lines[at] ?? '') ?? [];
	if (fence === undefined) return null;
	const end = firstFrom(lines, at + 1, (line) => line.trim().startsWith(fence) && /^([`~])\1*$/.test(line.trim()));
	if (words !== undefined && end === lines.length) return null;
	const text = lines.slice(words === undefined ? at + 1 : at, end).join('\n');
	return isBlank(text) ? null : { text, to: end + 1 };
}

function tableAt(lines: readonly string[], at: number) {
	if (!(lines[at] ?? '').includes('|') || !RULER.test(lines[at + 1] ?? '')) return null;
	const to = firstFrom(lines, at + 2, (line) => !line.includes('|'));
	return { text: lines.slice(at, to).join('\n'), to };
}

/** The index of the first such line, else the number of lines. */
function firstFrom(lines: readonly string[], from: number, test: (line: string) => boolean): number {
	let at = from;
	while (at < lines.length && !test(lines[at] ?? '')) at += 1;
	return Math.min(at, lines.length);
}

/**
 * Code between equal runs of backticks (2), bold words (3), a link's label and address (4, 5). The text has to be cut
 * first: the first pattern may take quadratic time.
 */
const MARKDOWN = new RegExp(
	[
		/(?<!`)(`+)(?!`)([^\n]*?[^`\n])\1(?!`)/,
		/(?<![^\s([{"'“‘«>—–:-])\*\*(?![\s*/])([^\n]*?[^\s*])\*\*(?=[)\]}"'”’».,;:!?…—–-]*(?:\s|$))/,
		/(?<![!\p{L}\p{N}_)\]])\[([^[\]\n]+)\]\((https?:\/\/[^\s()]+)\)/u,
	]
		.map(({ source }) => source)
		.join('|'),
	'gu',
);

/** Lines of text with their code, bold words and links. */
function inlineOf(lines: readonly string[]): readonly Part[] {
	return together(
		lines.flatMap((text, at) => [at === 0 ? '' : '\n', HEADING.test(text) ? bold(lineOf(text)) : lineOf(text)]),
	);
}

function lineOf(text: string): readonly Part[] {
	let from = 0;
	const parts: Words[] = [];
	for (const found of text.matchAll(MARKDOWN)) {
		const [whole, , inCode, inBold, label = '', address = ''] = found;
		parts.push(text.slice(from, found.index));
		from = found.index + whole.length;
		if (inCode !== undefined) parts.push(isBlank(inCode) ? whole : rich`\`${inCode}\``);
		else if (inBold !== undefined) parts.push(bold(inBold));
		else parts.push(`${label} (${address})`);
	}
	return together([...parts, text.slice(from)]);
}

/**
 * Slack takes 100 rows of 20 cells, and about 12,000 characters of JSON in all blocks; the table gets half of these.
 */
const MOST_OF_TABLE = { rows: 100, columns: 20, json: 6_000 };

/**
 * The first table of an agent's text as a block, and the text without it. Slack draws the block at the message's end.
 * Null without a table, or when a block cannot show all of it.
 */
export function tableOf(text: string): { readonly table: TableBlock; readonly others: string } | null {
	const lines = neutralise(text).split('\n');
	for (let at = 0; at < lines.length; at += 1) {
		const fenced = fencedAt(lines, at);
		const found = fenced === null ? tableAt(lines, at) : null;
		if (found !== null) {
			const table = tableBlock(lines.slice(at, found.to));
			return table && { table, others: lines.toSpliced(at, found.to - at, '(table below)').join('\n') };
		}
		if (fenced !== null) at = fenced.to - 1;
	}
	return null;
}

function tableBlock(lines: readonly string[]): TableBlock | null {
	if (lines.join('\n').length > MOST_OF_TABLE.json) return null;
	const rows = lines.toSpliced(1, 1).map(cellsOf);
	const width = rows[0]?.length ?? 0;
	if (rows.length > MOST_OF_TABLE.rows || width > MOST_OF_TABLE.columns) return null;
	// Slack refuses an empty cell, and rows of other lengths.
	if (rows.some((row) => row.length !== width || row.some(isBlank))) return null;
	const cells = rows.map((row) => row.map((text) => ({ type: 'raw_text' as const, text })));
	const settings = Array.from({ length: width }, () => ({ is_wrapped: true }));
	const table: TableBlock = { type: 'table', rows: cells, column_settings: settings };
	return JSON.stringify(table).length > MOST_OF_TABLE.json ? null : table;
}

const cellsOf = (line: string) =>
	line
		.trim()
		.replace(/^\||(?<!\\)\|$/g, '')
		.split(/(?<!\\)\|/)
		.map((cell) => plainOf(cell.trim()));

/** The text of a cell without marks of Markdown: cells have no styles. */
const plainOf = (cell: string) =>
	lineOf(cell)
		.map((part) => ('text' in part ? part.text : ''))
		.join('');
