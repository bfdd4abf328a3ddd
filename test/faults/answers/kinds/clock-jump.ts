import { until } from '../../until.ts';
import { strikeAfter } from '../moments.ts';
import { type Round, sessionsOf } from '../round.ts';
import { resetThatLandsLate } from '../troubles.ts';
import type { FaultKind, Turn } from '../turn.ts';
import { isOver } from '../verdict.ts';

const HOUR_MS = 3_600_000;
/** By then the receipts that Slack refused are delivered. The clock must not jump while they wait. */
const QUIET_WITHIN_MS = 90_000;
/** Enough time for several failed attempts and for the wait after an unknown outcome. */
const OVER_WITHIN_MS = 30_000;

/**
 * The clock jumps an hour ahead while answers are on their way, and back while others are: the clock of all replicas,
 * or of one.
 */
export const clockJump: FaultKind = {
	stores: ['sqlite', 'postgres'],
	async run(turn) {
		const { harness, random, size, quiet, room } = turn;
		const jumping = random.chance(0.5) ? harness.replicas : [random.pick(harness.replicas)];
		await quiet(QUIET_WITHIN_MS);
		for (const byMs of [HOUR_MS, -HOUR_MS]) {
			const jump = () => Promise.all(jumping.map((replica) => replica.shiftClock(byMs)));
			// This fault's time limit covers the program, not Slack: a refused receipt waits for up to a minute.
			await room(size);
			await jumpAmid(turn, Math.max(1, Math.floor(size / 2)), byMs, jump);
		}
		return size;
	},
};

async function jumpAmid(turn: Turn, count: number, byMs: number, jump: () => Promise<unknown>): Promise<void> {
	const { harness, random, beginAll, press } = turn;
	const rounds = await beginAll(count);
	for (const round of rounds) arm(turn, round);
	let jumped: Promise<unknown> = Promise.resolve();
	// Now some replicas know that their PUT failed, and it is not saved yet.
	const moment = {
		signal: 'put',
		count: random.whole(1, count),
		afterMs: random.uniform() * harness.callTimeoutMs,
	} as const;
	await Promise.all([
		strikeAfter(harness, sessionsOf(rounds), moment, () => {
			jumped = jump();
		}),
		...rounds.map((round) => press(round)),
	]);
	await jumped;
	for (const round of rounds) round.troubles.push(`the clock jumped by ${byMs} ms`);
	await until(() => rounds.every((round) => isOver(harness, round)), OVER_WITHIN_MS);
	for (const round of rounds) {
		if (isOver(harness, round)) continue;
		round.untimely.push(`it was not delivered and told of within ${OVER_WITHIN_MS} ms of a jump of the clock`);
	}
}

/** Some answers wait for a repeat, others for the outcome of a PUT. */
function arm({ harness, random }: Turn, { sessionId, troubles }: Round): void {
	const { faults } = harness.service;
	const chance = random.uniform();
	if (chance < 0.5) faults.add({ ...resetThatLandsLate(random, harness.callTimeoutMs), sessionId });
	else if (chance < 0.8) faults.add({ kind: 'error', method: 'GET', sessionId, times: 2 });
	troubles.push(chance < 0.5 ? 'a PUT is saved late' : chance < 0.8 ? 'two reads fail' : 'none');
}
