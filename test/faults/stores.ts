import { type FSWatcher, watch } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { createLossyProxy, type LossyProxy } from '../support/lossy-proxy.ts';

export type StoreKind = 'sqlite' | 'postgres';

export const replicasOf = (kind: StoreKind) => (kind === 'sqlite' ? 1 : 2);

/** Stored facts that show in which phase a kill fell. They are never used to judge: only the service and Slack are. */
export interface StoredAnswer {
	readonly sessionId: string;
	readonly messageIndex: number;
	readonly userId: string;
	/** Empty for an answer in one press. */
	readonly viewId: string;
	readonly leaseToken: string | null;
}

/** The database of the program, seen from outside. */
export interface StoreUnderTest extends AsyncDisposable {
	readonly kind: StoreKind;
	readonly env: Readonly<Record<string, string>>;
	/** Starts to report commits. Call it when the program has created its tables. */
	watchCommits(): Promise<void>;
	/** Set this to hear of commits. */
	onCommit: () => void;
	/** All answers. With SQLite only while no process has the file open. */
	stored(): Promise<readonly StoredAnswer[]>;
	/** How many answers still have work to do, and receipts something to tell; null when that cannot be read now. */
	unfinished(): Promise<number | null>;
	/** The TCP proxy in front of PostgreSQL; null with SQLite. */
	readonly proxy: LossyProxy | null;
	/**
	 * Ends the time in which these views' answers are tried, as if they had been accepted a day earlier; null with SQLite,
	 * whose file no other process may write while the program runs.
	 */
	readonly giveUp: ((viewIds: readonly string[]) => Promise<void>) | null;
}

/** One hour more than an answer is tried. */
export const DAY_MS = 25 * 3_600_000;

const UNFINISHED = `select
	(select count(*) from answers where state in ('accepted', 'delivering') or next_attempt_at is not null) +
	(select count(*) from views where kind = 'receipt' and due_at is not null) as count`;

const FACTS =
	'session_id as "sessionId", message_index as "messageIndex", user_id as "userId", lease_token as "leaseToken"';

/** In a new directory, or in `given`. */
export async function createSqliteUnderTest(given?: string): Promise<StoreUnderTest> {
	const directory = given ?? (await mkdtemp(join(tmpdir(), 'handraise-faults-')));
	let watcher: FSWatcher | null = null;

	/** Works on a copy: opening the file itself would clean up what the crash left. */
	async function onCopy<T>(use: (database: DatabaseSync) => T): Promise<T> {
		const copy = await mkdtemp(join(tmpdir(), 'handraise-look-'));
		try {
			await copyFile(join(directory, 'handraise.db'), join(copy, 'handraise.db'));
			await copyFile(join(directory, 'handraise.db-wal'), join(copy, 'handraise.db-wal')).catch(() => {});
			const database = new DatabaseSync(join(copy, 'handraise.db'));
			try {
				return use(database);
			} finally {
				database.close();
			}
		} finally {
			await rm(copy, { recursive: true, force: true });
		}
	}

	const store: StoreUnderTest = {
		kind: 'sqlite',
		env: { DATA_DIR: directory },
		onCommit: () => {},
		async watchCommits() {
			watcher ??= watch(directory, (_event, name) => {
				if (name?.endsWith('-wal') === true) store.onCommit();
			});
		},
		stored: () =>
			onCopy((database) => {
				const rows = database.prepare(`select ${FACTS}, submission ->> 'viewId' as "viewId" from answers`).all();
				return rows as unknown as StoredAnswer[];
			}),
		unfinished: () =>
			// A copy of files that are being written may be torn. The next look will succeed.
			onCopy((database) => Number(database.prepare(UNFINISHED).get()?.count)).catch(() => null),
		proxy: null,
		giveUp: null,
		async [Symbol.asyncDispose]() {
			watcher?.close();
			if (given === undefined) await rm(directory, { recursive: true, force: true });
		},
	};
	return store;
}

/** The format in which PostgreSQL reads it from the JSON. */
const VIEW_ID = "submission::json ->> 'viewId'";

export async function createPostgresUnderTest(databaseUrl: string): Promise<StoreUnderTest> {
	let listener: pg.Client | null = null;
	const proxy = await createLossyProxy(databaseUrl);

	const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
	// Databases are stopped here. The next query connects anew.
	pool.on('error', () => {});

	const store: StoreUnderTest = {
		kind: 'postgres',
		env: { DATABASE_URL: proxy.url, ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') },
		onCommit: () => {},
		async watchCommits() {
			await pool.query(`
				create or replace function fault_run_tells() returns trigger language plpgsql
					as $$ begin perform pg_notify('accepted', ''); return null; end $$;
				create or replace trigger fault_run_tells after insert on answers
					for each statement execute function fault_run_tells();
			`);
			await listener?.end().catch(() => {});
			listener = new pg.Client({ connectionString: databaseUrl });
			listener.on('error', () => {});
			listener.on('notification', () => store.onCommit());
			await listener.connect();
			await listener.query('listen accepted');
		},
		async stored() {
			return (await pool.query<StoredAnswer>(`select ${FACTS}, ${VIEW_ID} as "viewId" from answers`)).rows;
		},
		unfinished: () =>
			pool.query<{ count: string }>(UNFINISHED).then(
				({ rows: [row] }) => Number(row?.count),
				() => null,
			),
		proxy,
		async giveUp(viewIds) {
			await pool.query(`update answers set give_up_at = give_up_at - $1 where ${VIEW_ID} = any($2)`, [
				DAY_MS,
				[...viewIds],
			]);
		},
		async [Symbol.asyncDispose]() {
			await listener?.end().catch(() => {});
			await pool.end();
			await proxy[Symbol.asyncDispose]();
		},
	};
	return store;
}
