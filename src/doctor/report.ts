/** `failure`: Handraise cannot do its work. `warning`: it can, and something is lost. `skipped`: not looked at, and why. */
type Verdict = 'ok' | 'warning' | 'failure' | 'skipped';

/** One line of the report. `text` says what was found and, unless all is well, what to do; it holds no secret. */
export interface Finding {
	readonly verdict: Verdict;
	readonly check: string;
	readonly text: string;
}

/** What looking at one part of a set-up brings. */
export interface Examined {
	readonly findings: readonly Finding[];
	/** How many milliseconds the clock of the one who was asked is ahead of ours; null or absent: it did not tell. */
	readonly aheadMs?: number | null;
}

/** Collects the findings of one check. Each call adds one and returns all, so that a check can end with it. */
export function findingsOf(check: string) {
	const findings: Finding[] = [];
	const adds = (verdict: Verdict) => (text: string) => {
		findings.push({ verdict, check, text });
		return findings;
	};
	const ok = adds('ok');
	return {
		all: findings as readonly Finding[],
		ok,
		warning: adds('warning'),
		failure: adds('failure'),
		skipped: adds('skipped'),
		/** For checks that have nothing to say but what is wrong. */
		okIfNone: (text: string) => (findings.length === 0 ? ok(text) : findings),
	};
}

export type Findings = ReturnType<typeof findingsOf>;

export function notLookedAt(check: string, setting: string): Finding[] {
	return findingsOf(check).skipped(`not looked at, since ${setting} is not usable.`);
}

const MARKS: Readonly<Record<Verdict, string>> = { ok: '✓', warning: '!', failure: '✗', skipped: '-' };

/** A line for the terminal. What others wrote (names, hosts) cannot break out of it. */
export function lineOf({ verdict, check, text }: Finding): string {
	return `${MARKS[verdict]} ${check}: ${text}`.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** The lines at the end of the report: `summary`, if there is one, and how many things are to be fixed. */
export function closingLines(findings: readonly Finding[], summary: string | null): string[] {
	const count = (verdict: Verdict) => findings.filter((finding) => finding.verdict === verdict).length;
	const failures = count('failure');
	const warnings = count('warning');
	const also = warnings === 0 ? '' : ` (and ${counted(warnings, 'warning')})`;
	const verdict = failures === 0 ? 'All is well' : `${counted(failures, 'problem')} to fix`;
	return [...(summary === null ? [] : [summary]), `${verdict}${also}.`];
}

/** `1 thing`, `2 things` */
export function counted(count: number, noun: string): string {
	return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
