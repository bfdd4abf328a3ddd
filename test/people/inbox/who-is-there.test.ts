import { NOT_THERE } from '../../../src/slack/error-view.ts';
import { HIDES_ANSWER } from '../../../src/slack/form/build.ts';
import {
	describe,
	expect,
	FLIGHT,
	type HandOverApp,
	handOverApp,
	openSession,
	whatHappened,
	withApp,
} from '../../kit.ts';

/* What Slack does not tell, tells late or tells no more: who is in a private channel, and whether it is private. */

async function start() {
	const app = await handOverApp({}, { limits: { personReads: { burst: 2, perMinute: 2 } } });
	await app.slack.invite('#secret', 'bob');
	return app;
}
const it = withApp(start);

it.for(['users.conversations', 'conversations.info'])(
	'a text that is ticked as secret is no draft any more, also while %s fails',
	async (method, { app }) => {
		const [doors = ''] = await app.askedIn('#secret', ['Doors'], ['Which door?']);
		if (method === 'conversations.info') await app.restart();
		const form = await openSession(app, doors, 'bob', '#secret');
		await app.handled('form.field', () => form.fill(0, 'behind-the-ivy-77'));
		const lift = app.slack.faults.add({ method, error: 'internal_error' });
		await app.clock.advance(6 * 60_000);
		await app.handled('form.keep_secret', () => form.press(HIDES_ANSWER));
		lift();
		await app.pass(10_000);
		const again = await openSession(app, doors, 'bob', '#secret');
		expect(again.value(0) ?? '').toBe('');
		expect(again.text()).not.toContain('ivy');
	},
);

describe('after a start, when Slack tells of no more single channels for a minute', () => {
	/** Bob's form in a channel that the restarted program has not asked Slack about. */
	async function formAfterRestart(app: HandOverApp, channel: string) {
		const [id = ''] = await app.askedIn(channel, ['Book a flight'], [FLIGHT]);
		await app.restart();
		app.slack.faults.rateLimit('conversations.info', { retryAfter: 60 });
		const form = await openSession(app, id, 'bob', channel);
		await form.choose(0, 'TP 570');
		return { id, form };
	}

	it.for(['#secret', '#agents'])('takes an answer in %s', async (channel, { app }) => {
		const { id, form } = await formAfterRestart(app, channel);
		expect((await form.submit()).errors ?? {}).toEqual({});
		await app.until(() => app.service.log.puts(id).length === 1);
		expect(app.calls('conversations.info').some(({ status }) => status === 429)).toBe(true);
	});

	it('refuses somebody who was removed', async ({ app }) => {
		const { id, form } = await formAfterRestart(app, '#secret');
		await app.slack.remove('#secret', 'bob');
		expect(Object.values((await form.submit()).errors ?? {}).join()).toContain(NOT_THERE);
		expect(app.service.log.puts(id)).toEqual([]);
	});

	it('believes what Slack tells of the channel afterwards', async ({ app }) => {
		const { form } = await formAfterRestart(app, '#agents');
		await app.handled('session.refresh', () => form.press('Refresh'));
		await form.choose(0, 'TP 570');
		const agents = app.slack.state.channels.find(({ name }) => name === 'agents');
		Object.assign(agents ?? {}, { isPrivate: true });
		await app.slack.remove('#agents', 'bob');
		app.slack.faults.clear();
		await app.clock.advance(6_000);
		expect(Object.values((await form.submit()).errors ?? {}).join()).toContain(NOT_THERE);
	});
});

describe('a window of a private channel', () => {
	async function asked() {
		const app = await start();
		const [id = ''] = await app.askedIn('#secret', ['Book a flight'], [FLIGHT]);
		return { ...app, id };
	}
	const it = withApp(asked);
	type App = Awaited<ReturnType<typeof asked>>;
	const toldToBob = (app: App) =>
		[app.slack.as('bob').modal(), ...app.dms('bob')].map((message) => message?.text() ?? '').join('\n');
	/** Bob opens the session there and chooses. */
	async function windowOfBob(app: App) {
		const form = await openSession(app, app.id, 'bob', '#secret');
		await form.choose(0, 'TP 570');
		return form;
	}

	it('tells somebody who is too fast just that, because Slack is not asked', async ({ app }) => {
		await openSession(app, app.id, 'bob', '#secret');
		const form = await windowOfBob(app);
		await app.slack.remove('#secret', 'bob');
		for (let n = 0; n < 3; n++) await app.handled('session.refresh', () => form.press('Refresh'));
		const errors = Object.values((await form.submit()).errors ?? {}).join();
		expect(errors).toContain(whatHappened('too_fast'));
		expect(errors).not.toContain(NOT_THERE);
		expect(app.service.log.puts(app.id)).toEqual([]);
	});

	it.for(['the app was removed', 'it was archived'])('takes an answer after %s', async (what, { app }) => {
		const form = await windowOfBob(app);
		await app.handled('session.refresh', () => form.press('Refresh'));
		await form.choose(0, 'TP 570');
		if (what === 'it was archived') await app.slack.archive('#secret');
		else await app.slack.remove('#secret', 'handraise');
		await app.clock.advance(6 * 60_000);
		expect((await form.submit()).errors ?? {}).toEqual({});
		await app.until(
			() => app.service.log.puts(app.id).length === 1,
			() => toldToBob(app),
		);
	});

	it('refreshes when Slack takes 1.2 s to tell who is there', async ({ app }) => {
		const form = await windowOfBob(app);
		await app.clock.advance(6 * 60_000);
		const release = app.slack.faults.hold('users.conversations');
		await app.handled('session.refresh', async () => {
			await form.press('Refresh');
			await app.until(() => app.calls('users.conversations').some(({ doneAt }) => doneAt === null));
			await app.clock.advance(1_200);
			release();
		});
		expect(toldToBob(app)).not.toContain('could not check');
	});
});
