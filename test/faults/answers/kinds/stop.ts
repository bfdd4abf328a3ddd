import { until } from '../../until.ts';
import { strikeAt } from '../moments.ts';
import { savedOf } from '../receipt-watch.ts';
import { sessionsOf } from '../round.ts';
import type { FaultKind } from '../turn.ts';

/** The supervisor waits this long before it kills. */
const STOP_WITHIN_MS = 10_000;
/** Includes forms that were open and could not be submitted meanwhile. */
const DELIVERED_WITHIN_MS = 60_000;

/** SIGTERM while answers are on their way, some of them in a slow PUT: what is under way is finished, and nothing kept. */
export const stop: FaultKind = {
	stores: ['sqlite', 'postgres'],
	async run({ harness, random, size, beginAll, press, report }) {
		const { service, store, replicas, callTimeoutMs } = harness;
		const rounds = await beginAll(size);
		const sessions = sessionsOf(rounds);
		const slowMs = random.whole(50, Math.min(5_000, Math.round(callTimeoutMs * 0.8)));
		for (const sessionId of sessions) {
			const put = { method: 'PUT', sessionId, times: 1 };
			if (random.chance(0.1)) service.faults.add({ ...put, kind: 'hang', saves: random.chance(0.5) });
			else if (random.chance(0.7)) service.faults.add({ ...put, kind: 'late', ms: slowMs });
		}
		const target = random.pick(['any time', 'during the PUT', 'during the PUT'] as const);
		const moment = strikeAt(harness, sessions, { target, random }, () => {});
		const pressing = Promise.all(rounds.map((round) => press(round)));
		await moment;
		const underWay = service.log
			.puts()
			.filter((entry) => sessions.has(entry.sessionId ?? '') && entry.answeredAt === null && !entry.reset);
		for (const { code, signal, ms } of await Promise.all(replicas.map((replica) => replica.terminate()))) {
			if (code !== 0) report(`exit with ${signal ?? code} after ${Math.round(ms)} ms`);
			else if (ms > STOP_WITHIN_MS) report(`it took ${Math.round(ms)} ms`);
		}
		for (const { sessionId, answeredAt, clientGone, faults } of underWay) {
			const isFinished = answeredAt !== null && !clientGone;
			if (!isFinished && !faults.includes('hang')) report(`the PUT of ${sessionId} was broken off`);
		}
		const leased = (await store.stored()).filter(({ leaseToken }) =>
			replicas.some(({ pid }) => leaseToken?.includes(`-${pid}/`)),
		);
		if (leased.length > 0) report(`${leased.length} leases were not given back`);
		await harness.startAll();
		await pressing;
		const isThere = (round: (typeof rounds)[number]) => savedOf(harness, round).length > 0;
		await until(() => rounds.every(isThere), DELIVERED_WITHIN_MS);
		for (const round of rounds) {
			round.troubles.push('the program was stopped');
			if (!isThere(round))
				round.untimely.push(`it was not delivered within ${DELIVERED_WITHIN_MS} ms of the next start`);
		}
		return rounds.length;
	},
};
