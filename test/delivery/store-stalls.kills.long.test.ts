import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { CHOICE_WORDS } from '../../src/screens/choice.ts';
import {
	type App,
	afterAll,
	asking,
	askingSession,
	beforeAll,
	DELIVERED,
	expect,
	it,
	item,
	type Modal,
	openSession,
	said,
	startApp,
	task,
	whatHappened,
} from '../kit.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';

let app: App;
let admin: pg.Client;
/** A separate connection, because a transaction does not see new connections in pg_stat_activity. */
let locker: pg.Client;
beforeAll(async () => {
	const url = await (await sharedPostgres()).createDatabase();
	admin = new pg.Client({ connectionString: url });
	locker = new pg.Client({ connectionString: url });
	await Promise.all([admin.connect(), locker.connect()]);
	app = await startApp({ env: { DATABASE_URL: url, ENCRYPTION_KEY: randomBytes(32).toString('base64') } });
});
afterAll(async () => {
	await app[Symbol.asyncDispose]();
	await Promise.all([admin.end(), locker.end()]);
});

/** Cuts the connection on which the program records a delivery. True when there was one. */
async function cutNoteOfDelivery(): Promise<boolean> {
	const { rowCount } = await admin.query(
		`select pg_terminate_backend(pid) from pg_stat_activity
		where datname = current_database() and application_name = 'handraise' and wait_event_type = 'Lock' and query like '%"lease_token" = %for update'`,
	);
	return (rowCount ?? 0) > 0;
}

/** Opens a session that asks one thing, and fills that in. */
async function fillIn(id: string): Promise<Modal> {
	app.service.sessions.put(id, askingSession(['Name']));
	const modal = await openSession(app, id);
	await modal.fill(0, 'Ada');
	return modal;
}

it('reports an answer as arrived when the database was away while recording its delivery', async () => {
	const ada = app.slack.as('ada');
	const modal = await fillIn('noted-late');
	const { promise: isLocked, resolve: locked } = Promise.withResolvers<void>();
	app.service.hooks.onRequest = async (entry) => {
		if (entry.kind !== 'answer') return;
		await locker.query('begin');
		await locker.query('lock table answers in access exclusive mode');
		locked();
	};
	expect((await modal.submit()).outcome).toBe('updated');
	await isLocked;
	while (!(await cutNoteOfDelivery()));
	await locker.query('rollback');
	delete app.service.hooks.onRequest;

	await ada.waitForModal((shown) => !/⏳/.test(shown.text()), 10_000);
	expect(ada.modal()?.text()).toMatch(DELIVERED);
	expect(app.service.log.savedPuts('noted-late')).toHaveLength(1);
	await ada.modal()?.close();
});

it('records a failed attempt and tries again', async () => {
	const ada = app.slack.as('ada');
	const modal = await fillIn('fails-once');
	app.service.faults.add({ kind: 'unauthorized', method: 'GET' });
	await modal.submit();
	await ada.waitForModal(whatHappened('unauthorized'), 10_000);
	app.service.faults.clear();
	await ada.waitForModal(DELIVERED, 10_000);
	expect(app.log.filter((line) => line.includes('answer_work_failed'))).toEqual([]);
});

it('tells a person that their choice was not sent when it could not be saved', async () => {
	const ada = app.slack.as('ada');
	app.service.sessions.put('lost-choice', {
		status: 'humanInput',
		messages: [task('Book a flight.'), asking('', [item('Which flight?', 'One of: LH 1173, TP 570')])],
	});
	await ada.command('#agents', '/session watch lost-choice');
	const post = await app.slack.changes.until(
		() => ada.messages('#agents').find((message) => message.buttons().includes('TP 570')),
		() => 'no post with options',
	);
	await locker.query('begin');
	await locker.query('lock table answers in access exclusive mode');
	const pressed = post.press('TP 570');
	const words = said(CHOICE_WORDS.notSent({ option: 'TP 570' }, '')).trim();
	await ada.waitForMessage('#agents', words, 10_000);
	expect(await pressed).toBe(true);
	await locker.query('rollback');
	await post.press('LH 1173');
	await ada.waitForMessage('#agents', /^⏳ Sends at [\d:]+ UTC\n(?:> .*\n)+ada: LH 1173\n\[Undo\]/, 10_000);
}, 30_000);

it('stops the program while the database does not answer', async () => {
	await locker.query('begin');
	await locker.query('lock table answers in access exclusive mode');
	await app.stop();
	await locker.query('rollback');
	expect(await fetch(`${app.url}/healthz`).catch(() => 'stopped')).toBe('stopped');
});
