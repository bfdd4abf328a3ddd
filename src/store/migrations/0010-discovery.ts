import type { Migration } from '../migrate.ts';

/** The sessions that wait for a person, and the channels into which all of them are brought. */
export const discovery: Migration = {
	number: 10,
	name: 'discovery',
	async up({ schema }) {
		await schema
			.createTable('waiting_sessions')
			.addColumn('service', 'text', (column) => column.notNull())
			.addColumn('session_id', 'text', (column) => column.notNull())
			.addColumn('name', 'text', (column) => column.notNull())
			.addColumn('since', 'bigint', (column) => column.notNull())
			.addColumn('lowered_at', 'bigint')
			.addColumn('lowered_count', 'integer', (column) => column.notNull().defaultTo(0))
			.addPrimaryKeyConstraint('waiting_sessions_key', ['service', 'session_id'])
			.execute();
		await schema
			.createTable('discoveries')
			.addColumn('team_id', 'text', (column) => column.notNull())
			.addColumn('channel_id', 'text', (column) => column.notNull())
			.addColumn('service', 'text', (column) => column.notNull())
			.addColumn('discreet', 'integer', (column) => column.notNull())
			.addColumn('buttons', 'integer', (column) => column.notNull())
			.addColumn('created_by', 'text', (column) => column.notNull())
			.addColumn('created_at', 'bigint', (column) => column.notNull())
			.addPrimaryKeyConstraint('discoveries_key', ['team_id', 'channel_id'])
			.execute();
	},
};
