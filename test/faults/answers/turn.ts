import type { Random } from '../../support/random.ts';
import type { Harness } from '../harness.ts';
import { VIEWS_PER_ANSWER } from '../rates.ts';
import type { StoreKind } from '../stores.ts';
import { until } from '../until.ts';
import { beginRound, type Round, type RoundOptions, submit } from './round.ts';

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
	/** Something is wrong that is about no single answer. */
	report(what: string): void;
}

/** A fault for the answers of one turn. */
export interface FaultKind {
	readonly stores: readonly StoreKind[];
	/** Resolves with the number of answers that met it, when the program runs normally again. */
	run(turn: Turn): Promise<number>;
}

const LOOK_EVERY_MS = 250;

/** The turns of one run. Rounds are numbered across all of them. `onRound`: for everybody who has begun to answer. */
export function createTurns(
	harness: Harness,
	{ random, onRound, report }: Pick<Turn, 'random' | 'report'> & { readonly onRound: (round: Round) => void },
) {
	let last = -1;

	async function quiet(withinMs: number, forMs = 0): Promise<void> {
		let since = Date.now();
		const isQuiet = async () => {
			if ((await harness.store.unfinished()) !== 0) since = Date.now() + 1;
			return Date.now() - since >= forMs;
		};
		await until(isQuiet, withinMs, LOOK_EVERY_MS);
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
					const round = await beginRound(harness, {
						...options,
						number: ++last,
						prefix: `f${harness.store.kind.charAt(0)}`,
						person: harness.people[people++ % harness.people.length] ?? '',
					});
					onRound(round);
					return round;
				},
				beginAll: (count, options) => Promise.all(Array.from({ length: count }, () => turn.begin(options))),
				press: (round, presses) => submit(harness, round, presses === undefined ? {} : { presses }),
				quiet,
				report,
				room: (answers) => harness.rates.roomFor(answers * VIEWS_PER_ANSWER),
			};
			return turn;
		},
	};
}
