import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { STEP_MS } from '../../src/kernel/clock.ts';
import { LEASE_MS } from '../../src/kernel/lease-loop.ts';
import { columnsOf, TABLE_NAMES, TABLES } from '../../src/store/database.ts';
import { type Column, LEASE } from '../../src/store/schema/columns.ts';
import { makeDataDir, open } from './support.ts';

/** All columns that `is`, as `table.column`. */
const namesOf = (is: (name: string, column: Column) => boolean) =>
	TABLE_NAMES.flatMap((table) =>
		columnsOf(table).flatMap(([name, column]) => (is(name, column) ? `${table}.${name}` : [])),
	);
const inSql = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

describe('the description of the tables', () => {
	it('has the columns that migrations make', async () => {
		const directory = makeDataDir();
		await (await open({ dataDir: directory.path })).close();
		const database = new DatabaseSync(join(directory.path, 'handraise.db'));
		const found = database
			.prepare(
				`select t.name as "table", c.name as "column" from sqlite_schema as t, pragma_table_info(t.name) as c
				where t.type = 'table'`,
			)
			.all()
			.map(({ table, column }) => `${table}.${column}`);
		database.close();
		await directory.remove();
		expect(
			namesOf(() => true)
				.map(inSql)
				.sort(),
		).toEqual(found.sort());
	});

	it('knows how far ahead a time may lie, by its name', () => {
		const isTime = (name: string) => /(?:At|Since|Until)$|^(?:since|until|readBy|notBefore)$/.test(name);
		expect(namesOf((_, column) => 'longestMs' in column)).toEqual(namesOf(isTime));
	});

	it('lets the repair of the clock shorten no lease that another replica has just taken', () => {
		expect(LEASE_MS + STEP_MS).toBeLessThan(LEASE.leasedUntil.longestMs);
	});

	it('knows that a person did something, by its name', () => {
		const isPerson = (name: string, { type }: Column) => /(?:[uU]serId|By)$/.test(name) && type === 'text';
		const people = namesOf((_, column) => 'people' in column && column.people === 'id');
		expect(people.filter((name) => name !== 'posts.placeId')).toEqual(namesOf(isPerson));
	});
});

describe('docs/data.md', () => {
	const page = readFileSync(new URL('../../docs/data.md', import.meta.url), 'utf8');
	const text = page.slice(page.indexOf('## What is kept'));
	const rows = [...text.matchAll(/^\| (?!what \|)(.+) \|$/gm)].map(([, row = '']) => {
		const [, where = '', encrypted = '', removed = ''] = row.split(' | ');
		const places = Array.from(where.matchAll(/`([a-z_.]+)`/g), ([, place = '']) => place);
		return { places, isEncrypted: !/^(?:no\b|holds no text)/.test(encrypted), removed };
	});
	const rowsOf = (table: string) => rows.filter(({ places }) => places.some((place) => place.split('.')[0] === table));

	it.each(TABLE_NAMES)('says how long rows of %s are kept', (table) => {
		const { kept } = TABLES[table];
		const removals = rowsOf(table).map(({ removed }) => removed);
		const words = { always: /^never/, whileUsed: /when|with|within|after/ };
		const said = removals.filter((removed) =>
			typeof kept === 'number' ? removed.includes(`${kept} days`) : words[kept].test(removed),
		);
		expect(removals).not.toEqual([]);
		expect(said).not.toEqual([]);
	});

	it('names every column with ciphertexts, or its table, as encrypted', () => {
		const encrypted = rows.filter((row) => row.isEncrypted).flatMap(({ places }) => places);
		const missing = namesOf((_, column) => 'bound' in column)
			.map(inSql)
			.filter((name) => !encrypted.includes(name) && !encrypted.includes(name.split('.')[0] ?? ''));
		expect(missing).toEqual([]);
	});

	it('names only what there is, and nothing as encrypted without ciphertexts', () => {
		const all = [...TABLE_NAMES, ...namesOf(() => true).map(inSql)];
		expect(rows.flatMap(({ places }) => places).filter((place) => !all.includes(place))).toEqual([]);
		const sealed = namesOf((_, column) => 'bound' in column).map((name) => name.split('.')[0]);
		const wrong = rows
			.filter((row) => row.isEncrypted && !row.places.includes('meta'))
			.filter(({ places }) => !places.some((place) => sealed.includes(place.split('.')[0])));
		expect(wrong).toEqual([]);
	});
});
