import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../support/random.ts';
import { savedOf } from '../answers/receipt-watch.ts';
import { beginRound, submit } from '../answers/round.ts';
import { createHarness } from '../harness.ts';
import { createReplica } from '../replica.ts';
import { createSqliteUnderTest } from '../stores.ts';
import { until } from '../until.ts';
import { makeLoopDisk } from './loop-disk.ts';

export interface CutResult {
	/** Answers whose submission was acknowledged before the cut. */
	readonly acknowledged: number;
	/** Acknowledged answers that never reached the service. */
	readonly lost: number;
	/** Why the program did not start on what was left; null when it did. */
	readonly start: string | null;
}

/** Acknowledgements written before the program stopped have arrived after this time. */
const IN_FLIGHT_MS = 60;
/** Everything in the store is delivered within this time once the service is back. */
const DELIVERED_WITHIN_MS = 40_000;

/**
 * People submit answers while the service is down, so that only the disk holds them. The program is stopped at a random
 * moment, the power cut, and started again on what the disk held then.
 */
export async function cutPower(entry: string, people: number, random: Random): Promise<CutResult> {
	await using disk = await makeLoopDisk();
	await using store = await createSqliteUnderTest(join(disk.path, 'data'));
	await using harness = await createHarness({ store, entry, replicas: 1, people, callTimeoutMs: 600 });
	await harness.startAll();
	const rounds = await Promise.all(
		harness.people.map((person, number) => beginRound(harness, { number, prefix: 'fp', person })),
	);
	await harness.service.goDown();

	const stopAfter = random.whole(1, people);
	let acks = 0;
	const enough = new Promise<void>((resolve) => {
		harness.signals.on('acked', () => {
			acks++;
			if (acks === stopAfter) resolve();
		});
	});
	const [replica] = harness.replicas;
	if (replica === undefined) throw new Error('There is no program to stop.');
	const submitting = Promise.all(
		rounds.map(async (round) => {
			await pause(random.whole(0, 300));
			await submit(harness, round, { presses: 1 });
		}),
	);
	await enough;
	process.kill(replica.pid, 'SIGSTOP');
	await pause(IN_FLIGHT_MS);
	const acknowledged = rounds.filter((round) => round.ackedText !== null);
	await using left = await disk.cut();
	await replica.kill();
	await submitting;

	await harness.service.comeBack();
	const next = createReplica({ entry, env: { ...harness.env, DATA_DIR: join(left.path, 'data') } });
	try {
		await next.start();
	} catch (error) {
		await next.kill();
		const [line = ''] = String(error).split('\n').slice(1);
		return { acknowledged: acknowledged.length, lost: acknowledged.length, start: line };
	}
	const missing = () => acknowledged.filter((round) => savedOf(harness, round).length === 0).length;
	const after = await createSqliteUnderTest(join(left.path, 'data'));
	await until(async () => missing() === 0 || (await after.unfinished()) === 0, DELIVERED_WITHIN_MS, 100);
	await next.kill();
	return { acknowledged: acknowledged.length, lost: missing(), start: null };
}
