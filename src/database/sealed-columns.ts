import { nameInSql } from './database.ts';
import type { Row, Tables } from './tables.ts';

type Column = {
	readonly [Table in keyof Tables]: {
		readonly table: Table;
		/** The columns that name the row; their values are the id of the ciphertext's place. */
		readonly keys: readonly (keyof Tables[Table] & string)[];
		readonly column: keyof Tables[Table] & string;
		/** What never changes while the value is there, so that nobody without the key moves it to other people or questions. */
		readonly bound?: readonly (keyof Tables[Table] & string)[];
		/** Values of drafts, which windows show, may turn out to be secret: see `secret-wiping.ts`. */
		readonly isSecret?: true;
	};
}[keyof Tables];

const OF_SESSION = ['service', 'sessionId'] as const;
const OF_PERSON = [...OF_SESSION, 'teamId', 'userId'] as const;
const ANSWER = { table: 'answers', keys: ['id'], bound: [...OF_PERSON, 'messageIndex', 'fingerprint'] } as const;

/** Every column with ciphertexts. Nothing is encrypted for another one (`CipherPlace`), so a change of the key finds all. */
export const SEALED_COLUMNS = [
	{ ...ANSWER, column: 'content' },
	{ ...ANSWER, column: 'secrets', isSecret: true },
	{ ...ANSWER, column: 'other' },
	{ table: 'drafts', keys: ['formId'], column: 'content', bound: OF_PERSON, isSecret: true },
	{ table: 'windows', keys: ['viewId'], column: 'view', bound: OF_PERSON, isSecret: true },
	{ table: 'watched_sessions', keys: ['service', 'sessionId'], column: 'view' },
	// Its index and its holder change.
	{ table: 'questions', keys: ['id'], column: 'content', bound: OF_SESSION },
	{ table: 'questions', keys: ['id'], column: 'handOverNote', bound: [...OF_SESSION, 'handOverId'] },
	{ table: 'waiting_sessions', keys: ['service', 'sessionId'], column: 'name' },
] as const satisfies readonly Column[];

export type SealedColumn = (typeof SEALED_COLUMNS)[number];

type Name<One> = One extends SealedColumn ? `${One['table']}.${One['column']}` : never;
export type SealedName = Name<SealedColumn>;

export const isSecret = (column: SealedColumn) => 'isSecret' in column;

/** The columns of a row that the place of its value names. */
export const boundOf = (column: SealedColumn): readonly string[] | undefined =>
	'bound' in column ? column.bound : undefined;

type Named<One, Wanted> = One extends SealedColumn ? (Name<One> extends Wanted ? One : never) : never;
type Bound<One> = One extends { readonly bound: readonly (infer Key)[] } ? Key : never;
type Placed<One> = One extends SealedColumn
	? Pick<Row<One['table']>, (One['keys'][number] | Bound<One>) & keyof Row<One['table']>>
	: never;
/** What a row needs so that a value can be encrypted for this column, or decrypted. */
export type PlacedRow<Wanted extends SealedName> = Placed<Named<SealedColumn, Wanted>>;

type Place<One> = One extends { readonly table: infer Table; readonly column: infer Name }
	? { readonly table: Table; readonly column: Name; readonly id: string }
	: never;

/** Where a ciphertext is stored. It decrypts nowhere else, so values cannot be moved between rows. */
export type CipherPlace = (Place<SealedColumn> | Place<{ table: 'meta'; column: 'value' }>) & {
	/** Values of the row that it is bound to as well. */
	readonly bound?: readonly unknown[] | undefined;
};

/** The id of the place in a row whose keys have these values. */
export function placeId(...keys: readonly string[]): string {
	const [only = ''] = keys;
	return keys.length === 1 ? only : JSON.stringify(keys);
}

/** The columns of the place, for a SELECT whose rows `placeIn` takes. */
export const placeInSql = (column: SealedColumn) =>
	[...new Set([...column.keys, ...(boundOf(column) ?? [])])]
		.map((name) => `${nameInSql(name)} as "${name}"`)
		.join(', ');

/** The place in a row, which has at least the keys of the column and what it is bound to. */
export function placeIn(sealed: SealedColumn, row: Readonly<Record<string, unknown>>): CipherPlace {
	const { table, keys, column } = sealed;
	const id = placeId(...keys.map((key) => String(row[key])));
	return { table, column, id, bound: boundOf(sealed)?.map((name) => row[name]) } as CipherPlace;
}
