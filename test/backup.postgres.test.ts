import { spawnSync } from 'node:child_process';
import pg from 'pg';
import { beforeAll, expect, it } from 'vitest';
import { COMPILE_CACHE } from '../sandbox/compile-cache.ts';
import { comparePostgres } from '../src/database/backup.ts';
import { ANN, accepted, BOB, createRecordingLog, KEY, open, submission } from './database/support.ts';
import { sharedPostgres } from './support/shared-postgres.ts';

const COMMAND = new URL('../src/backup.ts', import.meta.url).pathname;

let postgres: Awaited<ReturnType<typeof sharedPostgres>>;
beforeAll(async () => {
	postgres = await sharedPostgres();
});

it('lists what a restored database lacks, and changes nothing', async () => {
	const [databaseUrl, restoredUrl] = [await postgres.createDatabase(), await postgres.createDatabase()];
	for (const [url, ids] of [
		[databaseUrl, ['both', 'since']],
		[restoredUrl, ['both']],
	] as const) {
		await using store = await opened(url);
		for (const id of ids) {
			const person = id === 'both' ? ANN : BOB;
			await accepted(store, submission({ id, submissionKey: id, sessionId: id, person }));
		}
	}
	const restore = (name: string) => {
		const env = { PATH: process.env.PATH ?? '', ...COMPILE_CACHE, DATABASE_URL: databaseUrl };
		return spawnSync(process.execPath, [COMMAND, '--restore', name], { env, input: 'yes\n', encoding: 'utf8' });
	};
	const name = new URL(restoredUrl).pathname.slice(1);
	expect(restore(name)).toMatchObject({ status: 0, stderr: '' });
	expect(restore(name).stdout.split('\n')).toEqual([
		'Answers that were given or have changed since the backup: 1',
		`2026-01-05 09:00:00 UTC  ${BOB.userId} (T1)  session since, message 1: accepted`,
		'Nothing was changed. To go on with the backup, start all replicas with the DATABASE_URL of its database.',
		'',
	]);
	for (const missing of ['nowhere', '/tmp/backup.dump'])
		expect(restore(missing)).toMatchObject({
			status: 1,
			stderr: `No restore: There is no database ${missing} on this server: restore the backup into a database with pg_restore, and give its name.\n`,
		});
	expect(restore('postgres').stderr).toBe('No restore: This backup cannot be used: it is no database of Handraise\n');
});

async function opened(databaseUrl: string) {
	const store = await open({ dataDir: '', databaseUrl, encryptionKey: KEY });
	return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}

it('refuses a restored database in which code runs on its tables, of which a start warns, and nothing else of others', async () => {
	const [databaseUrl, restoredUrl] = [await postgres.createDatabase(), await postgres.createDatabase()];
	for (const url of [databaseUrl, restoredUrl]) await (await opened(url)).close();
	const admin = new pg.Client({ connectionString: restoredUrl });
	await admin.connect();
	const name = new URL(restoredUrl).pathname.slice(1);
	const warnings = async () => {
		const log = createRecordingLog();
		await (await open({ dataDir: '', databaseUrl: restoredUrl, encryptionKey: KEY, log })).close();
		return log.lines.map(({ fields }) => fields);
	};
	await admin.query(`create table others (id text references answers (id)); create index on answers (lower(user_id));
		create extension citext; create index on answers (citextin(textout(user_id)));
		create view report as select state from answers; analyze; create function unused() returns int language sql as 'select 1';
		create trigger theirs before update on others for each row execute function suppress_redundant_updates_trigger()`);
	expect(await warnings()).toEqual([]);
	expect(await comparePostgres(databaseUrl, name)).toEqual([expect.stringMatching(/backup: 0$/)]);
	for (const [code, make, drop] of FOREIGN) {
		await admin.query(make);
		expect(await warnings()).toMatchObject([{ event: 'foreign_code', code: [code] }]);
		await expect(comparePostgres(databaseUrl, name)).rejects.toThrow(
			`This backup cannot be used: it has ${code}. Handraise`,
		);
		await admin.query(drop);
	}
	expect(await warnings()).toEqual([]);
	await admin.end();
});

const EVIL = `create function evil() returns text language sql immutable as 'select ''x''';`;
const OPERATOR = `create function equal(text, text) returns text language sql immutable as 'select ''x''';
	create operator === (leftarg = text, rightarg = text, function = equal);`;
const NO_OPERATOR = 'drop operator === (text, text); drop function equal';
const FOREIGN = [
	[
		'trigger "t" on "answers"',
		'create trigger t before update on answers for each row execute function suppress_redundant_updates_trigger()',
		'drop trigger t on answers',
	],
	['rule "r" on "drafts"', 'create rule r as on update to drafts do also delete from claims', 'drop rule r on drafts'],
	[
		'column "last_error" on "posts"',
		`${EVIL} alter table posts alter last_error set default evil()`,
		'alter table posts alter last_error drop default; drop function evil',
	],
	[
		'constraint "c" on "meta"',
		`${EVIL} alter table meta add constraint c check (evil() is not null)`,
		'alter table meta drop constraint c; drop function evil',
	],
	[
		'column "state" on "answers"',
		`${OPERATOR} alter table answers alter state set default 'a' === 'b'`,
		`alter table answers alter state drop default; ${NO_OPERATOR}`,
	],
	[
		'column "timeline" on "answers"',
		`${EVIL} create domain checked as text check (evil() is not null); alter table answers alter timeline type checked`,
		'alter table answers alter timeline type text; drop domain checked; drop function evil',
	],
	[
		'column "user_id" on "drafts"',
		`${EVIL} create domain made as text default evil(); alter table drafts alter user_id type made`,
		'alter table drafts alter user_id type text; drop domain made; drop function evil',
	],
	[
		'column "user_id" on "drafts"',
		`create collation alike (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
		alter table drafts alter user_id type text collate alike`,
		'alter table drafts alter user_id type text; drop collation alike',
	],
	[
		'column "content" on "posts"',
		`${EVIL} alter table posts drop content; alter table posts add content text generated always as (upper(state)) stored`,
		"alter table posts drop content; alter table posts add content text not null default ''; alter table posts alter content drop default; drop function evil",
	],
	[
		'constraint "gone_id_fkey" on "gone"',
		'create table gone (id text references answers (id) on delete cascade)',
		'drop table gone',
	],
	[
		'constraint "c" on "answers"',
		'create table gone (id text primary key); alter table answers add constraint c foreign key (last_error) references gone',
		'drop table gone cascade',
	],
	['child table "child" on "answers"', 'create table child () inherits (answers)', 'drop table child'],
	['policy "p" on "drafts"', 'create policy p on drafts using (true)', 'drop policy p on drafts'],
	[
		'function "public.evil()" on "answers"',
		`${EVIL} create index i on answers ((user_id || evil()))`,
		'drop index i; drop function evil',
	],
	[
		'operator "public.===(pg_catalog.text,pg_catalog.text)" on "answers"',
		`${OPERATOR} create index i on answers ((user_id === state))`,
		`drop index i; ${NO_OPERATOR}`,
	],
	[
		'view in place of the table "snoozes"',
		'alter table snoozes rename to snoozed; create view snoozes as select * from snoozed',
		'drop view snoozes; alter table snoozed rename to snoozes',
	],
] as const;
