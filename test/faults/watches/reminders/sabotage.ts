import type { Edit } from '../../edits/edit.ts';
import { POST_SABOTAGES } from '../sabotage.ts';

/**
 * Ways to break the promises about reminders, to show that the run notices:
 * - `reminder-unsearched`: a reminder that may stand in Slack is posted again without a look and without a mark.
 * - `reminder-unstored`: a reminder that was to be posted counts as posted, and that begins some seconds after its note: long
 *   enough for a kill between them, not so long that the reminder is late by itself.
 * - `reminder-unread`: the session is not read before, so whether the question is still open is not asked.
 * - `reminder-lease`: on PostgreSQL, nobody takes over the reads and posts of a dead process for a minute.
 */
export const REMINDER_SABOTAGES = {
	'reminder-unsearched': POST_SABOTAGES['post-unsearched'],
	'reminder-unstored': [
		{
			file: 'surfaces/outbox.ts',
			in: 'ready',
			call: 'find',
			becomes: "post.content.kind === 'reminder' ? { kind: 'found', ts: '1.0' } : $call",
		},
		{
			file: 'surfaces/outbox.ts',
			in: 'callNow',
			call: 'call',
			becomes: `(async () => {
				if (post.ts === null && post.content.kind === 'reminder') await clock.sleep(6_000);
				return $call;
			})()`,
		},
	],
	'reminder-unread': [
		{ file: 'surfaces/reminders.ts', in: 'decide', if: 'readAt', becomes: 'false' },
		{ file: 'screens/reminder-posts.ts', in: 'asked', property: 'isOpen', becomes: 'true' },
		{ file: 'screens/reminder-posts.ts', in: 'asked', property: 'outcome', becomes: "''" },
	],
	'reminder-lease': [
		{ file: 'kernel/lease-loop.ts', constant: 'LEASE_MS', becomes: '58_000' },
		{ file: 'kernel/lease-loop.ts', constant: 'RENEWED_LEASE_MS', becomes: '58_000' },
	],
} as const satisfies Record<string, readonly Edit[]>;
