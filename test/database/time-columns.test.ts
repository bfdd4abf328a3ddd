import { expect, it } from 'vitest';
import { DELAYS } from '../../src/database/store-clock.ts';
import { COLUMNS } from '../../src/database/tables.ts';
import { LONGEST_SNOOZE_MS } from '../../src/features/inbox/snooze.ts';
import { LONGEST_INTERVAL_MS } from '../../src/features/watch/schedule.ts';

/** When something happened: never ahead. A new column with a time has to be added here or to `DELAYS`. */
const NOTED: Readonly<Record<string, string>> = {
	migrations: 'applied_at',
	answers: 'accepted_at put_started_at delivered_at ended_at restart_asked_at',
	drafts: 'updated_at',
	claims: 'claimed_at',
	watches: 'created_at last_change_at ended_at',
	watched_sessions: 'last_read_at last_change_at touched_at over_since',
	questions: 'asked_at settled_at reworded_at handed_over_at given_back_at',
	posts: 'created_at shown_at',
	inboxes: 'opened_at built_at',
	ladders: 'posted_at reminded_at last_reminder_at waiting_since few_since',
	channel_settings: 'changed_at',
	waiting_sessions: 'since lowered_at gone_at',
	discoveries: 'created_at',
	service_outages: 'down_since',
	shared_states: 'changed_at',
};

it('knows of each column with a time how far ahead it may lie', () => {
	const found = Object.entries(COLUMNS).flatMap(([table, columns]) =>
		Object.entries(columns)
			.filter(([name, type]) => type.startsWith('bigint') || name.endsWith('_at'))
			.map(([name]) => `${table}.${name}`),
	);
	const ahead = Object.entries(DELAYS).flatMap(([table, rules]) =>
		Object.keys(rules).map((name) => `${table}.${name}`),
	);
	const noted = Object.entries(NOTED).flatMap(([table, names]) => names.split(' ').map((name) => `${table}.${name}`));
	expect([...ahead, ...noted].sort()).toEqual(found.sort());
});

it('takes no legal delay for one of a wrong clock', () => {
	expect(DELAYS.snoozes?.until?.longestMs).toBe(LONGEST_SNOOZE_MS);
	expect(DELAYS.watched_sessions?.next_read_at?.longestMs).toBe(LONGEST_INTERVAL_MS);
});
