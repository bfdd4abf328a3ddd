import { randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { COLUMNS } from './tables.ts';

/** Keys of several columns. */
const KEYS: Readonly<Partial<Record<keyof typeof COLUMNS, readonly string[]>>> = {
	claims: ['primary key (service, session_id, message_index, team_id, user_id)'],
	watched_sessions: ['primary key (service, session_id)'],
	announcements: ['unique (target, unique_key)', 'unique (target, number)'],
	channel_settings: ['primary key (team_id, channel_id)'],
	snoozes: ['primary key (team_id, user_id, service, session_id)'],
	hand_overs: ['primary key (service, session_id, team_id)'],
	waiting_sessions: ['primary key (service, session_id)'],
	discoveries: ['primary key (team_id, channel_id)'],
};

const INDEXES = [
	// One live answer for a question, from any team, click or replica.
	`create unique index answers_one_live on answers (service, session_id, message_index)
		where state in ('accepted', 'delivering')`,
	// One replica at a time works on a session.
	`create unique index answers_one_lease on answers (service, session_id) where lease_token is not null`,
	`create index answers_ended on answers (ended_at) where content is not null`,
	`create index answers_undelivered on answers (accepted_at)
		where state in ('accepted', 'delivering', 'waiting')`,
	`create index answers_question on answers (service, session_id, message_index, accepted_at)`,
	`create index answers_state on answers (state)`,
	`create index answers_due on answers (service, next_attempt_at) where next_attempt_at is not null`,
	`create index answers_secret on answers (id) where secrets is not null`,
	`create index answers_person on answers (user_id, accepted_at)`,
	`create index drafts_question on drafts (service, session_id, message_index, team_id, user_id, updated_at)`,
	`create index drafts_updated on drafts (updated_at)`,
	`create index drafts_person on drafts (user_id, updated_at)`,
	`create index claims_until on claims (until)`,
	// One live watch for a session and a channel.
	`create unique index watches_one_live on watches (team_id, channel_id, service, session_id)
		where ended_at is null`,
	`create index watches_session on watches (service, session_id) where ended_at is null`,
	`create index watches_card on watches (card_urgency, card_since) where card_since is not null`,
	`create index watches_ended on watches (ended_at) where ended_at is not null`,
	`create index watches_of_session on watches (service, session_id)`,
	`create index watches_card_ts on watches (card_ts)`,
	`create index watched_sessions_due on watched_sessions (service, next_read_at) where next_read_at is not null`,
	`create index watched_sessions_asking on watched_sessions (service, question_since)
		where question_since is not null`,
	`create index announcements_due on announcements (next_attempt_at) where state = 'pending'`,
	`create index announcements_pending on announcements (target, number) where state = 'pending'`,
	`create index announcements_done on announcements (created_at) where state <> 'pending'`,
	`create index announcements_watch on announcements (watch_id)`,
	`create index announcements_posted on announcements (posted_ts)`,
	`create index announcements_handed_over on announcements (team_id, created_at) where kind = 'handedOver'`,
	`create index inboxes_due on inboxes (next_update_at) where next_update_at is not null`,
	`create index ladders_due on ladders (service, due_at) where due_at is not null`,
	`create index ladders_session on ladders (service, session_id)`,
	`create index ladders_channel on ladders (team_id, channel_id)`,
	`create index hand_overs_watch on hand_overs (watch_id)`,
];

/** Creates a table, unless there is one. The same for SQLite and PostgreSQL. */
export function createTable(table: keyof typeof COLUMNS) {
	const columns = Object.entries(COLUMNS[table]).map(([name, type]) => `${name} ${type}`);
	return sql.raw(`create table if not exists ${table} (${[...columns, ...(KEYS[table] ?? [])].join(', ')})`);
}

/**
 * All tables. Until version 1.0.0 a change of `COLUMNS`, `KEYS` or `INDEXES` raises the number; afterwards these statements
 * stay as they are in that version, and a change adds a migration.
 */
export const initialSchema = {
	number: 17,
	name: 'initial',
	async up(db: Kysely<unknown>): Promise<void> {
		for (const table of Object.keys(COLUMNS) as (keyof typeof COLUMNS)[]) await createTable(table).execute(db);
		for (const index of INDEXES) await sql.raw(index).execute(db);
		// The salt for a passphrase, for each database its own.
		await sql`insert into meta (name, value) values ('key_salt', ${randomBytes(16).toString('base64')})`.execute(db);
	},
};
