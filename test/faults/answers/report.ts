import { reportOf } from '../frame.ts';
import type { FailoversResult } from './failovers.ts';
import type { DuelsResult } from './presses/duels.ts';
import type { PressesResult } from './presses/presses.ts';
import type { UndosResult } from './presses/undos.ts';
import type { PressVerdict } from './presses/verdict.ts';
import type { RunResult } from './run.ts';
import type { Verdict } from './verdict.ts';

export function isClean({ problems, brokenTurns }: RunResult): boolean {
	return problems.length === 0 && brokenTurns.length === 0;
}

/** The result of a run of kills, as lines for the terminal. */
export function killsReport(name: string, result: RunResult): string[] {
	const { verdict, audit, histogram, claims, brokenTurns } = result;
	return reportOf(`${name}: ${verdict.rounds} answers, ${hitsOf(result)}`, result, [
		...verdictLines(verdict),
		`receipts seen: ${[...claims].map(([claim, count]) => `${claim} ${count}`).join(', ')}`,
		`audit: ${audit.rows} rows (${[...audit.counts].map(([action, count]) => `${action} ${count}`).join(', ')})`,
		`turns that broke: ${brokenTurns.length}`,
		...brokenTurns.map((why) => `  ${why}`),
		...histogramLines('an answer was met by a kill, or by another fault', histogram),
	]);
}

function verdictLines(verdict: Verdict): string[] {
	return [
		`delivered ${verdict.delivered}, not sent and told so ${verdict.toldNot}, not known to its author ${verdict.notKnown}`,
		`lost ${verdict.lost}, sent twice ${verdict.doubled}, false receipts ${verdict.falseReceipts}, never told ${verdict.untold}, over another's ${verdict.overwrites}, too late or early ${verdict.untimely}, not judged ${verdict.tooLate}`,
	];
}

function hitsOf({ kills, outages, freezes }: Pick<RunResult, 'kills' | 'outages' | 'freezes'>): string {
	return `${kills} kills, ${outages} times the database was stopped, ${freezes} times a replica stood still`;
}

function histogramLines(title: string, histogram: Readonly<Record<string, number>>): string[] {
	const most = Math.max(...Object.values(histogram));
	if (most === 0) return [];
	const lines = Object.entries(histogram).map(
		([phase, count]) =>
			`  ${phase.padEnd(26)}${String(count).padStart(5)} ${'#'.repeat(Math.round((count / most) * 40))}`,
	);
	return [title, ...lines];
}

function pressVerdictLines(verdict: PressVerdict): string[] {
	return [
		`delivered ${verdict.delivered}, not sent and told so ${verdict.toldNot}, taken back ${verdict.takenBack}, not known to its author ${verdict.notKnown}, never acknowledged ${verdict.notTaken}`,
		`lost ${verdict.lost}, sent twice ${verdict.doubled}, before the undo time ended ${verdict.early}, after "You took back" ${verdict.afterUndo}, false words ${verdict.falseWords}, over another's ${verdict.overwrites}, not judged ${verdict.tooLate}`,
	];
}

export function pressesReport(name: string, result: PressesResult): string[] {
	const { verdict, histogram, cuts, redraws } = result;
	const title = `${name}: ${verdict.answers} answers in one press, ${hitsOf(result)}, ${cuts} times Slack was cut off`;
	return reportOf(title, result, [
		...pressVerdictLines(verdict),
		...histogramLines('a press was met by a kill', { ...histogram, 'while a post is redrawn': redraws }),
	]);
}

export function duelsReport(name: string, result: DuelsResult): string[] {
	const { duels, forms, clean, told, upsets, verdict } = result;
	return reportOf(`${name}: two people answer ${duels} times, ${forms} of them by a form`, result, [
		`one PUT and the other told who was first and what they said: ${clean} of ${duels} (by a reply ${told.reply}, in the form's window ${told.window}, by the post ${told.post}; who began later won ${upsets} times)`,
		...pressVerdictLines(verdict),
	]);
}

export function undosReport(name: string, result: UndosResult): string[] {
	const { undos, kills, takenBack, tooLate, losers, offered, drafts, sentDrafts, again, verdict } = result;
	return reportOf(`${name}: Undo ${undos} times, ${kills} kills`, result, [
		`taken back ${takenBack}, too late ${tooLate}; pressed again after that ${again}`,
		`second to an answer that was taken back ${losers}, offered the question again ${offered}, draft in the form ${drafts}, sent from there ${sentDrafts}`,
		...pressVerdictLines(verdict),
	]);
}

export function failoversReport(name: string, { forms, presses, failovers }: FailoversResult): string[] {
	const seconds = (times: readonly (number | null)[]) => {
		const sorted = times.filter((ms) => ms !== null).toSorted((one, other) => one - other);
		const shown = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)].map((ms) =>
			((ms ?? Number.NaN) / 1000).toFixed(2),
		);
		return `${shown[0]} s (median), ${shown[1]} s (longest)`;
	};
	const underWay = failovers.reduce((sum, one) => sum + one.underWay, 0);
	return [
		'',
		`${name}: the primary was killed and its synchronous standby promoted ${failovers.length} times, with ${underWay} accepted answers not known to have arrived`,
		`  from the kill to the promotion ${seconds(failovers.map(({ awayMs }) => awayMs))}`,
		`  from the promotion to the first delivery ${seconds(failovers.map(({ firstMs }) => firstMs))}`,
		...killsReport(`${name}, forms among failovers`, forms),
		...pressesReport(`${name}, presses among failovers`, presses),
	];
}
