import { loadavg } from 'node:os';

/** One line of the table. */
export interface Figure {
	readonly what: string;
	readonly handraise: string;
	/** The baseline, usually the bare app. */
	readonly reference: string;
	readonly goal: string;
	/** Null without a goal. */
	readonly met: boolean | null;
	/** One-minute load average during the measurement. */
	readonly load: number;
}

export function load(): number {
	return loadavg()[0] ?? Number.NaN;
}

/** The figures as a table in Markdown. */
export function tableOf(figures: readonly Figure[]): string {
	const head = ['Figure', 'Handraise', 'Beside it', 'Goal', 'Met', 'Load'];
	const rows = figures.map(({ what, handraise, reference, goal, met, load: at }) => [
		what,
		handraise,
		reference,
		goal,
		met === null ? '' : met ? 'yes' : '**no**',
		at.toFixed(1),
	]);
	const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
	const line = (cells: readonly string[]) =>
		`| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
	return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
