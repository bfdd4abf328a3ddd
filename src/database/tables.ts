import type { Generated, Kysely, Selectable } from 'kysely';
import { pick } from '../core/values.ts';
import type { Person, QuestionKey } from '../questions/answer.ts';
import type { SessionKey } from '../questions/session.ts';
import { ANSWER_TABLES } from './schema/answers.ts';
import { type Column, integer, noted, tables, text } from './schema/columns.ts';
import { WATCH_TABLES } from './schema/watches.ts';
import type { ChannelKey } from './watch.ts';

/**
 * All tables, the only description of them; in SQL, names are in snake_case (`nameInSql`). Types, migrations, encryption, what
 * is stored of a person and the repair of times follow it.
 */
export const TABLES = tables({
	migrations: {
		key: ['number'],
		columns: { number: integer, name: text, appliedAt: noted },
		kept: 'always',
	},

	/** Facts about the database, such as the check value of the encryption key. */
	meta: { key: ['name'], columns: { name: text, value: text }, kept: 'always' },

	...ANSWER_TABLES,
	...WATCH_TABLES,
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

// The keys in a row, or in an object that has more: to filter by them, to insert or to return them.

export const sessionOf = (row: SessionKey): SessionKey => pick(row, 'service', 'sessionId');
export const questionOf = (row: QuestionKey): QuestionKey => pick(row, 'service', 'sessionId', 'messageIndex');
export const personOf = (row: Person): Person => pick(row, 'teamId', 'userId');
export const channelOf = (row: ChannelKey): ChannelKey => pick(row, 'teamId', 'channelId');

/** A holder that still works on the row has its writes refused: they name its token. */
export const WITHOUT_LEASE = { leaseToken: null, leasedUntil: null } as const;

export type LeasedTable = {
	[Name in TableName]: 'leaseToken' extends keyof ColumnsOf<Name> ? Name : never;
}[TableName];
export const LEASED_TABLES = TABLE_NAMES.filter((name): name is LeasedTable => 'leaseToken' in TABLES[name].columns);

/** The last column of the key, by which rows are leased and locked; that of a session within its service. */
export const lastKeyOf = (name: TableName) => String(TABLES[name].key.at(-1));
