import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KyselyPlugin } from 'kysely';
import type { Db, StoreDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { context, openAt } from '../store/migrating-process.ts';
import { makeDataDir } from '../store/support.ts';
import { startPostgres } from '../support/postgres.ts';
import { startFrom, writeFixture } from './fixture.ts';
import { directoryOf, STORES } from './releases.ts';
import { dumpRows } from './rows.ts';
import { tellStays } from './stays.ts';
import { tellStory } from './story.ts';

/*
 * `npm exec -- node test/upgrade/make.ts VERSION`, at the commit of that version: writes the schema that its program makes,
 * and what people leave who do what the stories tell. Ids and ciphertexts are new each time.
 */

const [version = ''] = process.argv.slice(2);
const directory = directoryOf({ version });
await mkdir(directory, { recursive: true });

/** What migrations send to an empty database to make tables, indexes and columns. Closes it. */
async function recordStatements(db: StoreDatabase): Promise<string> {
	const statements: string[] = [];
	const recording = (trx: Db): KyselyPlugin => ({
		transformQuery({ node, queryId }) {
			const { sql } = trx.getExecutor().compileQuery(node, queryId);
			if (/^(?:create|alter|drop) /.test(sql)) statements.push(`${sql};\n`);
			return node;
		},
		transformResult: async ({ result }) => result,
	});
	const recorded = {
		...db,
		write: (work: (trx: Db) => Promise<unknown>) => db.write((trx) => work(trx.withPlugin(recording(trx)))),
	};
	await migrate(recorded as StoreDatabase, context());
	await db.close();
	return statements.join('');
}

const postgres = await startPostgres();
for (const store of STORES) {
	const empty = makeDataDir();
	const place = store === 'postgres' ? await postgres.createDatabase() : empty.path;
	await writeFile(join(directory, `schema.${store}.sql`), await recordStatements(openAt(place)));
	await empty.remove();
	const databaseUrl = store === 'postgres' ? await postgres.createDatabase() : undefined;
	await using app = await startFrom(null, databaseUrl);
	await tellStays(app);
	await tellStory(app);
	let isStopped = false;
	const stopping = app.stop().then(() => {
		isStopped = true;
	});
	await app.until(() => isStopped);
	await stopping;
	await writeFixture(join(directory, `${store}.jsonl`), {
		stoppedAt: Math.ceil(app.clock.now()),
		slack: app.slack.snapshot(),
		sessions: app.service.sessions.snapshot(),
		rows: await dumpRows(databaseUrl ?? app.dataDir),
	});
}
await postgres.close();
