import type { Arena } from './arena.ts';

export interface Outcome {
	/** What was done and its result, in figures. */
	readonly did: string;
	/** Broken promises of this scenario alone, in words. */
	readonly broken: readonly string[];
}

/** One attack, and the limits that apply during it. */
export interface Scenario {
	readonly name: string;
	readonly transport: 'http' | 'socket';
	/** How much longer another person may wait than at worst without the attack, in ms. */
	readonly feltMs: number;
	/** How much resident memory may grow, in MiB. */
	readonly growthMiB: number;
	/**
	 * How often somebody opens a session during the attack, in ms; 500 by default. Each costs one of the service's
	 * requests.
	 */
	readonly openEveryMs?: number;
	readonly env?: Readonly<Record<string, string>>;
	/** Resolves when it is over. */
	attack(arena: Arena): Promise<Outcome>;
}

/** The text, unless the promise holds. */
export function unless(holds: boolean, words: string): readonly string[] {
	return holds ? [] : [words];
}
