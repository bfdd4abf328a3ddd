import { setTimeout as pause } from 'node:timers/promises';
import type { Harness } from '../../harness.ts';
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

const RETRY_AFTER_MS = 3_000;
/**
 * How long requests may still arrive after a 429: those that had a permit, and the time until all replicas know of it.
 */
const LAST_SENT_AFTER_MS = 500;
/** Replicas measure the database's time to within half a round trip, on a busy machine. */
const MEASURED_WITHIN_MS = 100;
const LIMITED_WITHIN_MS = 10_000;

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
			await jumpAmid(turn, Math.max(1, Math.floor(size / 2) - 2), byMs, jump);
		}
		return size;
	},
};

async function jumpAmid(turn: Turn, count: number, byMs: number, jump: () => Promise<unknown>): Promise<void> {
	const { harness, random, begin, beginAll, press } = turn;
	const rounds = await beginAll(count);
	const [limited, next] = [await begin(), await begin()];
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
	const all = [...rounds, limited, next];
	for (const round of all) round.troubles.push(`the clock jumped by ${byMs} ms`);
	await meetLimit(turn, limited, next);
	await until(() => all.every((round) => isOver(harness, round)), OVER_WITHIN_MS);
	for (const round of all) {
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

/** The service answers 429 to one person, and the other presses at once. */
async function meetLimit({ harness, press }: Turn, limited: Round, next: Round): Promise<void> {
	const { faults, log } = harness.service;
	faults.add({
		kind: 'rate-limited',
		retryAfterSeconds: RETRY_AFTER_MS / 1000,
		method: 'GET',
		sessionId: limited.sessionId,
		times: 1,
	});
	await press(limited);
	const refused = () => log.reads(limited.sessionId).find((entry) => entry.status === 429)?.answeredAt ?? null;
	await until(() => refused() !== null, LIMITED_WITHIN_MS);
	const at = refused();
	if (at === null) {
		limited.untimely.push('it was not tried soon after a jump of the clock');
		return;
	}
	await pause(LAST_SENT_AFTER_MS);
	await press(next);
	await pause(at + RETRY_AFTER_MS - Date.now());
	const early = requestsBetween(harness, at + LAST_SENT_AFTER_MS, at + RETRY_AFTER_MS - MEASURED_WITHIN_MS);
	if (early > 0) next.untimely.push(`${early} requests were sent within ${RETRY_AFTER_MS} ms of a 429`);
}

function requestsBetween({ service }: Harness, from: number, to: number): number {
	return service.log.list().filter(({ at, kind }) => kind !== 'page' && at > from && at < to).length;
}
