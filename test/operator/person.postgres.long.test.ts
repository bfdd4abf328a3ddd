import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { type AnswererApp, afterAll, answererApp, beforeAll, expect, it } from '../kit.ts';
import { KEY } from '../store/support.ts';
import { runPerson } from '../support/commands.ts';
import { connectTo } from '../support/postgres.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';

const ADA = 'U0ADA';

let databaseUrl: string;
let app: AnswererApp;
let admin: pg.Client;
beforeAll(async () => {
	databaseUrl = await (await sharedPostgres()).createDatabase();
	// The command has the machine's clock, and a letter its time.
	const startAt = Date.now();
	app = await answererApp({ DATABASE_URL: databaseUrl, ENCRYPTION_KEY: KEY }, { startAt });
	await app.startOther();
	admin = await connectTo(databaseUrl);
});
afterAll(async () => {
	await admin.end();
	await app[Symbol.asyncDispose]();
});

/** From another machine: it has the database's address and the key, and no file of the program. */
async function person(args: readonly string[], keys: Readonly<Record<string, string>> = { ENCRYPTION_KEY: KEY }) {
	let done = false;
	const result = runPerson(args, { DATABASE_URL: databaseUrl, DATA_DIR: '/nonexistent', ...keys });
	void result.finally(() => {
		done = true;
	});
	const isEndOrLetter = async () => done || (await letters()).some(({ state }) => state !== STRANGE);
	// The replicas look for requests by a clock that the test moves.
	while (!done) {
		await expect.poll(isEndOrLetter).toBe(true);
		await app.pass(1_000);
	}
	return result;
}
/** Of another key. */
const STRANGE = '1.x';
async function letters(): Promise<readonly { name: string; state: string }[]> {
	const { rows } = await admin.query("select name, state from shared_states where name like 'person:%'");
	for (const { name, state } of rows) if (name.includes(':ask:')) seen.set(name, state);
	return rows;
}
/** What somebody kept who can read the database. */
const seen = new Map<string, string>();
const put = (name: string, state: string, changedAt: number) =>
	admin.query('insert into shared_states values ($1, $2, $3)', [name, state, changedAt]);

async function textOfDatabase(): Promise<string> {
	const { rows } = await admin.query(
		"select relname as name from pg_class where relkind = 'r' and pg_table_is_visible(oid)",
	);
	const tables = rows.map(({ name }) => name).filter((name) => !name.startsWith('pg_') && !name.startsWith('sql_'));
	const all: unknown[] = [];
	for (const name of tables) all.push((await admin.query(`select * from ${name}`)).rows);
	return JSON.stringify(all);
}

it('asks a replica by a row, forgets somebody on all of them, and leaves no letter', async () => {
	const { post } = await app.asked();
	await app.seenBy('ada', post).press('LH 1173');
	await app.until(() => post.text().includes('· continued'));
	await app.openHome('ada');
	const exported = await person(['export', ADA]);
	expect(JSON.parse(exported.stdout)).toMatchObject({
		answers: [{ content: { sessionName: 'Book a flight', items: [{ value: 'LH 1173' }] } }],
		watches: [{}],
	});
	expect(await letters()).toEqual([]);
	const { code, stdout } = await person(['forget', ADA, '--yes', ADA]);
	expect(stdout).toContain('PostgreSQL keeps the id in dead rows until VACUUM, and in its log.');
	expect(code).toBe(0);
	await app.saysIn(post, 'Somebody: LH 1173 · continued');
	// What was counted at that moment goes half a minute later.
	await app.pass(40_000);
	expect(await textOfDatabase()).not.toContain(ADA);
	expect(await letters()).toEqual([]);
	expect((await person(['forget', ADA, '--yes', ADA])).stdout).toBe('Nothing is stored about U0ADA.\n');
});

it('keeps no letter that nobody waits for, and is not held up by one of another key', async () => {
	const send = (kind: string, changedAt: number) => put(`person:${kind}:${randomUUID()}`, STRANGE, changedAt);
	const almost = app.clock.now() - 5 * 60_000 + 20_000;
	await send('ask', almost);
	await send('reply', almost);
	expect((await person(['export', 'U0NOBODY'])).stderr).toBe('Nothing is stored about U0NOBODY.\n');
	await app.pass(30_000);
	await expect.poll(letters).toEqual([]);
});

it('does nothing again that an old letter asks for, which somebody puts back', async () => {
	seen.clear();
	await app.openHome('ada');
	expect((await person(['forget', ADA, '--yes', ADA])).code).toBe(0);
	const [[name, state] = ['', '']] = seen;
	await app.openHome('ada');
	await app.pass(6 * 60_000);
	await put(name, state, app.clock.now());
	await app.pass(2_000);
	await expect.poll(letters).toEqual([]);
	expect((await admin.query("select user_id from views where user_id = 'U0ADA'")).rows).toHaveLength(1);
	expect(app.log.filter((line) => line.includes('letter_old'))).toHaveLength(1);
});
