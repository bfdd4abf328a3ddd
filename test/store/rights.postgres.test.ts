import { afterAll, beforeAll, expect, it } from 'vitest';
import { TABLES } from '../../src/store/database.ts';
import { MIGRATIONS, migrate as migrateTo, OWN_SCHEMA } from '../../src/store/migrate.ts';
import type { Column, Table } from '../../src/store/schema/columns.ts';
import { createHarness, type Harness } from '../operator/doctor/harness.ts';
import { runMigrate, startCommand } from '../support/commands.ts';
import { createDocumentedRoles } from '../support/documented-roles.ts';
import { startProgram } from '../support/program.ts';
import { refusedStart } from '../support/refused-start.ts';
import { skipUnless } from '../support/skip-unless.ts';
import { context, openAt } from './migrating-process.ts';
import { KEY } from './support.ts';

// Two roles, as the documents make them. The contract of the stores runs with them too (postgres-replicas.ts).

let roles: Awaited<ReturnType<typeof createDocumentedRoles>>;
let harness: Harness;
beforeAll(async () => {
	roles = await createDocumentedRoles();
	harness = await createHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

const migrate = (databaseUrl: string) => runMigrate([], { DATABASE_URL: databaseUrl });

const ofProgram = () => ({ ...harness.env, DATABASE_URL: roles.url, ENCRYPTION_KEY: KEY });

/** What the doctor says of the database. */
async function examined(): Promise<string> {
	const { lines } = await harness.doctor({ DATABASE_URL: roles.url, ENCRYPTION_KEY: KEY });
	return lines.filter((line) => line.includes('Database:')).join('\n');
}

it('says that the owner has to set up the database', async () => {
	expect(await refusedStart(ofProgram())).toBe(
		'PostgreSQL refuses it: permission denied for schema public (SQLSTATE 42501). npm run doctor names what is missing.',
	);
	expect(await examined()).toMatch(
		/^✗ Database: PostgreSQL: this user may not create or change tables: .*npm run migrate/,
	);
});

it('sets the database up as its owner, and changes nothing the second time', async () => {
	const first = await startCommand('migrate', [], { DATABASE_URL: roles.ownerUrl }).closed;
	expect(first).toEqual({ code: 0, stderr: '', stdout: expect.stringContaining('database schema updated') });
	const second = await migrate(roles.ownerUrl);
	expect(second).toEqual({
		code: 0,
		stderr: '',
		stdout: expect.stringContaining("the database has this version's schema"),
	});
	expect(second.stdout).not.toContain('updated');
});

it('says in one line why it cannot be set up', async () => {
	const url = new URL(roles.ownerUrl);
	url.password = 'wrong';
	const outcomes = await Promise.all([url.href, '', 'mysql://h'].map((databaseUrl) => migrate(databaseUrl)));
	expect(outcomes.map(({ code }) => code)).toEqual([1, 1, 1]);
	expect(outcomes.map(({ stdout, stderr }) => stdout + stderr)).toEqual([
		'PostgreSQL is unavailable (SQLSTATE 28P01): npm run doctor says why.\n',
		'DATABASE_URL is missing: it names the PostgreSQL database. SQLite is migrated at the start\n',
		expect.stringMatching(/^DATABASE_URL is not a PostgreSQL address.*\n$/),
	]);
});

it('starts as a role that owns nothing and may not create tables', async () => {
	const rights = `select has_schema_privilege('${roles.role}', 'public', 'create') as "mayCreate",
		exists (select from pg_class where relowner = '${roles.role}'::regrole) as "ownsSome"`;
	expect(await roles.asAdmin(rights)).toEqual([{ mayCreate: false, ownsSome: false }]);
	expect(await examined()).toMatch(/^✓ Database: PostgreSQL .*, at schema \d+\.$/m);
	const running = startProgram(ofProgram());
	await running.says('Handraise is ready');
	running.child.kill('SIGTERM');
	expect((await running.closed).code).toBe(0);
});

it.each([
	['select', 'migrations'],
	['insert', 'answers'],
	['update', 'watches'],
	['delete', 'views'],
	['select', 'meta'],
])('names a right that is missing: %s on %s', async (verb, table) => {
	await roles.asAdmin(`revoke ${verb} on ${table} from ${roles.role}`);
	expect(await examined()).toBe(
		`✗ Database: PostgreSQL: this user lacks ${verb.toUpperCase()} ${table}: grant it (docs/operations.md, PostgreSQL).`,
	);
	await roles.asAdmin(`grant ${verb} on ${table} to ${roles.role}`);
});

it('names a missing right at the start, and a missing right to connect in the doctor', async () => {
	await roles.asAdmin(`revoke select on migrations from ${roles.role}`);
	expect(await refusedStart(ofProgram())).toBe(
		'PostgreSQL refuses it: permission denied for table migrations (SQLSTATE 42501). npm run doctor names what is missing.',
	);
	await roles.asAdmin(`revoke connect on database ${roles.role} from public`);
	expect(await examined()).toMatch(/^✗ Database: PostgreSQL refuses this user a right \(42501\): grant connect/);
});

const CHANGES_TABLES = Object.values<Table>(TABLES).some(({ since, columns }) =>
	[since, ...Object.values<Column>(columns).map((column) => column.since)].includes(OWN_SCHEMA),
);

it(
	'leaves the migration of a database of 2.0.0 to the owner of its tables, also where anybody may create tables',
	skipUnless(CHANGES_TABLES, 'this version changes no table of 2.0.0'),
	async () => {
		roles = await createDocumentedRoles();
		const db = openAt(roles.ownerUrl);
		await migrateTo(db, { ...context(), migrations: [MIGRATIONS[0]] });
		await db.close();
		await roles.asAdmin(`grant create on schema public to ${roles.role}`);
		expect(await refusedStart(ofProgram())).toBe(
			'PostgreSQL refuses it: must be owner of table answers (SQLSTATE 42501). npm run doctor names what is missing.',
		);
		expect(await examined()).toMatch(
			/^✗ Database: PostgreSQL: this user may not create or change tables: .*npm run migrate/,
		);
		expect((await migrate(roles.ownerUrl)).code).toBe(0);
		expect(await examined()).toMatch(/^✓ Database: PostgreSQL .*, at schema \d+\.$/m);
	},
);
