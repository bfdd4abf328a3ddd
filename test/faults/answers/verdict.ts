import { itemsOf } from '../../../fake-session-service/log.ts';
import type { Harness } from '../harness.ts';
import { judgeSaved, requestLine } from '../saved.ts';
import { NOT_SENT, savedOf } from './receipt-watch.ts';
import type { Claim, Round } from './round.ts';

const NONE = {
	delivered: 0,
	/** Not sent, for a good reason, and its author was told. */
	toldNot: 0,
	/** Not sent, and its author was told that the outcome is unknown. */
	notKnown: 0,
	lost: 0,
	doubled: 0,
	falseReceipts: 0,
	/** The author still has the window open and was never told how it ended. */
	untold: 0,
	/** Its PUT replaced another person's answer. */
	overwrites: 0,
	/** Delivered later than the fault allows, or sent before a time that the service named. */
	untimely: 0,
	/** Not judged: this machine made the service save later than the call's time-out allows. */
	tooLate: 0,
};

/** How the rounds ended, according to the service's log and what people saw. One of `problems` for each problem. */
export type Verdict = Readonly<typeof NONE> & { readonly rounds: number; readonly problems: readonly string[] };

/** The last thing that the author of an answer that arrived is told. */
const ARRIVED_AND_OVER: ReadonlySet<Claim> = new Set(['went on', 'arrived, then over', 'overwritten']);

/** Nothing more will happen in this round, according to its author's window and the service. */
export function isOver(harness: Harness, round: Round): boolean {
	const last = round.told.at(-1);
	if (round.left !== null || (last !== undefined && (NOT_SENT.has(last) || last === 'may have arrived'))) return true;
	if (savedOf(harness, round).length === 0) return false;
	return round.closed || (last !== undefined && ARRIVED_AND_OVER.has(last));
}

export function judge(harness: Harness, rounds: readonly Round[]): Verdict {
	const count = { ...NONE };
	const problems: string[] = [];
	for (const round of rounds) {
		const report = (what: string) => problems.push(`${round.sessionId}: ${what}\n${describe(harness, round)}`);
		const saved = savedOf(harness, round);
		const toldNot = round.left === 'nothing was sent' || round.told.some((claim) => NOT_SENT.has(claim));
		if (!judgeSaved(harness, saved, count, report)) continue;
		if (toldNot && saved.length > 0) round.broken.push('it was told that it was not sent, and it was saved');
		if (round.broken.length > 0) {
			count.falseReceipts++;
			report(round.broken.join('; '));
		}
		if (round.untimely.length > 0) {
			count.untimely++;
			report(round.untimely.join('; '));
		}
		if (saved.length > 0) {
			count.delivered++;
			const text = itemsOf(saved[0] as (typeof saved)[number])[0]?.value ?? '';
			const shown = round.modal.text();
			if (text !== round.ackedText && round.ackedText !== null && !shown.includes(text) && !round.closed) {
				count.lost++;
				report(`"${text}" was sent, but its author was told that "${round.ackedText}" is saved`);
			}
		} else if (toldNot) {
			count.toldNot++;
		} else if (round.left === 'not known' || round.told.at(-1) === 'may have arrived') {
			count.notKnown++;
		} else {
			count.lost++;
			report(round.ackedText === null ? 'it never got anywhere' : 'it was acknowledged, and neither sent nor refused');
		}
		if (!isOver(harness, round)) {
			count.untold++;
			report(`its author was told ${round.told.at(-1) ?? 'nothing'} last`);
		}
	}
	return { rounds: rounds.length, ...count, problems };
}

function describe(harness: Harness, round: Round): string {
	const requests = harness.service.log.list({ sessionId: round.sessionId });
	return [
		`  ${round.fate}; pressed ${round.texts.length}x; hits: ${round.hits.join(', ') || 'none'}; told: ${round.told.join(', ')}; closed: ${round.closed}${round.left === null ? '' : `; left with: ${round.left}`}`,
		...round.troubles.map((trouble) => `    trouble: ${trouble}`),
		...requests.map((entry) => requestLine(entry, round.pressedAt)),
	].join('\n');
}
