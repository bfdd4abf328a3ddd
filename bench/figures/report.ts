/** One line of the table. */
export interface Figure {
	readonly what: string;
	readonly handraise: string;
	/** The baseline, usually the bare app. */
	readonly reference: string;
	readonly goal: string;
	/** Null without a goal. */
	readonly met: boolean | null;
}

/** The figures as a table in Markdown. */
export function tableOf(figures: readonly Figure[]): string {
	const rows = figures.map(({ what, handraise, reference, goal, met }) =>
		[what, handraise, reference, goal, met === null ? '' : met ? 'yes' : '**no**'].join(' | '),
	);
	return ['what | Handraise | beside it | goal | met', '---|---|---|---|---', ...rows]
		.map((row) => `| ${row} |`)
		.join('\n');
}
