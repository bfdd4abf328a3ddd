import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** Watches, watched sessions, announcements, outages, and the rates and budgets that replicas share. */
export const watches: Migration = {
	number: 3,
	name: 'watches',
	async up(db) {
		await db.schema
			.createTable('watches')
			.addColumn('id', 'text', (column) => column.primaryKey())
			.addColumn('team_id', 'text', (column) => column.notNull())
			.addColumn('channel_id', 'text', (column) => column.notNull())
			.addColumn('service', 'text', (column) => column.notNull())
			.addColumn('session_id', 'text', (column) => column.notNull())
			.addColumn('mode', 'text', (column) => column.notNull())
			.addColumn('questions_in_channel', 'integer', (column) => column.notNull())
			.addColumn('created_by', 'text', (column) => column.notNull())
			.addColumn('created_at', 'bigint', (column) => column.notNull())
			.addColumn('digest', 'text')
			.addColumn('revision', 'integer', (column) => column.notNull())
			.addColumn('last_change_at', 'bigint', (column) => column.notNull())
			.addColumn('ended_reason', 'text')
			.addColumn('ended_at', 'bigint')
			.addColumn('card_ts', 'text')
			.addColumn('card_key', 'text')
			.addColumn('card_shown_at', 'bigint')
			.addColumn('card_urgency', 'integer')
			.addColumn('card_since', 'bigint')
			.addColumn('card_wants', 'integer', (column) => column.notNull())
			.addColumn('card_not_before', 'bigint', (column) => column.notNull())
			.addColumn('lease_owner', 'text')
			.addColumn('lease_until', 'bigint')
			.execute();
		// One live watch for a session and a channel.
		await sql`create unique index watches_one_live on watches (team_id, channel_id, service, session_id)
			where ended_at is null`.execute(db);
		await sql`create index watches_session on watches (service, session_id) where ended_at is null`.execute(db);
		await sql`create index watches_card on watches (card_urgency, card_since) where card_since is not null`.execute(db);
		await sql`create index watches_ended on watches (ended_at) where ended_at is not null`.execute(db);

		await db.schema
			.createTable('watched_sessions')
			.addColumn('service', 'text', (column) => column.notNull())
			.addColumn('session_id', 'text', (column) => column.notNull())
			.addColumn('rhythm', 'text', (column) => column.notNull())
			.addColumn('digest', 'text')
			.addColumn('view', 'text')
			.addColumn('next_read_at', 'bigint')
			.addColumn('read_by', 'bigint', (column) => column.notNull())
			.addColumn('last_read_at', 'bigint')
			.addColumn('last_change_at', 'bigint')
			.addColumn('touched_at', 'bigint')
			.addColumn('failures', 'integer', (column) => column.notNull())
			.addColumn('last_error', 'text')
			.addColumn('over_since', 'bigint')
			.addColumn('hurry', 'integer', (column) => column.notNull())
			.addColumn('lease_owner', 'text')
			.addColumn('lease_until', 'bigint')
			.addPrimaryKeyConstraint('watched_sessions_key', ['service', 'session_id'])
			.execute();
		await sql`create index watched_sessions_due on watched_sessions (service, next_read_at)
			where next_read_at is not null`.execute(db);

		await db.schema
			.createTable('announcements')
			.addColumn('id', 'text', (column) => column.primaryKey())
			.addColumn('target', 'text', (column) => column.notNull())
			.addColumn('number', 'integer', (column) => column.notNull())
			.addColumn('unique_key', 'text', (column) => column.notNull())
			.addColumn('team_id', 'text', (column) => column.notNull())
			.addColumn('place_id', 'text', (column) => column.notNull())
			.addColumn('watch_id', 'text')
			.addColumn('kind', 'text', (column) => column.notNull())
			.addColumn('content', 'text', (column) => column.notNull())
			.addColumn('state', 'text', (column) => column.notNull())
			.addColumn('created_at', 'bigint', (column) => column.notNull())
			.addColumn('attempts', 'integer', (column) => column.notNull())
			.addColumn('next_attempt_at', 'bigint')
			.addColumn('sending_since', 'bigint')
			.addColumn('posted_ts', 'text')
			.addColumn('last_error', 'text')
			.addColumn('lease_owner', 'text')
			.addColumn('lease_until', 'bigint')
			.addUniqueConstraint('announcements_once', ['target', 'unique_key'])
			.addUniqueConstraint('announcements_order', ['target', 'number'])
			.execute();
		await sql`create index announcements_due on announcements (next_attempt_at) where state = 'pending'`.execute(db);
		await sql`create index announcements_pending on announcements (target, number) where state = 'pending'`.execute(db);
		await sql`create index announcements_done on announcements (created_at) where state <> 'pending'`.execute(db);

		await db.schema
			.createTable('service_outages')
			.addColumn('service', 'text', (column) => column.primaryKey())
			.addColumn('down_since', 'bigint')
			.execute();

		await db.schema
			.createTable('paces')
			.addColumn('name', 'text', (column) => column.primaryKey())
			.addColumn('due', 'bigint', (column) => column.notNull())
			.addColumn('paused_until', 'bigint', (column) => column.notNull())
			.execute();

		await db.schema
			.createTable('request_budgets')
			.addColumn('service', 'text', (column) => column.primaryKey())
			.addColumn('state', 'text', (column) => column.notNull())
			.execute();
	},
};
