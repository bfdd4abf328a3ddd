import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterEach, expect, it } from 'vitest';
import { discoveringWords, noListWords } from '../../../src/features/watch/view.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { expectNothingWrong, type WatchingApp, watchingApp } from '../watch/harness.ts';

const MINUTE = 60_000;
let app: WatchingApp;
let databaseUrl: string;

/** Two replicas on one PostgreSQL. Resolves to the second one. */
async function start(mode: 'on' | 'off') {
	databaseUrl = await (await sharedPostgres()).createDatabase();
	app = await watchingApp({
		env: {
			DISCOVER_SESSIONS: 'true',
			DATABASE_URL: databaseUrl,
			ENCRYPTION_KEY: randomBytes(32).toString('base64'),
		},
		service: { list: { mode } },
	});
	return app.app.startOther();
}

afterEach(async () => {
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

function waiting(name: string): string {
	const id = app.session({ name });
	app.ask(id, [{ title: 'Which colour?', description: 'One of: red, green' }]);
	return id;
}
const postsOf = (names: readonly string[]) =>
	names.map((name) => app.inChannel().filter((post) => post.text().includes(name)).length);

const begun = (outcome: 'begun' | 'already') => discoveringWords(outcome, { discovery: null, isListed: true });

it('/session watch all posts each question once, and goes on when one replica is gone', async () => {
	const other = await start('on');
	await app.command('/session watch all');
	const chairs = Array.from({ length: 8 }, (_, number) => `Chair no ${number}.`);
	for (const name of chairs) waiting(name);
	await app.until(() => postsOf(chairs).every((count) => count > 0));
	await app.pass(MINUTE);
	expect(postsOf(chairs)).toEqual(chairs.map(() => 1));
	await other.stop();
	const lamps = Array.from({ length: 4 }, (_, number) => `Lamp no ${number}.`);
	for (const name of lamps) waiting(name);
	await app.until(() => postsOf(lamps).every((count) => count > 0));
	await app.pass(MINUTE);
	expect(postsOf([...chairs, ...lamps])).toEqual([...chairs, ...lamps].map(() => 1));
}, 60_000);

it('/session watch all says the same of the list, whichever replica is asked', async () => {
	await start('off');
	await app.pass(30_000);
	const answers = async (command: string) => {
		const told: string[] = [];
		for (let time = 0; time < 6; time += 1) told.push((await app.command(command)).text());
		return told;
	};
	for (const text of await answers('/session watch all')) expect(text).toContain(noListWords('noList', null));
	app.service.list.mode = 'on';
	// As in a rolling restart.
	await app.restart();
	await app.pass(MINUTE);
	for (const text of await answers('/session watch all'))
		expect(
			[begun('begun'), begun('already')].some((words) => text.includes(words)),
			text,
		).toBe(true);
	for (const text of await answers('/session list')) expect(text).not.toContain('paused');
}, 60_000);

it('/session watch all begins while another replica ends it', async () => {
	await start('on');
	await app.pass(12_000);
	await app.command('/session watch all');
	const replica = new pg.Client({ connectionString: databaseUrl });
	await replica.connect();
	await replica.query('begin');
	await replica.query('select 1 from discoveries for update');
	const typed = app.command('/session watch all --discreet', 'grace');
	await expect
		.poll(async () => {
			const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
			const { rows } = await replica.query(waiting);
			return rows.length;
		})
		.toBeGreaterThan(0);
	await replica.query('delete from discoveries');
	await replica.query('commit');
	await replica.end();
	expect((await typed).text()).toContain(begun('begun'));
});
