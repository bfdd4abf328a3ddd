import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type pg from 'pg';
import { systemClock } from '../../src/kernel/clock.ts';
import { createLog } from '../../src/kernel/log.ts';
import { migratePostgres } from '../../src/stores.ts';
import { connectTo, createDatabase } from './postgres.ts';
import { sharedPostgres } from './shared-postgres.ts';

/** The statements of docs/operations.md that make the roles and the database. */
export function documentedRoles(): string {
	const operations = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
	return /^```sql\n([^`]*)^```$/m.exec(operations)?.[1] ?? '';
}

/** Two roles and a database, made by the statements that the documents name, with names of their own. */
export async function createDocumentedRoles() {
	const name = `handraise_${randomBytes(6).toString('hex')}`;
	const roles = rolesNamed(name, (await sharedPostgres()).adminUrl);
	await roles.create();
	return roles;
}

const TEMPLATE = 'handraise_template';

/**
 * The address of a new database for the program's role, set up by its owner. It copies one of the whole run, which is faster.
 * `setting`: of `alter database`.
 */
export async function createMigratedDatabase(setting: string | null = null): Promise<string> {
	const { adminUrl } = await sharedPostgres();
	const { url, ownerUrl, create } = rolesNamed(TEMPLATE, adminUrl);
	{
		await using client = await connectTo(adminUrl);
		// Test files run beside each other: one makes the template, and the others wait. A template in use cannot be copied.
		await client.query('select pg_advisory_lock(1)');
		const found = await client.query('select from pg_database where datname = $1', [TEMPLATE]);
		if (found.rowCount === 0) {
			await create();
			await migratePostgres(ownerUrl, { clock: systemClock, log: createLog('error') });
		}
	}
	const { pathname } = new URL(await createDatabase(adminUrl, `owner ${TEMPLATE}_owner template ${TEMPLATE}`));
	if (setting !== null) await run(adminUrl, `alter database ${pathname.slice(1)} ${setting}`);
	return Object.assign(new URL(url), { pathname }).href;
}

function rolesNamed(name: string, adminUrl: string) {
	const statements = documentedRoles();
	const [onServer = '', inDatabase = ''] = statements.replaceAll('handraise', name).split(`\\c ${name}\n`);
	const password = (role: string) => new RegExp(`role ${role} login password '([^']+)'`).exec(statements)?.[1] ?? '';
	const urlOf = (user: string, secret: string) => {
		const url = new URL(adminUrl);
		[url.pathname, url.username, url.password] = [`/${name}`, user, secret];
		return url.href;
	};
	const asAdmin = new URL(adminUrl);
	asAdmin.pathname = `/${name}`;
	return {
		async create() {
			await run(adminUrl, onServer);
			await run(asAdmin.href, inDatabase);
		},
		/** The role that owns the database and its tables. */
		ownerUrl: urlOf(`${name}_owner`, password('handraise_owner')),
		/** The role of the running program. */
		url: urlOf(name, password('handraise')),
		role: name,
		/** As a superuser. */
		asAdmin: (others: string) => run(asAdmin.href, others),
	};
}

/** One by one, because `create database` runs in no transaction. */
async function run(url: string, statements: string) {
	await using client = await connectTo(url);
	let result: pg.QueryResult | null = null;
	for (const statement of statements.split(/;\n?/).filter((text) => text.trim() !== ''))
		result = await client.query(statement);
	return result?.rows ?? [];
}
