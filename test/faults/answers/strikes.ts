import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../support/random.ts';
import type { Harness } from '../harness.ts';
import { strikeAt, type Target } from './moments.ts';
import { phaseOf, progressOf, type Strike } from './phases.ts';
import { type Round, sessionsOf } from './round.ts';

/** Stops the database and starts it again. */
export interface Outage {
	/** In every turn, instead of now and then. */
	readonly everyTurn?: boolean;
	/** Before the turn in which it stops. */
	prepare?(): Promise<void>;
	stop(): Promise<void>;
	start(): Promise<void>;
}

/** By then everything written to a socket before the kill has arrived. */
const IN_FLIGHT_MS = 60;

/** Hits the whole program at the chosen moment, while answers are on their way. */
export function createStrikes(harness: Harness, random: Random) {
	let kills = 0;
	let outages = 0;
	let freezes = 0;

	async function kill(target: Target, now: readonly Round[]): Promise<void> {
		const running = harness.replicas.filter((replica) => replica.running);
		const victims = running.length > 1 && random.chance(0.5) ? [random.pick(running)] : running;
		let progress: Strike['progress'] = new Map();
		let gone: Promise<unknown> = Promise.resolve();
		await strikeAt(harness, sessionsOf(now), { target, random }, () => {
			gone = Promise.all(victims.map((replica) => replica.kill()));
			progress = progressOf(harness, now);
		});
		kills++;
		await gone;
		await pause(IN_FLIGHT_MS);
		const strike: Strike = {
			progress,
			pids: victims.map((replica) => replica.pid),
			all: victims.length === running.length,
			stored: await harness.store.lookUp(now.map((round) => round.modal.id)),
		};
		for (const round of now) {
			const phase = phaseOf(round, strike);
			if (phase !== null) round.hits.push(phase);
		}
		if (random.chance(0.3)) await pause(random.whole(0, 500));
		await harness.startAll();
	}

	return {
		get counts() {
			return { kills, outages, freezes };
		},

		async process(target: Target, now: readonly Round[]): Promise<void> {
			await kill(target, now);
			// Crashes come in series too: this one meets the work after the first restart.
			if (random.chance(0.25)) await kill('any time', now);
		},

		/** One replica freezes during its work, and continues after others have taken that work over. */
		async freeze(target: Target, now: readonly Round[], ms: number): Promise<void> {
			freezes++;
			const victim = random.pick(harness.replicas);
			await strikeAt(harness, sessionsOf(now), { target, random }, () => victim.freeze());
			for (const round of now) round.troubles.push('a replica stood still');
			await pause(ms);
			victim.thaw();
		},

		async database(target: Target, now: readonly Round[], database: Outage): Promise<void> {
			outages++;
			let gone: Promise<unknown> = Promise.resolve();
			await strikeAt(harness, sessionsOf(now), { target, random }, () => {
				gone = database.stop();
			});
			await gone;
			await pause(random.whole(200, 3_000));
			await database.start();
			await harness.store.watchCommits();
			for (const round of now) round.troubles.push('the database was stopped and started');
		},
	};
}
