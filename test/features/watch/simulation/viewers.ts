import { createRandom } from '../../../support/random.ts';
import { LIMIT, WINDOW_MS } from './limited-service.ts';
import { type Script, stepsUntil } from './population.ts';
import { neverFound, PERSON_EVERY_MS, READ_MS, type Result, type SimulationOptions, WARM_UP_MS } from './simulation.ts';

/**
 * One reader for each session, once a second, as the dashboard reads: only the service limits them. A person who
 * asks while a window is used up waits for the next one.
 */
export function simulateViewers({ scripts, lengthMs, seed }: SimulationOptions): Result {
	const random = createRandom(seed);
	const phases = scripts.map(() => random.between(0, 1000));
	const order = [...scripts.keys()].sort((a, b) => (phases[a] as number) - (phases[b] as number));
	const counts = scripts.map(() => 0);
	const detection: number[] = [];
	const personWaits: number[] = [];
	const end = Math.min(lengthMs, WARM_UP_MS + 6 * 3_600_000);
	let served = 0;
	let refused = 0;
	let used = 0;
	for (let second = 0; second * 1000 < end; second += 1) {
		if (second % 60 === 0) used = 0;
		const room = Math.max(0, LIMIT - used);
		for (const index of order.slice(0, room)) {
			const script = scripts[index] as Script;
			const at = second * 1000 + (phases[index] as number);
			const count = stepsUntil(script, at + READ_MS / 2);
			for (let step = counts[index] as number; step < count; step += 1) {
				if (script.questions.has(step) && at > WARM_UP_MS)
					detection.push(at + READ_MS - (script.steps[step] as number));
			}
			counts[index] = count;
		}
		const allowed = Math.min(room, order.length);
		served += allowed;
		refused += order.length - allowed;
		used += order.length;
		if (second * 1000 > WARM_UP_MS && random.uniform() < 1000 / PERSON_EVERY_MS) {
			personWaits.push(used < LIMIT ? 0 : WINDOW_MS - ((second * 1000) % WINDOW_MS));
		}
	}
	return {
		detection: [...detection, ...neverFound(scripts, counts, end)],
		requestsPerMinute: (served + refused) / (end / 60_000),
		backgroundPerSecond: served / (end / 1000),
		refused,
		personWaits,
		updates: null,
		staleness: [],
		detectionOf: [],
	};
}
