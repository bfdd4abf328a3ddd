import {
	describe,
	expect,
	forCase,
	onTestFinished,
	type SettingsApp,
	sampleWorkspace,
	settingsApp,
	whatHappened,
	withApp,
	withMembers,
} from '../../kit.ts';
import { onlyUnderWay, watchRequests } from '../../support/pass-time.ts';

const start = (options: Parameters<typeof settingsApp>[0] = {}) => forCase(settingsApp(options));

/** Nothing is stored: another window shows the defaults. */
async function expectNothingStored(app: SettingsApp, channel = '#agents'): Promise<void> {
	// Whatever Slack holds back arrives now, too late.
	app.slack.faults.clear();
	await app.pass(5_000);
	expect(app.changes(channel)).toEqual([]);
	const modal = await app.openSettings({ channel });
	expect(modal.text()).toContain('Nobody has changed these settings yet.');
}

const it = withApp(settingsApp);

describe('an error stands at its field, and everything typed stays', () => {
	it('for an escalation that does not come after the reminder', async () => {
		const app = await start({ env: { REMIND_AFTER: '15m' } });
		const { errors, modal } = await app.save({ 'Escalate after': '15 min', 'Quiet hours': ['Mon'] });
		expect(errors).toEqual({ 'Escalate after': expect.stringContaining('comes after the reminder (15 min)') });
		expect(modal.value('Quiet hours')).toEqual(['Mon']);
		await app.pass(5_000);
		expect(app.changes()).toEqual([]);
		await modal.choose('Escalate after', '30 min');
		expect((await app.submit(modal)).outcome).toBe('updated');
		expect(await app.told(1)).toContain('off → 30 min');
	});

	it('for the time zone of quiet hours that were stored with it, though nobody touched it', async ({ app }) => {
		await app.save({ 'Quiet hours': ['Mon'], 'Time zone': 'Europe/Berlin' });
		await app.told(1);
		await app.stop();
		app.onDatabase((database) => {
			database.exec(`update channel_settings set settings = replace(settings, 'Europe/Berlin', 'PST')`);
		});
		await app.restart();
		const { errors, modal } = await app.save({ 'Remind after': '1 h' });
		expect(errors).toEqual({ 'Time zone': expect.stringContaining('PST') });
		await modal.fill('Time zone', 'America/Los_Angeles');
		expect((await app.submit(modal)).outcome).toBe('updated');
		expect(await app.told(2)).toContain('(PST) → Mon 20:00 to 08:00 (America/Los_Angeles)');
	});

	it('for people who would be mentioned and may not answer', async () => {
		const workspace = withMembers(sampleWorkspace(), 'general', ['henry']);
		const app = await start({ slack: { workspace: withMembers(workspace, 'agents', ['lin']) } });
		const modal = await app.openSettings();
		await modal.choose('Escalate after', '1 day');
		const refused = {
			lin: 'has a deactivated account',
			gus: 'is a guest',
			otherbot: 'is an app or a bot',
			eve: 'belongs to another workspace',
			henry: 'is not a member of this channel',
		};
		for (const [name, reason] of Object.entries(refused)) {
			await modal.choose('Mention', ['grace', name]);
			// Slack offers nobody who has left: lin leaves while the window is open.
			Object.assign(app.slack.state.people.find((person) => person.name === 'lin') ?? {}, { deleted: true });
			const { errors } = await app.submit(modal);
			expect(errors).toEqual({ Mention: expect.stringContaining(`${name} ${reason}`) });
			expect(errors.Mention).not.toContain('grace');
			expect(modal.value('Mention')).toHaveLength(2);
		}
		await expectNothingStored(app);
	});

	it('for a person whom ALLOWED_USERS leaves out', async () => {
		const app = await start({ env: { ALLOWED_USERS: 'U0ADA' } });
		const { errors } = await app.save({ Mention: ['ada', 'grace'] });
		expect(errors).toEqual({ Mention: expect.stringContaining('grace is not among the people') });
		await expectNothingStored(app);
	});

	it('for user groups without a member in the channel, and those that are gone, however long the list of members is', async () => {
		const names = Array.from({ length: 30 }, (_, index) => `m${index}`);
		const workspace = withMembers(withMembers(sampleWorkspace(), 'agents', names), 'general', ['henry']);
		const app = await start({ slack: { workspace } });
		app.slack.settings.conversationsPageSize = 7;
		const { userGroups } = app.slack.state;
		userGroups.push({ id: 'S0FAR', handle: 'far', name: 'Far', users: ['U0DORA'] });
		userGroups.push({ id: 'S0LAST', handle: 'last', name: 'Last', users: ['U0M29'] });
		userGroups.push({ id: 'S0OLD', handle: 'old', name: 'Old', users: ['U0ADA'] });
		const modal = await app.openSettings();
		await modal.choose('Escalate after', '1 day');
		await modal.choose('Mention', ['m29', 'henry']);
		await modal.choose('Mention user groups', ['Far (@far)', 'Last (@last)', 'Old (@old)']);
		Object.assign(userGroups.at(-1) ?? {}, { disabled: true });
		const { errors } = await app.submit(modal);
		const words = errors['Mention user groups'] ?? '';
		expect(words).toContain('Far has no member in this channel');
		expect(words).toContain('Old does not exist any more');
		expect(words).not.toContain('Last');
		expect(errors.Mention).toContain('henry is not a member of this channel');
		expect(errors.Mention).not.toContain('m29');
		await modal.choose('Mention', ['m29']);
		await modal.choose('Mention user groups', ['Last (@last)']);
		await app.submit(modal);
		expect(await app.told(1)).toContain('Mention: nobody → m29, user group last');
	});
});

describe('who may change the settings', () => {
	it.each([
		['somebody who was removed from the channel', '#secret', 'ada', 'not a member of this channel any more'],
		['anybody when the bot was removed from it', '#agents', 'handraise', 'Handraise is not in this channel'],
	])('is no longer %s after opening them', async (_, channel, removed, words) => {
		const app = await start();
		// Events may be lost, and what was known before is not used.
		app.slack.settings.events = [];
		const modal = await app.openSettings({ channel });
		await modal.choose('Remind after', '1 h');
		await app.slack.remove(channel, removed);
		const { errors } = await app.submit(modal);
		expect(errors).toEqual({ 'Remind after': expect.stringContaining(words) });
		expect(app.changes(channel)).toEqual([]);
	});

	it('is nobody in a channel without the bot, in an archive or in a direct message between people, and no guest', async () => {
		const app = await start();
		await app.openSettings({ channel: '#general', words: 'Invite it with /invite @Handraise' });
		await app.openSettings({ channel: '#old', words: 'archived' });
		for (const channel of ['@grace @gus', '@grace'])
			await app.openSettings({ channel, words: 'Direct messages between people have no settings' });
		await app.openSettings({ channel: '#shared', words: 'shared with another organisation' });
		const post = await app.command('/session settings', 'gus');
		expect(post.text()).toContain(whatHappened('guest'));
		expect(app.slack.as('gus').modal()).toBeNull();
	});
});

describe('without the optional scope for user groups', () => {
	it('says what is missing, and keeps groups that were chosen before', async () => {
		const app = await start({ env: { ADMIN_CONTACT: 'the platform team' } });
		await app.save({ 'Mention user groups': ['Operations (@ops)'] });
		await app.told(1);
		await app.restart();
		const { scopes } = app.slack.settings;
		app.slack.settings.scopes = scopes.filter((scope) => scope !== 'usergroups:read');
		const modal = await app.openSettings();
		expect(modal.text()).toContain('Slack has not granted usergroups:read');
		expect(modal.text()).toContain('The group chosen before stays. To get it, ask the platform team.');
		expect(modal.fields().map(({ label }) => label)).not.toContain('Mention user groups');
		await modal.choose('Mention', ['grace']);
		expect((await app.submit(modal)).outcome).toBe('updated');
		expect(await app.told(2)).toContain('Mention: a user group → grace, a user group');
	});
});

describe('while Slack is away', () => {
	it('opens the window without user groups and says so, and says how to go on when no window opens in time', async () => {
		const app = await start();
		app.slack.faults.add({ method: 'usergroups.list', status: 503 });
		const modal = await app.openSettings();
		expect(modal.text()).toContain('Slack did not list them.');
		app.slack.faults.add({ method: 'views.open', error: 'expired_trigger_id' });
		const post = await app.command('/session settings');
		expect(post.text()).toContain('Type /session settings again.');
	});

	it.each([
		['users.conversations', 'Remind after'],
		['users.info', 'Remind after'],
		['conversations.info', 'Remind after'],
		['usergroups.users.list', 'Mention'],
		['conversations.members', 'Mention'],
	])('stores nothing when %s does not answer in time, and says so in time at %s', async (method, field) => {
		const app = await start({ oneClock: true });
		const modal = await app.openSettings();
		await modal.choose('Remind after', '1 h');
		await modal.choose('Escalate after', '1 day');
		await modal.choose('Mention', ['grace']);
		await modal.choose('Mention user groups', ['Operations (@ops)']);
		// What is known of people is fresh for half a minute.
		if (method === 'users.info') await app.clock.advance(60_000);
		app.slack.faults.hold(method);
		onTestFinished(watchRequests());
		const submitted = modal.submit();
		const heldCount = () => app.slack.traffic.calls(method).filter(({ doneAt }) => doneAt === null).length;
		await expect.poll(heldCount).toBeGreaterThan(0);
		// The other checks are over: of several that are late, one is told.
		await onlyUnderWay(heldCount);
		await app.clock.advance(2_000);
		const { outcome, errors } = await submitted;
		expect(outcome).toBe('fieldErrors');
		expect(errors).toEqual({
			[field]: expect.stringMatching(/Slack did not tell in time|Handraise could not check with Slack/),
		});
		await expectNothingStored(app);
	});

	it('stores nothing on an error, and saves when the person presses again', async ({ app }) => {
		const modal = await app.openSettings();
		await modal.choose('Escalate after', '1 day');
		await modal.choose('Mention', ['grace']);
		app.slack.faults.add({ method: 'users.conversations', status: 500 });
		const { errors } = await app.submit(modal);
		expect(errors['Remind after']).toContain('Nothing was saved; your choices are still here. Press Save again.');
		app.slack.faults.clear();
		expect((await app.submit(modal)).outcome).toBe('updated');
		expect(await app.told(1)).toContain('Mention: nobody → grace');
	});
});
