import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { needSettings } from './config.ts';
import { systemClock } from './kernel/clock.ts';
import { createLog } from './kernel/log.ts';
import { command, invalid, needFile, runCommand, whoRunsIt } from './operator/command.ts';
import { counted } from './slack/phrases.ts';
import { readKeys } from './store/encryption.ts';
import { OF_COMMAND, openPostgres } from './store/postgres.ts';
import { rekey } from './store/rekey.ts';
import { openSqlite } from './store/sqlite.ts';

const USAGE = `Usage: npm run rekey   encrypts all that is stored with ENCRYPTION_KEY, and leaves nothing that needs
                       ENCRYPTION_KEY_FORMER, the key of now. No Handraise runs meanwhile.`;
const SETTINGS = /^(DATABASE_URL|PGSSLMODE|DATA_DIR|ENCRYPTION_KEY|LOG_LEVEL)/;

export const main = command(async (argv, { env, stdout }) => {
	const say = (line: string) => stdout.write(`${line}\n`);
	if (argv.length > 0) throw invalid(USAGE, 'usage');
	const settings = needSettings(env, SETTINGS);
	const { DATABASE_URL: databaseUrl, ENCRYPTION_KEY: own, ENCRYPTION_KEY_FORMER: former } = settings;
	if (own === null || former === null) throw invalid(NO_KEY);
	const keys = readKeys(own, former);
	const dataDir = resolve(settings.DATA_DIR);
	needFile(databaseUrl, dataDir);
	const log = createLog(settings.LOG_LEVEL, stdout);
	const by = whoRunsIt(env);
	if (databaseUrl === null) becomeOwner(dataDir);
	const sqlite = databaseUrl === null ? openSqlite(dataDir) : null;
	const db = sqlite ?? openPostgres(databaseUrl ?? '', log, { pool: OF_COMMAND });
	const onMarked = () =>
		say('The database is marked: a running Handraise stops, and none starts until this has finished.');
	try {
		const { written, left, isCompact } = await rekey({ db, sqlite, keys, by, clock: systemClock, log, onMarked });
		say(`${counted(written, 'stored value')} encrypted anew with ENCRYPTION_KEY.`);
		if (left > 0)
			say(`${counted(left, 'value')} left alone: damaged, or of another key, which npm run doctor tells apart.`);
		if (!isCompact) throw invalid(NOT_COMPACT, 'database_in_use');
		say(`Remove ENCRYPTION_KEY_FORMER and start. ${sqlite === null ? STILL_ON_POSTGRES : STILL}`);
		return 0;
	} finally {
		await db.close();
	}
});

/** Becomes the owner of the directory if root runs this, so that a kill leaves no file that Handraise cannot open. */
function becomeOwner(dataDir: string): void {
	const { uid, gid } = statSync(dataDir);
	if (process.getuid?.() !== 0 || uid === 0) return;
	process.setgid?.(gid);
	process.setuid?.(uid);
}

const NO_KEY =
	'npm run rekey needs two keys: the new one as ENCRYPTION_KEY, and the one that Handraise ran with last as ' +
	'ENCRYPTION_KEY_FORMER (of a file: ENCRYPTION_KEY_FORMER_FILE=data/encryption.key). Nothing was changed.';
const STILL =
	'handraise.db holds nothing that the former key opens. Backups, and handraise.db.before-… of a restore, still need ' +
	'it.';
const STILL_ON_POSTGRES = 'Backups, and dead rows until VACUUM, still need the former key.';
const NOT_COMPACT =
	'All is encrypted, but SQLite’s file still holds what the former key opens: another program reads the database (a ' +
	'backup, a shell). End it, and run this again or start Handraise, which goes on with it.';

await runCommand(import.meta, main);
