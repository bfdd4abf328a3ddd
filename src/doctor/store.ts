import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { HandraiseError } from '../errors.ts';
import {
	createCipher,
	type KeySetting,
	keyFileIn,
	keyOf,
	parseEncryptionKey,
	readKeySetting,
} from '../store/encryption.ts';
import {
	type DatabaseLook,
	keyFits,
	NEW_DATABASE,
	OWN_SCHEMA,
	type PostgresLook,
	refuseSchema,
} from '../store/inspect.ts';
import { type Findings, notChecked, type Setup } from './check.ts';

/** Bytes. The database of a busy team stays below this. */
const MIN_FREE_BYTES = 200 * 1_048_576;

/** File systems that are no local disk, by the type that statfs(2) tells on Linux (src/stat.c of GNU coreutils). */
export const FILE_SYSTEMS = [
	{
		// nfs, smb, cifs, smb2, 9p, afs, ceph, lustre, gpfs, ocfs2, gfs2, beegfs
		types: [
			0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x5346414f, 0x00c36400, 0x0bd00bd0, 0x47504653, 0x7461636f,
			0x01161970, 0x19830326,
		],
		verdict: 'failure',
		words: 'on a network file system, whose locks and syncs SQLite cannot rely on: use a local disk, or DATABASE_URL.',
	},
	{
		types: [0x65735546],
		verdict: 'warning',
		words:
			'on FUSE: if the files are elsewhere (sshfs, s3fs), SQLite cannot rely on it: use a local disk, or DATABASE_URL.',
	},
	{
		// tmpfs, ramfs
		types: [0x01021994, 0x858458f6],
		verdict: 'warning',
		words: 'in memory: a restart of the machine loses all answers. Use a disk.',
	},
	{
		// overlay, aufs
		types: [0x794c7630, 0x61756673],
		verdict: 'warning',
		words: 'in the container itself and is lost with it: mount a volume there.',
	},
] as const;

/** Whether DATA_DIR can hold SQLite's file and the key. Creates nothing: of a missing directory, the parent is checked. */
export function checkDataDir(findings: Findings, { need }: Setup) {
	if (need('DATABASE_URL') !== undefined) return;
	const { warning, failure, okIfNone } = findings;
	const directory = resolve(need('DATA_DIR'));
	const existing = nearestExisting(directory);
	if (!statSync(existing).isDirectory()) return failure(`${existing} is a file: set DATA_DIR to a directory.`);
	try {
		accessSync(existing, constants.W_OK | constants.X_OK);
	} catch {
		return failure(
			`${existing} cannot be written by this user: change its owner (chown), or set DATA_DIR to another directory.`,
		);
	}
	const closed = OUR_FILES.map((name) => join(directory, name)).filter((path) => existsSync(path) && !isOurs(path));
	if (closed.length > 0) {
		return failure(
			`${closed.join(', ')} cannot be read and written by this user: change the owner (chown). Was Handraise started as another user?`,
		);
	}
	const { type, bavail, bsize } = statfsSync(existing);
	const known = FILE_SYSTEMS.find(({ types }) => types.some((one) => one === type));
	if (known !== undefined) findings[known.verdict](`${directory} is ${known.words}`);
	if (bavail * bsize < MIN_FREE_BYTES) {
		warning(
			`only ${Math.floor((bavail * bsize) / 1_048_576)} MB are free on the disk of ${directory}: make room. With a full disk, answers are refused.`,
		);
	}
	return okIfNone(directory === existing ? `${directory} can be written.` : `the first start creates ${directory}.`);
}

const OUR_FILES = ['handraise.db', 'handraise.lock', 'encryption.key'];

function isOurs(path: string): boolean {
	try {
		accessSync(path, constants.R_OK | constants.W_OK);
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
				'DATA_DIR/handraise.db-wal holds the last commits and cannot be read without a change to it. It may be a copy made while Handraise ran. Start Handraise, which applies it, and run this again.',
			);
		case 'unreachable':
			return failure((UNREACHABLE[look.code ?? ''] ?? UNUSABLE).replace('CODE', look.code ?? ''));
	}
	if ('synced' in look) checkPostgres(findings, look);
	else
		checkSchema(
			findings,
			look,
			`SQLite ${look.inUse ? 'in use by the running Handraise, which is fine' : 'not in use'}`,
		);
	const teamId = (await bot)?.team_id;
	const others = look.workspaces.filter((workspace) => typeof teamId === 'string' && workspace.teamId !== teamId);
	if (others.length > 0) {
		const counts = others.map((other) => `${other.count} of ${other.teamId}`).join(', ');
		warning(
			`it has watches, posts and answers of another workspace than ${teamId} (${counts}), which are left alone: is SLACK_BOT_TOKEN that of the right workspace?`,
		);
	}
}

export function checkPostgres(findings: Findings, look: Extract<PostgresLook, { kind: 'database' }>) {
	const { warning, failure } = findings;
	if (look.readOnly) return failure('PostgreSQL is read only (a standby?): DATABASE_URL must name the primary.');
	if (look.schema !== OWN_SCHEMA && !look.mayCreate) {
		return failure("PostgreSQL: this user may not create tables: grant create on the schema to DATABASE_URL's user.");
	}
	checkSchema(findings, look, `PostgreSQL ${look.version}`);
	if (look.major < OLDEST_MAINTAINED) warning(`PostgreSQL ${look.version} is not maintained any more: upgrade it.`);
	if (look.synced === 'never') {
		warning('PostgreSQL runs with fsync=off: a power cut can destroy all of it. Turn fsync on.');
	} else if (look.synced === 'late') {
		warning('PostgreSQL runs with synchronous_commit=off: a crash of PostgreSQL can lose saved answers. Turn it on.');
	}
}

function checkSchema({ ok, failure }: Findings, { schema }: DatabaseLook, what: string) {
	if (schema === null) return ok(`${what}; empty, the first start sets it up.`);
	const refusal = refuseSchema(schema);
	if (refusal !== null) return failure(`${what}. ${refusal.message}`);
	if (schema === OWN_SCHEMA) return ok(`${what}, at schema ${schema}.`);
	return ok(
		`${what}, at schema ${schema}; the next start brings it to ${OWN_SCHEMA}. Stop all replicas and make a backup first.`,
	);
}

const WRONG_PASSWORD =
	'PostgreSQL refuses the user or the password (CODE): check both in DATABASE_URL; characters such as @ : / must be percent-encoded there.';
const UNKNOWN_HOST =
	'PostgreSQL cannot be reached: the host in DATABASE_URL is not known (CODE). Check the spelling and the DNS.';
const UNREACHABLE: Readonly<Record<string, string>> = {
	'28P01': WRONG_PASSWORD,
	'28000': WRONG_PASSWORD,
	'3D000': 'PostgreSQL has no such database (CODE): create it, or name the right one in DATABASE_URL.',
	'42501':
		"PostgreSQL: this user may not read Handraise's tables (CODE): let DATABASE_URL name the user that owns them.",
	'53300': 'PostgreSQL has no connection left (CODE): raise max_connections, or end other programs.',
	'57P03': 'PostgreSQL is starting up or shutting down (CODE): try again in a moment.',
	ECONNREFUSED:
		'PostgreSQL cannot be reached: nothing listens at the host and port in DATABASE_URL (CODE). Start it, or correct the address.',
	ENOTFOUND: UNKNOWN_HOST,
	EAI_AGAIN: UNKNOWN_HOST,
	'': 'PostgreSQL cannot be reached: no answer in time, or the connection was cut. Check the host, the firewall, and TLS (sslmode in DATABASE_URL).',
};
const UNUSABLE = "PostgreSQL cannot be used (CODE): check DATABASE_URL and the server's log.";

export async function checkKey(findings: Findings, { need, settings, database }: Setup) {
	const { ok, warning, failure } = findings;
	const found = await database;
	// Null for a database that could not be read, and for one that this version refuses.
	const usable = found.kind === 'database' && refuseSchema(found.schema) === null ? found : null;
	const look = found.kind === 'absent' ? NEW_DATABASE : usable;
	const { ENCRYPTION_KEY: setting } = settings;
	if (setting !== undefined) return tryKey(findings, look, 'ENCRYPTION_KEY', () => readKeySetting(setting));
	if (need('DATABASE_URL') !== undefined) throw notChecked('ENCRYPTION_KEY is not set');
	const path = keyFileIn(resolve(need('DATA_DIR')));
	let text: string;
	try {
		text = readFileSync(path, 'utf8');
	} catch (error) {
		const { code = '' } = error as NodeJS.ErrnoException;
		if (!['ENOENT', 'ENOTDIR'].includes(code))
			return failure(`${path} cannot be read by this user: change its owner (chown).`);
		if (look === null) throw notChecked(`${path} does not exist and the database cannot be used`);
		if (look.keyCheck === null) return ok(`the first start creates it in ${path}: keep a copy of it with the backups.`);
		return failure(
			`${path} is gone, and the database was made with a key: restore it (or set ENCRYPTION_KEY) before the next start, or the stored answers cannot be read.`,
		);
	}
	tryKey(findings, look, path, () => ({ kind: 'key', key: parseEncryptionKey(text, path) }));
	const mode = statSync(path).mode & 0o777;
	if ((mode & 0o077) !== 0) {
		const shown = mode.toString(8).padStart(4, '0');
		warning(`${path} has mode ${shown}, so others on this machine may use the key: chmod 600 ${path}`);
	}
}

/** `look` is null when the database could not be read. */
function tryKey({ ok, failure }: Findings, look: DatabaseLook | null, source: string, read: () => KeySetting) {
	try {
		const setting = read();
		if (look === null) return ok(`${source} is well-formed; it was not tried, because the database cannot be used.`);
		if (look.keyCheck === null) return ok(`${source} is well-formed; the database is new and has no key yet.`);
		if (keyFits(look, createCipher(keyOf(setting, look.keySalt))))
			return ok(`${source} is the one the database was made with.`);
		return failure(
			`${source} is not the key the database was made with: stored answers and drafts cannot be read. Restore the former key.`,
		);
	} catch (error) {
		if (!(error instanceof HandraiseError)) throw error;
		return failure(`${error.message} For an existing database, restore the former key instead.`);
	}
}
