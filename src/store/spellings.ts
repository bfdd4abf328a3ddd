// Moves what is stored of a session to another spelling of its id. `sessions/spelling-store.ts` decides.
import { sql } from 'kysely';
import type { SessionKey } from '../domain/session.ts';
import {
	type CipherTx,
	change,
	type Db,
	from,
	isFound,
	placeIn,
	remove,
	SEALED_COLUMNS,
	sessionOf,
	TABLE_NAMES,
	TABLES,
	type TableName,
	WITHOUT_LEASE,
} from './database.ts';

/** Stands for any table with rows of sessions in the types of queries. */
type OfSessions = 'drafts';

const isOfSessions = (name: TableName) => 'sessionId' in TABLES[name].columns;
export const TABLES_OF_SESSIONS = TABLE_NAMES.filter(isOfSessions);

/** Whether anything is stored of a session, apart from the audit. */
export async function isStored(trx: Db, session: SessionKey): Promise<boolean> {
	if ((await servicesOfLists(trx, session)).length > 0) return true;
	for (const name of TABLES_OF_SESSIONS)
		if (await isFound(from(trx, name as OfSessions, sessionOf(session)).select('service'))) return true;
	return false;
}

/** For which addresses lists are stored that decide about a session: they hold whatever the address is. */
export async function servicesOfLists(trx: Db, { sessionId }: SessionKey): Promise<readonly string[]> {
	const rows = from(trx, 'answer_rules', { sessionId }).select('service').distinct();
	return (await rows.execute()).map(({ service }) => service);
}

/**
 * The other ids with rows by which somebody acts (a list of who may answer, a live watch, an answer that is not sent)
 * that differ from this one by letter case only; lists for any address, as they decide for any. Whether they name the
 * same session, only the service knows.
 */
export async function otherSpellings(db: Db, { service, sessionId }: SessionKey): Promise<readonly string[]> {
	const isSpelling = sql<boolean>`lower(session_id) = lower(${sessionId}) and session_id <> ${sessionId}`;
	const isOther = sql<boolean>`service = ${service} and ${isSpelling}`;
	// Written out: SQLite uses partial indexes only then.
	const { rows } = await sql<{ id: string }>`
		select session_id as id from answer_rules where ${isSpelling}
		union select session_id from watches where ${isOther} and ended_at is null
		union select session_id from answers where ${isOther} and state in ('accepted', 'delivering')`.execute(db);
	return rows.map(({ id }) => id);
}

/** Tables whose rows stay where a value cannot be read: bound to another id, no key would open it any more. */
const STAYING: readonly TableName[] = ['answers', 'drafts'];

/**
 * Gives the rows of `former` in this table the id of `session`, without their leases, and encrypts anew what is bound
 * to the id. Where one with its key is there already, that stays.
 */
export async function moveToSpelling(
	tx: CipherTx,
	table: TableName,
	former: SessionKey,
	session: SessionKey,
): Promise<void> {
	const { trx } = tx;
	const key: readonly string[] = TABLES[table].key;
	const own = table as OfSessions;
	const begun = { ...sessionOf(session), ...('leaseToken' in TABLES[table].columns && WITHOUT_LEASE) };
	if (key.includes('sessionId')) {
		const others = key.filter((name) => name !== 'service' && name !== 'sessionId');
		const isSame = others.map((name) => sql`and taken.${sql.ref(name)} = ${sql.ref(`${table}.${name}`)}`);
		const isTaken = sql<boolean>`exists (select 1 from ${sql.table(table)} as taken
			where taken.service = ${session.service} and taken.session_id = ${session.sessionId}
			${sql.join(isSame, sql` `)})`;
		await remove(trx, own, sessionOf(former)).where(isTaken).execute();
	}
	const sealed = SEALED_COLUMNS.filter((column) => column.table === table);
	if (sealed.length === 0) return void (await change(trx, own, sessionOf(former), begun).execute());
	for (const row of await from(trx, own, sessionOf(former)).selectAll().forUpdate().execute()) {
		const before: Readonly<Record<string, unknown>> = row;
		const after = { ...before, ...sessionOf(session) };
		const anew = sealed.flatMap((column) => {
			const value = before[column.column];
			if (typeof value !== 'string') return [];
			const text = tx.cipher.decrypt(value, placeIn(column, before));
			return [
				[column.column, text && tx.cipher.encrypt(withId(text, former, session), placeIn(column, after))],
			] as const;
		});
		const isUnreadable = anew.some(([, text]) => text === null);
		if (isUnreadable && STAYING.includes(table)) continue;
		const values = Object.fromEntries(anew.filter(([, text]) => text !== null));
		const which = Object.fromEntries(key.map((name) => [name, before[name]]));
		await change(trx, own, which, { ...begun, ...values }).execute();
	}
}

/** Replaces the id inside a value: what a card shows holds it too. */
function withId(text: string, former: SessionKey, session: SessionKey): string {
	if (!text.includes('"sessionId"')) return text;
	const value: unknown = JSON.parse(text);
	const says = (value as { readonly sessionId?: unknown } | null)?.sessionId;
	return says === former.sessionId ? JSON.stringify({ ...Object(value), sessionId: session.sessionId }) : text;
}
