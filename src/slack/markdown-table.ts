import { GRAPHEMES, type OnCut } from '../core/cut.ts';

/** Of a table: the width in columns of a monospaced font that a window holds, and what more is left out of. */
const MOST = { width: 60, columns: 8, rows: 20, linesOfCell: 4 } as const;

/** The lines of the table that begins at `at`; none if no table does. A line between pipes needs no ruler below it. */
export function tableAt(lines: readonly string[], at: number): readonly string[] {
	const isHeaded = (lines[at] ?? '').includes('|') && isRuler(lines[at + 1] ?? '');
	const isRow = (line: string) => (isHeaded ? line.includes('|') : /^\|.*\|$/.test(line.trim()));
	let end = at;
	while (end < lines.length && isRow(lines[end] ?? '')) end += 1;
	return lines.slice(at, end);
}

/** `|---|:-:|` */
const isRuler = (line: string) => line.includes('|') && line.includes('-') && /^[\s|:-]*$/.test(line);

/** The lines of a table with its columns aligned; long cells go over several lines. `read`: the text of a cell. */
export function tableLines(source: readonly string[], read: (cell: string) => string, onCut?: OnCut): string[] {
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

/** The characters as people see them. */
function graphemesOf(text: string): readonly string[] {
	return /^[ -~]*$/.test(text) ? text.split('') : Array.from(GRAPHEMES.segment(text), ({ segment }) => segment);
}

/** East Asian characters and emoji, which take two columns. */
const WIDE =
	/^(?:\p{Emoji_Presentation}|.\ufe0f|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])/u;

function widthOf(graphemes: readonly string[]): number {
	return graphemes.reduce((width, grapheme) => width + columnsOf(grapheme), 0);
}

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
