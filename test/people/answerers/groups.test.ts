import { type AnswererApp, answererApp, describe, expect, forCase, it } from '../../kit.ts';
import { runPerson } from '../../support/commands.ts';

/* Lists whose people and user groups change, are gone, or of which Slack does not tell. */

const MINUTE = 60_000;
const NOBODY_LEFT = 'Nobody whom this channel names as';
const GROUP = 'Crew (@crew)';

async function start(env: Record<string, string> = {}) {
	const app = await forCase(answererApp(env));
	const crew: (typeof app.slack.state.userGroups)[number] = {
		id: 'S0CREW',
		handle: 'crew',
		name: 'Crew',
		users: ['U0CLEO'],
	};
	app.slack.state.userGroups.push(crew);
	return { app, crew };
}
/** A question that Ada and the crew may answer, of which Cleo is. */
async function asked(env: Record<string, string> = {}) {
	const { app, crew } = await start(env);
	await app.names(['ada'], 'ada', '#agents', [GROUP]);
	return { app, crew, ...(await app.asked()) };
}

const puts = (app: AnswererApp, id: string) => app.service.log.effectivePuts(id);
const groupCalls = (app: AnswererApp) => app.calls('usergroups.users.list').length;
const toldCleo = (app: AnswererApp) =>
	[app.slack.as('cleo').modal(), ...app.slack.as('cleo').dm(), ...app.onlyFor('cleo', '#agents')]
		.map((one) => one?.text() ?? '')
		.join('\n--\n');
const cleoReads = (app: AnswererApp, words: string) =>
	app.until(
		() => toldCleo(app).includes(words),
		() => toldCleo(app),
	);
const nobodyLeftPosts = (app: AnswererApp) => app.inChannel().filter((post) => post.text().includes(NOBODY_LEFT));

describe('a user group that is named', () => {
	it('may answer, and others read its name', async () => {
		const { app, id, post } = await asked();
		expect(post.text()).toContain('Only ada and user group crew may answer.');
		await app.press(post, 'bob', 'TP 570');
		await app.refused('bob', 'Only ada and user group crew may answer.');
		await app.press(post, 'cleo', 'TP 570');
		await app.until(() => puts(app, id).length === 1);
	});

	it('names whoever saves it only while they are in it: else the list is saved only after they confirmed it', async () => {
		const { app } = await start();
		const groupAlone = { 'User groups that may answer': [GROUP] };
		expect(await app.save(groupAlone, { who: 'cleo' })).toMatchObject({ outcome: 'updated' });
		await app.slack.as('cleo').modal()?.close();
		await app.save({ 'User groups that may answer': [] }, { who: 'cleo' });
		await app.slack.as('cleo').modal()?.close();
		expect(await app.save(groupAlone)).toMatchObject({ outcome: 'pushed' });
		const asked = await app.windowSays(
			'You will not be able to answer here or change this list. After that, only @crew',
		);
		// What Slack does not tell is neither a yes nor a no.
		const lift = app.slack.faults.add({ method: 'usergroups.users.list', error: 'internal_error' });
		await app.pass(6 * MINUTE);
		await app.submit(asked);
		expect(asked.text()).toContain('Slack did not tell in time whether they are here and may answer');
		lift();
		await asked.close();
		expect(app.slack.as('ada').modal()?.value('User groups that may answer')).toEqual([GROUP]);
		expect(app.changes()).toHaveLength(2);
	});

	it('does not send what somebody pressed who left it half a minute before the sending', async () => {
		const { app, crew, id, post } = await asked({ UNDO_SECONDS: '40' });
		await app.press(post, 'cleo', 'TP 570');
		await app.until(() => post.buttons().includes('Undo'));
		crew.users = [];
		await app.pass(MINUTE);
		await cleoReads(app, 'may answer.');
		expect(puts(app, id)).toEqual([]);
		await app.until(() => post.buttons().includes('LH 1173'));
	});

	it('gets a form for at most 5 minutes after somebody left it, and no press after half a minute', async () => {
		const { app, crew, id, post } = await asked();
		expect(await app.may('cleo', id)).toBe(true);
		crew.users = [];
		await app.pass(31_000);
		await app.press(post, 'cleo', 'TP 570');
		await app.pass(10_000);
		expect(puts(app, id)).toEqual([]);
		await app.pass(5 * MINUTE);
		expect(await app.may('cleo', id)).toBe(false);
	});

	it('names nobody once it is gone', async () => {
		const { app, crew, id, post } = await asked();
		crew.disabled = true;
		await app.pass(5 * MINUTE);
		expect(await app.may('cleo', id)).toBe(false);
		await app.press(post, 'cleo', 'TP 570');
		await app.pass(10_000);
		expect(puts(app, id)).toEqual([]);
		await app.press(post, 'ada', 'TP 570');
		await app.until(() => puts(app, id).length === 1);
		expect(nobodyLeftPosts(app)).toEqual([]);
	});

	it('of which Slack does not tell: a press is not taken, people named by their id still answer', async () => {
		const { app, id, post } = await asked();
		await app.pass(5 * MINUTE);
		app.slack.faults.add({ method: 'usergroups.users.list', error: 'internal_error' });
		await app.press(post, 'cleo', 'TP 570');
		await cleoReads(app, 'could not check');
		expect(puts(app, id)).toEqual([]);
		const calls = groupCalls(app);
		await app.press(post, 'ada', 'LH 1173');
		await app.until(() => puts(app, id).length === 1);
		expect(groupCalls(app)).toBe(calls);
	});

	it('of which Slack does not tell: an answer waits, and is sent once it tells', async () => {
		const { app, id, post } = await asked({ UNDO_SECONDS: '40' });
		await app.press(post, 'cleo', 'TP 570');
		await app.until(() => post.buttons().includes('Undo'));
		const lift = app.slack.faults.add({ method: 'usergroups.users.list', error: 'internal_error' });
		await app.pass(3 * MINUTE);
		expect(puts(app, id)).toEqual([]);
		lift();
		await app.until(() => puts(app, id).length === 1);
	});
});

describe('a list whose people are all gone', () => {
	/** Grace is the only one named, and is deactivated. Two sessions ask. */
	async function deactivated() {
		const { app } = await start();
		const questions = [await app.asked(), await app.asked()] as const;
		await app.names(['grace'], 'grace');
		await app.slack.changePerson('grace', { deleted: true });
		await app.pass(5 * MINUTE);
		return { app, questions };
	}
	async function pressAll({ app, questions }: Awaited<ReturnType<typeof deactivated>>) {
		for (const { post } of questions)
			for (const who of ['cleo', 'bob', 'ada']) {
				await app.press(post, who, 'LH 1173');
				await app.refused(who, 'Nobody who may answer here is left.');
			}
	}

	it('lets nobody answer, tells the channel once, also after a restart, and is opened by the operator', async () => {
		const { app, questions } = await deactivated();
		await pressAll({ app, questions });
		await app.until(() => nobodyLeftPosts(app).length === 1);
		expect(app.log.filter((line) => line.includes('npm run settings -- clear'))).toHaveLength(1);
		await app.restart();
		await pressAll({ app, questions });
		await app.pass(MINUTE);
		expect(nobodyLeftPosts(app)).toHaveLength(1);
		const { errors } = await app.save({ 'Who may answer': ['cleo'] }, { who: 'cleo' });
		expect(JSON.stringify(errors)).toContain('This list did not name you, so you cannot change it');
		await app.slack.as('cleo').modal()?.close();
		expect(questions.flatMap(({ id }) => puts(app, id))).toEqual([]);
		const cleared = await runPerson(['clear', 'C0AGENTS'], { DATA_DIR: app.dataDir });
		expect(cleared.stdout).toContain('names nobody any more');
		const [{ id, post }] = questions;
		await app.press(post, 'cleo', 'LH 1173');
		await app.until(() => puts(app, id).length === 1);
	});

	it('stays closed when they were forgotten', async () => {
		const { app } = await start();
		const { id, post } = await app.asked();
		await app.names(['grace'], 'grace');
		const { stdout, code } = await runPerson(['forget', 'U0GRACE', '--yes', 'U0GRACE'], { DATA_DIR: app.dataDir });
		expect([code, stdout]).toEqual([0, expect.stringContaining('U0GRACE')]);
		await app.press(post, 'cleo', 'LH 1173');
		await app.refused('cleo', 'Nobody who may answer here is left.');
		await app.until(() => nobodyLeftPosts(app).length === 1);
		expect(puts(app, id)).toEqual([]);
	});

	it('stays closed when its group has no members, and is open again when it has some', async () => {
		const { app, crew } = await start();
		crew.users = ['U0ADA'];
		const { id, post } = await app.asked();
		await app.names([], 'ada', '#agents', [GROUP]);
		crew.users = [];
		await app.pass(5 * MINUTE);
		await app.press(post, 'ada', 'LH 1173');
		await app.refused('ada', 'Nobody who may answer here is left.');
		await app.until(() => nobodyLeftPosts(app).length === 1);
		crew.users = ['U0ADA'];
		await app.pass(5 * MINUTE);
		await app.press(post, 'ada', 'LH 1173');
		await app.until(() => puts(app, id).length === 1);
	});
});
