import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { needSettings } from './config.ts';
import { systemClock } from './kernel/clock.ts';
import { createLog, type Log } from './kernel/log.ts';
import { type CommandIo, command, invalid, needFile, runCommand, whoRunsIt } from './operator/command.ts';
import { moveService, type ServiceMoved } from './operator/service-move.ts';
import { counted } from './slack/phrases.ts';
import { keyFileIn } from './store/key-file.ts';
import { OWN_SCHEMA } from './store/migrate.ts';
import { OF_COMMAND } from './store/postgres.ts';
import { migratePostgres, openStore } from './stores.ts';

const USAGE = `Usage: npm run migrate                      brings PostgreSQL's database to this version's schema
       npm run migrate -- --service-moved   moves all that is stored to SESSION_SERVICE_URL, while nothing runs`;

const SCHEMA_SETTINGS = /^(DATABASE_URL|PGSSLMODE|LOG_LEVEL)/;
const ALL_SETTINGS = /^(DATABASE_|PGSSLMODE|LOG_LEVEL|DATA_DIR|ENCRYPTION_KEY|SESSION_SERVICE_URL)/;

/** Creates or migrates the schema of `DATABASE_URL`, perhaps with a database role that the program does not have. */
async function migrateSchema({ env, stdout }: CommandIo): Promise<void> {
	const settings = needSettings(env, SCHEMA_SETTINGS);
	const missing = 'DATABASE_URL is missing: it names the PostgreSQL database. SQLite is migrated at the start';
	if (settings.DATABASE_URL === null) throw invalid(missing);
	const log = createLog(settings.LOG_LEVEL, stdout);
	await migratePostgres(settings.DATABASE_URL, { clock: systemClock, log });
	log.info({ schema: OWN_SCHEMA }, "the database has this version's schema");
}

/** Moves all rows to the address in `SESSION_SERVICE_URL`. */
async function followService({ env, stdout }: CommandIo): Promise<void> {
	const settings = needSettings(env, ALL_SETTINGS);
	const { DATABASE_URL: databaseUrl, SESSION_SERVICE_URL: to } = settings;
	const dataDir = resolve(settings.DATA_DIR);
	const encryptionKey = settings.ENCRYPTION_KEY;
	needFile(databaseUrl, dataDir);
	// `openStore` would create a missing key.
	if (databaseUrl === null && encryptionKey === null && !existsSync(keyFileIn(dataDir))) throw invalid(NO_KEY);
	const store = await openStore({
		databaseUrl,
		pool: OF_COMMAND,
		dataDir,
		encryptionKey,
		formerKeys: settings.ENCRYPTION_KEY_FORMER,
		log: warningsOf(createLog(settings.LOG_LEVEL, stdout)),
	});
	try {
		if (!store.keysFit) throw invalid(NO_KEY, 'encryption_key_invalid');
		for (const line of wordsOf(await moveService(store, { to, by: whoRunsIt(env) }), to)) stdout.write(`${line}\n`);
	} finally {
		await store.close();
	}
}

const NO_KEY =
	'The key that the database was made with is not given, and without it nothing can be moved: set ENCRYPTION_KEY (or ' +
	'restore encryption.key in DATA_DIR) as Handraise has it. Nothing was changed.';

/** A log without the warning of a wrong key, which this command reports itself. */
function warningsOf(log: Log): Log {
	return { ...log, warn: (event, fields) => event !== 'encryption_key_mismatch' && log.warn(event, fields) };
}

function wordsOf({ froms, ...counts }: ServiceMoved, to: string): readonly string[] {
	const { unsentCount, waitingCount, endedCount, asideCount } = counts;
	return [
		froms.length === 0
			? `Nothing to move: all that is stored is for ${to}.`
			: `All that was stored for ${froms.join(' and ')} is for ${to} now.`,
		unsentCount + waitingCount === 0
			? 'No answer waits.'
			: `Answers that wait: ${unsentCount} to be sent when Handraise starts, ${waitingCount} for a decision of their ` +
				'authors.',
		...(endedCount === 0
			? []
			: [
					`${counted(endedCount, 'watch', 'watches')} ended: the channel watched the session at both addresses, and ` +
						'goes on with one.',
				]),
		...(asideCount === 0
			? []
			: [
					`Of these, ${counted(asideCount, 'answer')} to a question that had another one at the other address: the ` +
						'first is sent, and the author of the second is asked.',
				]),
	];
}

export const main = command(async ([act, ...others], io) => {
	if (others.length > 0 || (act !== undefined && act !== '--service-moved')) throw invalid(USAGE, 'usage');
	await (act === undefined ? migrateSchema(io) : followService(io));
	return 0;
});

await runCommand(import.meta, main);
