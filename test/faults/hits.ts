import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../support/random.ts';
import type { Harness } from './harness.ts';

/** Stops the database and starts it again. */
export interface Outage {
	/** In every turn, instead of now and then. */
	readonly everyTurn?: boolean;
	/** Before the turn in which it stops. */
	prepare?(): Promise<void>;
	stop(): Promise<void>;
	start(): Promise<void>;
}

/** Calls `hit` in a moment of its kind. Resolves after the call. */
type Moment = (hit: () => void) => Promise<void>;

/** Whom a kill hit. */
export interface Victims {
	readonly pids: readonly number[];
	readonly all: boolean;
}

/** Kills, freezes and outages of the database, each at a moment. */
export function createHits({ replicas, store }: Harness, random: Random) {
	const counts = { kills: 0, outages: 0, freezes: 0 };
	return {
		counts,

		/** Kills all running replicas; of several, in `oneShare` of cases, one. `onHit` runs at the same moment. */
		async kill(at: Moment, oneShare: number, onHit: () => void = () => {}): Promise<Victims> {
			const running = replicas.filter((replica) => replica.running);
			const victims = running.length > 1 && random.chance(oneShare) ? [random.pick(running)] : running;
			const pids = victims.map((replica) => replica.pid);
			let gone: Promise<unknown> = Promise.resolve();
			await at(() => {
				gone = Promise.all(victims.map((replica) => replica.kill()));
				onHit();
			});
			counts.kills++;
			await gone;
			return { pids, all: victims.length === running.length };
		},

		/** One replica freezes during its work, and continues after others have taken that work over. */
		async freeze(at: Moment, ms: number): Promise<void> {
			counts.freezes++;
			const victim = random.pick(replicas);
			await at(() => victim.freeze());
			await pause(ms);
			victim.thaw();
		},

		async database(at: Moment, outage: Outage, longestMs: number): Promise<void> {
			counts.outages++;
			let gone: Promise<unknown> = Promise.resolve();
			await at(() => {
				gone = outage.stop();
			});
			await gone;
			await pause(random.whole(200, longestMs));
			await outage.start();
			await store.watchCommits();
		},
	};
}
