import type { RunResult } from './run.ts';

/** Problems printed in full; more of the same tell nothing new. */
const PROBLEMS_SHOWN = 12;

export function isClean({ verdict, violations }: RunResult): boolean {
	return verdict.problems.length === 0 && violations === 0;
}

/** A run in lines for the terminal. */
export function reportOf(name: string, result: RunResult): string[] {
	const { verdict, histogram, kills, outages, claims } = result;
	const most = Math.max(1, ...Object.values(histogram));
	return [
		'',
		`${name}: ${verdict.rounds} answers, ${kills} kills${outages > 0 ? `, ${outages} times the database was stopped` : ''}, ${Math.round(result.seconds)} s`,
		`  delivered ${verdict.delivered}, not sent and told so ${verdict.toldNot}`,
		`  lost ${verdict.lost}, sent twice ${verdict.doubled}, false receipts ${verdict.falseReceipts}, never told ${verdict.untold}, not judged ${verdict.tooLate}`,
		`  receipts seen: ${[...claims].map(([claim, count]) => `${claim} ${count}`).join(', ')}`,
		`  views and messages Slack would refuse: ${result.violations}`,
		'  an answer was met by a kill',
		...Object.entries(histogram).map(
			([phase, count]) =>
				`    ${phase.padEnd(22)}${String(count).padStart(5)} ${'#'.repeat(Math.round((count / most) * 40))}`,
		),
		...verdict.problems.slice(0, PROBLEMS_SHOWN),
		...(verdict.problems.length > PROBLEMS_SHOWN ? [`… and ${verdict.problems.length - PROBLEMS_SHOWN} more`] : []),
	];
}
