import type { Edit } from '../../edits/edit.ts';

// The answers' texts tell whether they were posted. With the usual limit of requests, and 30 sessions, a session was often
// read more than ten seconds before its reminder, which asks for an early read.
const ENV = { LOG_LEVEL: 'info', SESSION_SERVICE_RPM: '250', SHOW_ANSWERS: 'always' } as const;

/** The only time, in milliseconds, that a channel's settings offer for *Escalate after*. */
function escalatesAfter(ms: string): Edit {
	return { file: 'screens/settings-fields.ts', constant: 'TIMES_MS', becomes: `[${ms}]` };
}

/**
 * The program's settings, its times with them on PostgreSQL, and a freeze that is longer than every lease. A reminder waits ten
 * seconds for others of its channel, so the reminder comes before the escalation is due.
 */
export const USUAL = {
	env: { ...ENV, REMIND_AFTER: '2s' },
	edits: [escalatesAfter('14_000')],
	times: { remindMs: 2_000, escalateMs: 14_000, togetherMs: 10_000, othersMs: 60_000, leaseMs: 25_000 },
	freezeMs: 28_000,
} as const;

/** For a run of seconds, with `SHORTER`. */
export const SHORT = {
	env: { ...ENV, REMIND_AFTER: '1s' },
	times: { remindMs: 1_000, escalateMs: 4_000, togetherMs: 2_000, othersMs: 2_000, leaseMs: 8_000 },
	freezeMs: 10_000,
} as const;

/** Shortens leases, waits and escalations in a copy of the program. */
export const SHORTER: readonly Edit[] = [
	escalatesAfter('4_000'),
	{ file: 'surfaces/reminders.ts', constant: 'WAIT_FOR_READS_MS', becomes: '2_000' },
	{ file: 'surfaces/reminders.ts', constant: 'TOGETHER_MS', becomes: '2_000' },
	{ file: 'kernel/lease-loop.ts', constant: 'LEASE_MS', becomes: '8_000' },
	{ file: 'kernel/lease-loop.ts', constant: 'RENEWED_LEASE_MS', becomes: '8_000' },
];
