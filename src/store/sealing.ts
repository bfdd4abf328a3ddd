import {
	type CipherPlace,
	type Db,
	from,
	placeIn,
	placeInSql,
	type RawBuilder,
	type SealedColumn,
	sql,
} from './database.ts';

/** Facts about the database, by name. */
export async function readMeta(db: Db): Promise<ReadonlyMap<string, string>> {
	const rows = await from(db, 'meta').select(['name', 'value']).execute();
	return new Map(rows.map(({ name, value }) => [name, value]));
}

/** Rows that one statement reads or writes. */
const BATCH = 500;

/**
 * Encrypts again the values of a column for which `isDue` holds. `anew` gets each with its place and the columns of
 * that; it returns null for one that stays as it is. Returns how many were written, and how many stayed.
 */
export async function sealAnew(
	trx: Db,
	sealed: SealedColumn,
	isDue: RawBuilder<boolean>,
	anew: (sealed: string, place: CipherPlace, row: Readonly<Record<string, unknown>>) => string | null,
): Promise<{ readonly written: number; readonly left: number }> {
	const keys: readonly string[] = sealed.keys;
	const [table, value] = [sql.table(sealed.table), sql.ref(sealed.column)];
	const inOrder = sql.join(keys.map((key) => sql.ref(key)));
	let [written, left] = [0, 0];
	for (let after: RawBuilder<unknown> = sql``; ; ) {
		const { rows } = await sql<Record<string, unknown>>`select ${sql.raw(placeInSql(sealed))}, ${value} as sealed
			from ${table} where ${value} is not null and ${isDue} ${after} order by ${inOrder} limit ${sql.lit(BATCH)}
			`.execute(trx);
		const due = rows.flatMap((row) => {
			const text = anew(String(row.sealed), placeIn(sealed, row), row);
			return text === null ? [] : [sql`(${sql.join([...keys.map((key) => row[key]), text])})`];
		});
		// Both databases name the columns of `values` so: `column1`, `column2`.
		const given = (index: number) => sql.ref(`given.column${index + 1}`);
		const isSame = keys.map((key, index) => sql`${sql.ref(`${sealed.table}.${key}`)} = ${given(index)}`);
		if (due.length > 0)
			await sql`update ${table} set ${value} = ${given(keys.length)} from (values ${sql.join(due)}) as given
				where ${sql.join(isSame, sql` and `)}`.execute(trx);
		written += due.length;
		left += rows.length - due.length;
		const last = rows.length < BATCH ? undefined : rows.at(-1);
		if (last === undefined) return { written, left };
		after = sql`and (${inOrder}) > (${sql.join(keys.map((key) => last[key]))})`;
	}
}
