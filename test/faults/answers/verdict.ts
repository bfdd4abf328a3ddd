import { textOf } from '../../../sandbox/session-service/json.ts';
import { itemsOf, type LogEntry } from '../../../sandbox/session-service/log.ts';
import type { Harness } from '../harness.ts';
import { NOT_SENT, savedOf } from './receipt-watch.ts';
import type { Claim, Round } from './round.ts';

/** How the rounds ended, according to the service's log and what people saw. */
export interface Verdict {
	readonly rounds: number;
	readonly delivered: number;
	/** Not sent, for a good reason, and its author was told. */
	readonly toldNot: number;
	/** Not sent, and its author was told that the outcome is unknown. */
	readonly notKnown: number;
	readonly lost: number;
	readonly doubled: number;
	readonly falseReceipts: number;
	/** The author still has the window open and was never told how it ended. */
	readonly untold: number;
	/** Its PUT replaced another person's answer. */
	readonly overwrites: number;
	/** Delivered later than the fault allows, or sent before a time that the service named. */
	readonly untimely: number;
	/** Not judged: this machine made the service save later than the call's time-out allows. */
	readonly tooLate: number;
	/** One line for each problem. */
	readonly problems: readonly string[];
}

/** Whether the service saved later than the app may assume. Then nothing is promised. */
function cameTooLate(harness: Harness, round: Round): boolean {
	return savedOf(harness, round).some((entry) => (entry.savedWallMs ?? 0) - entry.wallMs > harness.callTimeoutMs);
}

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
	const count = {
		delivered: 0,
		toldNot: 0,
		notKnown: 0,
		lost: 0,
		doubled: 0,
		falseReceipts: 0,
		untold: 0,
		overwrites: 0,
		untimely: 0,
		tooLate: 0,
	};
	const problems: string[] = [];
	for (const round of rounds) {
		const report = (what: string) => problems.push(`${round.sessionId}: ${what}\n${describe(harness, round)}`);
		const saved = savedOf(harness, round);
		const toldNot = round.left === 'nothing was sent' || round.told.some((claim) => NOT_SENT.has(claim));
		if (saved.length > 1 && cameTooLate(harness, round)) {
			count.tooLate++;
			continue;
		}
		if (saved.length > 1) {
			count.doubled++;
			report(`${saved.length} PUTs were saved`);
		}
		if (toldNot && saved.length > 0) round.broken.push('it was told that it was not sent, and it was saved');
		if (round.broken.length > 0) {
			count.falseReceipts++;
			report(round.broken.join('; '));
		}
		const replaced = saved.flatMap(replacedBy);
		if (replaced.length > 0) {
			count.overwrites++;
			report(`it went over "${replaced.join('", "')}"`);
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

/** Values of other people that this PUT replaced. */
function replacedBy(entry: LogEntry): string[] {
	const items = itemsOf(entry);
	return (entry.previous ?? []).flatMap((item, position) =>
		!item.value || item.value === items[position]?.value ? [] : [textOf(item)],
	);
}

function describe(harness: Harness, round: Round): string {
	const requests = harness.service.log.list({ sessionId: round.sessionId }).map((entry) => {
		const saved = entry.savedAt === null ? '' : ` saved ${entry.savedAt - round.pressedAt}`;
		const end = entry.reset ? 'reset' : `${entry.status ?? 'no answer'}`;
		return `    ${entry.at - round.pressedAt} ms ${entry.kind} [${entry.faults.join(' ')}] ${end}${saved}`;
	});
	return [
		`  ${round.fate}; pressed ${round.texts.length}x; hits: ${round.hits.join(', ') || 'none'}; told: ${round.told.join(', ')}; closed: ${round.closed}${round.left === null ? '' : `; left with: ${round.left}`}`,
		...round.troubles.map((trouble) => `    trouble: ${trouble}`),
		...requests,
	].join('\n');
}
