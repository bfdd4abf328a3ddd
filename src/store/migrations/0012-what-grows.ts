import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** Since when the rungs of a channel wait for each other, and indexes for what grows. */
export const whatGrows: Migration = {
	number: 12,
	name: 'what-grows',
	async up(db) {
		await db.schema.alterTable('ladders').addColumn('waiting_since', 'bigint').execute();
		await db.schema.alterTable('ladders').addColumn('few_since', 'bigint').execute();
		await sql`create index announcements_watch on announcements (watch_id)`.execute(db);
		await sql`create index announcements_posted on announcements (posted_ts)`.execute(db);
		await sql`create index watches_of_session on watches (service, session_id)`.execute(db);
		await sql`create index watches_card_ts on watches (card_ts)`.execute(db);
	},
};
