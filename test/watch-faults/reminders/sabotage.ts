import type { Replacement } from '../../faults/source-copy.ts';
import { POST_SABOTAGES } from '../sabotage.ts';

/**
 * Ways to break the promises about reminders, to show that the run notices:
 * - `reminder-unsearched`: a reminder that may stand in Slack is posted again without a look and without a mark.
 * - `reminder-unstored`: a reminder is noted, and what to post is stored a second later.
 * - `reminder-unread`: whether the question is still open is not asked.
 * - `reminder-lease`: on PostgreSQL, nobody takes over the reads and posts of a dead process for a minute.
 */
export const REMINDER_SABOTAGES = {
	'reminder-unsearched': [...POST_SABOTAGES['post-unsearched']],
	'reminder-unstored': [
		{
			file: 'features/remind/reminders.ts',
			from: 'if ((await store.record(token, outcomes, { post, now })) === null) return;',
			to: `if ((await store.record(token, outcomes, { post: null, now })) === null) return;
		await clock.sleep(1_000);
		await store.record(token, [], { post, now });`,
		},
	],
	'reminder-unread': [
		{ file: 'features/remind/ladder.ts', from: "if (!facts.isOpen) return { kind: 'over' };", to: '' },
		{
			file: 'features/remind/posts.ts',
			from: 'how === null && asked.question.openCount > 0 && !isAnsweredSince(standing, checkedAt);',
			to: 'true;',
		},
		{ file: 'features/remind/posts.ts', from: 'outcome: outcomeWords(asked, how, context)', to: "outcome: ''" },
	],
	'reminder-lease': [
		{ file: 'posts/outbox.ts', from: 'const LEASE_MS = 25_000;', to: 'const LEASE_MS = 58_000;' },
		{ file: 'features/watch/poller.ts', from: 'const LEASE_MS = 21_000;', to: 'const LEASE_MS = 58_000;' },
	],
} as const satisfies Record<string, readonly Replacement[]>;

export function isReminderSabotage(name: string): name is keyof typeof REMINDER_SABOTAGES {
	return Object.hasOwn(REMINDER_SABOTAGES, name);
}
