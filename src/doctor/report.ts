const MARKS = { ok: '✓', warning: '!', failure: '✗', skipped: '-' };

/** `failure`: Handraise cannot work. `warning`: it works, but something is lost. `skipped`: not checked. */
type Verdict = keyof typeof MARKS;

/** One line of the report. `text` says what was found and what to do. It holds no secret. */
export interface Finding {
	readonly verdict: Verdict;
	readonly check: string;
	readonly text: string;
}

export type Findings = ReturnType<typeof findingsOf>;

/** Collects the findings of one check. Each call adds one and returns all, so that a check can return it. */
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
		/** Adds `ok` when the check found nothing else. */
		okIfNone: (text: string) => (findings.length === 0 ? ok(text) : findings),
	};
}

/** A line for the terminal, without control characters, because names and hosts come from outside. */
export function lineOf({ verdict, check, text }: Finding): string {
	return `${MARKS[verdict]} ${check}: ${text}`.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** The last line of the report: the number of problems. */
export function closingLine(findings: readonly Finding[]): string {
	const count = (verdict: Verdict) => findings.filter((finding) => finding.verdict === verdict).length;
	const failures = count('failure');
	const warnings = count('warning');
	const warningCount = warnings === 0 ? '' : ` (and ${counted(warnings, 'warning')})`;
	return `${failures === 0 ? 'All is well' : `${counted(failures, 'problem')} to fix`}${warningCount}.`;
}

/** `1 thing`, `2 things` */
export function counted(count: number, noun: string): string {
	return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
