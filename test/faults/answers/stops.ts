import { setTimeout as pause } from 'node:timers/promises';
import type { Part } from '../harness.ts';
import { RATES_ALLOWANCE_MS } from '../rates.ts';
import { strikeAt } from './moments.ts';
import { watchReceipts } from './receipt-watch.ts';
import { beginRound, type Round, submit } from './round.ts';
import { isOver, judge, type Verdict } from './verdict.ts';

export interface StopsResult {
	readonly verdict: Verdict;
	readonly stops: number;
	/** From SIGTERM to the end of the process, in ms. */
	readonly slowestMs: number;
	/** PUTs under way at SIGTERM whose response the program still took. */
	readonly finished: number;
	/** Leases left in the store after the exit. */
	readonly leasesLeft: number;
	readonly problems: readonly string[];
}

/** The supervisor waits this long before it kills. */
const STOP_WITHIN_MS = 10_000;
const SETTLE_WITHIN_MS = 60_000 + RATES_ALLOWANCE_MS;

/** Sends SIGTERM while answers are on their way, some of them in a slow PUT. */
export async function runStops({
	harness,
	stops,
	batch,
	random,
}: Part & { readonly stops: number }): Promise<StopsResult> {
	const { service, store, replicas } = harness;
	const watch = watchReceipts(harness);
	const rounds: Round[] = [];
	const problems: string[] = [];
	let slowestMs = 0;
	let finished = 0;
	let leasesLeft = 0;

	for (let stop = 0; stop < stops; stop++) {
		await harness.startAll();
		await harness.rates.roomFor(batch);
		const now = await Promise.all(Array.from({ length: batch }, (_, index) => begin(rounds.length + index, index)));
		rounds.push(...now);
		const sessions = new Set(now.map((round) => round.sessionId));
		const slowMs = random.whole(50, Math.min(5_000, Math.round(harness.callTimeoutMs * 0.8)));
		for (const sessionId of sessions) {
			const put = { method: 'PUT', sessionId, times: 1 };
			if (random.chance(0.1)) service.faults.add({ ...put, kind: 'hang', saves: random.chance(0.5) });
			else if (random.chance(0.7)) service.faults.add({ ...put, kind: 'late', ms: slowMs });
		}
		const target = random.pick(['any time', 'during the PUT', 'during the PUT'] as const);
		const [moment, ...pressing] = [
			strikeAt(harness, sessions, { target, random }, () => {}),
			...now.map((round) => submit(harness, round, { twice: false, edit: () => null })),
		];
		await moment;
		const underWay = service.log
			.puts()
			.filter((entry) => sessions.has(entry.sessionId ?? '') && entry.answeredAt === null);
		const pids = replicas.map((replica) => replica.pid);
		const ends = await Promise.all(replicas.map((replica) => replica.terminate()));
		for (const end of ends) {
			slowestMs = Math.max(slowestMs, end.ms);
			if (end.code !== 0)
				problems.push(`stop ${stop}: exit with ${end.signal ?? end.code} after ${Math.round(end.ms)} ms`);
			else if (end.ms > STOP_WITHIN_MS) problems.push(`stop ${stop}: took ${Math.round(end.ms)} ms`);
		}
		for (const entry of underWay) {
			if (entry.answeredAt !== null && !entry.clientGone) finished++;
			else if (!entry.faults.includes('hang'))
				problems.push(`stop ${stop}: the PUT of ${entry.sessionId} was broken off`);
		}
		const stored = await store.lookUp(now.map((round) => round.modal.id));
		const held = [...stored.values()].filter(({ leaseToken }) => pids.some((pid) => leaseToken?.includes(`-${pid}/`)));
		leasesLeft += held.length;
		if (held.length > 0) problems.push(`stop ${stop}: ${held.length} leases were not given back`);
		await harness.startAll();
		await Promise.all(pressing);
	}

	const until = Date.now() + SETTLE_WITHIN_MS;
	while (Date.now() < until && !rounds.every((round) => isOver(harness, round))) await pause(250);
	const verdict = judge(harness, rounds);
	watch.stop();
	return {
		verdict,
		stops,
		slowestMs,
		finished,
		leasesLeft,
		problems: [...problems, ...verdict.problems],
	};

	async function begin(number: number, index: number): Promise<Round> {
		const person = harness.people[index] ?? random.pick(harness.people);
		const round = await beginRound(harness, { number, prefix: 'ft', person });
		watch.follow(round);
		return round;
	}
}
