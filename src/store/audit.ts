// Owns `audit_events` and `refusals`: what people, agents and operators did, without texts and values.

import { MINUTE_MS } from '../kernel/clock.ts';
import { loggedId } from '../kernel/log.ts';
import { currentRequest } from '../kernel/requests.ts';
import { changeInBatches, inBatches } from './batches.ts';
import {
	type AuditEvent,
	add,
	addNew,
	change,
	changesOf,
	type Db,
	from,
	type InsertObject,
	isFound,
	isPostgres,
	type RawBuilder,
	type Row,
	remove,
	type StoreDatabase,
	sql,
	TABLES,
	type Tables,
} from './database.ts';

/** Actors that are no person. */
export const PROGRAM = 'program';
const AN_OPERATOR = 'operator';

export type AuditRow = Row<'audit_events'>;

/**
 * Adds events to the audit at the end of this transaction. Without `actor` it is the person of the request, or the
 * program.
 */
export function recordEvents(trx: Db, ...events: readonly AuditEvent[]): void {
	const changes = changesOf(trx);
	if (changes === undefined || (isPostgres(trx) && !trx.isTransaction)) throw new Error('an event needs a transaction');
	changes.recorded.push(...events);
}

/** Records what an operator did: `operator` is their account and machine, null where nobody knows. */
export function recordOperator(trx: Db, operator: string | null, act: AuditEvent): void {
	recordEvents(trx, { ...act, actor: AN_OPERATOR, operator });
}

/** Each row names all columns, so that SQLite prepares one statement for all. */
const EMPTY_EVENT = {
	count: 1,
	operator: null,
	about: null,
	channel: null,
	answer: null,
	fingerprint: null,
	shownHash: null,
	outcome: null,
};

/** Rows of one INSERT: SQLite takes at most 32,766 parameters in a statement. */
const MOST_AT_ONCE = 1_000;

/** Adds what a transaction has recorded so far. */
export async function writeEvents(trx: Db): Promise<void> {
	const changes = changesOf(trx);
	if (changes === undefined || changes.recorded.length === 0) return;
	const { recorded, request, events } = changes;
	const isShared = isPostgres(trx);
	const newest = sql<number>`(select coalesce(max(number), 0) from audit_events)`;
	const part = recorded.splice(0, MOST_AT_ONCE);
	const rows = part.map(({ session, actor = request?.userId ?? PROGRAM, ...event }, index) => ({
		...EMPTY_EVENT,
		...event,
		actor,
		// A person may have typed the id.
		session: session == null ? null : loggedId(session),
		request: request?.id ?? null,
		transactionId: isShared ? transactionNumber(sql`pg_current_xact_id()`) : 0,
		...(!isShared && { number: sql<number>`${newest} + ${index + 1}` }),
	}));
	const written = await trx
		.insertInto('audit_events')
		.values(rows as InsertObject<Tables, 'audit_events'>[])
		.returningAll()
		.execute();
	events.push(...written.toSorted((one, other) => one.number - other.number));
	await writeEvents(trx);
}

/** Runs the work of a transaction, and adds what it has recorded. */
export async function workAndRecord<T>(trx: Db, work: (trx: Db) => Promise<T>): Promise<T> {
	const value = await work(trx);
	await writeEvents(trx);
	return value;
}

/**
 * Names of rows in `meta`. `restored`: who ran `npm run restore` since the last start. `database`: the PostgreSQL
 * database that the last start found. `former`: the highest transaction number from before a dump was restored.
 */
export const META = { restored: 'restored', database: 'audit_database', former: 'audit_former' } as const;

/**
 * The number of a PostgreSQL transaction in the audit. After a dump was restored, it continues the numbers of the
 * database that was dumped.
 */
export const transactionNumber = (xid: RawBuilder<unknown>) => sql<number>`(${xid}::text::bigint
	+ (select coalesce(max(value::bigint), 0) from meta where name = ${sql.lit(META.former)}))`;

/**
 * Records at a start that a backup was restored since the last start. A copy of PostgreSQL's files leaves no sign of
 * it.
 */
export const recordRestore = (db: StoreDatabase, at: number) =>
	db.write(async (trx) => {
		const marked = await remove(trx, 'meta', { name: META.restored }).returning('value').executeTakeFirst();
		const isDump = isPostgres(trx) && (await isOtherDatabase(trx));
		if (!isDump && marked === undefined) return;
		recordOperator(trx, marked?.value ?? null, { at, action: 'restored', outcome: 'restored' });
	});

/**
 * Whether a dump of another database was restored into this one since the last start. Notes this database for the
 * next.
 */
async function isOtherDatabase(trx: Db): Promise<boolean> {
	const name = META.database;
	await addNew(trx, 'meta', { name, value: '' }).execute();
	const { value: known } = await from(trx, 'meta', { name }).select('value').forUpdate().executeTakeFirstOrThrow();
	const { rows } = await sql<{ own: string; newest: number; isAhead: boolean }>`select oid::text as own, newest,
		newest > ${transactionNumber(sql`pg_current_xact_id()`)} as is_ahead from pg_database,
		(select coalesce(max(transaction_id), 0) as newest from audit_events) as all_events
		where datname = current_database()`.execute(trx);
	const { own = '', newest = 0, isAhead = false } = rows[0] ?? {};
	await change(trx, 'meta', { name }, { value: own }).execute();
	if (!isAhead && (known === '' || known === own)) return false;
	await remove(trx, 'meta', { name: META.former }).execute();
	await add(trx, 'meta', { name: META.former, value: String(newest) }).execute();
	return true;
}

/** People whose refusals one transaction records. Each has a few, and on SQLite a transaction blocks the event loop. */
const PEOPLE_AT_ONCE = 20;

export function createAuditStore({ db }: { readonly db: StoreDatabase }) {
	return {
		/** Counts a refusal of the present request by the access policy: for each person, action and minute. */
		async countRefusal(outcome: string, now: number): Promise<void> {
			const { userId = '', action = '' } = currentRequest() ?? {};
			const row = { minute: Math.floor(now / MINUTE_MS), userId, action, outcome, count: 1 };
			const counted = { count: sql<number>`refusals.count + 1` };
			await db.writeOne((trx) =>
				add(trx, 'refusals', row)
					.onConflict((known) => known.columns(TABLES.refusals.key).doUpdateSet(counted))
					.execute(),
			);
		},

		/** Records that the person of the present request saw a session. `about`: what of it. */
		async recordOpened(seen: Pick<AuditEvent, 'at' | 'session' | 'channel' | 'about' | 'outcome'>): Promise<void> {
			await db.write(async (trx) => recordEvents(trx, { action: 'opened', ...seen }));
		},

		/** Records the refusals of minutes that are over. */
		async recordRefusals(now: number): Promise<void> {
			const minute = Math.floor(now / MINUTE_MS);
			const over = (trx: Db) => from(trx, 'refusals').where('minute', '<', minute);
			if (!(await isFound(over(db.read).select('minute')))) return;
			const record = async (trx: Db, limit: number) => {
				const userId = over(trx).select('userId').distinct().limit(limit);
				const taken = remove(trx, 'refusals', { userId }).where('minute', '<', minute).returningAll();
				const rows = (await taken.execute()).toSorted((one, other) => one.minute - other.minute);
				const told = rows.map(({ userId: actor, action: about, minute: begun, ...counted }) => {
					return { ...counted, at: begun * MINUTE_MS, action: 'refused', actor, about } as const;
				});
				recordEvents(trx, ...told);
				return new Set(rows.map((row) => row.userId)).size;
			};
			await inBatches((limit) => db.write((trx) => record(trx, limit)), PEOPLE_AT_ONCE);
		},

		/** Removes rows older than `before`. The newest row stays, because SQLite counts on from its number. */
		removeOlderThan: (before: number) =>
			changeInBatches(db, (trx, limit) => {
				const oldest = sql`select number, at from audit_events order by number limit ${limit}`;
				const newest = sql`select max(number) from audit_events`;
				const isOld = sql<boolean>`number in (select number from (${oldest}) as oldest where at < ${before})`;
				return remove(trx, 'audit_events').where(sql<boolean>`${isOld} and number < (${newest})`);
			}),
	};
}

export type AuditStore = ReturnType<typeof createAuditStore>;
