import { type RawBuilder, sql } from 'kysely';
import { MINUTE_MS } from '../kernel/clock.ts';
import type { Lease } from '../kernel/lease-loop.ts';
import type { Log } from '../kernel/log.ts';
import {
	change,
	type Db,
	type Filter,
	isPostgres,
	LEASED_TABLES,
	type LeasedTable,
	lastKeyOf,
	type Row,
	type StoreDatabase,
	TABLES,
	WITHOUT_LEASE,
} from './database.ts';
import { locked } from './locks.ts';
import { isUnchanged, stopReplaced } from './migrate.ts';

/** The earliest time at which a row can be taken: due by the column `due`, and after the lease in `lease`. */
export function earliest(due: string, lease = 'leasedUntil') {
	const [at, lapse] = [sql.ref(due), sql.ref(lease)];
	return sql<number | null>`min(case when ${lapse} > ${at} then ${lapse} else ${at} end)`;
}

/** More rows than ever have a lease at a time, so the first ones by due time include one without a lease. */
const MOST_LEASED = 100;

interface Look {
	readonly time: RawBuilder<number | null>;
	resolve(at: number | null): void;
	reject(error: unknown): void;
}
/** Looks that wait for the next statement. */
const waitingLooks = new WeakMap<Db, Look[]>();

/**
 * Selects one value of SQL: when something is due. All that is asked within two turns of the event loop is one
 * statement. Loops look together, once a second for what other replicas store.
 * @throws HandraiseError `database_newer` on a replica whose schema or key is not that of the database any more
 */
export function lookAt(db: StoreDatabase, time: RawBuilder<number | null>): Promise<number | null> {
	const { promise, resolve, reject } = Promise.withResolvers<number | null>();
	const waiting = waitingLooks.get(db.read);
	if (waiting !== undefined) waiting.push({ time, resolve, reject });
	else {
		waitingLooks.set(db.read, [{ time, resolve, reject }]);
		// One turn later, because loops begin to look a turn after a commit.
		setImmediate(() => setImmediate(() => void lookForAll(db)));
	}
	return promise;
}

async function lookForAll(db: StoreDatabase): Promise<void> {
	const all = waitingLooks.get(db.read) ?? [];
	waitingLooks.delete(db.read);
	try {
		// A replica without work finds out here too that it has to stop. A file of SQLite has one program.
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

/** When `leaseDue` next finds a row of `table` that matches `where`; `due`: the column that says when it is due. */
export function nextDue(
	db: StoreDatabase,
	table: LeasedTable,
	where: RawBuilder<boolean>,
	due: string,
): Promise<number | null> {
	const at = sql.ref(due);
	return lookAt(
		db,
		sql`(select ${earliest(due)} from (select ${at}, leased_until from ${sql.table(table)}
			where ${at} is not null and ${where} order by ${at} limit ${sql.lit(MOST_LEASED)}) as first)`,
	);
}

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
	// PostgreSQL evaluates an array once, whatever plan finds the rows.
	const isDue = isPostgres(db.read) ? sql`${key} = any(array(${due}))` : sql`${key} in (${due})`;
	// With an id as the key, the condition would lead SQLite to all rows of the service.
	const ofKey = TABLES[table].key.length > 1 ? ofService : sql``;
	const places = orderBy.map((by, index) => sql`${by} as ${sql.ref(`place${index}`)}`);
	places.push(...alsoRead);
	const taking = sql<Row<T> & Places>`update ${sql.table(table)}
		set lease_token = ${lease.token}, leased_until = ${now + lease.ms}
		where ${ofKey} ${isDue} and ${isUnchanged(db)} returning *, ${sql.join(places)}`;
	const { rows } = await db.writeOne((trx) => taking.execute(trx));
	if (rows.length === 0) await stopIfReplaced(db);
	return rows.sort((one, other) => comparePlaces(one, other, orderBy.length));
}

/** Stops the program if the schema or the key is another one now: a take then finds nothing. */
async function stopIfReplaced(db: StoreDatabase): Promise<void> {
	const { rows } = await sql<{ isOwn: unknown }>`select ${isUnchanged(db)} as "isOwn"`.execute(db.read);
	if (!rows[0]?.isOwn) stopReplaced(db);
}

type Places = Readonly<Record<`place${number}`, number | string>>;

function comparePlaces(one: Places, other: Places, count: number): number {
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
	/** Rows with smaller values come first. */
	readonly orderBy: readonly RawBuilder<unknown>[];
	readonly limit: number;
	/** More columns of the rows taken. */
	readonly alsoRead?: readonly RawBuilder<unknown>[];
}

/** `waitsAs` of a post that cannot be read or drawn. */
export const UNREADABLE_POST = 'unreadable';
/** How long an unreadable row waits: damaged, or for another encryption key. */
const UNREADABLE_RETRY_MS = 10 * MINUTE_MS;
/** What is written to a row that cannot be read. */
const LATER = {
	answers: (at: number) => ({ nextAttemptAt: at }),
	posts: (at: number) => ({ dueAt: at, waitsAs: UNREADABLE_POST }),
};

/** Leases and reads rows; an unreadable one, for which `read` returns null, is given back and tried later. */
export async function takeReadable<T extends keyof typeof LATER, R>(
	db: StoreDatabase,
	query: DueQuery<T>,
	{ log, ...taking }: { lease: Lease; now: number; log?: Log | undefined },
	read: (rows: readonly Row<T>[]) => Promise<readonly (R | null)[]>,
): Promise<R[]> {
	const rows = (await leaseDue(db, query, taking)) as (Row<T> & { id: string; waitsAs?: string | null })[];
	const found = rows.length === 0 ? [] : await read(rows);
	const skipped = rows.filter((_, index) => found[index] === null);
	if (skipped.length > 0) {
		// A start clears this of posts (`retryWaiting`), so each start logs them once.
		const news = skipped.filter((row) => row.waitsAs !== UNREADABLE_POST).map((row) => row.id);
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

/** What a lease loop needs of a store whose table is a queue. */
export const queueOf = (db: StoreDatabase, table: LeasedTable) => ({
	rows: db.queuedRows(table),
	async release(tokens: readonly string[]): Promise<void> {
		if (tokens.length > 0) await db.writeOne((trx) => freeLeases(trx, table, { leaseToken: tokens }));
	},
});

/**
 * Frees leases that a killed process left. On SQLite this process alone has the file, so nobody holds them. On
 * PostgreSQL a replica may.
 */
export async function freeOrphanedLeases(db: StoreDatabase): Promise<void> {
	if (db.dialect === 'sqlite') await db.write(freeAllLeases);
}

/** Frees all leases. For commands, while no program runs. */
export async function freeAllLeases(trx: Db): Promise<void> {
	for (const table of LEASED_TABLES)
		await trx.updateTable(table).set(WITHOUT_LEASE).where('leaseToken', 'is not', null).execute();
}
