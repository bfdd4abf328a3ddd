import { type RawBuilder, sql } from 'kysely';
import { writeEvents } from './audit.ts';
import { beforeKeys, inParts } from './batches.ts';
import {
	type Cipher,
	change,
	changesOf,
	columnsOf,
	countChanged,
	type Db,
	type Filter,
	placeIn,
	remove,
	SEALED_COLUMNS,
	TABLE_NAMES,
	TABLES,
	type TableName,
} from './database.ts';

/** The columns of a table that hold ids of people, and where (`Column`). */
export const peopleColumns = (table: TableName) =>
	columnsOf(table).flatMap(([column, held]) =>
		'people' in held && held.people?.length ? { column, people: held.people, isSealed: 'bound' in held } : [],
	);

export const PERSON_TABLES = TABLE_NAMES.filter((table) => peopleColumns(table).length > 0);
type StoredRow = Readonly<Record<string, unknown>>;

/** In place of a text that no key opens: it may name the person. */
const UNREADABLE = 'cannot be read';

/** Rows of one page. Decrypting them blocks the event loop. */
const PAGE_ROWS = 200;

const anyOf = (conditions: readonly RawBuilder<unknown>[]) => sql<boolean>`(${sql.join(conditions, sql` or `)})`;

/** Puts `name` in the place of the id in all columns that are not encrypted. Returns how many rows it changed. */
export async function replacePerson(trx: Db, userId: string, name: string): Promise<number> {
	// The events of this transaction get the other name too.
	await writeEvents(trx);
	for (const event of changesOf(trx)?.events ?? []) {
		if (event.actor === userId) event.actor = name;
		if (event.about === userId) event.about = name;
	}
	let changed = 0;
	for (const table of PERSON_TABLES) {
		const open = peopleColumns(table).filter(({ isSealed }) => !isSealed);
		const columns = open.map(({ column }) => {
			// The id is the whole text, a part between colons, or a string of JSON.
			const text = sql`':' || ${sql.ref(column)} || ':'`;
			const isIn = sql`(${sql.ref(column)} like ${`%${userId}%`}
				and (${text} like ${`%:${userId}:%`} or ${text} like ${`%"${userId}"%`}))`;
			const parts = sql`replace(replace(${text}, ${`:${userId}:`}, ${`:${name}:`}), ${`"${userId}"`}, ${`"${name}"`})`;
			return { column, isIn, value: sql<string>`substr(${parts}, 2, length(${parts}) - 2)` };
		});
		const values = Object.fromEntries(columns.map(({ column, value }) => [column, value]));
		const isIn = anyOf(columns.map((one) => one.isIn));
		changed += await inParts(trx, table, (isHere) =>
			countChanged(change(trx, table as 'meta', {}, values).where(sql<boolean>`${isHere} and ${isIn}`)),
		);
	}
	return changed;
}

/**
 * The rows of a table that hold the id, in any workspace, with decrypted texts. A table whose key is one column is
 * read in pages. `next`: where the next page begins; null after the last.
 */
export async function rowsOfPerson(db: Db, cipher: Cipher, userId: string, { table, after }: PersonPage) {
	const [key, ...others] = TABLES[table].key;
	const isPaged = others.length === 0;
	const columns = peopleColumns(table);
	// Only a text that can be opened tells whether it holds the id.
	const mayHold = columns.map(({ column, isSealed }) =>
		isSealed ? sql`${sql.ref(column)} is not null` : sql`${sql.ref(column)} like ${`%${userId}%`}`,
	);
	const page = isPaged
		? sql`and ${sql.ref(key)} > ${after === '' ? beforeKeys(table) : after} order by ${sql.ref(key)} limit ${PAGE_ROWS}`
		: sql``;
	const { rows } = await sql<StoredRow>`select * from ${sql.table(table)} where ${anyOf(mayHold)} ${page}`.execute(db);
	const sealed = SEALED_COLUMNS.filter((one) => one.table === table);
	const opened = rows.map((row): StoredRow => {
		const texts = sealed.map((one) => {
			const text = row[one.column];
			return [one.column, typeof text === 'string' ? (cipher.decrypt(text, placeIn(one, row)) ?? UNREADABLE) : null];
		});
		return { ...row, ...Object.fromEntries(texts) };
	});
	const wanted = new RegExp(`\\b${userId}\\b`);
	const isTheirs = (row: StoredRow) =>
		columns.some(({ column }) => wanted.test(String(row[column])) || row[column] === UNREADABLE);
	const isLast = !isPaged || rows.length < PAGE_ROWS;
	return { rows: opened.filter(isTheirs), next: isLast ? null : String(rows.at(-1)?.[key]) };
}

export type PersonPage = { readonly table: TableName; readonly after: string };

/** Removes rows that are only a person's. Returns how many, in words for the operator. */
export async function removeRowsOf(trx: Db, userId: string): Promise<Readonly<Record<string, number>>> {
	const counts: Record<string, number> = {};
	for (const table of ['drafts', 'snoozes', 'views', 'people'] as const)
		counts[`${table} removed`] = await countChanged(remove(trx, table, { userId } as Filter<typeof table>));
	return counts;
}
