import type { Replacement } from '../../faults/source-copy.ts';
import type { StoreKind } from '../../faults/stores.ts';
import type { RungTimes } from './judge.ts';

/**
 * A rung waits ten seconds for others of its channel, so the reminder comes before the escalation is due. Few enough reads
 * that a session was often read more than ten seconds before its rung, which asks for an early read.
 */
export const RUNG_ENV = {
	LOG_LEVEL: 'info',
	REMIND_AFTER: '2s',
	ESCALATE_AFTER: '14s',
	SESSION_SERVICE_RPM: '150',
	// The answers' texts tell whether they were posted.
	SHOW_ANSWERS: 'always',
} as const;

/** Longer than every lease. */
export const FREEZE_MS = 28_000;

/** The program's times with `RUNG_ENV`. A single process on SQLite clears the leases of the one before. */
export function rungTimes(kind: StoreKind): RungTimes {
	return { remindMs: 2_000, escalateMs: 14_000, togetherMs: 10_000, leaseMs: kind === 'sqlite' ? 0 : 25_000 };
}

/** Shorter leases and waits in a copy of the program, for a run of seconds. */
export const SHORT_TIMES: readonly Replacement[] = [
	{ file: 'inbox/ladder.ts', from: 'TOGETHER_MS = 10_000;', to: 'TOGETHER_MS = 2_000;' },
	{ file: 'inbox/reminders.ts', from: 'const LEASE_MS = 25_000;', to: 'const LEASE_MS = 8_000;' },
	{ file: 'watches/posting.ts', from: 'POST_LEASE_MS = 25_000;', to: 'POST_LEASE_MS = 8_000;' },
	{ file: 'watches/poller.ts', from: 'const LEASE_MS = 21_000;', to: 'const LEASE_MS = 8_000;' },
];
