import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/**
 * Leases become random tokens, new each time, so that clearing one revokes it. Answers get columns about failures of the
 * service. Work is taken for each address of the service.
 */
export const leaseTokens: Migration = {
	number: 4,
	name: 'lease-tokens',
	async up(db) {
		for (const table of ['answers', 'watches', 'watched_sessions', 'announcements']) {
			await db.schema.alterTable(table).renameColumn('lease_owner', 'lease_token').execute();
			// Processes of the former version cannot use these leases any more: their columns are gone.
			await sql`update ${sql.table(table)} set lease_token = null, lease_until = null
				where lease_token is not null`.execute(db);
		}
		await db.schema.alterTable('answers').dropColumn('lease_revoked').execute();
		await db.schema
			.alterTable('answers')
			.addColumn('edit_count', 'integer', (column) => column.notNull().defaultTo(0))
			.execute();
		await db.schema.alterTable('answers').addColumn('not_before', 'bigint').execute();
		await db.schema
			.alterTable('answers')
			.addColumn('missing_count', 'integer', (column) => column.notNull().defaultTo(0))
			.execute();
		await db.schema
			.alterTable('answers')
			.addColumn('start_failed', 'integer', (column) => column.notNull().defaultTo(0))
			.execute();
		await db.schema.alterTable('answers').addColumn('restart_asked_at', 'bigint').execute();
		await sql`drop index answers_due`.execute(db);
		await sql`create index answers_due on answers (service, next_attempt_at) where next_attempt_at is not null`.execute(
			db,
		);
		// Answers that were given up with an unknown outcome are checked again, unless there is a newer answer.
		await sql`update answers set state = 'delivering', next_attempt_at = give_up_at
			where state = 'waiting' and put_started_at is not null and not exists (
				select 1 from answers as other
				where other.service = answers.service and other.session_id = answers.session_id
					and other.message_index = answers.message_index and other.id <> answers.id
					and other.state in ('accepted', 'delivering', 'waiting')
			)`.execute(db);
	},
};
