import {
	CHANGED_REMINDERS,
	describe,
	ESCALATION,
	expect,
	forCase,
	it,
	REMINDER,
	reminderOf,
	settingsApp,
} from '../../kit.ts';

const MINUTE = 60_000;

describe('reminders after a change of the settings', () => {
	it('follow the new times and mention the chosen people in that channel only, also for questions asked before', async () => {
		const app = await forCase(settingsApp({ env: { REMIND_AFTER: '1h' } }));
		const here = await app.watched();
		const there = app.session();
		await app.watch(there, { channel: '#secret' });
		await app.pass(3_000);
		app.ask(here, ['Which colour?']);
		app.ask(there, ['Which size?']);
		await app.threadSays(here, 'Which colour?');
		await app.threadSays(there, 'Which size?', '#secret');
		const askedAt = app.clock.now();
		await app.save({ 'Remind after': '5 min', 'Escalate after': '15 min', Mention: ['grace'] });
		await app.told(1);
		const change = app.inChannel().find((post) => post.text().includes(CHANGED_REMINDERS));
		expect(change?.rung()).toEqual([]);

		await app.pass(3 * MINUTE);
		const reminder = await app.threadSays(here, reminderOf('reminder', 5));
		expect(reminder.rung()).toEqual([]);
		expect(app.clock.now() - askedAt).toBeLessThan(5 * MINUTE + 30_000);
		const escalation = await app.until(
			() => app.thread(here).find((post) => ESCALATION.test(post.text())),
			undefined,
			20 * MINUTE,
		);
		expect(escalation.rung()).toEqual(['grace']);
		expect(app.clock.now() - askedAt).toBeLessThan(15 * MINUTE + 30_000);
		await app.pass(MINUTE);
		const elsewhere = app.thread(there, '#secret').map((post) => post.text());
		expect(elsewhere.filter((text) => REMINDER.test(text) || ESCALATION.test(text))).toEqual([]);
	});

	it('come though the quiet hours cannot be computed', async () => {
		const app = await forCase(settingsApp({ env: { REMIND_AFTER: '2m' }, escalates: '5 min' }));
		await app.save({
			'Quiet hours': ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'],
			'Quiet hours from': '00:00',
			'Quiet hours to': '23:59',
			'Time zone': 'Europe/Berlin',
			Mention: ['grace'],
		});
		await app.told(1);
		await app.stop();
		// As after an update of the time zone database that knows one zone less.
		app.onDatabase((database) => {
			database.exec(`update channel_settings set settings = replace(settings, 'Europe/Berlin', 'Europe/Nowhere')`);
		});
		await app.restart();
		const id = await app.watched();
		app.ask(id, ['Which colour?']);
		await app.threadSays(id, reminderOf('reminder', 2));
		await app.threadSays(id, ESCALATION);
	});

	it('come by the defaults where the settings are damaged, which stop no other channel and can be saved again', async () => {
		const app = await forCase(settingsApp({ env: { REMIND_AFTER: '2m' } }));
		await app.save({ 'Remind after': 'Off' }, { channel: '#secret' });
		await app.told(1, '#secret');
		const [here, there] = [await app.watched(), app.session()];
		await app.watch(there, { channel: '#secret' });
		app.ask(here);
		app.ask(there);
		await app.threadSays(there, 'Which colour?', '#secret');
		await app.stop();
		app.onDatabase((database) => database.exec(`update channel_settings set settings = '{'`));
		// All reminders are looked at when the program starts, in one batch.
		await app.restart();
		await app.threadSays(here, REMINDER);
		await app.threadSays(there, REMINDER, '#secret');
		expect(app.log.some((line) => line.includes('damaged settings'))).toBe(true);
		await app.save({ 'Remind after': '1 h' }, { channel: '#secret' });
		expect(await app.told(2, '#secret')).toContain('Remind after: default (2 min) → 1 h');
		expect((await app.openSettings({ channel: '#secret' })).value('Remind after')).toBe('1 h');
	});
});
