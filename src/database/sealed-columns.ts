import type { Tables } from './tables.ts';

type Column = {
	readonly [Table in keyof Tables]: {
		readonly table: Table;
		/** The columns that name the row; their values are the id of the ciphertext's place. */
		readonly keys: readonly (keyof Tables[Table] & string)[];
		readonly column: keyof Tables[Table] & string;
		/** Values of drafts, which windows show, may turn out to be secret: see `secret-wiping.ts`. */
		readonly isSecret?: true;
	};
}[keyof Tables];

/** Every column with ciphertexts. Nothing is encrypted for another one (`CipherPlace`), so a change of the key finds all. */
export const SEALED_COLUMNS = [
	{ table: 'answers', keys: ['id'], column: 'content' },
	{ table: 'answers', keys: ['id'], column: 'secrets', isSecret: true },
	{ table: 'answers', keys: ['id'], column: 'other' },
	{ table: 'drafts', keys: ['formId'], column: 'content', isSecret: true },
	{ table: 'windows', keys: ['viewId'], column: 'view', isSecret: true },
	{ table: 'watched_sessions', keys: ['service', 'sessionId'], column: 'view' },
	{ table: 'questions', keys: ['id'], column: 'content' },
	{ table: 'questions', keys: ['id'], column: 'handOverNote' },
	{ table: 'waiting_sessions', keys: ['service', 'sessionId'], column: 'name' },
] as const satisfies readonly Column[];

export type SealedColumn = (typeof SEALED_COLUMNS)[number];

type Name<One> = One extends SealedColumn ? `${One['table']}.${One['column']}` : never;
export type SealedName = Name<SealedColumn>;

export const isSecret = (column: SealedColumn) => 'isSecret' in column;

type Place<One> = One extends { readonly table: infer Table; readonly column: infer Name }
	? { readonly table: Table; readonly column: Name; readonly id: string }
	: never;

/** Where a ciphertext is stored. It decrypts nowhere else, so values cannot be moved between rows. */
export type CipherPlace = Place<SealedColumn> | Place<{ table: 'meta'; column: 'value' }>;

/** The id of the place in a row whose keys have these values. */
export function placeId(...keys: readonly string[]): string {
	const [only = ''] = keys;
	return keys.length === 1 ? only : JSON.stringify(keys);
}

/** The place in a row, which has at least the keys of the column. */
export function placeIn({ table, keys, column }: SealedColumn, row: Readonly<Record<string, unknown>>): CipherPlace {
	return { table, column, id: placeId(...keys.map((key) => String(row[key]))) } as CipherPlace;
}
