import { itemsOf } from '../fake-session-service/log.ts';
import { HandraiseError } from '../src/kernel/errors.ts';
import { LOG_LINES } from '../src/kernel/log-lines.ts';
import {
	type AnswererApp,
	answererApp,
	describe,
	expect,
	FEWEST_REQUESTS,
	forCase,
	headline,
	openButtons,
	openSession,
	SERVICE_BACK,
	SERVICE_DOWN,
	says,
	whatHappened,
	withApp,
} from './kit.ts';
import { OTHER_KEY } from './store/support.ts';
import { runMigrate } from './support/commands.ts';

/* The session service has another address than before: 127.0.0.1, and then localhost. */

const it = withApp(answererApp);

const address = (app: AnswererApp) => app.service.url;
const elsewhere = (app: AnswererApp) => app.service.url.replace('127.0.0.1', 'localhost');
const puts = (app: AnswererApp, id: string) => app.service.log.puts(id).map((put) => itemsOf(put)[0]?.value);

/** The line with which a start at another address is refused. */
async function refusal(app: AnswererApp, url = elsewhere(app)): Promise<string> {
	const error = await app.restart({ SESSION_SERVICE_URL: url }).then(
		() => null,
		(thrown: unknown) => thrown,
	);
	expect(error).toBeInstanceOf(HandraiseError);
	return (error as HandraiseError).message;
}

const move = (app: AnswererApp, env: Record<string, string> = {}) =>
	runMigrate(['--service-moved'], { DATA_DIR: app.dataDir, SESSION_SERVICE_URL: elsewhere(app), ...env });

/** An answer that waits because the service is down, in a session that asks somebody whom the channel names. */
async function answerThatWaits(app: AnswererApp) {
	await app.names(['ada', 'grace']);
	const { id, post } = await app.asked();
	const form = await openSession(app, id);
	await app.service.goDown();
	await form.choose(0, 'LH 1173');
	await form.submit();
	await app.pass(2_000);
	await app.stop();
	return { id, post };
}

/** Stores a session for the address as 1.1.0 did where it was written in capitals. */
const writtenAsBefore = (app: AnswererApp, id: string) =>
	app.onDatabase((database) => {
		const tables = database.prepare("select name from sqlite_schema where type = 'table' and sql like '%session_id%'");
		for (const { name } of tables.all())
			if (database.prepare(`select 1 from pragma_table_info('${name}') where name = 'service'`).get() !== undefined)
				database
					.prepare(`update ${name} set service = replace(service, 'http:', 'HTTP:') where session_id = ?`)
					.run(id);
	});

describe('a service that has moved', () => {
	it('stops the start with one line, moves with a command, and everything goes on there', async ({ app }) => {
		const asked = await app.asked();
		await app.press(asked.post, 'cleo', 'Snooze for 1 h');
		const { id, post } = await answerThatWaits(app);
		const line = await refusal(app);
		expect(line.split('\n')).toHaveLength(1);
		expect(line).toContain(`are for ${address(app)}, and SESSION_SERVICE_URL is ${elsewhere(app)}`);
		expect(line).toContain('npm run migrate -- --service-moved');
		expect(puts(app, id)).toEqual([]);

		const moved = await move(app);
		expect(moved).toMatchObject({ code: 0, stderr: '' });
		expect(moved.stdout).toContain(`All that was stored for ${address(app)} is for ${elsewhere(app)} now.`);
		expect(moved.stdout).toContain(
			'Answers that wait: 1 to be sent when Handraise starts, 0 for a decision of their authors.',
		);
		expect((await move(app)).stdout).toContain(`Nothing to move: all that is stored is for ${elsewhere(app)}.`);

		await app.service.comeBack();
		await app.restart({ SESSION_SERVICE_URL: elsewhere(app) });
		await app.until(() => app.service.log.effectivePuts(id).length === 1);
		expect(puts(app, id)).toEqual(['LH 1173']);
		await app.until(() => post.text().includes('LH 1173') && openButtons(post)?.length === 0);
		// The list holds, the watch goes on, and what was snoozed stays so.
		await app.press(asked.post, 'bob', 'TP 570');
		await app.refused('bob', 'Only ada and grace may answer.');
		await app.press(asked.post, 'grace', 'TP 570');
		await app.until(() => app.service.log.effectivePuts(asked.id).length === 1);
		app.ask(id, ['Which seat?'], '');
		await app.threadSays(id, 'Which seat?');
		expect(app.log.join('\n')).not.toContain('other_service_address');
	});

	it('is told to be back where its channel heard that it is down, at the former address', async ({ app }) => {
		await app.asked();
		await app.service.goDown();
		const told = () => app.inChannel().map((post) => post.text());
		await app.until(() => told().some((text) => says(text, SERVICE_DOWN)));
		await app.stop();
		expect(await move(app)).toMatchObject({ code: 0 });
		await app.service.comeBack();
		await app.restart({ SESSION_SERVICE_URL: elsewhere(app) });
		await app.until(() => told().some((text) => says(text, SERVICE_BACK)));
	});

	it('is not moved where a running program has the database, or without the key', async ({ app }) => {
		await app.asked();
		const held = await move(app);
		expect(held).toMatchObject({ code: 1, stdout: '' });
		expect(held.stderr).toContain('Another process is using the database');
		await app.stop();
		const keyless = await move(app, { ENCRYPTION_KEY: OTHER_KEY });
		expect(keyless).toMatchObject({ code: 1, stdout: '' });
		expect(keyless.stderr).toMatch(/^The key that the database was made with is not given.*Nothing was changed\.\n$/);
		expect((await move(app, { DATA_DIR: `${app.dataDir}/none` })).stderr).toContain('There is no database in');
		expect(await refusal(app)).toContain(`are for ${address(app)}`);
	});

	it('has not moved where its address is only written in another way', async ({ app }) => {
		const { id, post } = await app.asked();
		await app.stop();
		await app.restart({ SESSION_SERVICE_URL: `${address(app).replace('http', 'HTTP')}//` });
		await app.press(post, 'cleo', 'TP 570');
		await app.until(() => app.service.log.effectivePuts(id).length === 1);
		await app.stop();
		// As 1.1.0 stored it where it was written so.
		app.onDatabase((database) => {
			for (const { name } of database.prepare("select name from sqlite_schema where sql like '%service%text%'").all())
				if (String(name) !== 'shared_states' && !String(name).includes('_one_'))
					database.exec(`update ${name} set service = replace(service, 'http:', 'HTTP:')`);
		});
		await app.restart({ SESSION_SERVICE_URL: address(app) });
		app.ask(id, ['Which seat?'], '');
		await app.threadSays(id, 'Which seat?');
		await app.stop();
		expect((await move(app, { SESSION_SERVICE_URL: address(app) })).stdout).toContain('is for');
		await app.restart({ SESSION_SERVICE_URL: address(app) });
		app.service.sessions.answerAsPage(id, ['12A']);
		await app.pass(60_000);
		app.ask(id, ['Window shade up?'], '');
		await app.threadSays(id, 'Window shade up?');
	});

	it('goes on where only the history is stored for its address as it is written now', async ({ app }) => {
		const [past, { id, post }] = [await app.asked(), await app.asked()];
		await app.press(past.post, 'cleo', 'TP 570');
		await app.until(() => app.service.log.effectivePuts(past.id).length === 1);
		await app.command(`/session unwatch ${past.id}`);
		await app.stop();
		// As 1.1.0 stored it where it was written so.
		writtenAsBefore(app, id);
		await app.restart();
		await app.press(post, 'cleo', 'TP 570');
		await app.until(() => app.service.log.effectivePuts(id).length === 1);
		await app.until(() => post.text().includes('TP 570'));
		app.ask(id, ['Which seat?'], '');
		await app.threadSays(id, 'Which seat?');
	});

	it('is told of live rows for its address as it was written before, and moves them too', async ({ app }) => {
		const [first, second] = [await app.asked(), await app.asked()];
		await app.stop();
		writtenAsBefore(app, second.id);
		await app.restart();
		expect(app.log.join('\n')).toContain('other_service_address');
		// A stop while connections begin is an error of Slack's library.
		await app.pass(2_000);
		await app.stop();
		expect((await move(app, { SESSION_SERVICE_URL: address(app) })).stdout).toContain('is for');
		await app.restart();
		for (const { id } of [first, second]) {
			app.ask(id, ['Which seat?'], '');
			await app.threadSays(id, 'Which seat?');
		}
	});
});

/** Hides what a start at another address is refused for, and brings it back. */
const HIDE = `create table kept as select * from answer_rules; delete from answer_rules;
	update watches set ended_at = (select max(created_at) from watches); update answers set state = 'withdrawn' where state = 'accepted'`;
const bringBack = (service: string) => `insert into answer_rules select * from kept; drop table kept;
	update watches set ended_at = null where service = '${service}';
	update answers set state = 'accepted' where state = 'withdrawn' and service = '${service}'`;

describe('a database with live rows of two addresses', () => {
	it('warns at the start, keeps the lists of both, and tells an author that their answer waits for the other', async () => {
		const app = await forCase(answererApp({ REMIND_AFTER: 'off', ...FEWEST_REQUESTS }));
		const { id } = await answerThatWaits(app);
		app.onDatabase((database) => database.exec(HIDE));
		await app.service.comeBack();
		await app.restart({ SESSION_SERVICE_URL: elsewhere(app) });
		const other = app.session();
		app.ask(other);
		await app.watch(other);
		await app.stop();
		app.onDatabase((database) => database.exec(bringBack(address(app))));

		await app.restart({ SESSION_SERVICE_URL: elsewhere(app) });
		const warning = app.log.filter((line) => line.includes(LOG_LINES.other_service_address));
		expect(warning).toHaveLength(1);
		expect(JSON.parse(warning[0] ?? '')).toMatchObject({
			event: 'other_service_address',
			service: elsewhere(app),
			others: [{ service: address(app), answers: 1, watches: 1, lists: 1 }],
		});
		// Read at this address, the session is protected by the list that was made at the other one.
		expect(await app.may('bob', id)).toBe(false);
		const dms = () => app.slack.as('ada').dm(id);
		const hears = (words: string) => app.until(() => dms().some((dm) => dm.text().includes(words)));
		await hears(whatHappened('other_service'));
		await app.stop();
		await app.clock.advance(24 * 3_600_000);
		await app.restart({ SESSION_SERVICE_URL: elsewhere(app) });
		await hears(headline('waiting'));
		expect(dms()).toHaveLength(1);
		expect(puts(app, id)).toEqual([]);
		await dms()[0]?.press('Try again');
		await app.until(() => !dms()[0]?.text().includes(headline('waiting')));
		await app.stop();

		expect((await move(app)).stdout).toContain('Answers that wait: 1 to be sent when Handraise starts');
		await app.restart({ SESSION_SERVICE_URL: elsewhere(app) });
		await app.until(() => app.service.log.effectivePuts(id).length === 1);
		expect(puts(app, id)).toEqual(['LH 1173']);
		app.ask(other, ['Which size?']);
		await app.threadSays(other, 'Which size?');
	});
});
