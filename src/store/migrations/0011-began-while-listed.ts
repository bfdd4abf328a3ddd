import type { Migration } from '../migrate.ts';

/** Whether a session that waits began to do so while lists were asked for, and when it was first missing in a list. */
export const beganWhileListed: Migration = {
	number: 11,
	name: 'began while listed',
	async up({ schema }) {
		await schema
			.alterTable('waiting_sessions')
			.addColumn('is_new', 'integer', (column) => column.notNull().defaultTo(0))
			.execute();
		await schema.alterTable('waiting_sessions').addColumn('gone_at', 'bigint').execute();
	},
};
