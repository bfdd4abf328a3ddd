import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../support/random.ts';
import type { Harness } from '../harness.ts';
import { createHits, type Outage } from '../hits.ts';
import { strikeAt, type Target } from './moments.ts';
import { phaseOf, progressOf, type Strike } from './phases.ts';
import { type Round, sessionsOf } from './round.ts';

/** By then everything written to a socket before the kill has arrived. */
const IN_FLIGHT_MS = 60;

/** Hits the whole program at the chosen moment, while answers are on their way. */
export function createStrikes(harness: Harness, random: Random) {
	const hits = createHits(harness, random);
	const at = (target: Target, now: readonly Round[]) => (hit: () => void) =>
		strikeAt(harness, sessionsOf(now), { target, random }, hit);

	async function kill(target: Target, now: readonly Round[]): Promise<void> {
		let progress: Strike['progress'] = new Map();
		const victims = await hits.kill(at(target, now), 0.5, () => {
			progress = progressOf(harness, now);
		});
		await pause(IN_FLIGHT_MS);
		const stored = await harness.store.stored();
		for (const round of now) {
			const phase = phaseOf(round, { progress, ...victims, stored });
			if (phase !== null) round.hits.push(phase);
		}
		if (random.chance(0.3)) await pause(random.whole(0, 500));
		await harness.startAll();
	}

	return {
		counts: hits.counts,

		async process(target: Target, now: readonly Round[]): Promise<void> {
			await kill(target, now);
			// Crashes come in series too: this one meets the work after the first restart.
			if (random.chance(0.25)) await kill('any time', now);
		},

		async freeze(target: Target, now: readonly Round[], ms: number): Promise<void> {
			await hits.freeze(at(target, now), ms);
			for (const round of now) round.troubles.push('a replica stood still');
		},

		async database(target: Target, now: readonly Round[], database: Outage): Promise<void> {
			await hits.database(at(target, now), database, 3_000);
			for (const round of now) round.troubles.push('the database was stopped and started');
		},
	};
}
