import { askingSession, DELIVERED, expect, it, openSession, startApp } from '../kit.ts';
import { connectTo } from '../support/postgres.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { createTcpProxy } from '../support/tcp-proxy.ts';

const databaseEnv = async () => ({
	DATABASE_URL: await (await sharedPostgres()).createDatabase(),
	ENCRYPTION_KEY: 'ab'.repeat(32),
});

it('serves people and watches sessions with a single connection', async () => {
	const env = await databaseEnv();
	await using app = await startApp({ env, limits: { pool: { size: 1 } } });
	const people = ['ada', 'grace'];
	const sessions = people.flatMap((who) => [1, 2, 3].map((number) => ({ who, id: `${who}${number}` })));
	for (const { id } of sessions) app.service.sessions.put(id, askingSession(['Name']));
	// Reads, posts, reminders and inboxes work beside the answers. A call that needed a second connection would never end.
	for (const { who, id } of sessions)
		expect((await app.slack.as(who).command('#agents', `/session watch ${id}`)).ok).toBe(true);
	for (const number of [1, 2, 3]) {
		await Promise.all(
			people.map(async (who) => {
				const form = await openSession(app, `${who}${number}`, who);
				await form.fill(0, 'Kay');
				expect((await form.submit()).outcome).toBe('updated');
				await (await app.slack.as(who).waitForModal(DELIVERED, 20_000)).close();
			}),
		);
	}
	expect(sessions.map(({ id }) => app.service.log.savedPuts(id).length)).toEqual(sessions.map(() => 1));
	expect((await fetch(`${app.url}/readyz`)).status).toBe(200);
	await using admin = await connectTo(env.DATABASE_URL);
	const ours = "select from pg_stat_activity where datname = current_database() and application_name = 'handraise'";
	expect((await admin.query(ours)).rowCount).toBe(1);
	// The loop of the posts works, too.
	const answered = () =>
		app.slack
			.as('ada')
			.messages('#agents')
			.filter((message) => message.text().includes('Kay'));
	await expect.poll(() => answered().length, { timeout: 30_000 }).toBeGreaterThan(0);
});

it('ends a statement that hangs on a lock, and delivers the answer after it', async () => {
	const env = await databaseEnv();
	const asked: string[] = [];
	await using proxy = await createTcpProxy(env.DATABASE_URL, (client, connectOn) => {
		client.once('data', (bytes) => asked.push(bytes.toString('latin1')));
		const server = connectOn();
		client.pipe(server);
		server.pipe(client);
	});
	await using app = await startApp({
		env: { ...env, DATABASE_URL: proxy.url },
		limits: { pool: { statementMs: 1_000 } },
	});
	// Each connection but the one of the migrations.
	const given = asked.map((startup) => /statement_timeout\0(\d+)\0/.exec(startup)?.[1]);
	expect(new Set(given)).toEqual(new Set(['1000', '300000']));
	await using admin = await connectTo(env.DATABASE_URL);
	const lock = async () => {
		await admin.query('begin');
		await admin.query('lock table answers in access exclusive mode');
	};
	app.service.sessions.put('hangs', askingSession(['Name']));
	const form = await openSession(app, 'hangs');
	await form.fill(0, 'Ada');
	await lock();
	const refused = await form.submit();
	expect(Object.values(refused.errors).join()).toContain('Handraise cannot reach its own database. Nothing was sent');
	expect(app.log.join()).toContain('SQLSTATE 57014');
	await admin.query('rollback');

	// The first attempt fails, and the loop that takes the answer again hangs.
	app.service.faults.add({ kind: 'unauthorized', method: 'GET', times: 1 });
	expect((await form.submit()).outcome).toBe('updated');
	const waits = 'select from answers where lease_token is null and last_error is not null';
	await expect.poll(async () => (await admin.query(waits)).rowCount).toBe(1);
	await lock();
	await expect
		.poll(() => app.log.some((line) => /"take_failed","rows":"answers","code":"store_unavailable"/.test(line)))
		.toBe(true);
	await admin.query('rollback');
	await app.slack.as('ada').waitForModal(DELIVERED, 30_000);
	expect(app.service.log.savedPuts('hangs')).toHaveLength(1);
});
