import { resetThatLandsLate } from '../troubles.ts';
import type { FaultKind } from '../turn.ts';

const QUIET_WITHIN_MS = 40_000;

/** The clocks of two replicas differ by some seconds, and PUTs whose connection broke are saved late. */
export const clocks: FaultKind = {
	stores: ['postgres'],
	async run({ harness, random, size, beginAll, press, quiet }) {
		const { service, replicas, callTimeoutMs } = harness;
		const offsetMs = random.whole(3_000, 5_000) * random.pick([1, -1]);
		const wrong = random.pick(replicas);
		await quiet(QUIET_WITHIN_MS);
		await wrong.terminate();
		await wrong.shiftClock(offsetMs);
		await wrong.start();
		const rounds = await beginAll(size);
		for (const { sessionId, troubles } of rounds) {
			service.faults.add({ ...resetThatLandsLate(random, callTimeoutMs), sessionId });
			troubles.push(`the clock of replica ${replicas.indexOf(wrong)} was set by ${offsetMs} ms; a PUT is saved late`);
		}
		await Promise.all(rounds.map((round) => press(round)));
		await quiet(QUIET_WITHIN_MS);
		await wrong.shiftClock(-offsetMs);
		return rounds.length;
	},
};
