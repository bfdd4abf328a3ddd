import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { KyselyPlugin } from 'kysely';
import { systemClock } from '../../src/kernel/clock.ts';
import type { Db, StoreDatabase } from '../../src/store/database.ts';
import { copySource, isCommit } from '../faults/source-copy.ts';
import { createRecordingLog, makeDataDir } from '../store/support.ts';
import type { Program } from '../support/app.ts';
import { startPostgres } from '../support/postgres.ts';
import { startFrom, writeFixture } from './fixture.ts';
import { directoryOf, RELEASES, STORES } from './releases.ts';
import { dumpRows } from './rows.ts';
import { tellStays } from './stays.ts';
import { tellStory } from './story.ts';

/*
 * `npm exec -- node test/upgrade/make.ts VERSION schema [DIRECTORY]` writes the schema of a release as its program makes it,
 * which comes from git. `… VERSION rows [DIRECTORY]` writes what people do with it: ids and ciphertexts are new each time, so
 * nearly all lines change. The story is told with the words and buttons of today, so rows are made when a version is
 * released, and stay. Nobody edits these files by hand.
 */

// biome-ignore lint/suspicious/noExplicitAny: what another version exports
type Load = (file: string) => Promise<any>;

async function writeSchemas(load: Load, directory: string): Promise<void> {
	const { openSqlite } = await load('store/sqlite.ts');
	const { openPostgres } = await load('store/postgres.ts');
	const { migrate } = await load('store/migrate.ts');
	const empty = makeDataDir();
	const postgres = await startPostgres();
	const opened = {
		sqlite: openSqlite(empty.path),
		postgres: openPostgres(await postgres.createDatabase(), createRecordingLog()),
	};
	for (const store of STORES)
		await writeFile(join(directory, `schema.${store}.sql`), await recordStatements(opened[store], migrate));
	await empty.remove();
	await postgres.close();
}

async function writeRows(load: Load, directory: string): Promise<void> {
	const { createHandraise } = await load('app.ts');
	const { parseConfig } = await load('config.ts');
	// From 2.0.0 on it is in `kernel/log.ts`.
	const { createLog } = await load('kernel/basics.ts');
	const { applyProxy } = await load('kernel/proxy.ts');
	const program: Program = { createHandraise, parseConfig, createLog, applyProxy };
	const postgres = await startPostgres();
	for (const store of STORES) {
		const databaseUrl = store === 'postgres' ? await postgres.createDatabase() : undefined;
		await using app = await startFrom(null, { databaseUrl, program });
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
}

type Migrate = (db: StoreDatabase, context: object) => Promise<unknown>;

/** What the migrations of a release send to an empty database to make tables, indexes and columns. Closes it. */
async function recordStatements(db: StoreDatabase, migrate: Migrate): Promise<string> {
	const statements: string[] = [];
	const recording = (trx: Db): KyselyPlugin => ({
		transformQuery({ node, queryId }) {
			const { sql } = trx.getExecutor().compileQuery(node, queryId);
			if (/^(?:create|alter) /.test(sql)) statements.push(`${sql};\n`);
			return node;
		},
		transformResult: async ({ result }) => result,
	});
	const recorded = {
		...db,
		write: (work: (trx: Db) => Promise<unknown>) => db.write((trx) => work(trx.withPlugin(recording(trx)))),
	};
	await migrate(recorded as StoreDatabase, { clock: systemClock, log: createRecordingLog() });
	await db.close();
	return statements.join('');
}

const WRITES = { schema: writeSchemas, rows: writeRows };

const [version, what = '', directory] = process.argv.slice(2);
const release = RELEASES.find((one) => one.version === version);
if (release === undefined || !(what === 'schema' || what === 'rows'))
	throw new Error(`Name a release (${RELEASES.map((one) => one.version).join(', ')}), and schema or rows.`);
if (!(await isCommit(release.commit)))
	throw new Error(`This clone lacks ${release.commit}, the commit of ${version}: git fetch --unshallow.`);
await using copy = await copySource({ commit: release.commit });
await WRITES[what]((file) => import(join(dirname(copy.entry), file)), directory ?? directoryOf(release));
