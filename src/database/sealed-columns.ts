import { nameInSql } from './database.ts';
import { type ColumnsOf, columnsOf, type Row, TABLE_NAMES, TABLES, type TableName } from './tables.ts';

/** `table.column` */
export type SealedName = {
	[Name in TableName]: {
		[Column in keyof ColumnsOf<Name>]: ColumnsOf<Name>[Column] extends { readonly bound: unknown }
			? `${Name}.${Column & string}`
			: never;
	}[keyof ColumnsOf<Name>];
}[TableName];

/** Every column with ciphertexts. Nothing is encrypted for another one (`CipherPlace`), so a change of the key finds all. */
export const SEALED_COLUMNS = TABLE_NAMES.flatMap((table) =>
	columnsOf(table).flatMap(([column, described]) =>
		'bound' in described ? { ...described, table, column, keys: TABLES[table].key } : [],
	),
);

export type SealedColumn = (typeof SEALED_COLUMNS)[number];

type BoundOf<Column> = Column extends { readonly bound: readonly (infer Name)[] } ? Name : never;
/** What a row needs so that a value can be encrypted for this column, or decrypted. */
export type PlacedRow<Wanted extends SealedName> = Wanted extends `${infer Name extends TableName}.${infer Column}`
	? Pick<
			Row<Name>,
			((typeof TABLES)[Name]['key'][number] | BoundOf<ColumnsOf<Name>[Column & keyof ColumnsOf<Name>]>) &
				keyof Row<Name>
		>
	: never;

type Place<Name> = Name extends `${infer Table}.${infer Column}`
	? { readonly table: Table; readonly column: Column; readonly id: string }
	: never;

/** Where a ciphertext is stored. It decrypts nowhere else, so values cannot be moved between rows. */
export type CipherPlace = Place<SealedName | 'meta.value'> & {
	/** Values of the row that it is bound to as well. */
	readonly bound?: readonly unknown[] | undefined;
};

/** The id of the place in a row whose keys have these values. */
export function placeId(...keys: readonly string[]): string {
	const [only = ''] = keys;
	return keys.length === 1 ? only : JSON.stringify(keys);
}

/** The columns of the place, for a SELECT whose rows `placeIn` takes. */
export const placeInSql = ({ keys, bound }: SealedColumn) =>
	[...new Set([...keys, ...(bound ?? [])])].map((name) => `${nameInSql(name)} as "${name}"`).join(', ');

/** The place in a row, which has at least the keys of the column and what it is bound to. */
export function placeIn(
	{ table, column, keys, bound }: SealedColumn,
	row: Readonly<Record<string, unknown>>,
): CipherPlace {
	const id = placeId(...keys.map((key) => String(row[key])));
	return { table, column, id, bound: bound?.map((name) => row[name]) } as CipherPlace;
}
