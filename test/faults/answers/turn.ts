import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../support/random.ts';
import type { Harness } from '../harness.ts';
import { VIEWS_PER_ANSWER } from '../rates.ts';
import type { StoreKind } from '../stores.ts';
import { type Round, type RoundOptions, submit } from './round.ts';

/** A part of the run in which several answers meet the same thing. */
export interface Turn {
	readonly harness: Harness;
	readonly random: Random;
	/** How many answers it is about. */
	readonly size: number;
	/** Somebody opens a form and types. The round is judged from then on. */
	begin(options?: Omit<RoundOptions, 'number' | 'prefix' | 'person'>): Promise<Round>;
	/** That many rounds at once. */
	beginAll(count: number, options?: Omit<RoundOptions, 'number' | 'prefix' | 'person'>): Promise<Round[]>;
	/** Presses Submit until the answer is taken or the form is gone. */
	press(round: Round, presses?: number): Promise<void>;
	/** Waits until no answer has work left, at most this long; with `forMs`, for that long without a break. */
	quiet(withinMs: number, forMs?: number): Promise<void>;
	/** Waits until Slack's rates leave room for the calls of that many answers: for faults with a time limit. */
	room(answers: number): Promise<void>;
}

/** A fault for the answers of one turn. */
export interface FaultKind {
	readonly stores: readonly StoreKind[];
	/** Resolves with the number of answers that met it, when the program runs normally again. */
	run(turn: Turn): Promise<number>;
}

export interface TurnsOptions {
	readonly harness: Harness;
	readonly random: Random;
	/** Everybody who has begun to answer. */
	readonly onRound: (round: Round) => void;
	beginRound(options: RoundOptions): Promise<Round>;
}

/** The turns of one run. Rounds are numbered across all of them. */
export function createTurns({ harness, random, onRound, beginRound }: TurnsOptions) {
	let last = -1;

	async function quiet(withinMs: number, forMs = 0): Promise<void> {
		const until = Date.now() + withinMs;
		let since = Date.now();
		while (Date.now() < until) {
			if ((await harness.store.unfinished()) !== 0) since = Date.now() + 1;
			else if (Date.now() - since >= forMs) return;
			await pause(100);
		}
	}

	return {
		quiet,
		next(size: number): Turn {
			let people = 0;
			const turn: Turn = {
				harness,
				random,
				size,
				async begin(options = {}) {
					const round = await beginRound({
						...options,
						number: ++last,
						prefix: `f${harness.store.kind.charAt(0)}`,
						person: harness.people[people++ % harness.people.length] ?? '',
					});
					onRound(round);
					return round;
				},
				beginAll: (count, options) => Promise.all(Array.from({ length: count }, () => turn.begin(options))),
				press: (round, presses) =>
					submit(harness, round, {
						twice: false,
						edit: () => null,
						...(presses === undefined ? {} : { presses }),
					}),
				quiet,
				room: (answers) => harness.rates.roomFor(answers * VIEWS_PER_ANSWER),
			};
			return turn;
		},
	};
}
