import type { Digest } from '../questions/changes.ts';

/**
 * What was learned of one session's own rhythm: small, JSON-safe, stored with the session. Times are clock
 * milliseconds, durations milliseconds. Older observations fade.
 */
export interface Rhythm {
	/** Steps seen while it was stepping, and the time they took. */
	readonly pace: { readonly steps: number; readonly ms: number };
	/** Natural logarithms of the gaps that could be measured one by one: count, sum, sum of squares. */
	readonly gaps: readonly [count: number, sum: number, squares: number];
	/** The newest step happened after the one and not after the other. Null before any was seen. */
	readonly lastStep: readonly [after: number, until: number] | null;
	/** How often it was seen waking up, and how long it was quiet. */
	readonly quiet: { readonly wakes: number; readonly ms: number };
	/** Questions seen, and the steps they are to be set against. */
	readonly asked: { readonly questions: number; readonly steps: number };
}

export const unknownRhythm: Rhythm = {
	pace: { steps: 0, ms: 0 },
	gaps: [0, 0, 0],
	lastStep: null,
	quiet: { wakes: 0, ms: 0 },
	asked: { questions: 0, steps: 0 },
};

/** What is assumed of a session before it was seen: what the others showed, and something sensible before they did. */
export interface Prior {
	readonly gapMs: number;
	/** Spread of a session's own gaps (standard deviation of their logarithms). */
	readonly spread: number;
	readonly questionPerStep: number;
	readonly wakesPerMs: number;
}

/** A model call and an action take seconds; one step in 60 asks something; one wake-up in two hours. */
export const firstPrior: Prior = {
	gapMs: 8_000,
	spread: 0.4,
	questionPerStep: 1 / 60,
	wakesPerMs: 1 / (2 * 3_600_000),
};

/** How much the assumption weighs against what was seen of the session itself. */
const PRIOR_STEPS = 1;
const PRIOR_SPREAD_WEIGHT = 4;
const PRIOR_ASKED_STEPS = 120;
const PRIOR_QUIET_MS = 2 * 3_600_000;
/** How often stepping ends after a step without a question. */
const STOP_AFTER_STEP = 1 / 25;
/** Observations beyond these fade: a session's rhythm changes with its task. */
const KEPT_STEPS = 24;
const KEPT_GAPS = 24;
const KEPT_ASKED_STEPS = 400;
const KEPT_QUIET_MS = 6 * 3_600_000;

/** What is believed of a session from its rhythm. */
export interface Habits {
	/** The typical gap between steps, ms. */
	readonly gapMs: number;
	/** Standard deviation of the gaps' logarithms. */
	readonly spread: number;
	/** The chance that a step asks something. */
	readonly questionPerStep: number;
	/** Wake-ups in a millisecond of quiet. */
	readonly wakesPerMs: number;
}

export function habitsOf(rhythm: Rhythm, prior: Prior = firstPrior): Habits {
	const [count, sum, squares] = rhythm.gaps;
	const mean = count > 0 ? sum / count : 0;
	const variance = count > 0 ? Math.max(0, squares - count * mean * mean) : 0;
	const spread = Math.sqrt(
		(variance + PRIOR_SPREAD_WEIGHT * prior.spread ** 2) / (Math.max(0, count - 1) + PRIOR_SPREAD_WEIGHT),
	);
	return {
		gapMs: (rhythm.pace.ms + PRIOR_STEPS * prior.gapMs) / (rhythm.pace.steps + PRIOR_STEPS),
		spread,
		questionPerStep:
			(rhythm.asked.questions + PRIOR_ASKED_STEPS * prior.questionPerStep) / (rhythm.asked.steps + PRIOR_ASKED_STEPS),
		wakesPerMs: (rhythm.quiet.wakes + PRIOR_QUIET_MS * prior.wakesPerMs) / (rhythm.quiet.ms + PRIOR_QUIET_MS),
	};
}

/** What many sessions together showed, for those of which less is known. */
export function priorFrom(rhythms: readonly Rhythm[]): Prior {
	let steps = 60;
	let questions = 60 * firstPrior.questionPerStep;
	let quietMs = 4 * 3_600_000;
	let wakes = quietMs * firstPrior.wakesPerMs;
	for (const { asked, quiet } of rhythms) {
		steps += asked.steps;
		questions += asked.questions;
		quietMs += quiet.ms;
		wakes += quiet.wakes;
	}
	return { ...firstPrior, questionPerStep: questions / steps, wakesPerMs: wakes / quietMs };
}

/** Whether a session in this state takes steps by itself. A status nobody knows is given the benefit of the doubt. */
function mayStep(digest: Pick<Digest, 'status' | 'question' | 'over'>): boolean {
	if (digest.over || digest.status === 'paused' || digest.status === 'inactive') return false;
	return digest.status !== 'humanInput' && !waits(digest);
}

/** Whether it waits for a person. */
function waits(digest: Pick<Digest, 'status' | 'question'>): boolean {
	return digest.status === 'humanInput' || (digest.question !== null && digest.question.open.length > 0);
}

/** The standard normal distribution function (Abramowitz and Stegun 26.2.17, error below 1e-7). */
function normalCdf(x: number): number {
	const t = 1 / (1 + 0.2316419 * Math.abs(x));
	const tail =
		Math.exp((-x * x) / 2) *
		0.3989422804014327 *
		t *
		(0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
	return x >= 0 ? 1 - tail : tail;
}

/** The chance that a session which may step and last did so `ageMs` ago still does. */
export function stillStepping(habits: Habits, ageMs: number): number {
	const survival = 1 - gapCdf(ageMs / habits.gapMs, habits.spread);
	const goesOn = (1 - STOP_AFTER_STEP) * survival;
	return goesOn / (goesOn + STOP_AFTER_STEP);
}

/** Distribution of a gap in units of the mean gap: log-normal. */
export function gapCdf(gap: number, spread: number): number {
	if (gap <= 0) return 0;
	return normalCdf((Math.log(gap) + (spread * spread) / 2) / spread);
}

/**
 * Takes a read in: `before` as the read at `previousAt` found it, `after` as the one at `readAt`. `asked` questions
 * were not there before.
 */
export function learn(
	rhythm: Rhythm,
	read: { before: Digest; after: Digest; previousAt: number; readAt: number; asked: number },
): Rhythm {
	const { before, after, previousAt, readAt } = read;
	const elapsed = Math.max(0, readAt - previousAt);
	const steps = Math.abs(after.assistantCount - before.assistantCount);
	const wasStepping = mayStep(before) && wasStillStepping(rhythm, previousAt);
	if (steps === 0) {
		const resumed = !mayStep(before) && mayStep(after);
		const woke = resumed && !waits(before);
		const quietMs = wasStepping || waits(before) ? 0 : elapsed;
		if (quietMs === 0 && !resumed) return rhythm;
		return {
			...rhythm,
			quiet: faded(rhythm.quiet, woke ? 1 : 0, quietMs),
			// From here the next step is as far away as after a step; had it been long ago, there would be one by now.
			...(resumed && { lastStep: [Math.max(previousAt, readAt - habitsOf(rhythm).gapMs), readAt] as const }),
		};
	}
	const lastStep = locate(rhythm, steps, previousAt, readAt, wasStepping);
	const asked = fadedAsked(rhythm.asked, read.asked, steps);
	if (!wasStepping) {
		const quiet = waits(before) ? rhythm.quiet : faded(rhythm.quiet, 1, elapsed / 2);
		return { ...rhythm, lastStep, asked, quiet };
	}
	const from = rhythm.lastStep === null ? previousAt : middle(rhythm.lastStep);
	const took = Math.max(0, middle(lastStep) - from);
	return {
		...rhythm,
		lastStep,
		asked,
		pace: fadedPace(rhythm.pace, steps, took),
		gaps: steps === 1 && rhythm.lastStep !== null ? measured(rhythm, rhythm.lastStep, lastStep) : rhythm.gaps,
	};
}

function wasStillStepping(rhythm: Rhythm, at: number): boolean {
	if (rhythm.lastStep === null) return true;
	return stillStepping(habitsOf(rhythm), at - middle(rhythm.lastStep)) > 0.2;
}

/** Where the newest of `steps` steps was: within the two reads, and where the rhythm has it if that is there. */
function locate(
	rhythm: Rhythm,
	steps: number,
	previousAt: number,
	readAt: number,
	wasStepping: boolean,
): readonly [number, number] {
	const { gapMs, spread } = habitsOf(rhythm);
	// The step after the newest one is missing, so the newest one is rarely older than a long gap.
	const after = Math.max(previousAt, readAt - gapMs * Math.exp(spread));
	if (!wasStepping || rhythm.lastStep === null) return [after, readAt];
	const expected = middle(rhythm.lastStep) + steps * gapMs;
	const reach = 1.5 * Math.sqrt(steps) * spread * gapMs + (rhythm.lastStep[1] - rhythm.lastStep[0]) / 2;
	const low = Math.max(after, expected - reach);
	const high = Math.min(readAt, expected + reach);
	return low < high ? [low, high] : [after, readAt];
}

/** Adds a gap when both its ends are known well enough for it to say something of the spread. */
function measured(
	rhythm: Rhythm,
	from: readonly [number, number],
	to: readonly [number, number],
): readonly [number, number, number] {
	const gap = middle(to) - middle(from);
	const blur = to[1] - to[0] + from[1] - from[0];
	if (gap <= 0 || blur > gap / 2) return rhythm.gaps;
	const keep = Math.min(1, (KEPT_GAPS - 1) / Math.max(1, rhythm.gaps[0]));
	const log = Math.log(gap);
	return [rhythm.gaps[0] * keep + 1, rhythm.gaps[1] * keep + log, rhythm.gaps[2] * keep + log * log];
}

export function middle([after, until]: readonly [number, number]): number {
	return (after + until) / 2;
}

function fadedPace(pace: Rhythm['pace'], steps: number, ms: number): Rhythm['pace'] {
	const keep = Math.min(1, KEPT_STEPS / (pace.steps + steps));
	return { steps: (pace.steps + steps) * keep, ms: (pace.ms + ms) * keep };
}

function fadedAsked(asked: Rhythm['asked'], questions: number, steps: number): Rhythm['asked'] {
	const keep = Math.min(1, KEPT_ASKED_STEPS / (asked.steps + steps));
	return { questions: (asked.questions + questions) * keep, steps: (asked.steps + steps) * keep };
}

function faded(quiet: Rhythm['quiet'], wakes: number, ms: number): Rhythm['quiet'] {
	const keep = Math.min(1, KEPT_QUIET_MS / Math.max(1, quiet.ms + ms));
	return { wakes: (quiet.wakes + wakes) * keep, ms: (quiet.ms + ms) * keep };
}
