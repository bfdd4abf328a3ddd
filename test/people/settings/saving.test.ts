import { lastChangeWords, namingErrors } from '../../../src/screens/settings.ts';
import {
	describe,
	expect,
	FEWEST_REQUESTS,
	forCase,
	type Json,
	sampleWorkspace,
	settingsApp,
	withApp,
	withMembers,
} from '../../kit.ts';

const start = (options: Parameters<typeof settingsApp>[0] = {}) => forCase(settingsApp(options));

const it = withApp(settingsApp);

describe('/session settings', () => {
	it('opens a loading window at once and fills it with the defaults of the program', async () => {
		const app = await start({ env: { REMIND_AFTER: '90s' } });
		const modal = await app.openSettings();
		expect(modal.title()).toBe('Channel settings');
		expect(modal.submitText()).toBe('Save');
		const [opened] = app.slack.traffic.calls('views.open');
		expect(JSON.stringify(opened?.request)).toContain('Looking up the settings');
		expect(modal.fields().map(({ label, value }) => [label, value])).toEqual([
			['Remind after', 'Default (1 min 30 s)'],
			['Escalate after', 'Off'],
			['Mention', []],
			['Mention user groups', []],
			['Quiet hours', []],
			['Quiet hours from', '20:00'],
			['Quiet hours to', '08:00'],
			['Time zone', 'Europe/London'],
			['Posts', ['One-press buttons']],
			['Who may answer', []],
			['User groups that may answer', []],
		]);
		expect(modal.text()).toContain(lastChangeWords(null));
	});

	it.each([
		['Asia/Kathmandu', 'Asia/Kathmandu'],
		['PST', 'UTC'],
	])('begins with the time zone that Slack tells for the person, or with UTC: %s', async (tz, zone) => {
		const app = await start();
		const ada = app.slack.state.people.find(({ name }) => name === 'ada');
		Object.assign(ada ?? {}, { tz });
		const { modal, outcome } = await app.save({ 'Quiet hours': ['Sun'] });
		expect(outcome).toBe('updated');
		expect(modal.text()).toContain(`Sun 20:00 to 08:00 (${zone})`);
		await app.told(1);
	});

	it('saves, tells the channel, logs it, and shows what was saved', async ({ app }) => {
		const { outcome, modal } = await app.save({
			'Remind after': '1 h',
			'Escalate after': '1 day',
			Mention: ['grace'],
			'Mention user groups': ['Operations (@ops)'],
			'Quiet hours': ['Sat', 'Sun'],
			'Quiet hours from': '18:30',
			'Quiet hours to': '07:15',
			'Time zone': ' europe/BERLIN ',
		});
		expect(outcome).toBe('updated');
		expect(modal.text()).toContain('Saved.');
		expect(modal.text()).toContain('Quiet hours: Sat, Sun 18:30 to 07:15 (Europe/Berlin)');
		const post = await app.told(1);
		expect(post).toContain('ada changed the reminders of this channel');
		expect(post).toContain('Remind after: default (15 min) → 1 h');
		expect(post).toContain('Escalate after: off → 1 day');
		expect(post).toContain('Mention: nobody → grace, user group ops');
		expect(post).toContain('Quiet hours: none → Sat, Sun 18:30 to 07:15 (Europe/Berlin)');
		const line = app.log.find((one) => one.includes('the settings of a channel were changed')) ?? '';
		expect(JSON.parse(line)).toMatchObject({
			user: 'U0ADA',
			channel: 'C0AGENTS',
			revision: 1,
			changed: { remindAfterMs: { from: 'default', to: 3_600_000 }, quietHours: { from: null } },
		});
	});

	it('tells the channel names, five at most, also of people whom it looks up for that', async () => {
		const names = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6'];
		const app = await start({ slack: { workspace: withMembers(sampleWorkspace(), 'agents', names) } });
		await app.save({ Mention: names, 'Mention user groups': ['Operations (@ops)'] });
		// One list of the channel's members instead of one of the channels of each.
		expect(app.slack.traffic.calls('users.conversations').length).toBeLessThanOrEqual(2);
		expect(await app.told(1)).toContain('Mention: nobody → m1, m2, m3, m4, m5 and 2 more');
		await app.restart();
		const modal = await app.openSettings();
		await modal.choose('Mention', [...names.slice(0, 5), 'grace']);
		await app.submit(modal);
		const post = await app.told(2);
		expect(post).toContain('m6, m1, m2, m3, m4 and 2 more → grace, m1, m2, m3, m4 and 2 more');
		expect(app.inChannel().flatMap((one) => one.rung())).toEqual([]);
	});

	it('keeps over a restart what was saved, who saved it, and what nobody touches though Slack leaves it out', async () => {
		const app = await start();
		await app.save({
			'Remind after': '30 min',
			Mention: ['grace', 'ada'],
			'Mention user groups': ['Operations (@ops)'],
			'Quiet hours': ['Mon', 'Fri'],
			'Time zone': 'Asia/Tokyo',
		});
		await app.told(1);
		await app.restart();
		const modal = await app.openSettings({ who: 'grace' });
		expect(modal.value('Remind after')).toBe('30 min');
		expect(modal.value('Mention')).toEqual(['U0GRACE', 'U0ADA']);
		expect(modal.value('Quiet hours')).toEqual(['Mon', 'Fri']);
		expect(modal.text()).toContain('Last changed by @ada');
		await app.save({ 'Remind after': 'Off' });
		const post = await app.told(2);
		expect(post).toContain('Remind after: 30 min → off');
		expect(post).not.toContain('Mention');
		expect(post).not.toContain('Quiet hours');
	});

	it('takes back mentions and quiet hours when their fields are emptied', async ({ app }) => {
		await app.save({ Mention: ['grace'], 'Mention user groups': ['Operations (@ops)'], 'Quiet hours': ['Sun'] });
		await app.told(1);
		const modal = await app.openSettings();
		for (const label of ['Mention', 'Mention user groups', 'Quiet hours']) {
			const { updates } = modal.view();
			await modal.clear(label);
			// As fast as a person, not faster.
			await app.until(() => modal.view().updates !== updates);
		}
		expect((await app.submit(modal)).outcome).toBe('updated');
		expect(modal.text()).toContain('Mention: nobody');
		const post = await app.told(2);
		expect(post).toContain('Mention: grace, user group ops → nobody');
		expect(post).toMatch(/Quiet hours: Sun .* → none/);
	});

	it('shows an emptied field as empty, so that another replica knows of it', async ({ app }) => {
		await app.save({ Mention: ['grace'], 'Quiet hours': ['Sun'] });
		await app.told(1);
		const modal = await app.openSettings();
		await modal.clear('Mention');
		await app.until(() => !JSON.stringify(modal.blocks()).includes('initial_users'));
		expect(modal.value('Quiet hours')).toEqual(['Sun']);
		await app.restart();
		await app.submit(modal);
		const post = await app.told(2);
		expect(post).toContain('Mention: grace → nobody');
		expect(post).not.toContain('Quiet hours');
	});

	it('posts nothing when nothing was changed', async ({ app }) => {
		const { outcome, modal } = await app.save({ 'Remind after': 'Default (15 min)' });
		expect(outcome).toBe('updated');
		expect(modal.text()).toContain('nothing was changed');
		await app.pass(30_000);
		expect(app.changes()).toEqual([]);
	});

	it('saves and posts once when Slack delivers the submission twice', async ({ app }) => {
		app.slack.faults.duplicateNext('view_submission');
		const { modal } = await app.save({ 'Remind after': '2 h' });
		expect(modal.text()).toContain('Saved.');
		await app.told(1);
		await app.pass(30_000);
		expect(app.changes()).toHaveLength(1);
		// The second may be the one whose acknowledgement Slack takes.
		const [delivered] = app.slack.traffic.deliveries('view_submission');
		const payload = delivered?.request as Json;
		const repeat = { kind: 'interactive', name: 'view_submission', acceptsPayload: true, payload } as const;
		expect(JSON.stringify(await app.slack.deliver(repeat))).toContain('Saved.');
		expect(app.changes()).toHaveLength(1);
		expect((await app.openSettings()).text()).toContain('> 2 h');
	});

	it('works in the direct message with the app', async ({ app }) => {
		await app.save({ 'Remind after': '4 h', Mention: ['ada'] }, { channel: 'dm' });
		const told = await app.until(() => app.inChannel('dm').find((post) => post.text().includes('(15 min) → 4 h')));
		expect(told.text()).toContain('changed the reminders of your direct messages with Handraise.');
		expect(app.slack.as('ada').modal()?.text()).toContain('A message here says what changed.');
		const form = await app.openSettings({ channel: 'dm' });
		expect(form.text()).not.toContain('channel');
		const { errors } = await app.save({ Mention: ['grace'] }, { channel: 'dm' });
		expect(errors).toEqual({
			Mention: namingErrors({ people: [{ id: 'grace', why: 'not_here' }], groups: [] }, ['people', 'groups'], {
				names: { displayName: String },
				groups: { kind: 'listed', groups: [] },
			}).people,
		});
	});

	it('offers at most 100 user groups and says so, and has no field for them where there are none', async ({ app }) => {
		for (let index = 0; index < 120; index += 1) {
			app.slack.state.userGroups.push({ id: `S1G${index}`, handle: `g${index}`, users: ['U0ADA'] });
		}
		const modal = await app.openSettings();
		expect(modal.text()).toContain('Slack shows only 100 groups in one field, of 121');
		app.slack.state.userGroups = [];
		await app.restart();
		const labels = (await app.openSettings()).fields().map(({ label }) => label);
		expect(labels).toContain('Mention');
		expect(labels).not.toContain('Mention user groups');
	});
});

describe('two people who change the settings of one channel', () => {
	it('are shown the newest settings, and choose again', async ({ app }) => {
		const adas = await app.openSettings();
		const graces = await app.openSettings({ who: 'grace' });
		await adas.choose('Remind after', '1 h');
		await adas.choose('Quiet hours', ['Sun']);
		await graces.choose('Remind after', '30 min');
		await graces.choose('Escalate after', '1 day');
		await graces.choose('Mention', ['grace']);
		await app.submit(graces);
		await app.told(1);
		expect((await app.submit(adas)).outcome).toBe('updated');
		expect(adas.text()).toContain('@grace changed this meanwhile: look again.');
		expect(adas.value('Remind after')).toBe('30 min');
		expect(adas.value('Mention')).toEqual(['U0GRACE']);
		expect(adas.value('Quiet hours')).toEqual([]);
		await app.pass(10_000);
		expect(app.changes()).toHaveLength(1);
		await adas.choose('Remind after', '1 h');
		expect((await app.submit(adas)).outcome).toBe('updated');
		const post = await app.told(2);
		expect(post).toContain('Remind after: 30 min → 1 h');
		expect(post).not.toContain('Mention');
		expect((await app.openSettings({ who: 'grace' })).value('Mention')).toEqual(['U0GRACE']);
	});
});

describe('whom an escalation mentions', () => {
	const it = withApp(() => settingsApp({ env: FEWEST_REQUESTS, escalates: null }));

	it('lists what else changes when somebody turns on an escalation in the window too, and keeps whom to mention when it is off', async ({
		app,
	}) => {
		await app.save({ 'Remind after': '5 min', 'Escalate after': '30 min', Mention: ['ada'] });
		const change = await app.told(1);
		expect(change).toContain('ada changed the reminders of this channel');
		expect(change).toContain('Remind after: default (15 min) → 5 min');
		// The list may be kept for later.
		const { modal } = await app.save({ 'Escalate after': 'Off' });
		expect(modal.text()).toContain('Mention: @ada, but not while Escalate after is off');
	});

	it('says that no escalation comes while nobody is named, in a direct message too', async ({ app }) => {
		const WARNING = '⚠️ Nobody is named, so there is no escalation.';
		const { modal } = await app.save({ 'Escalate after': '30 min' });
		expect(modal.text()).toContain(WARNING);
		expect((await app.save({ 'Escalate after': 'Off' })).modal.text()).not.toContain(WARNING);
		expect((await app.save({ 'Escalate after': '30 min' }, { channel: 'dm' })).modal.text()).toContain(WARNING);
	});
});
