import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { parse } from 'yaml';
import { createFakeSessionService, type FakeSessionService } from '../../fake-session-service/fake-session-service.ts';
import { createFakeSlack, type FakeSlack } from '../../fake-slack/index.ts';
import { connectionEnv } from '../../sandbox/connection-env.ts';
import { NO_LIMITS_ENV, NO_WATCH_LIMITS_ENV } from '../../test/support/no-limits.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { type AppProcess, startAppProcess } from '../figures/app-process.ts';
import { channelName, foundCompany, personName, type Size, sessionId, workingSession } from './company.ts';
import { followScreens, type Screens } from './screens.ts';
import { placeIn } from './slack-calls.ts';

export type StoreName = 'postgres' | 'sqlite';

/** What stands at one moment. */
export interface Reading {
	/** In Slack's traffic. */
	readonly place: number;
	/** By table. */
	readonly rows: ReadonlyMap<string, number>;
	readonly databaseBytes: number;
	/** Of all replicas, since their start. */
	readonly cpuSeconds: number;
	readonly requests: number;
}

/** A company with its sessions and the measured program. Slack's tiers hold. */
export interface Installation extends AsyncDisposable {
	readonly slack: FakeSlack;
	readonly service: FakeSessionService;
	readonly screens: Screens;
	/** By channel: the numbers of the people who are in it. */
	readonly teams: readonly (readonly number[])[];
	read(): Promise<Reading>;
	/** Resident memory of each replica now, in MiB. */
	memory(): Promise<number[]>;
}

const REPLICAS: Readonly<Record<StoreName, number>> = { postgres: 2, sqlite: 1 };
/** Each process has two. */
const SOCKETS = 2;
/** The most ids that one command takes. */
const IDS_AT_ONCE = 20;
const PREPARED_WITHIN_MS = 900_000;
/** One channel after the other: a busy machine must not time out. */
const TOLD_WITHIN_MS = 30_000;
const LOOK_MS = 2_000;
const LOOKS_A_ROUND = 20;
const SESSION_ID = /work-\d+-x/g;

const run = promisify(execFile);

async function manifestOf(commit: string | null): Promise<unknown> {
	if (commit === null) return 'manifest.yml';
	const { stdout } = await run('git', ['show', `${commit}:manifest.yml`]);
	return parse(stdout);
}

/** Counts the rows of each table, and the database's bytes. */
async function readDatabase(store: StoreName, place: string): Promise<Pick<Reading, 'rows' | 'databaseBytes'>> {
	const rows = new Map<string, number>();
	if (store === 'sqlite') {
		using database = new DatabaseSync(place, { readOnly: true });
		const number = (sql: string) => Number(Object.values(database.prepare(sql).get() ?? {})[0]);
		const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
		for (const { name } of tables) rows.set(String(name), number(`select count(*) from "${String(name)}"`));
		return { rows, databaseBytes: number('pragma page_count') * number('pragma page_size') };
	}
	const client = new pg.Client({ connectionString: place });
	await client.connect();
	try {
		const tables = await client.query("select tablename from pg_tables where schemaname = 'public'");
		for (const { tablename } of tables.rows as { tablename: string }[]) {
			const counted = await client.query(`select count(*) from "${tablename}"`);
			rows.set(tablename, Number((counted.rows as { count: string }[])[0]?.count));
		}
		const size = await client.query('select pg_database_size(current_database()) as bytes');
		return { rows, databaseBytes: Number((size.rows as { bytes: string }[])[0]?.bytes) };
	} finally {
		await client.end();
	}
}

/** The sessions of which a card stands, or a question, before which no card comes. */
function watchedIn({ state }: FakeSlack): ReadonlySet<string> {
	const shown = state.messages.filter((one) => one.ephemeralFor === undefined);
	return new Set(shown.flatMap(({ blocks }) => JSON.stringify(blocks).match(SESSION_ID) ?? []));
}

/** Somebody of each channel has it watch its share of the sessions, again where that failed, until all stand there. */
async function watchAll(
	{ slack, screens, teams }: Pick<Installation, 'slack' | 'screens' | 'teams'>,
	{ watches, channels, open }: Size,
): Promise<void> {
	const end = performance.now() + PREPARED_WITHIN_MS;
	for (;;) {
		const watched = watchedIn(slack);
		const left = Array.from({ length: watches }, (_, index) => index).filter((index) => !watched.has(sessionId(index)));
		process.stderr.write(`${watched.size} of ${watches} sessions are watched, ${screens.posts.size} of ${open} ask\n`);
		if (left.length === 0 && screens.posts.size >= open) return;
		if (performance.now() > end) throw new Error('The sessions are not watched in time.');
		for (let channel = 0; channel < channels; channel++) {
			const ids = left.filter((index) => index % channels === channel).map(sessionId);
			const watcher = slack.as(personName(teams[channel]?.[0] ?? 0));
			for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
				const some = ids.slice(from, from + IDS_AT_ONCE).join(' ');
				const told = screens.next(watcher.user, TOLD_WITHIN_MS);
				await watcher.command(channelName(channel), `/session watch ${some}`);
				await told;
			}
		}
		const isDone = () => screens.posts.size >= open && watchedIn(slack).size >= watches;
		for (let looks = 0; looks < LOOKS_A_ROUND && !isDone(); looks++) await pause(LOOK_MS);
	}
}

/**
 * Founds the company, has a program watch its sessions without limits, and starts the measured replicas anew on what is
 * stored then. `commit`: whose manifest the app has; null: the working tree's.
 */
export async function install(
	{ entry, commit }: { readonly entry: string; readonly commit: string | null },
	store: StoreName,
	size: Size,
): Promise<Installation> {
	await using stack = new AsyncDisposableStack();
	const directory = await mkdtemp(join(tmpdir(), 'handraise-people-'));
	stack.defer(() => rm(directory, { recursive: true, force: true }));
	const { workspace, teams } = foundCompany(size);
	const slack = await createFakeSlack({
		workspace,
		trafficLimit: 100_000,
		waitMs: 60_000,
		manifest: await manifestOf(commit),
	});
	stack.defer(() => slack.close());
	const service = createFakeSessionService({
		rateLimit: false,
		startOnRead: false,
		scenarios: [],
		list: { mode: 'on' },
	});
	await service.start();
	stack.defer(() => service.stop());
	for (let index = 0; index < size.watches; index++) {
		service.sessions.put(sessionId(index), workingSession(index, index < size.open ? index : null));
	}
	let databaseUrl: string | null = null;
	if (store === 'postgres') {
		const postgres = await startPostgres();
		stack.defer(() => postgres.close());
		databaseUrl = await postgres.createDatabase();
	}
	const dataDir = join(directory, 'data');
	const start = (env: Readonly<Record<string, string>>) =>
		startAppProcess({
			entry,
			logDirectory: directory,
			env: {
				...connectionEnv({ slack, service }),
				...(databaseUrl === null ? { DATA_DIR: dataDir } : { DATABASE_URL: databaseUrl }),
				ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
				...env,
			},
		});
	const screens = followScreens(slack);
	const quick = await start({ ...NO_LIMITS_ENV, SESSION_SERVICE_RPM: '100000' });
	stack.defer(() => quick.stop());
	await Promise.race([slack.connected(SOCKETS), quick.endedEarly]);
	await watchAll({ slack, screens, teams }, size);
	await quick.stop();

	slack.settings.realRates = true;
	const programs: AppProcess[] = [];
	for (let replica = 1; replica <= REPLICAS[store]; replica++) {
		// The limits of one installation stay, those of a person who watches for all do not.
		const program = await start(NO_WATCH_LIMITS_ENV);
		programs.push(program);
		stack.defer(() => program.stop());
		await Promise.race([slack.connected(replica * SOCKETS), program.endedEarly]);
	}
	const sum = async (of: (program: AppProcess) => Promise<number>) =>
		(await Promise.all(programs.map(of))).reduce((all, one) => all + one, 0);
	const kept = stack.move();
	return {
		slack,
		service,
		screens,
		teams,
		async read() {
			return {
				...(await readDatabase(store, databaseUrl ?? join(dataDir, 'handraise.db'))),
				place: placeIn(slack),
				cpuSeconds: await sum((program) => program.metric('process_cpu_seconds_total')),
				requests: service.log.size + service.log.dropped,
			};
		},
		memory: () => Promise.all(programs.map((program) => program.memory())),
		[Symbol.asyncDispose]: () => kept.disposeAsync(),
	};
}
