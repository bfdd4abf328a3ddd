import { describe, expect, forCase, type WatchingApp, watchingApp, withApp } from '../kit.ts';

const it = withApp(() => watchingApp({ mayFail: true }));

const ready = async ({ app: { url } }: WatchingApp) => {
	const response = await fetch(`${url}/readyz`);
	return { status: response.status, text: await response.text() };
};
const lines = ({ log }: WatchingApp, event: string) => log.filter((line) => line.includes(`"event":"${event}"`));
const refusedIn = (app: WatchingApp) => lines(app, 'slack_token_refused');

/** Sends an answer that the session service does not confirm before `release`. */
async function answerWaiting(app: WatchingApp, id: string) {
	const released = Promise.withResolvers<void>();
	app.service.hooks.onRequest = ({ kind }) => (kind === 'answer' ? released.promise : undefined);
	const ada = app.slack.as('ada');
	await ada.command('#agents', `/session ${id}`);
	const form = await ada.waitForModal('Which colour?');
	await form.fill('Which colour?', 'blue');
	expect((await form.submit()).outcome).toBe('updated');
	return () => {
		delete app.service.hooks.onRequest;
		released.resolve();
	};
}

describe('while Slack refuses the token', () => {
	it.for([
		['uninstall', 'account_inactive', 'no connection to Slack\n'],
		['revokeTokens', 'token_revoked', ''],
	] as const)(
		'after %s it says so, delivers answers, calls Slack hardly, and goes on after a new installation',
		async ([remove, code, alsoNotReady], { app }) => {
			const id = app.session();
			const other = app.session();
			app.ask(id);
			for (const one of [id, other]) await app.slack.as('ada').command('#agents', `/session watch ${one}`);
			await app.until(() => app.card(other));
			const release = await answerWaiting(app, id);

			await app.slack[remove]();
			await app.until(() => refusedIn(app).length > 0);
			const from = app.now();
			app.ask(other, ['Which size?']);
			await app.pass(10 * 60_000);

			expect(refusedIn(app)).toHaveLength(1);
			expect(refusedIn(app)[0]).toContain(`"code":"${code}"`);
			expect(await ready(app)).toEqual({
				status: 503,
				text: `${alsoNotReady}Slack refuses SLACK_BOT_TOKEN (${code})\n`,
			});
			const calls = app.slack.traffic.all().filter(({ seq, direction }) => direction === 'call' && seq > from);
			const names = new Set(calls.map(({ name }) => name));
			expect([...names].filter((name) => !['auth.test', 'apps.connections.open'].includes(name))).toEqual([]);
			// A call a minute, and what the first seconds have more.
			expect(calls.filter(({ name }) => name === 'auth.test').length).toBeLessThan(20);
			expect(calls.length).toBeLessThan(50);
			expect(lines(app, 'unhandled_rejection')).toEqual([]);

			release();
			await app.until(() => app.service.log.savedPuts(id).length === 1);

			app.slack.install('xoxb-installed-again');
			await app.restart();
			await app.threadSays(other, 'Which size?');
			expect(app.service.log.savedPuts(id)).toHaveLength(1);
			expect(await ready(app)).toEqual({ status: 200, text: 'ready\n' });
		},
	);

	it('goes on without a restart when Slack takes the token again', async ({ app }) => {
		const id = app.session();
		await app.slack.as('ada').command('#agents', `/session watch ${id}`);
		await app.until(() => app.card(id));
		await app.slack.revokeTokens();
		await app.until(() => refusedIn(app).length > 0);
		app.ask(id);
		await app.pass(10 * 60_000);
		app.slack.faults.add({ method: 'auth.test', status: 500, times: 1 });
		app.slack.install();
		await app.threadSays(id, 'Which colour?');
		expect(app.log.filter((line) => line.includes('Slack takes SLACK_BOT_TOKEN again'))).toHaveLength(1);
		expect(await ready(app)).toEqual({ status: 200, text: 'ready\n' });
	});

	it('does not believe events of a former installation', async ({ app }) => {
		const id = app.session();
		await app.slack.tellOfRemoval();
		await app.until(() => app.calls('auth.test').length > 1);
		app.ask(id);
		await app.slack.as('ada').command('#agents', `/session watch ${id}`);
		await app.threadSays(id, 'Which colour?');
		expect(refusedIn(app)).toEqual([]);
	});

	it('does not believe one method that refuses for a moment', async ({ app }) => {
		const id = app.session();
		await app.watch(id);
		app.slack.faults.add({ method: 'chat.postMessage', error: 'invalid_auth', times: 1 });
		app.ask(id);
		await app.threadSays(id, 'Which colour?');
		expect(app.calls('auth.test')).toHaveLength(2);
		expect(refusedIn(app)).toEqual([]);
	});

	it('notices it from a refused call when no event comes', async ({ app }) => {
		const id = app.session();
		await app.slack.as('ada').command('#agents', `/session watch ${id}`);
		await app.until(() => app.card(id));
		app.slack.settings.events = [];
		await app.slack.revokeTokens();
		app.ask(id);
		await app.until(() => refusedIn(app).length > 0);
	});
});

describe('over HTTP', () => {
	it('acknowledges that Slack limits events, and logs it', async () => {
		const app = await forCase(watchingApp({ transport: 'http' }));
		await app.slack.limitEvents();
		expect(app.slack.traffic.deliveries('app_rate_limited').map(({ acked }) => acked)).toEqual([true]);
		expect(lines(app, 'slack_events_limited')).toHaveLength(1);
		expect(lines(app, 'slack_library')).toEqual([]);
	});
});
