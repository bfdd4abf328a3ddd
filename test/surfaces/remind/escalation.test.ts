import { NO_ESCALATION } from '../../../src/screens/settings-fields.ts';
import {
	describe,
	digestText,
	ESCALATION,
	expect,
	FEWEST_REQUESTS,
	forCase,
	it,
	type Json,
	openButtons,
	type Posted,
	REMINDER,
	type SettingsApp,
	settingsApp,
	WAIT,
} from '../../kit.ts';
import { runPerson } from '../../support/commands.ts';

type FaultRule = Parameters<SettingsApp['slack']['faults']['add']>[0];
const MINUTE = 60_000;
const NOBODY_THERE = /Nobody named under Mention is here any more.*type \/session settings/;

const GRACE = { Mention: ['grace'] };
const OPS = { 'Mention user groups': ['Operations (@ops)'] };

/** Reminds after 40 s, escalates after 5 minutes, and mentions those who are chosen by these labels. */
async function start(choices: Record<string, readonly string[]> = {}, who = 'ada') {
	const app = await forCase(
		settingsApp({
			env: { ...FEWEST_REQUESTS, REMIND_AFTER: '40s', UNDO_SECONDS: '0' },
			escalates: '5 min',
		}),
	);
	if (Object.keys(choices).length > 0) await app.save(choices, { who });
	return app;
}

async function asked(app: SettingsApp, title = 'Which colour?'): Promise<string> {
	const id = await app.watched();
	app.ask(id, [title]);
	await app.threadSays(id, title);
	return id;
}

const reminders = (app: SettingsApp, id: string) =>
	app.thread(id).filter((post) => [REMINDER, ESCALATION].some((words) => words.test(post.text())));

/** What comes after the reminder. */
const afterReminder = (app: SettingsApp, id: string): Promise<Posted> =>
	app.until(() => reminders(app, id)[1], undefined, 8 * MINUTE);

const group = (app: SettingsApp) => app.slack.state.userGroups[0] ?? { id: '', handle: '', name: '', users: [] };
const leave = async (app: SettingsApp, who: string) => app.slack.changePerson(who, { deleted: true });

/** What the bot wrote to somebody about an escalation that reaches nobody. */
const toldOf = (app: SettingsApp, who: string) => app.slack.as(who).dm('is there any more');

it('does not come where nobody is named, and the settings say so', async () => {
	const app = await start();
	await app.save({ 'Escalate after': '5 min' });
	const id = await asked(app);
	await app.threadSays(id, REMINDER);
	await app.pass(6 * MINUTE);
	expect(reminders(app, id)).toHaveLength(1);
	expect((await app.openSettings()).text()).toContain(NO_ESCALATION);
	const { modal } = await app.save({ Mention: ['grace'] });
	expect(modal.text()).not.toContain(NO_ESCALATION);
	expect((await app.openSettings()).text()).not.toContain(NO_ESCALATION);
	const escalation = await afterReminder(app, id);
	expect(escalation.text()).toMatch(ESCALATION);
	expect(escalation.rung()).toEqual(['grace']);
});

it('passes over who has left, and mentions the others', async () => {
	const app = await start({ Mention: ['grace', 'ada'] });
	const id = await asked(app);
	await leave(app, 'grace');
	const escalation = await afterReminder(app, id);
	expect(escalation.text()).toMatch(ESCALATION);
	expect(escalation.rung()).toEqual(['ada']);
	expect(JSON.stringify(escalation.blocks())).not.toContain('<@U0GRACE>');
	expect(escalation.text()).not.toMatch(NOBODY_THERE);
	expect(toldOf(app, 'ada')).toEqual([]);
});

describe('whose people have all left', () => {
	it.each<[how: string, choices: Record<string, readonly string[]>, left: (app: SettingsApp) => unknown]>([
		['deactivated', GRACE, (app) => leave(app, 'grace')],
		[
			'removed from the workspace',
			GRACE,
			(app) => {
				app.slack.faults.add({ method: 'users.info', when: isOf('U0GRACE'), error: 'user_not_found' });
				return leave(app, 'grace');
			},
		],
		['not in the channel any more', GRACE, (app) => app.slack.remove('#agents', 'grace')],
		['in a disabled group', OPS, (app) => Object.assign(group(app), { disabled: true })],
		['in a group without members', OPS, (app) => Object.assign(group(app), { users: [] })],
		[
			'in a group of people who are deactivated, or not in the channel',
			OPS,
			async (app) => {
				Object.assign(group(app), { users: ['U0DORA', 'U0GRACE'] });
				await app.slack.remove('#agents', 'grace');
			},
		],
	])('(%s) is a reminder that says so, and whoever saved the settings is told', async (_, choices, left) => {
		const app = await start(choices);
		const id = await asked(app);
		await left(app);
		const reminder = await afterReminder(app, id);
		expect(reminder.text()).toMatch(/^⏰ /);
		expect(reminder.text()).toMatch(NOBODY_THERE);
		expect(JSON.stringify(reminder.blocks())).not.toMatch(/<@U0GRACE>|<!subteam/);
		await app.until(() => toldOf(app, 'ada').length > 0);
		expect(toldOf(app, 'ada')[0]?.text()).toContain(
			'Nobody named under Mention in the settings of #agents is there any more',
		);
	});

	it('tells whoever saved the settings once, and stays a reminder until somebody answers', async () => {
		const app = await start(GRACE);
		const id = await asked(app);
		await leave(app, 'grace');
		const reminder = await afterReminder(app, id);
		await app.pass(12 * MINUTE);
		expect(reminders(app, id)).toHaveLength(4);
		expect(toldOf(app, 'ada')).toHaveLength(1);
		app.service.sessions.answerAsPage(id, ['red']);
		await app.until(() => openButtons(reminder)?.length === 0);
		expect(reminder.text()).toMatch(/^⏰ /);
	});

	it('is one of several questions too, and comes as an escalation again once somebody is named', async () => {
		const app = await start({ Mention: ['grace'] });
		await leave(app, 'grace');
		const ids = [await app.watched(), await app.watched()];
		for (const id of ids) app.ask(id, ['Which colour?']);
		const lists = () => app.inChannel().filter((post) => post.text().includes(WAIT));
		const together = await app.until(() => lists()[1], undefined, 8 * MINUTE);
		expect(together.text()).toContain(digestText(2));
		expect(together.text()).toMatch(NOBODY_THERE);
		const { errors } = await app.save({ 'Remind after': 'Off' });
		expect(JSON.stringify(errors)).toContain('Take them out');
		await app.save({ Mention: ['ada'] });
		const escalation = await app.until(() => lists().find((post) => post.text().includes('📣')), undefined, 8 * MINUTE);
		expect(escalation.rung()).toEqual(['ada']);
		expect(escalation.text()).not.toMatch(NOBODY_THERE);
	});

	it('is told to the channel alone when whoever saved the settings has left too', async () => {
		const app = await start(GRACE, 'grace');
		const id = await asked(app);
		await leave(app, 'grace');
		const from = app.now();
		expect((await afterReminder(app, id)).text()).toMatch(NOBODY_THERE);
		await app.pass(MINUTE);
		const channels = app.calls('chat.postMessage', from).map(({ request }) => request.channel);
		expect(new Set(channels)).toEqual(new Set(['C0AGENTS']));
	});

	it('says so too when they were forgotten', async () => {
		const app = await start({ Mention: ['grace'] });
		const id = await asked(app);
		const { code } = await runPerson(['forget', 'U0GRACE', '--yes', 'U0GRACE'], { DATA_DIR: app.dataDir });
		expect(code).toBe(0);
		expect((await afterReminder(app, id)).text()).toMatch(NOBODY_THERE);
		await app.until(() => toldOf(app, 'ada').length > 0);
		// They are no obstacle to other changes.
		expect((await app.save({ 'Remind after': '5 min', 'Escalate after': '15 min' })).outcome).toBe('updated');
	});
});

const FAILS = { error: 'internal_error' };
const isOf = (userId: string) => (args: Json) => args.user === userId;

it.each<
	[of: string, fault: FaultRule, choices: Record<string, readonly string[]>, left: (app: SettingsApp) => unknown]
>([
	['people', { method: 'users.info', ...FAILS }, GRACE, (app) => leave(app, 'grace')],
	[
		'people, in an empty response',
		{ method: 'users.info', when: isOf('U0GRACE'), answer: { user: {} } },
		GRACE,
		(app) => leave(app, 'grace'),
	],
	['the channel', { method: 'conversations.members', ...FAILS }, GRACE, (app) => app.slack.remove('#agents', 'grace')],
	[
		'groups',
		{ method: 'usergroups.users.list', ...FAILS },
		OPS,
		(app) => Object.assign(group(app), { disabled: true }),
	],
])('mentions those of whom Slack does not tell that they left: of %s', async (of, fault, choices, left) => {
	const app = await start(choices);
	const id = await asked(app);
	await left(app);
	await app.pass(2_000);
	app.slack.faults.add(fault);
	const escalation = await afterReminder(app, id);
	expect(escalation.text()).toMatch(ESCALATION);
	expect(JSON.stringify(escalation.blocks())).toContain(of === 'groups' ? '<!subteam^S0OPS>' : '<@U0GRACE>');
	expect(escalation.text()).not.toMatch(NOBODY_THERE);
});
