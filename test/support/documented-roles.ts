import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { sharedPostgres } from './shared-postgres.ts';

/** The statements of docs/operations.md that make the roles and the database. */
export function documentedRoles(): string {
	const operations = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
	return /^```sql\n([^`]*)^```$/m.exec(operations)?.[1] ?? '';
}

/** Two roles and a database, made by the statements that the documents name, with names of their own. */
export async function createDocumentedRoles() {
	const { adminUrl } = await sharedPostgres();
	const name = `handraise_${randomBytes(6).toString('hex')}`;
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
	await run(adminUrl, onServer);
	await run(asAdmin.href, inDatabase);
	return {
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
	const client = new pg.Client({ connectionString: url });
	await client.connect();
	try {
		let result: pg.QueryResult | null = null;
		for (const statement of statements.split(/;\n?/).filter((text) => text.trim() !== ''))
			result = await client.query(statement);
		return result?.rows ?? [];
	} finally {
		await client.end();
	}
}
