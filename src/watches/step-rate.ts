import type { Digest } from '../questions/changes.ts';

/** How often a session steps, learned from reads of it: small, JSON-safe, stored with the session. */
export interface StepRate {
	/** Average gap between two steps while it works, in milliseconds. Older gaps fade. */
	readonly gapMs: number;
	/** The read that saw the newest step, or saw it go back to work; clock milliseconds, null before any. */
	readonly lastStepAt: number | null;
}

/** A model call and an action take seconds. */
export const UNKNOWN_STEP_RATE: StepRate = { gapMs: 8_000, lastStepAt: null };

/** What each gap weighs in the average: a session's rate changes with its task. */
const GAP_WEIGHT = 1 / 16;

/** The rate after a read: `before` is what the read at `previousAt` found, `after` what the one at `readAt` found. */
export function stepRateAfter(
	rate: StepRate,
	{ before, after, previousAt, readAt }: { before: Digest; after: Digest; previousAt: number; readAt: number },
): StepRate {
	const steps = Math.abs(after.assistantCount - before.assistantCount);
	const resumed = !isWorking(before) && isWorking(after);
	if (steps === 0) return resumed ? { ...rate, lastStepAt: readAt } : rate;
	// The time before it went back to work is no gap between steps.
	if (!isWorking(before)) return { ...rate, lastStepAt: readAt };
	const gapMs = Math.max(1, readAt - (rate.lastStepAt ?? previousAt)) / steps;
	const weight = 1 - (1 - GAP_WEIGHT) ** steps;
	return { gapMs: rate.gapMs + weight * (gapMs - rate.gapMs), lastStepAt: readAt };
}

/** What it does by itself. A status nobody knows is given the benefit of the doubt. */
export function activityOf({
	status,
	questionOpen,
}: {
	readonly status: string | null;
	readonly questionOpen: boolean;
}): 'working' | 'waiting' | 'resting' {
	if (questionOpen || status === 'humanInput') return 'waiting';
	return status === 'paused' || status === 'inactive' ? 'resting' : 'working';
}

function isWorking({ status, question, over }: Digest): boolean {
	const questionOpen = question !== null && question.open.length > 0;
	return !over && activityOf({ status, questionOpen }) === 'working';
}
