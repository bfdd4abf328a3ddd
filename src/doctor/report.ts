/** `failure`: Handraise cannot work. `warning`: it works, but something is lost. `skipped`: not checked. */
type Verdict = 'ok' | 'warning' | 'failure' | 'skipped';

/** One line of the report. `text` says what was found and what to do. It holds no secret. */
export interface Finding {
	readonly verdict: Verdict;
	readonly check: string;
	readonly text: string;
}

/** The result of examining one part of a set-up. */
export interface Examined {
	readonly findings: readonly Finding[];
	/** How far the other clock is ahead of ours, in milliseconds; null or absent when it is not known. */
	readonly aheadMs?: number | null;
	/** The workspace of the bot token, and those of which the database has so many live rows; absent when not known. */
	readonly teamId?: string | undefined;
	readonly workspaces?: readonly { readonly teamId: string; readonly count: number }[];
}

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

export type Findings = ReturnType<typeof findingsOf>;

export function notChecked(check: string, setting: string): Finding[] {
	return findingsOf(check).skipped(`not checked, because ${setting} is not usable.`);
}

const MARKS: Readonly<Record<Verdict, string>> = { ok: '✓', warning: '!', failure: '✗', skipped: '-' };

/** A line for the terminal, without control characters, because names and hosts come from outside. */
export function lineOf({ verdict, check, text }: Finding): string {
	return `${MARKS[verdict]} ${check}: ${text}`.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** The last lines of the report: `summary`, if there is one, and the number of problems. */
export function closingLines(findings: readonly Finding[], summary: string | null): string[] {
	const count = (verdict: Verdict) => findings.filter((finding) => finding.verdict === verdict).length;
	const failures = count('failure');
	const warnings = count('warning');
	const warningCount = warnings === 0 ? '' : ` (and ${counted(warnings, 'warning')})`;
	const verdict = failures === 0 ? 'All is well' : `${counted(failures, 'problem')} to fix`;
	return [...(summary === null ? [] : [summary]), `${verdict}${warningCount}.`];
}

/** `1 thing`, `2 things` */
export function counted(count: number, noun: string): string {
	return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
