import { type RawBuilder, sql } from 'kysely';
import { CLOCK_ALLOWANCE_MS, MINUTE_MS } from '../kernel/clock.ts';
import { StoreUnavailableError } from '../kernel/errors.ts';
import { type Lease, nextTurn } from '../kernel/lease-loop.ts';
import type { Log } from '../kernel/log.ts';
import {
	type ChangeQuery,
	change,
	columnsOf,
	countChanged,
	type Db,
	type Filter,
	isPostgres,
	LEASED_TABLES,
	type LeasedTable,
	lastKeyOf,
	type Row,
	remove,
	type StoreDatabase,
	TABLES,
	type TableName,
	WITHOUT_LEASE,
} from './database.ts';
import { locked } from './locks.ts';
import { isUnchanged, stopReplaced } from './migrate.ts';

/** Whether a row is of the workspace to whose Slack this process writes; while that is unknown, none. */
export function isOurs({ workspace }: StoreDatabase, column = 'teamId') {
	return workspace === undefined ? sql<boolean>`true` : sql<boolean>`${sql.ref(column)} = ${workspace()}`;
}

/** How many live watches, unsent posts and unfinished answers of a workspace a database has. */
export type LiveWorkspace = { readonly teamId: string; readonly count: number };

/** Selects them, also on the doctor's own connections, so without parameters. */
export const WORKSPACES_QUERY = `
	select team_id as "teamId", cast(count(*) as integer) as count from (
		select team_id from watches where ended_at is null
		union all select team_id from posts where state = 'planned'
		union all select team_id from answers where next_attempt_at is not null
	) as live group by team_id order by team_id`;

export async function liveWorkspaces(db: Db): Promise<readonly LiveWorkspace[]> {
	return (await sql.raw<LiveWorkspace>(WORKSPACES_QUERY).execute(db)).rows;
}

/** The earliest time at which a row can be taken: due by the column `due`, and after the lease in `lease`. */
export function earliest(due: string, lease = 'leasedUntil') {
	const [at, lapse] = [sql.ref(due), sql.ref(lease)];
	return sql<number | null>`min(case when ${lapse} > ${at} then ${lapse} else ${at} end)`;
}

/** More than have a lease at a time: of the others, the first that is due comes before all behind it. */
const MOST_LEASED = 100;

interface AskedTime {
	readonly time: RawBuilder<number | null>;
	resolve(at: number | null): void;
	reject(error: unknown): void;
}
/** What waits for the next look. */
const asked = new WeakMap<Db, AskedTime[]>();

/**
 * What one value of SQL tells when it is time for something. All that is asked in two turns of the event loop is one
 * statement: loops look together, once a second for what other replicas store.
 * @throws HandraiseError `database_newer` on a replica whose schema or key is not that of the database any more
 */
export function lookAt(db: StoreDatabase, time: RawBuilder<number | null>): Promise<number | null> {
	const { promise, resolve, reject } = Promise.withResolvers<number | null>();
	const waiting = asked.get(db.read);
	if (waiting !== undefined) waiting.push({ time, resolve, reject });
	else {
		asked.set(db.read, [{ time, resolve, reject }]);
		// One turn later, because loops begin to look a turn after a commit.
		setImmediate(() => setImmediate(() => void lookForAll(db)));
	}
	return promise;
}

async function lookForAll(db: StoreDatabase): Promise<void> {
	const all = asked.get(db.read) ?? [];
	asked.delete(db.read);
	try {
		// Here also a replica sees it that has nothing to do. A file of SQLite has one program.
		const isOwn = isPostgres(db.read) ? isUnchanged(db) : sql`true`;
		const times = all.map(({ time }, index) => sql`${time} as ${sql.ref(`at${index}`)}`);
		const query = sql<Record<string, unknown>>`select ${isOwn} as "isOwn", ${sql.join(times)}`;
		const [row = {}] = (await query.execute(db.read)).rows;
		if (!row.isOwn) throw stopReplaced(db);
		for (const [index, { resolve }] of all.entries()) resolve(row[`at${index}`] as number | null);
	} catch (error) {
		for (const { reject } of all) reject(error);
	}
}

/** When `leaseDue` next finds a row of `table` among those that match `where`, for `lookAt`; `due`: its column. */
export function dueTime(table: LeasedTable, where: RawBuilder<boolean>, due: string): RawBuilder<number | null> {
	const at = sql.ref(due);
	return sql`(select ${earliest(due)} from (select ${at}, leased_until from ${sql.table(table)}
		where ${at} is not null and ${where} order by ${at} limit ${sql.lit(MOST_LEASED)}) as first)`;
}

/** `dueTime`, looked at. */
export const nextDue = (db: StoreDatabase, ...of: Parameters<typeof dueTime>) => lookAt(db, dueTime(...of));

/** Candidate rows for each row wanted: other replicas may lock some of them at the same moment. */
export const CANDIDATES_PER_ROW = 8;

/** Leases up to `limit` rows that match `where` and have no lease. Skips those that other replicas lock just now. */
export async function leaseDue<T extends LeasedTable>(
	db: StoreDatabase,
	{ table, service, where, orderBy, limit, alsoRead = [] }: DueQuery<T>,
	{ lease, now }: { lease: Lease; now: number },
): Promise<Row<T>[]> {
	const key = sql.ref(lastKeyOf(table));
	const ofService = service === undefined ? sql`` : sql`service = ${service} and`;
	// PostgreSQL checks the condition again when it locks a row: what another replica just took is skipped.
	const lock = isPostgres(db.read) ? sql`for update skip locked` : sql``;
	const due = sql`select ${key} from ${sql.table(table)}
		where ${ofService} ${where} and (lease_token is null or leased_until <= ${now})
		order by ${sql.join(orderBy)} limit ${limit} ${lock}`;
	// As an array it is selected once, however the rows are found.
	const isDue = isPostgres(db.read) ? sql`${key} = any(array(${due}))` : sql`${key} in (${due})`;
	const places = orderBy.map((by, index) => sql`${by} as ${sql.ref(`place${index}`)}`);
	places.push(...alsoRead);
	const taking = sql<Row<T> & Places>`update ${sql.table(table)}
		set lease_token = ${lease.token}, leased_until = ${now + lease.ms}
		where ${ofService} ${isDue} and ${isUnchanged(db)} returning *, ${sql.join(places)}`;
	const { rows } = await db.writeOne((trx) => taking.execute(trx));
	if (rows.length === 0) await stopIfReplaced(db);
	return rows.sort((one, other) => inPlace(one, other, orderBy.length));
}

/** Stops the program if the schema or the key is another one now: then a take finds nothing. */
async function stopIfReplaced(db: StoreDatabase): Promise<void> {
	const { rows } = await sql<{ isOwn: unknown }>`select ${isUnchanged(db)} as "isOwn"`.execute(db.read);
	if (!rows[0]?.isOwn) stopReplaced(db);
}

type Places = Readonly<Record<`place${number}`, number | string>>;

function inPlace(one: Places, other: Places, count: number): number {
	for (let index = 0; index < count; index += 1) {
		const [place, otherPlace] = [one[`place${index}`] ?? 0, other[`place${index}`] ?? 0];
		if (place !== otherPlace) return place < otherPlace ? -1 : 1;
	}
	return 0;
}

interface DueQuery<T extends LeasedTable> {
	readonly table: T;
	/** Given for `watched_sessions`, whose keys are unique within it. */
	readonly service?: string;
	readonly where: RawBuilder<boolean>;
	/** The smallest of each first. */
	readonly orderBy: readonly RawBuilder<unknown>[];
	readonly limit: number;
	/** More columns of the rows taken. */
	readonly alsoRead?: readonly RawBuilder<unknown>[];
}

/** The `lastError` of a post that cannot be read. It does not block later ones of its stream. */
export const UNREADABLE_POST = 'unreadable';
/** How long an unreadable row waits: damaged, or for another encryption key. */
const UNREADABLE_RETRY_MS = 10 * MINUTE_MS;
const LATER = {
	answers: (at: number) => ({ nextAttemptAt: at }),
	posts: (at: number) => ({ dueAt: at, lastError: UNREADABLE_POST }),
};

/** Leases and reads rows; an unreadable one, for which `read` returns null, is given back and tried later. */
export async function takeReadable<T extends keyof typeof LATER, R>(
	db: StoreDatabase,
	query: DueQuery<T>,
	{ log, ...taking }: { lease: Lease; now: number; log?: Log | undefined },
	read: (rows: readonly Row<T>[]) => Promise<readonly (R | null)[]>,
): Promise<R[]> {
	const rows = (await leaseDue(db, query, taking)) as (Row<T> & { id: string; lastError?: string | null })[];
	const found = rows.length === 0 ? [] : await read(rows);
	const skipped = rows.filter((_, index) => found[index] === null);
	if (skipped.length > 0) {
		// Each start takes the mark of posts away (`retryWaiting`), so it logs them once.
		const news = skipped.filter((row) => row.lastError !== UNREADABLE_POST).map((row) => row.id);
		if (news.length > 0) log?.warn('row_unreadable', { [query.table]: news });
		const held = { id: skipped.map((row) => row.id), leaseToken: taking.lease.token };
		const set = { ...WITHOUT_LEASE, ...LATER[query.table](taking.now + UNREADABLE_RETRY_MS) };
		const table = query.table as 'posts';
		await db.writeOne((trx) => change(trx, table, { id: locked(trx, table, held) }, set).execute());
	}
	return found.filter((one) => one !== null);
}

async function freeLeases<T extends LeasedTable>(trx: Db, table: T, filter: Filter<T>): Promise<void> {
	const freed = { ...filter, [lastKeyOf(table)]: locked(trx, table, filter) } as Filter<LeasedTable>;
	await change(trx, table as LeasedTable, freed, WITHOUT_LEASE).execute();
}

/** What the store of a table that is a queue gives its loop. */
export const queueOf = (db: StoreDatabase, table: LeasedTable) => ({
	rows: db.queuedRows(table),
	async release(tokens: readonly string[]): Promise<void> {
		if (tokens.length > 0) await db.writeOne((trx) => freeLeases(trx, table, { leaseToken: tokens }));
	},
});

/** Of a killed process: we hold SQLite's lock, so nobody has a lease. On PostgreSQL a replica may. */
export async function freeOrphanedLeases(db: StoreDatabase): Promise<void> {
	if (db.dialect === 'sqlite') await db.write(freeAllLeases);
}

/** While no program runs. */
export async function freeAllLeases(trx: Db): Promise<void> {
	for (const table of LEASED_TABLES)
		await trx.updateTable(table).set(WITHOUT_LEASE).where('leaseToken', 'is not', null).execute();
}

/** Rows removed in one transaction: on SQLite it blocks the event loop. */
const REMOVAL_BATCH = 200;

/** Repeats `remove` until it removes fewer rows than its limit. Returns the total. */
export async function inBatches(remove: (limit: number) => Promise<number>, limit = REMOVAL_BATCH): Promise<number> {
	let removed = 0;
	for (;;) {
		const batch = await remove(limit);
		removed += batch;
		if (batch < limit) return removed;
		await nextTurn();
	}
}

/** Rows that one statement looks at. On PostgreSQL they block no event loop, and more parts hold locks for longer. */
const PART = { sqlite: 2_000, postgres: 100_000 };

/** What is less than the last column of every key of a table. */
export const beforeKeys = (table: TableName): string | number =>
	columnsOf(table).some(([name, { type }]) => name === lastKeyOf(table) && type !== 'text') ? -1 : '';

/** Runs `work` on all rows of a table in parts, which a condition tells apart. Returns the total of its results. */
export async function inParts(db: Db, table: TableName, work: (isIn: RawBuilder<boolean>) => Promise<number>) {
	const key = sql.ref(lastKeyOf(table));
	const part = isPostgres(db) ? PART.postgres : PART.sqlite;
	let total = 0;
	for (let after = beforeKeys(table); ; ) {
		const { rows } = await sql<{ last: string | number }>`select ${key} as last from ${sql.table(table)}
			where ${key} > ${after} order by ${key} limit 1 offset ${part - 1}`.execute(db);
		const last = rows[0]?.last;
		total += await work(sql`${key} > ${after} and ${last === undefined ? sql`true` : sql`${key} <= ${last}`}`);
		if (last === undefined) return total;
		after = last;
		await nextTurn();
	}
}

/** `inBatches` with a query that changes at most `limit` rows, each time as one transaction. */
export function changeInBatches(db: StoreDatabase, query: (trx: Db, limit: number) => ChangeQuery): Promise<number> {
	return inBatches((limit) => db.writeOne((trx) => countChanged(query(trx, limit))));
}

/** Removes the rows of a table of which this is true, in batches. Returns how many. */
export function removeInBatches(db: StoreDatabase, table: TableName, isOver: RawBuilder<boolean>): Promise<number> {
	const key = sql.join(TABLES[table].key.map((name: string) => sql.ref(name)));
	return changeInBatches(db, (trx, limit) => {
		const over = sql`select ${key} from ${sql.table(table)} where ${isOver} limit ${limit}`;
		return remove(trx, table as 'snoozes').where(sql<boolean>`(${key}) in (${over})`);
	});
}

/** PostgreSQL's current time, also within a transaction: milliseconds since the epoch, with fractions. */
export async function databaseTime(db: Db): Promise<number> {
	const { rows } = await sql<{ ms: number }>`
		select (extract(epoch from clock_timestamp()) * 1000)::double precision as ms`.execute(db);
	return rows[0]?.ms ?? 0;
}

/** Others count from this start of a PUT, so it must be the database's time. A machine that slept may be behind. */
export const isNow = (at: number) =>
	sql<boolean>`abs(extract(epoch from clock_timestamp()) * 1000 - ${at}) <= ${CLOCK_ALLOWANCE_MS}`;
export const clockDiffers = () =>
	new StoreUnavailableError("This process's clock differs from the database's time. It measures the time again.");
