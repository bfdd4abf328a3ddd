import { type DatabaseLook, newestSchema } from '../store/inspect.ts';
import type { PostgresLook } from '../store/inspect-postgres.ts';
import type { SqliteLook } from '../store/inspect-sqlite.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warning, failure } = findingsOf('Database');

/** The oldest major version that PostgreSQL's makers still mend (postgresql.org/support/versioning, 2026). */
const OLDEST_MAINTAINED = 14;

const UNREADABLE = {
	damaged: 'it is damaged. Stop Handraise and restore the file from a backup.',
	'no database': 'it is no SQLite database. Restore the file from a backup, or set DATA_DIR to another directory.',
	'not allowed': 'this user may not read it. Change its owner (chown).',
	unknown: 'SQLite cannot read it. See that its disk is well, or restore the file from a backup.',
} as const;

export function checkSqlite(look: SqliteLook): Finding[] {
	if (look.kind === 'absent') return [ok('SQLite; it will be made at the first start.')];
	if (look.kind === 'unreadable') return [failure(`DATA_DIR/handraise.db cannot be used: ${UNREADABLE[look.reason]}`)];
	if (look.kind === 'unsettled') {
		return [
			warning(
				'DATA_DIR/handraise.db-wal holds what was committed last, and cannot be read without being changed: is it a copy made while Handraise ran? Start Handraise, which takes it in, and run this again.',
			),
		];
	}
	const use = look.inUse ? 'in use by the running Handraise, which is fine' : 'not in use';
	return [schemaFinding(look, `SQLite ${use}`, look.inUse)];
}

export function checkPostgres(look: PostgresLook): Finding[] {
	if (look.kind === 'unreachable') return [failure(whyUnreachable(look.code))];
	if (look.readOnly) {
		return [failure('PostgreSQL is read only (a standby?): DATABASE_URL has to name the primary.')];
	}
	const isPending = look.schema === null || look.schema < newestSchema;
	if (isPending && !look.mayCreate) {
		return [failure("PostgreSQL: this user may make no tables: grant create on the schema to DATABASE_URL's user.")];
	}
	const found = [schemaFinding(look, `PostgreSQL ${look.version}`, false)];
	if (look.major < OLDEST_MAINTAINED)
		found.push(warning(`PostgreSQL ${look.version} is not mended any more: upgrade it.`));
	if (look.synced === 'never') {
		found.push(warning('PostgreSQL runs with fsync=off: a power cut can destroy all of it. Turn fsync on.'));
	} else if (look.synced === 'late') {
		found.push(
			warning(
				'PostgreSQL runs with synchronous_commit=off: a crash of it can lose answers that people were told are saved. Turn it on.',
			),
		);
	}
	return found;
}

function schemaFinding({ schema }: DatabaseLook, what: string, isRunning: boolean): Finding {
	if (schema === null) return ok(`${what}; empty, it will be set up at the first start.`);
	if (schema > newestSchema) {
		return failure(
			`${what}, at schema ${schema}, which a newer Handraise made; this one knows up to ${newestSchema}. Start the newer one, or restore the backup made before the upgrade.`,
		);
	}
	if (schema === newestSchema) return ok(`${what}, at schema ${schema}.`);
	const upgrade = `at schema ${schema}; the next start brings it to ${newestSchema}. Make a backup first`;
	return isRunning
		? warning(`${what}, but an older version of it is running: ${upgrade}, then restart.`)
		: ok(`${what}, ${upgrade}.`);
}

function whyUnreachable(code: string | null): string {
	switch (code) {
		case '28P01':
		case '28000':
			return `PostgreSQL refuses the user or the password (${code}): check both in DATABASE_URL; characters such as @ : / have to be percent-encoded there.`;
		case '3D000':
			return 'PostgreSQL has no such database (3D000): create it, or name the right one in DATABASE_URL.';
		case '42501':
			return "PostgreSQL: this user may not read Handraise's tables (42501): let DATABASE_URL name the user that owns them.";
		case '53300':
			return 'PostgreSQL has no connection left (53300): raise max_connections, or end other programs.';
		case '57P03':
			return 'PostgreSQL is starting up or shutting down (57P03): try again in a moment.';
		case 'ECONNREFUSED':
			return 'PostgreSQL cannot be reached: nothing listens at the host and port in DATABASE_URL (ECONNREFUSED). Start it, or correct the address.';
		case 'ENOTFOUND':
		case 'EAI_AGAIN':
			return `PostgreSQL cannot be reached: the host in DATABASE_URL is not known (${code}). Check the spelling and the DNS.`;
		case null:
			return 'PostgreSQL cannot be reached: no answer in time, or the connection was cut. Check the host, the firewall, and TLS (sslmode in DATABASE_URL).';
		default:
			return `PostgreSQL cannot be used (${code}): check DATABASE_URL and the server's log.`;
	}
}
