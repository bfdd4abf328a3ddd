import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DummyDriver, Kysely, SqliteIntrospector } from 'kysely';
import { expect, it } from 'vitest';
import { MIGRATIONS, migrate, OWN_SCHEMA } from '../../src/database/migrate.ts';
import { context, openAt } from './migrating-process.ts';
import { makeDataDir } from './support.ts';

/**
 * The schemas of released versions. Databases with them are in use, so what is wanted beyond the newest is a migration
 * (CONTRIBUTING.md, "Change the schema"). A release that has a new schema adds a line; no line ever changes.
 */
const RELEASED = [
	{
		version: '1.0.0',
		number: 29,
		sha256: 'eb452431b46e23a02ab4ca3f58a03bbc56006bfc30e312489b17a3af0728cc47',
	},
];

it.each(RELEASED)('the migrations to number $number make the schema of $version', async ({ number, sha256 }) => {
	const directory = makeDataDir();
	const db = openAt(directory.path);
	await migrate(db, { ...context(), migrations: MIGRATIONS.filter((one) => one.number <= number) });
	await db.close();
	const database = new DatabaseSync(join(directory.path, 'handraise.db'));
	const statements = database.prepare('select sql from sqlite_schema where sql is not null order by name').all();
	database.close();
	await directory.remove();
	expect(MIGRATIONS.map((one) => one.number)).toContain(number);
	expect(createHash('sha256').update(JSON.stringify(statements)).digest('hex')).toBe(sha256);
});

/** What all migrations send for an empty database. `place`: whose SQL it is, as for `openAt`; nothing connects to it. */
async function statementsOf(place: string): Promise<string> {
	const db = openAt(place);
	const compiler = db.read.getExecutor();
	const lines: string[] = [];
	const untyped = new Kysely<unknown>({
		dialect: {
			createAdapter: () => compiler.adapter,
			createDriver: () => new DummyDriver(),
			createIntrospector: (introspected) => new SqliteIntrospector(introspected),
			createQueryCompiler: () => ({ compileQuery: (...query) => compiler.compileQuery(...query) }),
		},
		log: ({ query }) => void lines.push(`${query.sql};`),
	});
	for (const { number, name, up } of MIGRATIONS) {
		lines.push(`-- ${number}: ${name}`);
		await up(untyped);
	}
	await db.close();
	return `${lines.join('\n').replaceAll('?', '$1')}\n`;
}

it('migrations send the same SQL as ever, in the same order, on both databases', async () => {
	const directory = makeDataDir();
	const ofPostgres = await statementsOf('postgres://nobody@127.0.0.1:1/nothing');
	await expect(ofPostgres).toMatchFileSnapshot('migrations.sql');
	// SQLite numbers the rows in each statement.
	const numbered = 'alter table audit_events alter column number add generated always as identity;\n';
	expect(await statementsOf(directory.path)).toBe(ofPostgres.replace(numbered, ''));
	await directory.remove();
});

it.each(['docs/operations.md', 'CHANGELOG.md'])('%s names the number of the newest schema', (name) => {
	const text = readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8').split(/^## \d/m)[0] ?? '';
	const named = /1\.0\.0 has 29, 1\.1\.0 34, this version (\d+)\b|has number (\d+); 1\.1\.0 has 34, 1\.0\.0 has 29/;
	const [, ...numbers] = named.exec(text) ?? [];
	expect(numbers.filter(Boolean)).toEqual([String(OWN_SCHEMA)]);
});
