import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { discoveringWords, noListWords } from '../../../src/screens/watch.ts';
import {
	DELIVERED,
	type DiscoveringApp,
	discoveringApp,
	expect,
	type FakeSlack,
	forCase,
	it,
	onTestFinished,
	openSession,
	said,
	sampleWorkspace,
	says,
	startApp,
} from '../../kit.ts';
import { watchRequests } from '../../support/pass-time.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';

const MINUTE = 60_000;
/** Longer than every lease: work that was done twice has come by then. */
const AFTER_LEASES_MS = 30_000;
const BOTH = ['here', 'there'] as const;
const ROUNDS = 2;

const newStore = async () => ({
	DATABASE_URL: await (await sharedPostgres()).createDatabase(),
	ENCRYPTION_KEY: randomBytes(32).toString('base64'),
});

/** Two replicas on one PostgreSQL. */
async function start(mode: 'on' | 'off') {
	const store = await newStore();
	const app = await forCase(discoveringApp({ env: store, service: { list: { mode } } }));
	return { app, ...store, other: await app.startOther() };
}

const postsOf = (app: DiscoveringApp, names: readonly string[]) =>
	names.map((name) => app.inChannel().filter((post) => post.text().includes(name)).length);

const begun = (outcome: 'begun' | 'already') => said(discoveringWords(outcome, { isListed: true }));

it('/session watch all posts each question once, and goes on when one replica is gone', async () => {
	const { app, other } = await start('on');
	await app.command('/session watch all');
	const chairs = Array.from({ length: 5 }, (_, number) => `Chair no ${number}.`);
	for (const name of chairs) app.waiting(name);
	await app.until(() => postsOf(app, chairs).every((count) => count > 0));
	await app.pass(AFTER_LEASES_MS);
	expect(postsOf(app, chairs)).toEqual(chairs.map(() => 1));
	await other.stop();
	const lamps = Array.from({ length: 3 }, (_, number) => `Lamp no ${number}.`);
	for (const name of lamps) app.waiting(name);
	await app.until(() => postsOf(app, lamps).every((count) => count > 0));
	await app.pass(AFTER_LEASES_MS);
	expect(postsOf(app, [...chairs, ...lamps])).toEqual([...chairs, ...lamps].map(() => 1));
}, 60_000);

it('/session watch all says the same of the list, whichever replica is asked', async () => {
	const { app } = await start('off');
	await app.pass(5 * MINUTE);
	const answers = async (command: string) => {
		const told: string[] = [];
		for (let time = 0; time < 6; time += 1) told.push((await app.command(command)).text());
		return told;
	};
	for (const text of await answers('/session watch all')) expect(text).toContain(said(noListWords('noList', null)));
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
	const { app, DATABASE_URL } = await start('on');
	await app.pass(12_000);
	await app.command('/session watch all');
	const replica = new pg.Client({ connectionString: DATABASE_URL });
	await replica.connect();
	await replica.query('begin');
	await replica.query('select 1 from discoveries for update');
	const typed = app.command('/session watch all', 'grace');
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

it('posts and tells each workspace only what is its own, with two programs on one database', async () => {
	const env = { ...(await newStore()), DISCOVER_SESSIONS: 'false' };
	// Of the other program's calls time knows by this only, and a lease must not end during one.
	onTestFinished(watchRequests());
	const app = await forCase(discoveringApp({ env, service: { list: {} } }));
	const { team, people, ...places } = sampleWorkspace();
	// The ids of channels and people are the same, so that only the workspace tells the rows apart.
	const elsewhere = { team: { ...team, id: 'T0ELSE' }, people: people.map((one) => ({ ...one, teamId: 'T0ELSE' })) };
	const other = await forCase(
		startApp({
			env: { ...env, SESSION_SERVICE_URL: app.service.url, SESSION_SERVICE_API_KEY: app.service.apiKey },
			slack: { workspace: { ...places, ...elsewhere } },
			clock: app.clock,
		}),
	);
	const slacks: Record<(typeof BOTH)[number], FakeSlack> = { here: app.slack, there: other.slack };
	const ids = Array.from({ length: ROUNDS }, (_, round) => app.session({ name: `Chair no ${round}.` }));
	for (const where of BOTH) await slacks[where].as('ada').command('#agents', `/session watch ${ids.join(' ')}`);
	const posts = (where: (typeof BOTH)[number], id: string) =>
		slacks[where].traffic
			.calls('chat.postMessage')
			.filter(({ request }) => request.channel === 'C0AGENTS' && String(request.text).includes(`colour ${id}`));
	await app.until(() => BOTH.every((where) => slacks[where].state.messages.length > ROUNDS));
	for (const id of ids) app.ask(id, [`Which colour ${id}?`]);
	await app.until(() => BOTH.every((where) => ids.every((id) => posts(where, id).length > 0)));
	for (const [round, id] of ids.entries()) {
		const where = BOTH[round % 2] ?? 'here';
		const form = await openSession(where === 'here' ? app : other, id);
		await form.fill(0, 'Sand');
		await form.submit();
		const window = slacks[where].as('ada');
		await app.until(() => says(window.modal()?.text() ?? '', DELIVERED));
		await window.modal()?.close(true);
	}
	await app.pass(AFTER_LEASES_MS);
	for (const where of BOTH) expect(ids.map((id) => posts(where, id).length)).toEqual(ids.map(() => 1));
	expect(ids.map((id) => app.service.log.savedPuts(id).length)).toEqual(ids.map(() => 1));
	for (const { log } of [app, other]) expect(log.join('\n')).not.toContain('a receipt could not');
}, 60_000);
