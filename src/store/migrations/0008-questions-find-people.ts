import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** Settings of watches, since when a question is open, what a post shows, and the inboxes that people have open. */
export const questionsFindPeople: Migration = {
	number: 8,
	name: 'questions-find-people',
	async up(db) {
		const { schema } = db;
		await schema
			.alterTable('watches')
			.addColumn('discreet', 'integer', (column) => column.notNull().defaultTo(0))
			.execute();
		await schema
			.alterTable('watches')
			.addColumn('buttons', 'integer', (column) => column.notNull().defaultTo(1))
			.execute();
		// Null for the questions that are open now, until their next read: their age is not known.
		await schema.alterTable('watched_sessions').addColumn('question_since', 'bigint').execute();
		await sql`create index watched_sessions_asking on watched_sessions (service, question_since)
			where question_since is not null`.execute(db);
		await schema.alterTable('announcements').addColumn('shown_key', 'text').execute();
		await sql`create index answers_person on answers (user_id, accepted_at)`.execute(db);
		await sql`create index drafts_person on drafts (user_id, updated_at)`.execute(db);
		await schema
			.createTable('inboxes')
			.addColumn('id', 'text', (column) => column.primaryKey())
			.addColumn('team_id', 'text', (column) => column.notNull())
			.addColumn('user_id', 'text', (column) => column.notNull())
			.addColumn('view_id', 'text')
			.addColumn('page', 'integer', (column) => column.notNull())
			.addColumn('opened_at', 'bigint', (column) => column.notNull())
			.addColumn('asked_count', 'integer', (column) => column.notNull())
			.addColumn('change_count', 'integer', (column) => column.notNull())
			.addColumn('next_update_at', 'bigint')
			.addColumn('shown_count', 'integer', (column) => column.notNull().defaultTo(0))
			.addColumn('shown_key', 'text')
			.addColumn('built_at', 'bigint')
			.addColumn('lease_token', 'text')
			.addColumn('leased_until', 'bigint')
			.execute();
		await sql`create index inboxes_due on inboxes (next_update_at) where next_update_at is not null`.execute(db);
	},
};
