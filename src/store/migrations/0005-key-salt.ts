import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/**
 * A salt of its own for the key that a passphrase becomes, where no key was used yet: elsewhere the former one stays.
 * Answers that hold secrets are found without reading all of them.
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
