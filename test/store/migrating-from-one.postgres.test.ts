import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { main as audit } from '../../src/audit.ts';
import { main as backup } from '../../src/backup.ts';
import { main as start } from '../../src/main.ts';
import { main as migrate } from '../../src/migrate.ts';
import { main as person } from '../../src/person.ts';
import { main as rekey } from '../../src/rekey.ts';
import { createHarness, type Env, type Harness } from '../operator/doctor/harness.ts';
import { runHere } from '../support/commands.ts';
import { connectTo } from '../support/postgres.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { KEY, makeDataDir, OTHER_KEY } from './support.ts';

/** The numbers of 1.0.0 and 1.1.0, and of a commit between them. */
const SCHEMAS = [29, 31, 34] as const;
type Schema = (typeof SCHEMAS)[number];

/** What all these versions have. */
const databaseOf = (schema: Schema) => `
	create table migrations (number integer primary key, name text not null, applied_at bigint not null);
	create table meta (name text primary key, value text not null);
	create table answers (id text primary key, user_id text, team_id text, session_id text, state text,
		message_index integer, edit_count integer, accepted_at bigint);
	insert into migrations values (29, 'initial', 0)${schema === 29 ? '' : `, (${schema}, 'later', 0)`};
	insert into meta values ('key_check', '1.a'), ('key_salt', 'salt');
	insert into answers values ('a1', 'U0ADA', 'T0ACME', 's1', 'accepted', 1, 0, 0);`;

const lineOf = (schema: Schema) =>
	`The database has schema ${schema}, which a Handraise before 2.0.0 made; this version takes over databases of 2.0.0 ` +
	'(schema 35). Start 2.0.0 with it once, then this version. Nothing was changed.';

const refusedWith = (line: string) => ({ code: 1, stderr: `${line}\n` });

let harness: Harness;
beforeEach(async () => {
	harness = await createHarness();
});
afterEach(() => harness[Symbol.asyncDispose]());

/** `changes`: whether two calls of it differ shows whether anything was changed. */
async function expectRefusals(schema: Schema, place: Env, contentOf: () => unknown): Promise<void> {
	const before = await contentOf();
	const env = { ...harness.env, ...place };
	const refused = refusedWith(lineOf(schema));
	expect(await runHere(start, [], env)).toMatchObject(refused);
	const withKeys = { ...env, ENCRYPTION_KEY: OTHER_KEY, ENCRYPTION_KEY_FORMER: KEY };
	expect(await runHere(migrate, ['--service-moved'], withKeys)).toMatchObject(refused);
	expect(await runHere(rekey, [], withKeys)).toMatchObject(refused);
	const { exit, lines } = await harness.doctor(place);
	expect(exit).toBe(1);
	expect(lines.filter((line) => line.startsWith('✗'))).toEqual([
		expect.stringMatching(/^✗ Database: (?:SQLite not in use|PostgreSQL [\d.]+)\. The database has schema \d+, /),
	]);
	expect(lines.join('\n')).toContain(lineOf(schema));
	expect(await contentOf()).toEqual(before);
}

describe.each(SCHEMAS)('a database of schema %i', (schema) => {
	/** `ends`: the files that a stop or a kill left. */
	it.each([
		['was stopped', ['']],
		['was killed', ['', '-wal', '-shm']],
		['was killed, copied without its -shm', ['', '-wal']],
	] as const)('is refused in one line and keeps every byte in a file of SQLite that %s', async (_, ends) => {
		const directory = makeDataDir();
		const [made, path] = [join(directory.path, 'made.db'), join(harness.dataDir, 'handraise.db')];
		const running = new DatabaseSync(made);
		running.exec(`pragma journal_mode = wal; ${databaseOf(schema)}`);
		if (ends.length === 1) running.close();
		for (const end of ends) copyFileSync(made + end, path + end);
		if (running.isOpen) running.close();
		await directory.remove();
		const contentOf = () =>
			readdirSync(harness.dataDir)
				.filter((name) => name !== 'handraise.lock')
				.map((name) => [name, readFileSync(join(harness.dataDir, name)).toString('base64')]);
		const before = contentOf();
		if (ends.length === 2) {
			expect(await runHere(start, [], { ...harness.env })).toMatchObject(refusedWith(lineOf(schema)));
			expect((await harness.doctor()).lines).toContainEqual(
				expect.stringMatching(/^! Database: .*cannot be read without/),
			);
			return expect(contentOf()).toEqual(before);
		}
		await expectRefusals(schema, {}, contentOf);
		expect(existsSync(join(harness.dataDir, 'encryption.key'))).toBe(false);
		expect(await runHere(audit, [], { ...harness.env })).toMatchObject(refusedWith(lineOf(schema)));
		const backedUp = join(harness.dataDir, 'backup.db');
		expect(await runHere(backup, [backedUp], { ...harness.env })).toMatchObject({ code: 0 });
		expect(await runHere(backup, ['--restore', backedUp], { ...harness.env })).toMatchObject(
			refusedWith(`No restore: This backup cannot be used: ${lineOf(schema)}`),
		);
	});

	it('is refused in one line and keeps every row on PostgreSQL', async () => {
		const databaseUrl = await (await sharedPostgres()).createDatabase();
		await using client = await connectTo(databaseUrl);
		await client.query(databaseOf(schema));
		const contentOf = async () => {
			const { rows } = await client.query(
				`select (select json_agg(migrations) from migrations) as migrations, (select json_agg(meta) from meta) as meta,
					(select json_agg(answers) from answers) as answers,
					(select json_agg(relname order by relname) from pg_class where relnamespace = 'public'::regnamespace) as names,
					(select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables) as writes`,
			);
			return rows;
		};
		const place = { DATABASE_URL: databaseUrl, ENCRYPTION_KEY: KEY };
		await expectRefusals(schema, place, contentOf);
		const before = await contentOf();
		const env = { ...harness.env, ...place };
		const refused = refusedWith(lineOf(schema));
		expect(await runHere(migrate, [], env)).toMatchObject(refused);
		expect(await runHere(person, ['export', 'U0ADA'], env)).toMatchObject(refused);
		expect(await runHere(audit, [], env)).toMatchObject(refused);
		const restored = new URL(databaseUrl).pathname.slice(1);
		expect(await runHere(backup, ['--restore', restored], env)).toMatchObject({
			code: 1,
			stderr: expect.stringContaining(lineOf(schema)),
		});
		expect(await contentOf()).toEqual(before);
	});
});
