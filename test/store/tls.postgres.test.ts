import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createHarness, type Harness } from '../operator/doctor/harness.ts';
import { createAuthority } from '../support/certificates.ts';
import { startProgram } from '../support/program.ts';
import { refusedStart } from '../support/refused-start.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { KEY } from './support.ts';

// The server's certificate is for 127.0.0.1, from an authority of its own.

const { authority, client } = inject('postgresTls');
const directory = mkdtempSync(join(tmpdir(), 'handraise-tls-'));
const fileOf = (name: string, text: string) => {
	const path = join(directory, name);
	writeFileSync(path, text, { mode: 0o600 });
	return path;
};
const CA = fileOf('authority.pem', authority);
const OTHER_CA = fileOf('other.pem', createAuthority('Another one').cert);
const NOT_SIGNED =
	/PostgreSQL cannot be reached: its certificate is of no trusted authority \([A-Z_]+\): name the file of the right one, sslrootcert=<file> in DATABASE_URL\./;

let databaseUrl: string;
let harness: Harness;
beforeAll(async () => {
	databaseUrl = await (await sharedPostgres()).createDatabase();
	harness = await createHarness();
});
afterAll(async () => {
	await harness[Symbol.asyncDispose]();
	rmSync(directory, { recursive: true, force: true });
});

/** What the doctor says of this database. */
async function examined(query: string, change: (url: URL) => void = () => {}): Promise<string> {
	const url = new URL(databaseUrl);
	change(url);
	url.search = query;
	const { lines } = await harness.doctor({ DATABASE_URL: url.href, ENCRYPTION_KEY: KEY });
	return lines.filter((line) => /^. (Database|Settings):/.test(line)).join('\n');
}

const asLocalhost = (url: URL) => {
	url.hostname = 'localhost';
};

it.each([
	['verify-full', `sslmode=verify-full&sslrootcert=${CA}`],
	['verify-ca', `sslmode=verify-ca&sslrootcert=${CA}`],
	['require with an authority, as verify-ca', `sslmode=require&sslrootcert=${CA}`],
])('connects to a server of the authority: %s', async (mode, query) => {
	const words = mode === 'verify-full' ? 'and the server and its host name are verified' : '(any host name)';
	const said = await examined(query);
	expect(said).toMatch(/✓ Database: PostgreSQL [\s\S]*✓ .* encrypted.*/);
	expect(said).toContain(words);
});

it.each(['require', 'no-verify'])('encrypts with sslmode=%s, and the doctor says nothing is proved', async (mode) => {
	expect(await examined(`sslmode=${mode}`)).toMatch(
		/^! Database: the connection to PostgreSQL is encrypted, but nothing proves which server answers/m,
	);
});

it('connects by an address as hosting services give it', async () => {
	const given = 'sslmode=require&channel_binding=require&connect_timeout=10&application_name=own';
	expect(await examined(given)).toMatch(/^! Database: the connection to PostgreSQL is encrypted/m);
});

it('says nothing of encryption where the database is on the same machine', async () => {
	expect(await examined('')).not.toContain('encrypted');
	expect(await examined('sslmode=disable')).not.toContain('encrypted');
});

it('refuses a server of another authority, in words', async () => {
	expect(await examined(`sslmode=verify-full&sslrootcert=${OTHER_CA}`)).toMatch(NOT_SIGNED);
	expect(await examined(`sslmode=verify-ca&sslrootcert=${OTHER_CA}`)).toMatch(NOT_SIGNED);
	expect(await examined('sslmode=verify-full')).toMatch(NOT_SIGNED);
});

it('refuses another host name with verify-full alone', async () => {
	expect(await examined(`sslmode=verify-full&sslrootcert=${CA}`, asLocalhost)).toContain(
		'its certificate is for another host name (ERR_TLS_CERT_ALTNAME_INVALID): use the name of the certificate in DATABASE_URL.',
	);
	expect(await examined(`sslmode=verify-ca&sslrootcert=${CA}`, asLocalhost)).toContain('✓ Database');
});

describe('a client certificate', () => {
	beforeAll(async () => {
		const admin = new pg.Client({ connectionString: databaseUrl });
		await admin.connect();
		await admin.query('drop role if exists by_certificate');
		await admin.query('create role by_certificate login superuser');
		await admin.end();
	});
	const withoutPassword = (url: URL) => {
		url.username = 'by_certificate';
		url.password = '';
	};
	const own = `sslcert=${fileOf('client.pem', client.cert)}&sslkey=${fileOf('client.key', client.key)}`;

	it('lets in without a password', async () => {
		expect(await examined(`sslmode=verify-full&sslrootcert=${CA}&${own}`, withoutPassword)).toContain('✓ Database');
	});

	it('is asked for in words where it is missing', async () => {
		expect(await examined(`sslmode=verify-full&sslrootcert=${CA}`, withoutPassword)).toMatch(
			/✗ Database: PostgreSQL lets this user not in from here \(28000\): .* or a client certificate\./,
		);
	});
});

it('starts over a verified connection, and ends with one line where the authority is another', async () => {
	const withAuthority = (ca: string) => ({
		...harness.env,
		DATABASE_URL: `${databaseUrl}?sslmode=verify-full&sslrootcert=${ca}`,
		ENCRYPTION_KEY: KEY,
	});
	expect(await refusedStart(withAuthority(OTHER_CA))).toMatch(NOT_SIGNED);

	const running = startProgram(withAuthority(CA));
	await running.says('Handraise is ready');
	const admin = new pg.Client({ connectionString: databaseUrl });
	await admin.connect();
	const { rows } = await admin.query(
		`select bool_and(ssl) as "isEncrypted" from pg_stat_ssl join pg_stat_activity using (pid)
			where application_name = 'handraise' and datname = current_database()`,
	);
	expect(rows).toEqual([{ isEncrypted: true }]);
	await admin.end();
	running.child.kill('SIGTERM');
	expect((await running.closed).code).toBe(0);
});
