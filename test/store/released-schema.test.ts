import { readFileSync } from 'node:fs';
import { DummyDriver, Kysely, SqliteIntrospector } from 'kysely';
import { expect, it } from 'vitest';
import { MIGRATIONS, OWN_SCHEMA } from '../../src/store/migrate.ts';
import { RELEASES } from '../upgrade/releases.ts';
import { expectSchemaOfNew } from '../upgrade/rows.ts';
import { openAt } from './migrating-process.ts';
import { makeDataDir } from './support.ts';

it.each(RELEASES)('a database of $version gets the schema that a new one has, on SQLite', async (release) => {
	await using places = new AsyncDisposableStack();
	const emptyPlace = () => {
		const directory = makeDataDir();
		places.defer(directory.remove);
		return directory.path;
	};
	await expectSchemaOfNew({ release, store: 'sqlite', upgraded: emptyPlace(), made: emptyPlace() });
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
		await up(untyped, 0);
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
	const text = readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
	const [, named] = /this version has (?:the )?schema (\d+)/i.exec(text) ?? [];
	expect(named).toBe(String(OWN_SCHEMA));
});
