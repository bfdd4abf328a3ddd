import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { MIGRATIONS, migrate } from '../../src/database/migrate.ts';
import { context, openAt } from './migrating-process.ts';
import { makeDataDir } from './support.ts';

/**
 * Of the schema of 1.0.0. Databases with it are in use, so what is wanted beyond it is a migration (CONTRIBUTING.md, "Change
 * the schema"). Only what comes before the release commit of 1.0.0 may change the schema, its number and this line.
 */
const RELEASED = { number: 29, sha256: 'eb452431b46e23a02ab4ca3f58a03bbc56006bfc30e312489b17a3af0728cc47' };

it('the first migration makes the schema of 1.0.0', async () => {
	const directory = makeDataDir();
	const db = openAt(directory.path);
	await migrate(db, { ...context(), migrations: [MIGRATIONS[0]] });
	await db.close();
	const database = new DatabaseSync(join(directory.path, 'handraise.db'));
	const statements = database.prepare('select sql from sqlite_schema where sql is not null order by name').all();
	database.close();
	await directory.remove();
	const sha256 = createHash('sha256').update(JSON.stringify(statements)).digest('hex');
	expect({ number: MIGRATIONS[0].number, sha256 }).toEqual(RELEASED);
});
