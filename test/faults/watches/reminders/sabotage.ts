import type { Edit } from '../../edits/edit.ts';
import { POST_SABOTAGES } from '../sabotage.ts';

/**
 * Ways to break the promises about reminders, to show that the run notices:
 * - `reminder-unsearched`: a reminder that may stand in Slack is posted again without a look and without a mark.
 * - `reminder-unstored`: a reminder is noted, and what to post is stored some seconds later: long enough for a kill between
 *   them, not so long that the reminder is late by itself.
 * - `reminder-unread`: whether the question is still open is not asked.
 * - `reminder-lease`: on PostgreSQL, nobody takes over the reads and posts of a dead process for a minute.
 */
export const REMINDER_SABOTAGES = {
	'reminder-unsearched': POST_SABOTAGES['post-unsearched'],
	'reminder-unstored': [
		{
			file: 'surfaces/reminders.ts',
			in: 'work',
			call: 'record',
			becomes: `(async () => {
				const noted = await $callee($1, $2, { ...$3, posts: [] });
				if (noted === null) return null;
				await clock.sleep(6_000);
				return $callee($1, [], $3);
			})()`,
		},
	],
	'reminder-unread': [
		{ file: 'surfaces/reminders.ts', in: 'decide', if: 'isOpen', becomes: 'false' },
		{ file: 'screens/reminder-posts.ts', in: 'asked', property: 'isOpen', becomes: 'true' },
		{ file: 'screens/reminder-posts.ts', in: 'asked', property: 'outcome', becomes: "''" },
	],
	'reminder-lease': [
		{ file: 'kernel/lease-loop.ts', constant: 'LEASE_MS', becomes: '58_000' },
		{ file: 'kernel/lease-loop.ts', constant: 'RENEWED_LEASE_MS', becomes: '58_000' },
	],
} as const satisfies Record<string, readonly Edit[]>;
