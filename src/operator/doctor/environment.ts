import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { proxySettings, type SettingsReading } from '../../config.ts';
import type { DatabaseLook, PostgresLook } from '../../store/inspect.ts';
import { OWN_SCHEMA, refuseSchema } from '../../store/migrate.ts';
import type { Findings, Setup } from './check.ts';

type SettingsFound = Pick<SettingsReading, 'problems'> & Partial<Pick<SettingsReading, 'unknown' | 'removed'>>;

export function checkSettings(findings: Findings, { problems, unknown = [], removed = [] }: SettingsFound) {
	for (const problem of problems) findings.failure(`${problem}.`);
	for (const name of unknown) {
		findings.warning(
			`${name} is not a setting of Handraise and is not read: is it misspelt? docs/configuration.md lists all.`,
		);
	}
	for (const { setting, instead } of removed)
		findings.warning(`${setting} is no setting any more: ${instead}. Remove it.`);
	return findings.okIfNone('complete and well-formed.');
}

/** Only names the proxy: the checks of Slack and the service find out whether it works. */
export function checkProxy({ all, warning, skipped }: Findings, { settings }: Pick<SettingsReading, 'settings'>) {
	const proxy = proxySettings(settings);
	if (proxy !== null) skipped(`${proxy.hosts} is used, except for hosts in NO_PROXY. The checks below go through it.`);
	if (proxy?.noProxy.includes('/'))
		warning('NO_PROXY takes no ranges such as 10.0.0.0/8: name each host, or a domain such as .example.com.');
	return all;
}

/** In bytes. The database of a busy team stays below this. */
const MIN_FREE_BYTES = 200 * 1_048_576;

/** Whether DATA_DIR can hold SQLite's file and the key. Creates nothing: for a missing directory, checks the parent. */
export function checkDataDir({ warning, failure, okIfNone }: Findings, { need }: Setup) {
	if (need('DATABASE_URL') !== null) return;
	const directory = resolve(need('DATA_DIR'));
	const existing = nearestExisting(directory);
	if (!statSync(existing).isDirectory()) return failure(`${existing} is a file: set DATA_DIR to a directory.`);
	if (!mayUse(existing, constants.W_OK | constants.X_OK))
		return failure(
			`${existing} cannot be written by this user: change its owner (chown), or set DATA_DIR to another directory.`,
		);
	const ours = ['handraise.db', 'handraise.lock', 'encryption.key'].map((name) => join(directory, name));
	const closed = ours.filter((path) => existsSync(path) && !mayUse(path, constants.R_OK | constants.W_OK));
	if (closed.length > 0)
		return failure(
			`${closed.join(', ')} cannot be read and written by this user: change the owner (chown). Was Handraise ` +
				'started as another user?',
		);
	const { bavail, bsize } = statfsSync(existing);
	if (bavail * bsize < MIN_FREE_BYTES)
		warning(
			`only ${Math.floor((bavail * bsize) / 1_048_576)} MB are free on the disk of ${directory}: make room. With ` +
				'a full disk, answers are refused.',
		);
	return okIfNone(directory === existing ? `${directory} can be written.` : `the first start creates ${directory}.`);
}

function mayUse(path: string, mode: number): boolean {
	try {
		accessSync(path, mode);
		return true;
	} catch {
		return false;
	}
}

function nearestExisting(path: string): string {
	return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

/** The oldest major version that the PostgreSQL project maintains (postgresql.org/support/versioning, 2026). */
const OLDEST_MAINTAINED = 14;

const UNREADABLE = {
	damaged: 'it is damaged. Stop Handraise and restore the file from a backup.',
	'no database': 'it is not a SQLite database. Restore the file from a backup, or set DATA_DIR to another directory.',
	'not allowed': 'this user may not read it. Change its owner (chown).',
	unknown: 'SQLite cannot read it. Check its disk, or restore the file from a backup.',
} as const;

export async function checkDatabase(findings: Findings, { database, bot }: Setup) {
	const { ok, warning, failure } = findings;
	const look = await database;
	switch (look.kind) {
		case 'absent':
			return ok('SQLite; the first start creates it.');
		case 'unreadable':
			return failure(`DATA_DIR/handraise.db cannot be used: ${UNREADABLE[look.reason]}`);
		case 'unsettled':
			return warning(
				'DATA_DIR/handraise.db-wal holds the last commits and cannot be read without a change to it. It may be a ' +
					'copy made while Handraise ran. Start Handraise, which applies it, and run this again.',
			);
		case 'forbidden':
			return failure(
				`PostgreSQL: this user lacks ${look.forbidden.join(', ')}: grant it (docs/operations.md, PostgreSQL).`,
			);
		case 'unreachable':
			if (look.tls !== null) return failure(`PostgreSQL cannot be reached: ${look.tls}.`);
			return failure((UNREACHABLE[look.code ?? ''] ?? UNUSABLE).replace('CODE', look.code ?? ''));
	}
	const use = look.inUse ? 'in use by the running Handraise, which is fine' : 'not in use';
	if ('synced' in look) checkPostgres(findings, look);
	else checkSchema(findings, look, `SQLite ${use}`);
	const teamId = (await bot)?.team_id;
	const others = look.workspaces.filter((workspace) => typeof teamId === 'string' && workspace.teamId !== teamId);
	if (others.length > 0) {
		const counts = others.map((other) => `${other.count} of ${other.teamId}`).join(', ');
		warning(
			`it has watches, posts and answers of another workspace than ${teamId} (${counts}), which are left alone: ` +
				'is SLACK_BOT_TOKEN that of the right workspace?',
		);
	}
}

export function checkPostgres(findings: Findings, look: Extract<PostgresLook, { kind: 'database' }>) {
	const { ok, warning, failure } = findings;
	if (look.readOnly) return failure('PostgreSQL is read only (a standby?): DATABASE_URL must name the primary.');
	const isUsable = refuseSchema(look.schema) === null;
	if (isUsable && look.schema !== OWN_SCHEMA && !look.mayMigrate) {
		const grant = look.schema === null ? ', or grant create on the schema' : '';
		return failure(
			'PostgreSQL: this user may not create or change tables: let their owner do it (npm run migrate with its ' +
				`DATABASE_URL)${grant}.`,
		);
	}
	checkSchema(findings, look, `PostgreSQL ${look.version}`);
	const { verdict, words } = CONNECTIONS[look.protection];
	if (look.protection !== 'none' || !look.isLocal) findings[verdict](`the connection to PostgreSQL is ${words}`);
	if (look.isolation !== 'read committed')
		ok(`transactions of this database are ${look.isolation} by default; Handraise makes its own read committed.`);
	if (look.major < OLDEST_MAINTAINED) warning(`PostgreSQL ${look.version} is not maintained any more: upgrade it.`);
	if (look.synced === 'never') {
		warning('PostgreSQL runs with fsync=off: a power cut can destroy all of it. Turn fsync on.');
	} else if (look.synced === 'late') {
		warning('PostgreSQL runs with synchronous_commit=off: a crash of PostgreSQL can lose saved answers. Turn it on.');
	}
	if (look.isAhead)
		warning(
			'another server copies this PostgreSQL, and no commit waits for it: a failover can lose saved answers. Set ' +
				'synchronous_standby_names.',
		);
}

const CONNECTIONS = {
	none: {
		verdict: 'warning',
		words: 'not encrypted, and leaves this machine: add sslmode=verify-full and sslrootcert=<file> to DATABASE_URL.',
	},
	unverified: {
		verdict: 'warning',
		words:
			'encrypted, but nothing proves which server answers: add sslmode=verify-full and sslrootcert=<file> to ' +
			'DATABASE_URL.',
	},
	'verify-ca': { verdict: 'ok', words: 'encrypted, to a server of the authority in sslrootcert (any host name).' },
	'verify-full': { verdict: 'ok', words: 'encrypted, and the server and its host name are verified.' },
} as const;

function checkSchema({ ok, failure }: Findings, { schema }: DatabaseLook, what: string) {
	if (schema === null) return ok(`${what}; empty, the first start sets it up.`);
	const refusal = refuseSchema(schema);
	if (refusal !== null) return failure(`${what}. ${refusal.message}`);
	if (schema === OWN_SCHEMA) return ok(`${what}, at schema ${schema}.`);
	return ok(
		`${what}, at schema ${schema}. The first start migrates it to schema ${OWN_SCHEMA}, which the former version ` +
			'cannot use: make a backup first.',
	);
}

const WRONG_PASSWORD =
	'PostgreSQL refuses the user or the password (CODE): check both in DATABASE_URL; characters such as @ : / must ' +
	'be percent-encoded there.';
const UNKNOWN_HOST =
	'PostgreSQL cannot be reached: the host in DATABASE_URL is not known (CODE). Check the spelling and the DNS.';
const UNREACHABLE: Readonly<Record<string, string>> = {
	'28P01': WRONG_PASSWORD,
	'28000':
		'PostgreSQL lets this user not in from here (CODE): pg_hba.conf has no line for it, or asks for TLS (sslmode ' +
		'in DATABASE_URL) or a client certificate.',
	'08P01':
		'A connection pooler refuses the connection (CODE): see ignore_startup_parameters in docs/operations.md, ' +
		'PostgreSQL, and its log.',
	'3D000': 'PostgreSQL has no such database (CODE): create it, or name the right one in DATABASE_URL.',
	'42501':
		'PostgreSQL refuses this user a right (CODE): grant connect on the database, and see docs/operations.md, ' +
		'PostgreSQL.',
	'53300': 'PostgreSQL has no connection left (CODE): raise max_connections, or end other programs.',
	'57P03': 'PostgreSQL is starting up or shutting down (CODE): try again in a moment.',
	ECONNREFUSED:
		'PostgreSQL cannot be reached: nothing listens at the host and port in DATABASE_URL (CODE). Start it, or ' +
		'correct the address.',
	ENOTFOUND: UNKNOWN_HOST,
	EAI_AGAIN: UNKNOWN_HOST,
	'':
		'PostgreSQL cannot be reached: no answer in time, or the connection was cut. Check the host, the firewall, and ' +
		'TLS (sslmode in DATABASE_URL).',
};
const UNUSABLE = "PostgreSQL cannot be used (CODE): check DATABASE_URL and the server's log.";
