import { LIMITS } from '../../src/limits.ts';

type AllLimits = typeof LIMITS;
/** Constants of the program that a test or a benchmark has otherwise. */
export type Limits = { readonly [Of in keyof AllLimits]?: Partial<AllLimits[Of]> };

const MANY = 100_000;
/**
 * Tests and benchmarks act faster than people, and one of their people watches everything. Tests of the limits set
 * their own.
 */
const NO_LIMITS = {
	personReads: { burst: MANY, perMinute: MANY },
	watches: { person: MANY, channel: MANY },
} satisfies Limits;
const MAX_WATCHES = { MAX_WATCHES: String(MANY) };

/** For a program in this process: its constants, and its environment. */
export const ownLimits = (own: Limits = {}) => ({
	limits: {
		pool: { ...LIMITS.pool, ...own.pool },
		personReads: { ...NO_LIMITS.personReads, ...own.personReads },
		watches: { ...NO_LIMITS.watches, ...own.watches },
	},
	env: MAX_WATCHES,
});

/** The environment of a program in a process of its own, of this version or a former one, that has these constants. */
const limitsEnv = (limits: Limits): Record<string, string> => ({
	...MAX_WATCHES,
	NODE_OPTIONS: `--import=${new URL('limits-preload.ts', import.meta.url).href}`,
	LIMITS_OF_TEST: JSON.stringify(limits),
});
export const NO_LIMITS_ENV = limitsEnv(NO_LIMITS);
/** Only the watches of one person and one channel have no limit. */
export const NO_WATCH_LIMITS_ENV = limitsEnv({ watches: NO_LIMITS.watches });
