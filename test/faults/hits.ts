import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../support/random.ts';
import type { Harness } from './harness.ts';
import type { StoredAnswer } from './stores.ts';

/** Stops the database and starts it again. */
export interface Outage {
	/** In every turn, instead of now and then. */
	readonly everyTurn?: boolean;
	/** Before the turn in which it stops. */
	prepare?(): Promise<void>;
	stop(): Promise<void>;
	start(): Promise<void>;
}

/** Calls `hit` in a moment of its kind. Resolves after the call. */
type Moment = (hit: () => void) => Promise<void>;

/** Whom a kill hit, and what was stored then. */
export interface Victims {
	readonly pids: readonly number[];
	/** No process was left. */
	readonly all: boolean;
	readonly stored: readonly StoredAnswer[];
}

export interface StrikeOptions<Target, Answer, Seen> {
	readonly harness: Harness;
	readonly random: Random;
	/** Stops the database instead of the program at every tenth strike, or in every turn. */
	readonly outage?: Outage | undefined;
	/** Every 15th strike freezes one of several replicas for this long instead: longer than its lease. */
	readonly freezeMs?: number | undefined;
	/** Every sixth strike cuts the connection to Slack instead: acknowledgements and replies on their way are lost. */
	readonly cuts?: true;
	/** Calls `hit` in a moment of this kind. */
	at(target: Target | 'any time', answers: readonly Answer[], hit: () => void): Promise<void>;
	/** Called at the moment of the kill: the service continues to respond afterwards. */
	look(answers: readonly Answer[]): Seen;
	/** In which phase the kill met an answer; null: it met nothing of it. */
	phaseOf(answer: Answer, seen: Seen, victims: Victims): string | null;
}

/** By then everything written to a socket before the kill has arrived. */
const IN_FLIGHT_MS = 60;
const LONGEST_OUTAGE_MS = 3_000;

/** Kills all running replicas; of several, in `oneShare` of cases, one. `onHit` runs at the same moment. */
export async function killAt(
	{ replicas }: Harness,
	{ at, oneShare, random, onHit = () => {} }: { at: Moment; oneShare: number; random: Random; onHit?: () => void },
): Promise<Omit<Victims, 'stored'>> {
	const running = replicas.filter((replica) => replica.running);
	const victims = running.length > 1 && random.chance(oneShare) ? [random.pick(running)] : running;
	const pids = victims.map((replica) => replica.pid);
	let gone: Promise<unknown> = Promise.resolve();
	await at(() => {
		gone = Promise.all(victims.map((replica) => replica.kill()));
		onHit();
	});
	await gone;
	return { pids, all: victims.length === running.length };
}

/** Kills, freezes, outages of the database and cuts, each at a moment while answers are on their way. */
export function createStrikes<Target, Answer extends { readonly hits: string[]; readonly troubles: string[] }, Seen>(
	options: StrikeOptions<Target, Answer, Seen>,
) {
	const { harness, random, outage, freezeMs } = options;
	const counts = { kills: 0, outages: 0, freezes: 0, cuts: 0 };
	let number = -1;
	// In turn, because a kill of one replica meets little: with kills drawn at random, a short run often meets nothing.
	let isOfOne = random.chance(0.5);

	async function kill(target: Target | 'any time', answers: readonly Answer[]): Promise<void> {
		let seen: Seen | undefined;
		const at: Moment = (hit) => options.at(target, answers, hit);
		const onHit = () => {
			seen = options.look(answers);
		};
		const victims = await killAt(harness, { at, oneShare: Number(isOfOne), random, onHit });
		isOfOne = !isOfOne;
		counts.kills++;
		await pause(IN_FLIGHT_MS);
		const stored = await harness.store.stored();
		for (const answer of answers) {
			const phase = options.phaseOf(answer, seen as Seen, { ...victims, stored });
			if (phase !== null) answer.hits.push(phase);
		}
		if (random.chance(0.3)) await pause(random.whole(0, 500));
		await harness.startAll();
	}

	/** One replica freezes during its work, and continues after others have taken that work over. */
	async function freeze(at: Moment, ms: number): Promise<void> {
		const victim = random.pick(harness.replicas);
		await at(() => victim.freeze());
		await pause(ms);
		victim.thaw();
	}

	async function stopDatabase(at: Moment, database: Outage): Promise<void> {
		let gone: Promise<unknown> = Promise.resolve();
		await at(() => {
			gone = database.stop();
		});
		await gone;
		await pause(random.whole(200, LONGEST_OUTAGE_MS));
		await database.start();
		await harness.store.watchCommits();
	}

	return {
		counts: counts as Readonly<typeof counts>,
		/** Begins the next turn. Resolves with what it does to its answers at a moment, until the program runs normally again. */
		async next(): Promise<{ isOutage: boolean; strike(target: Target, answers: readonly Answer[]): Promise<void> }> {
			number++;
			const isOutage = outage !== undefined && (outage.everyTurn === true || number % 10 === 9);
			if (isOutage) await outage.prepare?.();
			const turn = number;
			async function strike(target: Target, answers: readonly Answer[]): Promise<void> {
				const at: Moment = (hit) => options.at(target, answers, hit);
				const note = (trouble: string) => {
					for (const { troubles } of answers) troubles.push(trouble);
				};
				if (isOutage) {
					counts.outages++;
					await stopDatabase(at, outage);
					note('the database was stopped and started');
				} else if (freezeMs !== undefined && turn % 15 === 7) {
					counts.freezes++;
					await freeze(at, freezeMs);
					note('a replica stood still');
				} else if (options.cuts === true && turn % 6 === 5) {
					counts.cuts++;
					await at(() => harness.slack.sockets.drop('all'));
					note('the connection to Slack was cut');
				} else {
					await kill(target, answers);
					// Crashes come in series too: this one meets the work after the first restart.
					if (random.chance(0.25)) await kill('any time', answers);
				}
			}
			return { isOutage, strike };
		},
	};
}
