import type { Migration } from '../migrate.ts';

/** Drafts of forms, and claims of who is answering. */
export const draftsAndClaims: Migration = {
	number: 2,
	name: 'drafts-and-claims',
	async up(db) {
		await db.schema
			.createTable('drafts')
			.addColumn('form_id', 'text', (column) => column.primaryKey())
			.addColumn('team_id', 'text', (column) => column.notNull())
			.addColumn('user_id', 'text', (column) => column.notNull())
			.addColumn('service', 'text', (column) => column.notNull())
			.addColumn('session_id', 'text', (column) => column.notNull())
			.addColumn('message_index', 'integer', (column) => column.notNull())
			.addColumn('fingerprint', 'text', (column) => column.notNull())
			.addColumn('content', 'text', (column) => column.notNull())
			.addColumn('updated_at', 'bigint', (column) => column.notNull())
			.execute();
		await db.schema
			.createIndex('drafts_question')
			.on('drafts')
			.columns(['service', 'session_id', 'message_index', 'team_id', 'user_id', 'updated_at'])
			.execute();
		await db.schema.createIndex('drafts_updated').on('drafts').column('updated_at').execute();

		await db.schema
			.createTable('claims')
			.addColumn('service', 'text', (column) => column.notNull())
			.addColumn('session_id', 'text', (column) => column.notNull())
			.addColumn('message_index', 'integer', (column) => column.notNull())
			.addColumn('team_id', 'text', (column) => column.notNull())
			.addColumn('user_id', 'text', (column) => column.notNull())
			.addColumn('claimed_at', 'bigint', (column) => column.notNull())
			.addColumn('until', 'bigint', (column) => column.notNull())
			.addPrimaryKeyConstraint('claims_pk', ['service', 'session_id', 'message_index', 'team_id', 'user_id'])
			.execute();
		await db.schema.createIndex('claims_until').on('claims').column('until').execute();
	},
};
