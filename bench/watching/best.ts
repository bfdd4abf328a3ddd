import type { Script } from '../../test/features/watch/simulation/population.ts';
import { READ_MS } from '../../test/features/watch/simulation/simulation.ts';

/**
 * The lowest mean delay of a reader that reads each session evenly and knows its question rate: read rates proportional
 * to the square root of the question rates (Lagrange), which gives (sum of roots)^2 / (2 reads questions).
 */
export function evenMeanMs(scripts: readonly Script[], lengthMs: number, readsPerSecond: number): number {
	let roots = 0;
	let all = 0;
	for (const script of scripts) {
		const rate = (script.steps.length * script.kind.questionPerStep) / (lengthMs / 1000);
		roots += Math.sqrt(rate);
		all += rate;
	}
	return (1000 * roots * roots) / (2 * readsPerSecond * all) + READ_MS / 2;
}
