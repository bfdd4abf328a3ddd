import {
	type DeleteQueryBuilder,
	type DeleteResult,
	type Expression,
	type ExpressionBuilder,
	type Generated,
	type InsertObject,
	type InsertResult,
	type Kysely,
	PostgresAdapter,
	type Selectable,
	type SelectQueryBuilder,
	type SqlBool,
	sql,
	type UpdateObject,
	type UpdateQueryBuilder,
	type UpdateResult,
} from 'kysely';
import type { z } from 'zod';
import type { Person } from '../domain/person.ts';
import type { QuestionKey, SessionKey } from '../domain/session.ts';
import type { Clock } from '../kernel/clock.ts';
import type { QueuedRows } from '../kernel/lease-loop.ts';
import { currentRequest, inRequest } from '../kernel/requests.ts';
import { parseOrNull, pick } from '../kernel/values.ts';
import { ANSWER_TABLES } from './schema/answers.ts';
import { AUDIT_TABLES, type AuditAction } from './schema/audit.ts';
import { type Column, integer, noted, tables, text } from './schema/columns.ts';
import { WATCH_TABLES } from './schema/watches.ts';
import type { ChannelKey } from './watch.ts';

export { type Insertable, type InsertObject, type RawBuilder, sql } from 'kysely';

/** The one description of tables: types, migrations, encryption, a person's data and the repair of times follow it. */
export const TABLES = tables({
	migrations: { key: ['number'], columns: { number: integer, name: text, appliedAt: noted }, kept: 'always' },

	/** Facts about the database, such as the check value of the encryption key. */
	meta: { key: ['name'], columns: { name: text, value: text }, kept: 'always' },

	...ANSWER_TABLES,
	...WATCH_TABLES,
	...AUDIT_TABLES,
});

export type TableName = keyof typeof TABLES;
export const TABLE_NAMES = Object.keys(TABLES) as TableName[];
export type ColumnsOf<Name extends TableName> = (typeof TABLES)[Name]['columns'];

/** In the order of `create table`. */
export const columnsOf = (name: TableName) => Object.entries<Column>(TABLES[name].columns);

export type Tables = {
	[Name in TableName]: { -readonly [Column in keyof ColumnsOf<Name>]: Value<ColumnsOf<Name>[Column]> };
};

/** The database, or a transaction. */
export type Db = Kysely<Tables>;

type Value<Of> = Of extends { readonly isNull: true }
	? Scalar<Of> | null
	: Of extends { readonly default: unknown }
		? Generated<Scalar<Of>>
		: Scalar<Of>;
type Scalar<Of> = Of extends { readonly type: 'text' } ? string : number;

export type Row<Table extends keyof Tables> = Selectable<Tables[Table]>;

/** What `recordEvents` adds to the audit. */
export type AuditEvent = Partial<Omit<Row<'audit_events'>, 'number' | 'transactionId' | 'request'>> & {
	readonly at: number;
	readonly action: AuditAction;
};

// The parts of a row that identify a session, a question, a person or a channel.

export const sessionOf = (row: SessionKey): SessionKey => pick(row, 'service', 'sessionId');
export const questionOf = (row: QuestionKey): QuestionKey => pick(row, 'service', 'sessionId', 'messageIndex');
export const personOf = (row: Person): Person => pick(row, 'teamId', 'userId');
export const channelOf = (row: ChannelKey): ChannelKey => pick(row, 'teamId', 'channelId');

/** Takes a lease away. Later writes of its holder fail, because they name its token. */
export const WITHOUT_LEASE = { leaseToken: null, leasedUntil: null } as const;

export type LeasedTable = {
	[Name in TableName]: 'leaseToken' extends keyof ColumnsOf<Name> ? Name : never;
}[TableName];
export const LEASED_TABLES = TABLE_NAMES.filter((name): name is LeasedTable => 'leaseToken' in TABLES[name].columns);

/** The columns that say when a row is due. */
const DUE_COLUMNS = new Set(['dueAt', 'nextAttemptAt', 'nextReadAt']);

/**
 * The last column of the key, by which rows are leased and locked. The id of a session is unique within its service.
 */
export const lastKeyOf = (name: TableName) => String(TABLES[name].key.at(-1));

/** What a transaction of this process has changed. */
export interface Committed {
	/** The tables in which it may have added or removed rows, or made some due. */
	readonly tables: ReadonlySet<keyof Tables>;
	/** The rows that it added to the audit. */
	readonly events: readonly Row<'audit_events'>[];
}

/**
 * Collects what the transactions of this process change, and tells listeners after each commit, not after a rollback.
 * `lookEveryMs`: how often loops look for what others may have stored.
 */
export function createCommits(lookEveryMs: number) {
	const listeners: ((committed: Committed) => void)[] = [];
	const onCommit = (listener: (committed: Committed) => void) => void listeners.push(listener);
	const lookers: (() => void)[] = [];
	const onLook = (listener: () => void) => void lookers.push(listener);
	return {
		/** Runs one transaction. `run` makes all its writes through `bound`, and resolves when they are committed. */
		async record<T>(run: (bound: (db: Db) => Db) => Promise<T>): Promise<T> {
			const changes: Changes = { tables: new Set(), recorded: [], events: [], request: currentRequest() };
			const value = await run((db) => {
				const own = db.withoutPlugins();
				noteTo(own, changes);
				return own;
			});
			// Listeners run outside the request: what they begin does not belong to it.
			inRequest(null, () => {
				for (const listener of listeners) listener(changes);
			});
			return value;
		},
		/** Calls `listener` after each commit of this process, before its writer goes on. It must not throw. */
		onCommit,
		/** Calls `listener` whenever it is time to look for what others have stored. */
		onLook,
		/**
		 * Calls all listeners of `onLook` at the same moments, so that their looks are one statement (`lookAt`). Ends
		 * when the signal is aborted.
		 */
		async keepLooking(clock: Clock, signal: AbortSignal): Promise<void> {
			for (;;) {
				await clock.sleep(lookEveryMs, signal);
				for (const look of lookers) look();
			}
		},
		queuedRows: (table: TableName): QueuedRows => ({
			onChange(listener) {
				onCommit(({ tables }) => tables.has(table) && listener());
				onLook(listener);
			},
		}),
	};
}

export interface Changes extends Committed {
	readonly tables: Set<TableName>;
	/** What the transaction adds to the audit at its end. */
	readonly recorded: AuditEvent[];
	readonly events: Row<'audit_events'>[];
	readonly request: ReturnType<typeof currentRequest>;
}

const changesBy = new WeakMap<Db, Changes>();
export const changesOf = (trx: Db) => changesBy.get(trx);
/** Notes in `changes` what is written through this handle. */
export const noteTo = (trx: Db, changes: Changes) => void changesBy.set(trx, changes);

/** Notes which table is written, for `onCommit`. Plain SQL is not noted: it writes leases (`leaseDue`). */
function noteWrite(db: Db, table: TableName): void {
	changesOf(db)?.tables.add(table);
}

// Columns are in snake_case in the database and in `sql` fragments, and in camelCase in queries and rows. Kysely's
// `CamelCasePlugin` copies each query and each row for that, which made accepting an answer a third slower.

/** Kept, because each query has a dozen names. */
const NAMES_IN_SQL: Record<string, string> = Object.create(null);

export function nameInSql(name: string): string {
	NAMES_IN_SQL[name] ??= name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
	return NAMES_IN_SQL[name];
}

/** A function that makes rows with names in camelCase from values in the order of `columns`. */
export function rowsOf(columns: readonly { readonly name: string }[]) {
	const names = columns.map(({ name }) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()));
	return (values: readonly unknown[]): Record<string, unknown> => {
		const row: Record<string, unknown> = {};
		for (let index = 0; index < names.length; index += 1) row[names[index] as string] = values[index];
		return row;
	};
}

/**
 * An open SQLite or PostgreSQL database. Failures of the environment (disk, I/O, network) throw
 * `StoreUnavailableError`, here and in all methods of stores. Each is one transaction, committed when it resolves.
 */
export interface StoreDatabase extends Omit<ReturnType<typeof createCommits>, 'record'> {
	readonly dialect: 'sqlite' | 'postgres';
	/** The workspace to whose Slack this process writes; null: not known yet. Left out: rows of all count. */
	readonly workspace?: (() => string | null) | undefined;
	/** The check value of the key that this process found at its start; null before that. */
	readonly keyCheck?: (() => string | null) | undefined;
	/** Called when this process has to stop, because the schema or the key is another one now. */
	readonly onReplaced?: (() => void) | undefined;
	/** For single SELECT statements. Never use it inside `write`: on SQLite it deadlocks. */
	readonly read: Db;
	/**
	 * Runs `work` as one transaction. Resolves after the commit (on SQLite: synced to disk); rolls back and rejects when
	 * `work` throws. `work` must only use the given handle and await nothing else: PostgreSQL runs it again after a
	 * unique violation, a deadlock or a serialization failure. On SQLite, writes that arrive in one turn of the event
	 * loop share one commit and its fdatasync; each still fails alone.
	 */
	write<T>(work: (db: Db) => Promise<T>): Promise<T>;
	/** Like `write`, for a single INSERT, UPDATE or DELETE. Saves the round trips of BEGIN and COMMIT on PostgreSQL. */
	writeOne<T>(work: (db: Db) => Promise<T>): Promise<T>;
	ping(): Promise<unknown>;
	close(): Promise<void>;
}

/** By column: the value (also null), a list of possible values, or a query of them. */
export type Filter<Table extends keyof Tables> = {
	readonly [Column in keyof Row<Table>]?: Row<Table>[Column] | readonly Row<Table>[Column][] | Expression<unknown>;
};

/** The query of the rows that match `filter`; the caller adds what it selects. */
export function from<Table extends keyof Tables>(db: Db, table: Table, filter: Filter<Table> = {}) {
	const query: unknown = db.selectFrom(table as 'meta').where(matching(filter));
	return query as SelectQueryBuilder<Tables, Table, Record<never, never>>;
}

/** Selects the columns of a table that is joined as `alias`. `joinedRow` reads them. */
export const columnsAs = (table: TableName, alias: string) =>
	sql.join(columnsOf(table).map(([name]) => sql`${sql.ref(`${alias}.${name}`)} as ${sql.ref(alias + capital(name))}`));

/** The row of a joined table among columns of others; undefined: nothing was found there. */
export function joinedRow<Table extends TableName>(row: object, table: Table, alias: string): Row<Table> | undefined {
	const columns = columnsOf(table).map(([name]) => [
		name,
		(row as Readonly<Record<string, unknown>>)[alias + capital(name)],
	]);
	const found: Row<TableName> = Object.fromEntries(columns);
	return found[lastKeyOf(table) as keyof typeof found] === null ? undefined : (found as Row<Table>);
}

const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

export function add<Table extends keyof Tables>(db: Db, table: Table, row: InsertObject<Tables, Table>) {
	noteWrite(db, table);
	return db.insertInto(table).values(row);
}

/** The query that adds a row, or nothing where a row has its key. */
export function addNew<Table extends keyof Tables>(db: Db, table: Table, row: InsertObject<Tables, Table>) {
	return add(db, table, row).onConflict((conflict) => conflict.doNothing());
}

/** The query that adds a row, or nothing where `condition` does not hold. */
export function addIf<Table extends keyof Tables>(
	db: Db,
	table: Table,
	row: InsertObject<Tables, Table>,
	condition: Expression<SqlBool>,
) {
	const columns = Object.keys(row) as (keyof Tables[Table] & string)[];
	const values = Object.entries(row).map(([column, value]) => sql<never>`${value}`.as(column));
	noteWrite(db, table);
	return db.insertInto(table).columns(columns).expression(db.selectNoFrom(values).where(condition));
}

/** The query that writes these columns of the rows that match `filter`; the caller runs it. Undefined ones stay. */
export function change<Table extends keyof Tables>(
	db: Db,
	table: Table,
	filter: Filter<Table>,
	columns: UpdateObject<Tables, Table>,
) {
	// Loops wake up for rows that become due, which only these columns change. The next look finds a row that had to
	// wait for another one.
	if (Object.keys(columns).some((name) => DUE_COLUMNS.has(name))) noteWrite(db, table);
	const query = db.updateTable(table as 'meta').where(matching(filter)) as unknown;
	return (query as UpdateQueryBuilder<Tables, Table, Table, UpdateResult>).set(columns);
}

export function remove<Table extends keyof Tables>(db: Db, table: Table, filter: Filter<Table> = {}) {
	noteWrite(db, table);
	const query: unknown = db.deleteFrom(table as 'meta').where(matching(filter));
	return query as DeleteQueryBuilder<Tables, Table, DeleteResult>;
}

export async function isFound(query: { limit(count: number): { executeTakeFirst(): Promise<unknown> } }) {
	return (await query.limit(1).executeTakeFirst()) !== undefined;
}

/** How many rows a query of `from` finds. */
export async function countOf<Table extends keyof Tables>(query: SelectQueryBuilder<Tables, Table, object>) {
	const counted = query.select(({ fn }) => fn.countAll<number>().as('count'));
	return (await counted.executeTakeFirstOrThrow()).count;
}

function matching(filter: object) {
	return ({ eb, and }: ExpressionBuilder<Tables, 'meta'>) =>
		and(
			Object.entries(filter).map(([column, value]) => {
				// PostgreSQL takes no empty list.
				if (Array.isArray(value) && value.length === 0) return eb.lit(false);
				return eb(column as 'name', value === null ? 'is' : typeof value === 'object' ? 'in' : '=', value);
			}),
		);
}

export const isPostgres = (db: Pick<Db, 'getExecutor'>) => db.getExecutor().adapter instanceof PostgresAdapter;

export interface ChangeQuery {
	executeTakeFirst(): Promise<InsertResult | UpdateResult | DeleteResult | undefined>;
}

/** Runs an INSERT, UPDATE or DELETE. Whether it changed a row. */
export const hasChanged = async (query: ChangeQuery): Promise<boolean> => (await countChanged(query)) > 0;

export async function countChanged(query: ChangeQuery): Promise<number> {
	const result = await query.executeTakeFirst();
	if (result === undefined) return 0;
	if ('numUpdatedRows' in result) return Number(result.numUpdatedRows);
	return Number('numDeletedRows' in result ? result.numDeletedRows : (result.numInsertedOrUpdatedRows ?? 0n));
}

/** `table.column` */
export type SealedName = {
	[Name in TableName]: {
		[Column in keyof ColumnsOf<Name>]: ColumnsOf<Name>[Column] extends { readonly bound: unknown }
			? `${Name}.${Column & string}`
			: never;
	}[keyof ColumnsOf<Name>];
}[TableName];

/** Every column with ciphertexts. `CipherPlace` has no others but those of `meta`, so a change of the key finds all. */
export const SEALED_COLUMNS = TABLE_NAMES.flatMap((table) =>
	columnsOf(table).flatMap(([column, described]) =>
		'bound' in described && described.bound
			? { ...described, bound: described.bound, table, column, keys: TABLES[table].key }
			: [],
	),
);

export type SealedColumn = (typeof SEALED_COLUMNS)[number];

export type BoundOf<Column> = Column extends { readonly bound: readonly (infer Name)[] } ? Name : never;

/** What a row needs to encrypt a value for this column, or to decrypt it. */
export type PlacedRow<Wanted extends SealedName> = Wanted extends `${infer Name extends TableName}.${infer Column}`
	? Pick<
			Row<Name>,
			((typeof TABLES)[Name]['key'][number] | BoundOf<ColumnsOf<Name>[Column & keyof ColumnsOf<Name>]>) &
				keyof Row<Name>
		>
	: never;

export type SealedPlace<Name> = Name extends `${infer Table}.${infer Column}`
	? { readonly table: Table; readonly column: Column; readonly id: string }
	: never;

/** Where a ciphertext is stored. It decrypts nowhere else, so values cannot be moved between rows. */
export type CipherPlace = SealedPlace<SealedName | 'meta.value'> & {
	/** Values of the row that it is bound to as well. */
	readonly bound?: readonly unknown[];
};

/** The `id` of a `CipherPlace`, from the values of the row's key. */
export function placeId(...keys: readonly string[]): string {
	const [only = ''] = keys;
	return keys.length === 1 ? only : JSON.stringify(keys);
}

/** The columns that `placeIn` needs, for a SELECT. */
export const placeInSql = ({ keys, bound }: SealedColumn) =>
	[...new Set([...keys, ...bound])].map((name) => `${nameInSql(name)} as "${name}"`).join(', ');

/** The place of a value in this column. The row has its key, and the columns that the value is bound to. */
export function placeIn(
	{ table, column, keys, bound }: SealedColumn,
	row: Readonly<Record<string, unknown>>,
): CipherPlace {
	const id = placeId(...keys.map((key) => String(row[key])));
	return { table, column, id, bound: bound.map((name) => row[name]) } as CipherPlace;
}

export interface StoreParts {
	readonly db: StoreDatabase;
	readonly cipher: Cipher;
}

export interface Cipher {
	/** Identifies the key without revealing it. */
	readonly keyId: string;
	/** `2.<key id>.<base64 of nonce, ciphertext and tag>`; different each time. */
	encrypt(text: string, place: CipherPlace): string;
	/** Null for another key, another place or a damaged ciphertext. */
	decrypt(sealed: string, place: CipherPlace): string | null;
}

/** Encrypts and decrypts the JSON of one column. `row`: the row of the value. */
export function sealedColumn<T, Name extends SealedName>(name: Name, schema: z.ZodType<T>) {
	const own = SEALED_COLUMNS.find(({ table, column }) => `${table}.${column}` === name) as SealedColumn;
	return {
		schema,
		seal: (value: T, row: PlacedRow<Name>, cipher: Cipher) => cipher.encrypt(JSON.stringify(value), placeIn(own, row)),
		open: (sealed: string | null, row: PlacedRow<Name>, cipher: Cipher): T | null =>
			parseOrNull(schema, sealed && cipher.decrypt(sealed, placeIn(own, row))),
	};
}

export interface Tx {
	readonly trx: Db;
	readonly now: number;
}

export type CipherTx = Tx & { readonly cipher: Cipher };
