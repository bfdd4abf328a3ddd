import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** The answers, whose rows are queue entries and audit trail, and facts about the database. */
export const answers: Migration = {
	number: 1,
	name: 'answers',
	async up(db) {
		await db.schema
			.createTable('meta')
			.addColumn('name', 'text', (column) => column.primaryKey())
			.addColumn('value', 'text', (column) => column.notNull())
			.execute();

		await db.schema
			.createTable('answers')
			.addColumn('id', 'text', (column) => column.primaryKey())
			.addColumn('submission_key', 'text', (column) => column.notNull().unique())
			.addColumn('view_id', 'text', (column) => column.notNull())
			.addColumn('team_id', 'text', (column) => column.notNull())
			.addColumn('user_id', 'text', (column) => column.notNull())
			.addColumn('service', 'text', (column) => column.notNull())
			.addColumn('session_id', 'text', (column) => column.notNull())
			.addColumn('message_index', 'integer', (column) => column.notNull())
			.addColumn('fingerprint', 'text', (column) => column.notNull())
			.addColumn('content', 'text')
			.addColumn('secrets', 'text')
			.addColumn('other', 'text')
			.addColumn('positions', 'text', (column) => column.notNull())
			.addColumn('left_empty', 'text', (column) => column.notNull())
			.addColumn('origin_channel', 'text')
			.addColumn('origin_thread', 'text')
			.addColumn('state', 'text', (column) => column.notNull())
			.addColumn('attempts', 'integer', (column) => column.notNull())
			.addColumn('form_read_at', 'bigint', (column) => column.notNull())
			.addColumn('accepted_at', 'bigint', (column) => column.notNull())
			.addColumn('give_up_at', 'bigint', (column) => column.notNull())
			.addColumn('next_attempt_at', 'bigint')
			.addColumn('put_started_at', 'bigint')
			.addColumn('before_put', 'text')
			.addColumn('delivered_at', 'bigint')
			.addColumn('aftermath', 'text')
			.addColumn('ended_at', 'bigint')
			.addColumn('last_error', 'text')
			.addColumn('timeline', 'text', (column) => column.notNull())
			.addColumn('told', 'text', (column) => column.notNull())
			.addColumn('lease_owner', 'text')
			.addColumn('lease_until', 'bigint')
			.addColumn('lease_revoked', 'integer', (column) => column.notNull())
			.execute();

		// One live answer for a question, from any team, click or replica.
		await sql`create unique index answers_one_live on answers (service, session_id, message_index)
			where state in ('accepted', 'delivering')`.execute(db);
		// One replica at a time works on a session.
		await sql`create unique index answers_one_lease on answers (service, session_id)
			where lease_owner is not null`.execute(db);
		await sql`create index answers_due on answers (next_attempt_at) where next_attempt_at is not null`.execute(db);
		await sql`create index answers_ended on answers (ended_at) where content is not null`.execute(db);
		await sql`create index answers_undelivered on answers (accepted_at)
			where state in ('accepted', 'delivering', 'waiting')`.execute(db);
		await db.schema
			.createIndex('answers_question')
			.on('answers')
			.columns(['service', 'session_id', 'message_index', 'accepted_at'])
			.execute();
		await db.schema.createIndex('answers_state').on('answers').column('state').execute();
	},
};
