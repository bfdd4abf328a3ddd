/** The value below which `share` of the sample lies; infinite values sort last. */
export function quantile(sample: readonly number[], share: number): number {
	const sorted = Float64Array.from(sample).sort();
	return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export function seconds(ms: number): string {
	if (Number.isNaN(ms)) return '–';
	if (ms === Number.POSITIVE_INFINITY) return 'never';
	return `${(ms / 1000).toFixed(ms < 9_950 ? 1 : 0)} s`;
}

export function mean(sample: readonly number[]): number {
	return sample.reduce((sum, value) => sum + value, 0) / sample.length;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): void {
	const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
	const line = (cells: readonly string[]) =>
		`| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
	console.log(line(head));
	console.log(line(widths.map((width) => '-'.repeat(width))));
	for (const row of rows) console.log(line(row));
}

/** Mean, median and 95th percentile as cells. */
export function detectionOf(sample: readonly number[]): string[] {
	return [seconds(mean(sample)), seconds(quantile(sample, 0.5)), seconds(quantile(sample, 0.95))];
}
