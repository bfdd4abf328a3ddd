import { expect, it } from 'vitest';
import { DELAYS } from '../../src/database/store-clock.ts';
import { COLUMNS } from '../../src/database/tables.ts';
import { LONGEST_SNOOZE_MS } from '../../src/features/inbox/snooze.ts';
import { LONGEST_INTERVAL_MS } from '../../src/features/watch/schedule.ts';

/** When something happened: never ahead. A new column with a time has to be added here or to `DELAYS`. */
const NOTED: Readonly<Record<string, string>> = {
	migrations: 'appliedAt',
	answers: 'acceptedAt putStartedAt deliveredAt endedAt restartAskedAt missingSince dismissedAt',
	drafts: 'updatedAt',
	claims: 'claimedAt',
	windows: 'touchedAt',
	watches: 'createdAt lastChangeAt endedAt',
	watched_sessions: 'lastReadAt lastChangeAt touchedAt overSince',
	questions: 'askedAt settledAt rewordedAt handedOverAt givenBackAt',
	posts: 'createdAt shownAt',
	inboxes: 'openedAt builtAt',
	ladders: 'postedAt remindedAt lastReminderAt waitingSince fewSince',
	channel_settings: 'changedAt',
	waiting_sessions: 'since loweredAt goneAt',
	discoveries: 'createdAt',
	service_outages: 'downSince',
	shared_states: 'changedAt',
};

it('knows of each column with a time how far ahead it may lie', () => {
	const found = Object.entries(COLUMNS).flatMap(([table, columns]) =>
		Object.entries(columns)
			.filter(([name, type]) => type.startsWith('bigint') || name.endsWith('At'))
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
	expect(DELAYS.watched_sessions?.nextReadAt?.longestMs).toBe(LONGEST_INTERVAL_MS);
});
