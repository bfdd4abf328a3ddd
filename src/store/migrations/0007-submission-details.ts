import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

const LEASED = ['answers', 'watches', 'watched_sessions', 'announcements'];
const MOVED = ['view_id', 'origin_channel', 'origin_thread', 'form_read_at', 'positions', 'left_empty'];

/**
 * Moves the columns that no query filters by into one JSON column. Renames the lease column, so that a process of the
 * former version fails to take answers that it cannot read.
 */
export const submissionDetails: Migration = {
	number: 7,
	name: 'submission-details',
	async up(db, dialect) {
		for (const table of LEASED) {
			await db.schema.alterTable(table).renameColumn('lease_until', 'leased_until').execute();
		}
		await db.schema
			.alterTable('answers')
			.addColumn('submission', 'text', (column) => column.notNull().defaultTo(''))
			.execute();
		await (dialect === 'sqlite'
			? sql`update answers set submission = json_object('viewId', view_id,
				'origin', json_object('channelId', origin_channel, 'threadTs', origin_thread),
				'formReadAt', form_read_at, 'positions', json(positions), 'leftEmpty', json(left_empty))`
			: sql`update answers set submission = json_build_object('viewId', view_id,
				'origin', json_build_object('channelId', origin_channel, 'threadTs', origin_thread),
				'formReadAt', form_read_at, 'positions', positions::json, 'leftEmpty', left_empty::json)::text`
		).execute(db);
		for (const column of MOVED) await db.schema.alterTable('answers').dropColumn(column).execute();
	},
};
