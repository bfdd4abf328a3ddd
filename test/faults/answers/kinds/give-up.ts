import { setTimeout as pause } from 'node:timers/promises';
import type { Fault } from '../../../../fake-session-service/faults.ts';
import type { Random } from '../../../support/random.ts';
import type { Harness } from '../../harness.ts';
import { DAY_MS } from '../../stores.ts';
import { until } from '../../until.ts';
import { onceFor } from '../moments.ts';
import type { Round } from '../round.ts';
import type { FaultKind, Turn } from '../turn.ts';

/** Includes receipts that Slack refused. */
const QUIET_WITHIN_MS = 90_000;
const REFUSED_WITHIN_MS = 5_000;
/** By then a refused attempt is stored and the next has not begun. */
const NOTED_MS = 300;
/** A failed attempt is repeated within this time. */
const SENT_WITHIN_MS = 15_000;

type Pair = readonly [first: Round, second: Round];

/**
 * The time to try an answer ends while the outcome of its PUT is unknown. Then somebody else, who has the form open,
 * presses.
 */
export const giveUp: FaultKind = {
	stores: ['sqlite', 'postgres'],
	async run(turn) {
		const { harness, size, begin, press, quiet } = turn;
		// The time of other answers must not pass.
		await quiet(QUIET_WITHIN_MS);
		const pairs = await Promise.all(
			Array.from({ length: Math.ceil(size / 2) }, async (): Promise<Pair> => {
				const first = await begin();
				return [first, await begin({ rivalOf: first })];
			}),
		);
		const { faults, log } = harness.service;
		// A refusal ends the attempt. A fault that looks temporary would be read again within it.
		const refusals = pairs.map(([{ sessionId }]) => faults.add({ kind: 'unauthorized', method: 'GET', sessionId }));
		await Promise.all(pairs.map(([first]) => press(first)));
		const tried = ([{ sessionId, pressedAt }]: Pair) => log.reads(sessionId).some((entry) => entry.at >= pressedAt);
		await until(() => pairs.every(tried), REFUSED_WITHIN_MS);
		await pause(NOTED_MS);
		await letTimePass(
			harness,
			pairs.map(([first]) => first),
		);
		const meeting = pairs.map((pair) => meet(turn, pair));
		for (const id of refusals) faults.clear(id);
		return (await Promise.all(meeting)).filter((met) => met).length;
	},
};

async function letTimePass({ store, replicas }: Harness, rounds: readonly Round[]): Promise<void> {
	if (store.giveUp !== null) await store.giveUp(rounds.map((round) => round.modal.id));
	// The clock stays there: every time in the store is from after the jump.
	else await Promise.all(replicas.map((replica) => replica.shiftClock(DAY_MS)));
	for (const round of rounds) round.troubles.push('the time in which it is tried came to its end');
}

/** Whether a PUT with an unknown outcome was sent. */
async function meet({ harness, random, press }: Turn, [first, second]: Pair): Promise<boolean> {
	const { sessionId } = first;
	const { faults } = harness.service;
	faults.add({ ...putTrouble(random, harness.callTimeoutMs), method: 'PUT', sessionId, times: 1 });
	let refusal: number | null = null;
	let wasSent = false;
	onceFor(harness, 'put', sessionId, () => {
		wasSent = true;
		if (random.chance(0.6)) refusal = faults.add({ kind: 'error', method: 'GET', sessionId });
	});
	await until(() => wasSent, SENT_WITHIN_MS);
	await pause(random.whole(20, 600));
	await press(second);
	await pause(random.whole(0, 2_500));
	if (refusal !== null) faults.clear(refusal);
	return wasSent;
}

function putTrouble(random: Random, callTimeoutMs: number): Fault {
	const late = { saves: true, saveAfterMs: Math.round(callTimeoutMs * (0.5 + random.uniform() * 0.4)) };
	return {
		kind: random.pick(['error', 'reset'] as const),
		...random.pick([{ saves: true }, late, late, { saves: false }]),
	};
}
