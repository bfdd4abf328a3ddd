import pg from 'pg';
import { type DatabaseLook, KEY_QUERY, keyFactsIn, SCHEMA_QUERY } from './inspect.ts';

export type PostgresLook =
	| ({
			readonly kind: 'database';
			/** As the server says it: `18.4`. */
			readonly version: string;
			readonly major: number;
			/** A standby, or a server or role that is set to read only. */
			readonly readOnly: boolean;
			/** Whether tables may be made: migrations do. */
			readonly mayCreate: boolean;
			/** What may be lost in a power cut although it was committed: everything, the last moments, or nothing. */
			readonly synced: 'never' | 'late' | 'always';
	  } & DatabaseLook)
	/** `code`: an SQLSTATE, or the system's code of a connection that failed. */
	| { readonly kind: 'unreachable'; readonly code: string | null };

const FACTS = `
	select current_setting('server_version') as version,
		current_setting('server_version_num')::int / 10000 as major,
		pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as read_only,
		coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) as may_create,
		current_setting('fsync') as fsync,
		current_setting('synchronous_commit') as synchronous_commit,
		to_regclass('migrations') is not null as has_migrations,
		to_regclass('meta') is not null as has_meta`;

/** Looks at the database in one read-only transaction. Never throws. */
export async function inspectPostgres(databaseUrl: string): Promise<PostgresLook> {
	try {
		const client = new pg.Client({
			connectionString: databaseUrl,
			application_name: 'handraise doctor',
			connectionTimeoutMillis: 5_000,
			query_timeout: 5_000,
		});
		// Emitted outside of any call when the connection breaks; without a listener it would end the process.
		client.on('error', () => {});
		try {
			await client.connect();
			return await look(client);
		} finally {
			await client.end().catch(() => {});
		}
	} catch (error) {
		const code = (error as { code?: unknown } | null)?.code;
		return { kind: 'unreachable', code: typeof code === 'string' ? code : null };
	}
}

async function look(client: pg.Client): Promise<PostgresLook> {
	await client.query('begin read only');
	const facts = (await client.query(FACTS)).rows[0];
	const schema = facts.has_migrations ? (await client.query(SCHEMA_QUERY)).rows[0]?.number : null;
	const keyRows = facts.has_meta ? (await client.query(KEY_QUERY)).rows : [];
	await client.query('rollback');
	return {
		kind: 'database',
		version: String(facts.version).split(' ')[0] ?? '',
		major: facts.major,
		readOnly: facts.read_only,
		mayCreate: facts.may_create,
		synced: facts.fsync !== 'on' ? 'never' : facts.synchronous_commit === 'off' ? 'late' : 'always',
		schema: typeof schema === 'number' ? schema : null,
		...keyFactsIn(keyRows),
	};
}
