import { createStepsAhead } from '../../src/watches/steps-ahead.ts';
import type { Script } from '../../test/watches/simulation/population.ts';
import { READ_MS } from '../../test/watches/simulation/simulation.ts';

/**
 * A bound that no reader can beat, whatever it knows but the future.
 *
 * Take a reader that knows of every session at any moment when its newest step was and how its gaps are distributed. A
 * question found within `t` was asked in the `t` before some read, so of a session's steps a read can find within `t` at
 * most `M(t)` on average: the most steps that may be expected in a time `t`, over all ages of the newest step. With `r`
 * reads a second of a session that takes `s` steps a second, of which a share `h` asks, at most `h min(s, r M(t))` of its
 * questions a second are found within `t`. Giving the reads of the budget to the sessions with the greatest `h M(t)`
 * first, each up to `s / M(t)`, gives the most questions that can be found within `t`; the smallest `t` for which that
 * is half of all questions bounds the median. It starves whom it likes; with `leastReadsPerSecond` of every session given
 * out first it bounds those who promise to read everybody that often.
 */
export function bestMedianMs(
	scripts: readonly Script[],
	lengthMs: number,
	readsPerSecond: number,
	leastReadsPerSecond: number,
): number {
	const stepsAhead = createStepsAhead();
	const sessions = scripts.map((script) => ({
		stepsPerSecond: script.steps.length / (lengthMs / 1000),
		asks: script.kind.questionPerStep,
		gapMs: script.gapMs,
		ahead: stepsAhead(Math.max(0.1, script.spread)),
	}));
	const all = sessions.reduce((sum, { stepsPerSecond, asks }) => sum + stepsPerSecond * asks, 0);

	function foundWithin(ms: number): number {
		const offers = sessions.map((session) => {
			const most = mostSteps(session.ahead, ms / session.gapMs);
			return { ...session, most, worth: session.asks * most };
		});
		offers.sort((one, other) => other.worth - one.worth);
		let reads = Math.max(0, readsPerSecond - leastReadsPerSecond * sessions.length);
		let found = 0;
		for (const { stepsPerSecond, asks, most } of offers) {
			const useful = stepsPerSecond / most;
			const promised = Math.min(leastReadsPerSecond, useful);
			const spent = Math.min(reads, useful - promised);
			found += asks * (promised + spent) * most;
			reads -= spent;
		}
		return found;
	}

	let low = 1;
	let high = 3_600_000;
	while (high - low > 1) {
		const middle = (low + high) / 2;
		if (foundWithin(middle) >= all / 2) high = middle;
		else low = middle;
	}
	return high + READ_MS / 2;
}

function mostSteps(ahead: ReturnType<ReturnType<typeof createStepsAhead>>, gaps: number): number {
	let most = 1e-9;
	for (let age = 0; age <= 4; age += 0.125) most = Math.max(most, ahead.steps(age, gaps));
	return most;
}

/**
 * The least mean of readers who read each session evenly and know its question rate: rates proportional to the square
 * root of the question rates (Lagrange), which gives (sum of roots)^2 / (2 reads questions).
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
