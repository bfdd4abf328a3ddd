/**
 * Tests and benchmarks act faster than people, and one of their people watches everything. Tests of the limits set
 * their own.
 */
export const NO_LIMITS_ENV = {
	PERSON_BURST: '100000',
	PERSON_READS_PER_MINUTE: '100000',
	MAX_WATCHES_PER_PERSON: '100000',
	MAX_WATCHES_PER_CHANNEL: '100000',
	MAX_WATCHES: '100000',
} as const;
