import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { FloodName, Target } from './http-floods.ts';
import type { Outcome, Scenario } from './scenario.ts';

function flood(name: FloodName, growthMiB: number): Scenario {
	return {
		name,
		transport: 'http',
		feltMs: 1_000,
		growthMiB,
		async attack({ program, slack }) {
			const target: Target = { url: program.url, signingSecret: slack.tokens.signingSecret };
			const attacker = new Worker(new URL('attacker.ts', import.meta.url), { workerData: { name, target } });
			const [outcome] = (await once(attacker, 'message')) as [Outcome];
			await attacker.terminate();
			return outcome;
		},
	};
}

/** 16 MB of bodies may arrive at once. Discarded ones stay in memory until garbage collection. */
export const httpScenarios: readonly Scenario[] = [
	flood('bodies', 150),
	flood('forged-bodies', 150),
	flood('oversized', 250),
	flood('slow-loris', 100),
	flood('idle', 150),
	flood('stamps', 100),
	flood('signed-null', 100),
];
