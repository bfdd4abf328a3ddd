import type { Arena } from './arena.ts';

export interface Outcome {
	/** What was done and what became of it, in figures. */
	readonly did: string;
	/** Promises of this scenario alone that did not hold, in words. */
	readonly broken: readonly string[];
}

/** One attack, and what must hold meanwhile. */
export interface Scenario {
	readonly name: string;
	readonly transport: 'http' | 'socket';
	/** The worst that another person may feel beyond the worst without the attack, in ms. */
	readonly feltMs: number;
	/** How much resident memory may grow, in MiB. */
	readonly growthMiB: number;
	/** How often somebody opens a session meanwhile, in ms; 500 unless told. Each takes one of the service's requests. */
	readonly openEveryMs?: number;
	readonly env?: Readonly<Record<string, string>>;
	/** Resolves when it is over. */
	attack(arena: Arena): Promise<Outcome>;
}

/** The words, unless the promise holds. */
export function unless(holds: boolean, words: string): readonly string[] {
	return holds ? [] : [words];
}
