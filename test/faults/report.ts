import type { DuelsResult } from './duels.ts';
import type { RunResult } from './run.ts';
import type { StopsResult } from './stops.ts';

/** Problems printed in full. More of the same tell nothing new. */
const PROBLEMS_SHOWN = 12;

export function isClean({ verdict, violations, brokenTurns }: RunResult): boolean {
	return verdict.problems.length === 0 && violations.length === 0 && brokenTurns.length === 0;
}

/** The result of a run of kills, as lines for the terminal. */
export function killsReport(name: string, result: RunResult): string[] {
	const { verdict, histogram, kills, outages, freezes, claims } = result;
	const most = Math.max(1, ...Object.values(histogram));
	return [
		'',
		`${name}: ${verdict.rounds} answers, ${kills} kills${outages > 0 ? `, ${outages} times the database was stopped` : ''}${freezes > 0 ? `, ${freezes} times a replica stood still` : ''}, ${Math.round(result.seconds)} s`,
		`  delivered ${verdict.delivered}, not sent and told so ${verdict.toldNot}, not known to its author ${verdict.notKnown}`,
		`  lost ${verdict.lost}, sent twice ${verdict.doubled}, false receipts ${verdict.falseReceipts}, never told ${verdict.untold}, over another's ${verdict.overwrites}, too late or early ${verdict.untimely}, not judged ${verdict.tooLate}`,
		`  receipts seen: ${[...claims].map(([claim, count]) => `${claim} ${count}`).join(', ')}`,
		`  calls Slack refused as too many: ${result.refusedCalls}; views and messages it would refuse: ${result.violations.length}`,
		...result.violations.slice(0, 5).map((violation) => `    ${violation}`),
		`  turns that broke: ${result.brokenTurns.length}`,
		...result.brokenTurns.map((why) => `    ${why}`),
		'  an answer was met by a kill, or by another fault',
		...Object.entries(histogram).map(
			([phase, count]) =>
				`    ${phase.padEnd(22)}${String(count).padStart(5)} ${'#'.repeat(Math.round((count / most) * 40))}`,
		),
		...shortened(verdict.problems),
	];
}

export function duelsReport(name: string, { duels, clean, upsets, problems, seconds }: DuelsResult): string[] {
	return [
		'',
		`${name}: two people at the same moment, ${duels} times, ${Math.round(seconds)} s`,
		`  one PUT and the other told who was first and what they said: ${clean} of ${duels} (the later press won ${upsets} times)`,
		...shortened(problems),
	];
}

export function stopsReport(name: string, result: StopsResult): string[] {
	const { verdict, stops, slowestMs, finished, leasesLeft, problems } = result;
	return [
		'',
		`${name}: ${stops} stops by SIGTERM with ${verdict.rounds} answers on their way`,
		`  exit code 0 within ${(slowestMs / 1000).toFixed(1)} s at most; ${finished} PUTs under way were finished; ${leasesLeft} leases left`,
		`  delivered ${verdict.delivered}, lost ${verdict.lost}, sent twice ${verdict.doubled}, false receipts ${verdict.falseReceipts}, never told ${verdict.untold}`,
		...shortened(problems),
	];
}

function shortened(problems: readonly string[]): string[] {
	const hiddenCount = problems.length - PROBLEMS_SHOWN;
	return [...problems.slice(0, PROBLEMS_SHOWN), ...(hiddenCount > 0 ? [`… and ${hiddenCount} more`] : [])];
}
