import { type RawBuilder, sql } from 'kysely';
import { change, countChanged } from './database.ts';
import type { Cipher } from './encryption.ts';
import { placeIn, SEALED_COLUMNS } from './sealed-columns.ts';
import { COLUMNS, type Db, type Tables } from './tables.ts';

/**
 * Where rows hold ids of people, to find all that is stored of a person. `id`: the column is the id. `part`: the id is part
 * of a text. A list: fields of the column's JSON, from its root; `[]` is each entry of a list and `{}` each name of a record.
 * A new column or field with such an id has to be added here.
 */
export const PERSON_IDS = {
	answers: { userId: 'id', submissionKey: 'part', other: ['person.userId'] },
	drafts: { userId: 'id' },
	claims: { userId: 'id' },
	windows: { userId: 'id', view: 'part' },
	watches: { createdBy: 'id' },
	posts: {
		stream: 'part',
		uniqueKey: 'part',
		placeId: 'id',
		content: ['by', 'from', 'entries[].heldBy', 'before.mention.userIds[]', 'after.mention.userIds[]'],
	},
	questions: { fromUserId: 'id', toUserId: 'id' },
	inboxes: { id: 'part', userId: 'id' },
	ladders: { heldBy: 'id' },
	channel_settings: { settings: ['mention.userIds[]'], changedBy: 'id' },
	snoozes: { userId: 'id' },
	discoveries: { createdBy: 'id' },
	shared_states: { name: 'part', state: ['{}'] },
} as const satisfies {
	readonly [Table in keyof Tables]?: {
		readonly [Column in keyof Tables[Table]]?: 'id' | 'part' | readonly string[];
	};
};

export type PersonTable = keyof typeof PERSON_IDS;
export const PERSON_TABLES = Object.keys(PERSON_IDS) as PersonTable[];
type StoredRow = Readonly<Record<string, unknown>>;

/** In place of a text that no key opens: it may name the person. */
const UNREADABLE = 'cannot be read';

/** Rows of a table looked at for one page: decrypting them blocks the event loop. */
const PAGE_ROWS = 200;

const sealedIn = (table: string) => SEALED_COLUMNS.filter((sealed) => sealed.table === table);

const openColumns = (table: PersonTable) => {
	const sealed = sealedIn(table).map(({ column }) => String(column));
	return Object.keys(PERSON_IDS[table]).filter((column) => !sealed.includes(column));
};

const anyOf = (conditions: readonly RawBuilder<unknown>[]) => sql<boolean>`(${sql.join(conditions, sql` or `)})`;

/** Puts `name` in the place of the id in all columns that are not encrypted. Returns how many rows it changed. */
export async function replacePerson(trx: Db, userId: string, name: string): Promise<number> {
	let changed = 0;
	for (const table of PERSON_TABLES) {
		const columns = openColumns(table).map((column) => {
			// It is the whole text, stands between colons, or is a string of JSON.
			const text = sql`':' || ${sql.ref(column)} || ':'`;
			const isIn = sql`(${sql.ref(column)} like ${`%${userId}%`}
				and (${text} like ${`%:${userId}:%`} or ${text} like ${`%"${userId}"%`}))`;
			const parts = sql`replace(replace(${text}, ${`:${userId}:`}, ${`:${name}:`}), ${`"${userId}"`}, ${`"${name}"`})`;
			return { column, isIn, value: sql<string>`substr(${parts}, 2, length(${parts}) - 2)` };
		});
		const values = Object.fromEntries(columns.map(({ column, value }) => [column, value]));
		const isIn = anyOf(columns.map((one) => one.isIn));
		changed += await countChanged(change(trx, table as 'meta', {}, values).where(isIn));
	}
	return changed;
}

/**
 * The rows that hold the id, whatever their workspace, with ciphertexts as texts. Of a table whose rows have a key, those of
 * a page; `next`: where the next one begins, null after the last.
 */
export async function rowsOfPerson(db: Db, cipher: Cipher, userId: string, { table, after }: PersonPage) {
	const [key] = Object.entries(COLUMNS[table]).find(([, type]) => String(type).includes('primary key')) ?? [];
	const sealed = sealedIn(table).filter(({ column }) => column in PERSON_IDS[table]);
	// Only a text that can be opened tells whether it holds the id.
	const mayHold = anyOf([
		...openColumns(table).map((column) => sql`${sql.ref(column)} like ${`%${userId}%`}`),
		...sealed.map(({ column }) => sql`${sql.ref(column)} is not null`),
	]);
	const page = key ? sql`and ${sql.ref(key)} > ${after} order by ${sql.ref(key)} limit ${PAGE_ROWS}` : sql``;
	const { rows } = await sql<StoredRow>`select * from ${sql.table(table)} where ${mayHold} ${page}`.execute(db);
	const opened = rows.map((row): StoredRow => {
		const texts = sealedIn(table).map((one) => {
			const text = row[one.column];
			return [one.column, typeof text === 'string' ? (cipher.decrypt(text, placeIn(one, row)) ?? UNREADABLE) : null];
		});
		return { ...row, ...Object.fromEntries(texts) };
	});
	const wanted = new RegExp(`\\b${userId}\\b`);
	const isTheirs = (row: StoredRow) =>
		Object.keys(PERSON_IDS[table]).some((name) => wanted.test(String(row[name])) || row[name] === UNREADABLE);
	const isLast = key === undefined || rows.length < PAGE_ROWS;
	return { rows: opened.filter(isTheirs), next: isLast ? null : String(rows.at(-1)?.[key]) };
}

export type PersonPage = { readonly table: PersonTable; readonly after: string };
