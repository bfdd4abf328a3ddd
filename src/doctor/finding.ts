/** `failure`: Handraise cannot do its work. `warning`: it can, and something is lost. `skipped`: not looked at, and why. */
export type Verdict = 'ok' | 'warning' | 'failure' | 'skipped';

/** One line of the report. `text` says what was found and, unless all is well, what to do; it holds no secret. */
export interface Finding {
	readonly verdict: Verdict;
	readonly check: string;
	readonly text: string;
}

/** Makes the findings of one check. */
export function findingsOf(check: string) {
	const make = (verdict: Verdict) => (text: string) => ({ verdict, check, text }) satisfies Finding;
	return { ok: make('ok'), warning: make('warning'), failure: make('failure'), skipped: make('skipped') };
}

const MARKS: Readonly<Record<Verdict, string>> = { ok: '✓', warning: '!', failure: '✗', skipped: '-' };

/** A line for the terminal. What others wrote (names, hosts) cannot break out of it. */
export function lineOf({ verdict, check, text }: Finding): string {
	return `${MARKS[verdict]} ${check}: ${text}`.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** `1 thing`, `2 things` */
export function counted(count: number, noun: string): string {
	return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
