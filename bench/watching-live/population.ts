import { z } from 'zod';
import type { Random } from '../../test/support/random.ts';

const range = z.tuple([z.number().positive(), z.number().positive()]);

/** One kind of session. Durations in seconds. The shares of all kinds are scaled to a sum of 1. */
const kindSchema = z.object({
	name: z.string().min(1),
	share: z.number().positive(),
	/** Each session's own mean gap between steps, drawn log-uniformly from this range. */
	gapSeconds: range,
	/** Each session's own spread: standard deviation of the logarithm of its gaps, drawn from this range. */
	gapSpread: z.tuple([z.number().min(0), z.number().min(0)]),
	/** The chance that a step asks a question; the agent then waits for its answer. */
	questionPerStep: z.number().min(0).max(1),
	/** Mean time until it is answered (exponential, at least 30 s). */
	answerSeconds: z.number().positive(),
	/** Works in bursts of this mean number of steps, with this mean quiet time between them; null: always works. */
	bursts: z.object({ steps: z.number().positive(), quietSeconds: z.number().positive() }).nullable(),
});

export const populationSchema = z.object({
	name: z.string().min(1),
	kinds: z.array(kindSchema).min(1),
	/** At this interval, this share of the quiet sessions begins a burst within ten seconds; null: never. */
	together: z.object({ everySeconds: z.number().positive(), share: z.number().min(0).max(1) }).nullable(),
});
export type Population = z.infer<typeof populationSchema>;
export type Kind = z.infer<typeof kindSchema>;

/**
 * A team that keeps its agents in a channel: 10 % work all the time, 90 % are quiet and resume sometimes, and every 20
 * minutes some of these resume together. About four of five questions come from the sessions that work all the time.
 */
export const defaultPopulation: Population = {
	name: 'one in ten at work',
	kinds: [
		{
			name: 'at work',
			share: 0.1,
			gapSeconds: [3, 20],
			gapSpread: [0.15, 0.5],
			questionPerStep: 1 / 60,
			answerSeconds: 90,
			bursts: null,
		},
		{
			name: 'quiet',
			share: 0.9,
			gapSeconds: [3, 20],
			gapSpread: [0.15, 0.5],
			questionPerStep: 1 / 60,
			answerSeconds: 90,
			bursts: { steps: 12, quietSeconds: 3 * 3600 },
		},
	],
	together: { everySeconds: 1200, share: 0.01 },
};

/** What one simulated session does, independent of reads. Times in ms from the start, ascending. */
export interface Script {
	readonly kind: Kind;
	readonly gapMs: number;
	readonly spread: number;
	readonly steps: Float64Array;
	/** Index of the step that asks → when it is answered. */
	readonly questions: ReadonlyMap<number, number>;
	/** Intervals in which its status is `active` or waiting; `paused` otherwise. */
	readonly awake: readonly (readonly [from: number, until: number])[];
}

export function writeScripts(population: Population, count: number, lengthMs: number, random: Random): Script[] {
	const total = population.kinds.reduce((sum, kind) => sum + kind.share, 0);
	const kinds: Kind[] = [];
	let owed = 0;
	for (const kind of population.kinds) {
		owed += (kind.share / total) * count;
		while (kinds.length < Math.round(owed)) kinds.push(kind);
	}
	const alarms: number[] = [];
	if (population.together !== null) {
		const every = population.together.everySeconds * 1000;
		for (let at = every; at < lengthMs; at += every) alarms.push(at);
	}
	const joins = population.together?.share ?? 0;
	return kinds.map((kind) => writeScript(kind, lengthMs, { alarms, joins }, random.fork()));
}

/** `joins` is the share of the alarms at which it wakes with the others. */
function writeScript(
	kind: Kind,
	lengthMs: number,
	{ alarms, joins }: { alarms: readonly number[]; joins: number },
	random: Random,
): Script {
	const [low, high] = kind.gapSeconds;
	const gapMs = 1000 * Math.exp(random.between(Math.log(low), Math.log(high)));
	const spread = random.between(kind.gapSpread[0], kind.gapSpread[1]);
	const steps: number[] = [];
	const questions = new Map<number, number>();
	const awake: [number, number][] = [];
	const wakesTogether = alarms.filter(() => random.uniform() < joins).map((at) => at + random.between(0, 10_000));
	let at = kind.bursts === null ? random.between(0, gapMs) : nextWake(0);
	function nextWake(from: number): number {
		const own = from + random.exponential((kind.bursts?.quietSeconds ?? 0) * 1000);
		return Math.min(own, wakesTogether.find((time) => time > from) ?? own);
	}
	while (at < lengthMs) {
		const from = at;
		const last = kind.bursts === null ? Number.POSITIVE_INFINITY : 1 + random.exponential(kind.bursts.steps - 1);
		for (let step = 0; step < last && at < lengthMs; step += 1) {
			at += random.logNormal(gapMs, spread);
			steps.push(at);
			if (random.uniform() >= kind.questionPerStep) continue;
			const answeredAt = at + 30_000 + random.exponential(Math.max(1, kind.answerSeconds - 30) * 1000);
			questions.set(steps.length - 1, answeredAt);
			at = answeredAt;
		}
		awake.push([from, at]);
		at = nextWake(at);
	}
	return { kind, gapMs, spread, steps: Float64Array.from(steps), questions, awake };
}
