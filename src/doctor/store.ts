import { accessSync, constants, existsSync, readFileSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { HandraiseError } from '../errors.ts';
import { createCipher, keyFileIn, keyOf, parseEncryptionKey, readKeySetting } from '../store/encryption.ts';
import {
	type DatabaseLook,
	keyFits,
	NEW_DATABASE,
	OWN_SCHEMA,
	type PostgresLook,
	refuseSchema,
} from '../store/inspect.ts';
import type { Findings } from './report.ts';
import type { Check, Setup } from './setup.ts';

export const STORE_CHECKS = [
	{ name: 'DATA_DIR', run: checkDataDir },
	{ name: 'Database', needs: ['DATABASE_URL'], run: checkDatabase },
	{ name: 'Encryption key', run: checkKey },
] as const satisfies readonly Check[];

/** Bytes. The database of a busy team stays below this. With a full disk, answers are refused. */
const MIN_FREE_BYTES = 200 * 1_048_576;

const OUR_FILES = ['handraise.db', 'handraise.lock', 'encryption.key'];

/** Whether DATA_DIR can hold SQLite's file and the key. Creates nothing: of a missing directory, the parent is checked. */
function checkDataDir({ warning, failure, okIfNone }: Findings, { settings }: Setup) {
	const { DATA_DIR: dataDir } = settings;
	if (!('DATABASE_URL' in settings) || settings.DATABASE_URL !== undefined || dataDir === undefined) return;
	const directory = resolve(dataDir);
	const existing = nearestExisting(directory);
	if (!statSync(existing).isDirectory()) return failure(`${existing} is a file: set DATA_DIR to a directory.`);
	if (!isAllowed(existing, constants.W_OK | constants.X_OK)) {
		return failure(
			`${existing} cannot be written by this user: change its owner (chown), or set DATA_DIR to another directory.`,
		);
	}
	const closed = OUR_FILES.map((name) => join(directory, name)).filter(
		(path) => existsSync(path) && !isAllowed(path, constants.R_OK | constants.W_OK),
	);
	if (closed.length > 0) {
		return failure(
			`${closed.join(', ')} cannot be read and written by this user: change the owner (chown). Was Handraise started as another user?`,
		);
	}
	const type = fileSystemTypeOf(existing);
	const kind = type === null ? 'unknown' : kindOfFileSystem(type);
	if (kind === 'network') {
		failure(
			`${directory} is on a network file system (${type}), whose locks and syncs SQLite cannot rely on: use a local disk, or DATABASE_URL.`,
		);
	} else if (kind === 'memory') {
		warning(`${directory} is in memory (${type}): a restart of the machine loses all answers. Use a disk.`);
	} else if (kind === 'container') {
		warning(`${directory} is in the container itself (${type}) and is lost with it: mount a volume there.`);
	}
	const { bavail, bsize } = statfsSync(existing);
	if (bavail * bsize < MIN_FREE_BYTES) {
		warning(
			`only ${Math.floor((bavail * bsize) / 1_048_576)} MB are free on the disk of ${directory}: make room. With a full disk, answers are refused.`,
		);
	}
	return okIfNone(directory === existing ? `${directory} can be written.` : `the first start creates ${directory}.`);
}

function nearestExisting(path: string): string {
	return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

function isAllowed(path: string, mode: number): boolean {
	try {
		accessSync(path, mode);
		return true;
	} catch {
		return false;
	}
}

function fileSystemTypeOf(path: string): string | null {
	try {
		return fileSystemOf(realpathSync(path), readFileSync('/proc/mounts', 'utf8'));
	} catch {
		// There is no /proc/mounts outside Linux.
		return null;
	}
}

/** The type of the file system that holds an absolute path, from the text of /proc/mounts (proc_pid_mounts(5)). */
export function fileSystemOf(path: string, mounts: string): string | null {
	const holding = mounts.split('\n').flatMap((line) => {
		const [, escapedPoint = '', type = ''] = line.split(' ');
		// Spaces, tabs, line ends and backslashes are octal escapes.
		const point = escapedPoint.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
		return type !== '' && (point === '/' || `${path}/`.startsWith(`${point}/`)) ? [{ point, type }] : [];
	});
	// Of two mounts on one point, the later one counts.
	return holding.toSorted((a, b) => a.point.length - b.point.length).at(-1)?.type ?? null;
}

const NETWORK_TYPES =
	/^(nfs\d?|cifs|smb\w*|9p|afs|ceph|lustre|gpfs|glusterfs|ocfs2|gfs2|beegfs|virtiofs|davfs|fuse\.(sshfs|glusterfs|ceph|s3fs|gcsfuse|rclone|blobfuse\w*|davfs\w*|juicefs|mountpoint-s3|seaweedfs))$/;

/** Where files on such a file system are. Local disks are `unknown`. */
export function kindOfFileSystem(type: string): 'network' | 'memory' | 'container' | 'unknown' {
	if (NETWORK_TYPES.test(type)) return 'network';
	if (type === 'tmpfs' || type === 'ramfs') return 'memory';
	return type === 'overlay' || type === 'aufs' ? 'container' : 'unknown';
}

/** The oldest major version that the PostgreSQL project maintains (postgresql.org/support/versioning, 2026). */
const OLDEST_MAINTAINED = 14;

const UNREADABLE = {
	damaged: 'it is damaged. Stop Handraise and restore the file from a backup.',
	'no database': 'it is not a SQLite database. Restore the file from a backup, or set DATA_DIR to another directory.',
	'not allowed': 'this user may not read it. Change its owner (chown).',
	unknown: 'SQLite cannot read it. Check its disk, or restore the file from a backup.',
} as const;

async function checkDatabase(findings: Findings, { database, bot }: Setup) {
	const { ok, warning, failure } = findings;
	const look = await database;
	if (look === null) return;
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
			return failure(whyUnreachable(look.code));
	}
	if (isPostgres(look)) checkPostgres(findings, look);
	else
		checkSchema(
			findings,
			look,
			`SQLite ${look.inUse ? 'in use by the running Handraise, which is fine' : 'not in use'}`,
		);
	const reply = await bot;
	const teamId = reply?.kind === 'ok' && typeof reply.data.team_id === 'string' ? reply.data.team_id : null;
	const others = look.workspaces.filter((workspace) => teamId !== null && workspace.teamId !== teamId);
	if (others.length > 0) {
		const counts = others.map((other) => `${other.count} of ${other.teamId}`).join(', ');
		warning(
			`it has watches, posts and answers of another workspace than ${teamId} (${counts}), which are left alone: is SLACK_BOT_TOKEN that of the right workspace?`,
		);
	}
}

type PostgresDatabase = Extract<PostgresLook, { kind: 'database' }>;
const isPostgres = (look: DatabaseLook): look is PostgresDatabase => 'synced' in look;

export function checkPostgres(findings: Findings, look: PostgresDatabase) {
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

const WRONG_PASSWORD = (code: string) =>
	`PostgreSQL refuses the user or the password (${code}): check both in DATABASE_URL; characters such as @ : / must be percent-encoded there.`;
const UNKNOWN_HOST = (code: string) =>
	`PostgreSQL cannot be reached: the host in DATABASE_URL is not known (${code}). Check the spelling and the DNS.`;
const UNREACHABLE: Readonly<Record<string, string>> = {
	'28P01': WRONG_PASSWORD('28P01'),
	'28000': WRONG_PASSWORD('28000'),
	'3D000': 'PostgreSQL has no such database (3D000): create it, or name the right one in DATABASE_URL.',
	'42501':
		"PostgreSQL: this user may not read Handraise's tables (42501): let DATABASE_URL name the user that owns them.",
	'53300': 'PostgreSQL has no connection left (53300): raise max_connections, or end other programs.',
	'57P03': 'PostgreSQL is starting up or shutting down (57P03): try again in a moment.',
	ECONNREFUSED:
		'PostgreSQL cannot be reached: nothing listens at the host and port in DATABASE_URL (ECONNREFUSED). Start it, or correct the address.',
	ENOTFOUND: UNKNOWN_HOST('ENOTFOUND'),
	EAI_AGAIN: UNKNOWN_HOST('EAI_AGAIN'),
};

function whyUnreachable(code: string | null): string {
	if (code === null) {
		return 'PostgreSQL cannot be reached: no answer in time, or the connection was cut. Check the host, the firewall, and TLS (sslmode in DATABASE_URL).';
	}
	return UNREACHABLE[code] ?? `PostgreSQL cannot be used (${code}): check DATABASE_URL and the server's log.`;
}

/** Whether the key of the next start is well-formed and is the database's key. */
async function checkKey(findings: Findings, { settings, database }: Setup) {
	const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir = '', ENCRYPTION_KEY: text } = settings;
	const found = await database;
	if (found === null) return;
	// Null for a database that could not be read, and for one that this version refuses.
	const usable = found.kind === 'database' && refuseSchema(found.schema) === null ? found : null;
	const look = found.kind === 'absent' ? NEW_DATABASE : usable;
	if (text !== undefined) tryKey(findings, look, 'ENCRYPTION_KEY', () => readKeySetting(text));
	else if (databaseUrl !== undefined) findings.failure('ENCRYPTION_KEY is not set: all replicas need the same one.');
	else checkKeyFile(findings, keyFileIn(resolve(dataDir)), look);
}

function checkKeyFile(findings: Findings, path: string, look: DatabaseLook | null) {
	const { ok, warning, failure, skipped } = findings;
	let text: string;
	try {
		text = readFileSync(path, 'utf8');
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code !== 'ENOENT' && code !== 'ENOTDIR') {
			return failure(`${path} cannot be read by this user: change its owner (chown).`);
		}
		if (look === null) return skipped(`not checked, because ${path} does not exist and the database cannot be used.`);
		if (look.keyCheck === null) {
			return ok(`the first start creates it in ${path}: keep a copy of it with the backups.`);
		}
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
function tryKey(
	{ ok, failure }: Findings,
	look: DatabaseLook | null,
	source: string,
	read: () => ReturnType<typeof readKeySetting>,
) {
	try {
		const setting = read();
		if (look === null) {
			return ok(`${source} is well-formed; it was not tried, because the database cannot be used.`);
		}
		if (look.keyCheck === null) return ok(`${source} is well-formed; the database is new and has no key yet.`);
		if (keyFits(look, createCipher(keyOf(setting, look.keySalt)))) {
			return ok(`${source} is the one the database was made with.`);
		}
		return failure(
			`${source} is not the key the database was made with: stored answers and drafts cannot be read. Restore the former key.`,
		);
	} catch (error) {
		if (!(error instanceof HandraiseError)) throw error;
		return failure(`${error.message} For an existing database, restore the former key instead.`);
	}
}
