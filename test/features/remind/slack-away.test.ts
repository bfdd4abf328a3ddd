import { afterEach, describe, expect, it } from 'vitest';
import type { Json, Posted } from '../../../fake-slack/index.ts';
import { ESCALATION, REMINDER } from '../../support/sentences.ts';
import { type SettingsApp, settingsApp } from '../settings/harness.ts';

const MINUTE = 60_000;
let app: SettingsApp;
afterEach(async () => {
	app.slack.faults.clear();
	await app[Symbol.asyncDispose]();
});

const reminders = (posts: readonly Posted[]) =>
	posts.filter((post) => [REMINDER, ESCALATION].some((words) => words.test(post.text())));

const start = async (env: Record<string, string>) => {
	app = await settingsApp({ env: { UNDO_SECONDS: '0', ...env } });
};

async function asked(title = 'Which colour?'): Promise<string> {
	const id = await app.watched();
	app.ask(id, [title]);
	await app.threadSays(id, title);
	return id;
}

const hhmm = (at: number) => new Date(at).toISOString().slice(11, 16);

describe('reminders while Slack is away', () => {
	it('does not post every missed reminder of a question at once when Slack is back', async () => {
		await start({ REMIND_AFTER: '40s', ESCALATE_AFTER: '90s' });
		const id = await asked();
		const lift = app.slack.faults.add({ method: 'chat.postMessage', status: 503 });
		await app.pass(5 * MINUTE);
		lift();
		await app.until(() => reminders(app.thread(id)).length > 0);
		await app.pass(30_000);
		const texts = reminders(app.thread(id)).map((post) => post.text().split('\n')[0]);
		expect(texts).toHaveLength(1);
	});

	it('does not post a reminder in quiet hours that began while Slack was away', async () => {
		await start({ REMIND_AFTER: '1m', ESCALATE_AFTER: 'off' });
		const now = app.clock.now();
		const { outcome } = await app.save({
			'Quiet hours': ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'],
			'Quiet hours from': hhmm(now + 4 * MINUTE),
			'Quiet hours to': hhmm(now + 9 * 60 * MINUTE),
			'Time zone': 'UTC',
		});
		expect(outcome).toBe('updated');
		await app.told(1);
		const id = await asked();
		const lift = app.slack.faults.add({ method: 'chat.postMessage', status: 503 });
		await app.until(() => app.clock.now() > now + 5 * MINUTE, undefined, 8 * MINUTE);
		lift();
		await app.pass(3 * MINUTE);
		const texts = reminders(app.thread(id)).map((post) => post.text().split('\n')[0]);
		expect(texts).toEqual([]);
	});

	it('does not mention whom the settings do not name any more', async () => {
		await start({ REMIND_AFTER: 'off', ESCALATE_AFTER: '1h' });
		await app.save({ 'Escalate after': '5 min', Mention: ['grace'] });
		await app.told(1);
		const id = await asked();
		let isLimited = false;
		const when = (args: Json) => {
			const isReminder = ESCALATION.test(JSON.stringify(args));
			isLimited ||= isReminder;
			return isReminder;
		};
		const lift = app.slack.faults.add({ method: 'chat.postMessage', when, status: 503 });
		await app.until(() => isLimited, undefined, 10 * MINUTE);
		await app.save({ 'Escalate after': 'Off', Mention: [] });
		await app.told(2);
		lift();
		await app.pass(7 * MINUTE);
		const posts = reminders(app.thread(id));
		expect(posts.flatMap((post) => post.rung())).toEqual([]);
	});
});

describe('an escalation whose thread was deleted', () => {
	it('stays in the channel, because it would mention people twice', async () => {
		await start({ REMIND_AFTER: 'off', ESCALATE_AFTER: '1h' });
		await app.save({ 'Escalate after': '5 min', Mention: ['grace'] });
		await app.told(1);
		const id = await asked();
		app.thread(id)[0]?.remove();
		app.card(id)?.remove();
		const from = app.now();
		const escalations = () =>
			app.calls('chat.postMessage', from).filter(({ request }) => ESCALATION.test(JSON.stringify(request)));
		await app.until(() => escalations().length > 0, undefined, 10 * MINUTE);
		await app.pass(15_000);
		expect(escalations()).toHaveLength(1);
		expect(reminders(app.inChannel())).toHaveLength(1);
	});
});
