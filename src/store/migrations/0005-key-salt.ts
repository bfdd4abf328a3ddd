import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/**
 * Gives a database without a key its own salt for passphrases; others keep the former salt. Adds an index of answers that
 * hold secrets.
 */
export const keySalt: Migration = {
	number: 5,
	name: 'key-salt',
	async up(db) {
		await sql`insert into meta (name, value) select 'key_salt', ${randomBytes(16).toString('base64')}
			where not exists (select 1 from meta where name = 'key_check')`.execute(db);
		await sql`create index answers_secret on answers (id) where secrets is not null`.execute(db);
	},
};
