import type { Edit } from '../../edits/edit.ts';
import type { StoreKind } from '../../stores.ts';
import type { ReminderTimes } from './judge.ts';

/**
 * A reminder waits ten seconds for others of its channel, so the reminder comes before the escalation is due. With the usual
 * limit of requests, and 30 sessions, a session was often read more than ten seconds before its reminder, which asks for an
 * early read.
 */
export const REMINDER_ENV = {
	LOG_LEVEL: 'info',
	REMIND_AFTER: '2s',
	ESCALATE_AFTER: '14s',
	SESSION_SERVICE_RPM: '250',
	// The answers' texts tell whether they were posted.
	SHOW_ANSWERS: 'always',
} as const;

/** Longer than every lease. */
export const FREEZE_MS = 28_000;

/** The program's times with `REMINDER_ENV`. A single process on SQLite clears the leases of the one before. */
export function reminderTimes(kind: StoreKind): ReminderTimes {
	const leaseMs = kind === 'sqlite' ? 0 : 25_000;
	return { remindMs: 2_000, escalateMs: 14_000, togetherMs: 10_000, othersMs: 20_000, leaseMs };
}

/** For a run of seconds, with `SHORTER`. */
export const SHORT_REMINDER_ENV = { ...REMINDER_ENV, REMIND_AFTER: '1s', ESCALATE_AFTER: '4s' } as const;
export const SHORT_FREEZE_MS = 10_000;

export function shortReminderTimes(kind: StoreKind): ReminderTimes {
	const leaseMs = kind === 'sqlite' ? 0 : 8_000;
	return { remindMs: 1_000, escalateMs: 4_000, togetherMs: 2_000, othersMs: 2_000, leaseMs };
}

/** Shortens leases and waits in a copy of the program. */
export const SHORTER: readonly Edit[] = [
	{ file: 'features/remind/reminders.ts', constant: 'WAIT_FOR_OTHERS_MS', becomes: '2_000' },
	{ file: 'features/remind/ladder.ts', constant: 'TOGETHER_MS', becomes: '2_000' },
	{ file: 'features/remind/reminders.ts', constant: 'LEASE_MS', becomes: '8_000' },
	{ file: 'posts/outbox.ts', constant: 'LEASE_MS', becomes: '8_000' },
	{ file: 'features/watch/poller.ts', constant: 'LEASE_MS', becomes: '8_000' },
];
