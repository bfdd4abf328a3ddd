import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** An index for how many questions somebody hands over and gets. */
export const handOversCounted: Migration = {
	number: 13,
	name: 'hand-overs-counted',
	async up(db) {
		const rows = sql`announcements (team_id, created_at) where kind = 'handedOver'`;
		await sql`create index announcements_handed_over on ${rows}`.execute(db);
	},
};
