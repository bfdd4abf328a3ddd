import type { Digest } from '../../../../src/questions/changes.ts';
import type { Script } from './population.ts';

/** The digest that a read at `at` gives. */
export function digestAt(script: Script, at: number): Digest {
	const count = stepsUntil(script, at);
	const answeredAt = script.questions.get(count - 1);
	const open = answeredAt !== undefined && at < answeredAt;
	const awake = script.awake.some(([from, until]) => from <= at && at < until);
	return {
		status: open ? 'humanInput' : awake ? 'active' : 'paused',
		assistantCount: count,
		question: open
			? { messageIndex: count, fingerprint: String(count), shownHash: 'shown', sameBefore: 0, answered: [], open: [0] }
			: null,
		result: null,
		files: '',
	};
}

/** How many steps are done at `at`. */
export function stepsUntil({ steps }: Script, at: number): number {
	let low = 0;
	let high = steps.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((steps[middle] as number) <= at) low = middle + 1;
		else high = middle;
	}
	return low;
}
