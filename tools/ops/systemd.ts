import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The most that `systemd-analyze security` may find, in tenths: 0 is the best, 100 the worst. It finds 13. */
const MOST_EXPOSURE = 20;

/** Of systemd. */
const TOOL = 'systemd-analyze';

/** What is wrong with a unit of systemd, a line each; null where it is not installed. */
export function problemsOfUnit(unit: string): readonly string[] | null {
	const directory = mkdtempSync(join(tmpdir(), 'handraise-unit-'));
	const path = join(directory, 'handraise.service');
	// Wherever Node.js is on this machine.
	writeFileSync(path, unit.replaceAll('/usr/bin/node ', `${process.execPath} `));
	const analyze = (...args: readonly string[]) => spawnSync(TOOL, [...args, path], { encoding: 'utf8' });
	const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');
	try {
		const verified = analyze('verify');
		if (verified.error !== undefined) return null;
		const judged = analyze('security', '--offline=true', '--no-pager', `--threshold=${MOST_EXPOSURE}`);
		const overall = /Overall exposure level.*/.exec(judged.stdout)?.[0] ?? judged.stderr.trim();
		// It ignores what it does not know, and exits with 0.
		return [...linesOf(verified.stderr), ...(judged.status === 0 ? [] : [overall])];
	} finally {
		rmSync(directory, { recursive: true });
	}
}

const WHAT = `the systemd unit is valid, and its exposure at most ${MOST_EXPOSURE / 10}`;
const COMMAND = 'systemd-analyze verify ops/handraise.service';

/** Checks the unit of this project: the lines of `npm run check:ops`. */
export function checkSystemd(): { readonly lines: readonly string[]; readonly ok: boolean } {
	const problems = problemsOfUnit(readFileSync(new URL('../../ops/handraise.service', import.meta.url), 'utf8'));
	if (problems === null) {
		const missing = `systemd-analyze is not installed; it comes with systemd. Then: ${COMMAND}`;
		return { lines: [`- not checked: ${WHAT}. ${missing}`], ok: true };
	}
	if (problems.length > 0) return { lines: [`✗ not so: ${WHAT} (${COMMAND})`, ...problems], ok: false };
	return { lines: [`✓ ${WHAT} (${COMMAND})`], ok: true };
}
