import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { TIME_COLUMNS } from '../../src/store/repair-times.ts';
import { makeDataDir, open } from './support.ts';

it('repairs each column with a time', async () => {
	const directory = makeDataDir();
	await (await open({ dataDir: directory.path })).close();
	const database = new DatabaseSync(join(directory.path, 'handraise.db'));
	const found = database
		.prepare(
			`select t.name as "table", c.name as "column" from sqlite_schema as t, pragma_table_info(t.name) as c
			where t.type = 'table' and (c.type = 'bigint' or c.name like '%\\_at' escape '\\') order by 1, 2`,
		)
		.all()
		.map(({ table, column }) => `${table}.${column}`);
	database.close();
	await directory.remove();
	const listed = Object.entries(TIME_COLUMNS).flatMap(([table, columns]) =>
		Object.keys(columns).map((column) => `${table}.${column}`),
	);
	expect(listed.sort()).toEqual(found.sort());
});
