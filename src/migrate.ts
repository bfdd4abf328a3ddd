import { needSettings } from './config.ts';
import { createLog, HandraiseError, systemClock } from './core/basics.ts';
import { OWN_SCHEMA } from './database/migrate.ts';
import { migratePostgres } from './stores.ts';

// Sets up the database of `DATABASE_URL` or brings it to this version's schema, as a role the program need not have.
try {
	const { DATABASE_URL: databaseUrl, LOG_LEVEL } = needSettings(process.env, /^(DATABASE_URL|PGSSLMODE|LOG_LEVEL)/);
	const missing = 'DATABASE_URL is missing: it names the PostgreSQL database. SQLite is migrated at the start';
	if (databaseUrl === null) throw new HandraiseError(missing, { code: 'config_invalid' });
	const log = createLog(LOG_LEVEL);
	await migratePostgres(databaseUrl, { clock: systemClock, log });
	log.info({ schema: OWN_SCHEMA }, "the database has this version's schema");
} catch (error) {
	process.stderr.write(`${error instanceof HandraiseError ? error.message : String(error)}\n`);
	process.exitCode = 1;
}
