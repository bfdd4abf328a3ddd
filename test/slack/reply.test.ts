import {
	describe,
	expect,
	forCase,
	type Posted,
	type WatchingApp,
	watchingApp,
	whatHappened,
	withApp,
} from '../kit.ts';

const MINUTE = 60_000;

const it = withApp(watchingApp);
describe('while Slack says “Retry-After: 0”', () => {
	/** How often a method is called in this time while Slack refuses each call. */
	async function callsWhile(
		app: WatchingApp,
		fault: Parameters<WatchingApp['slack']['faults']['add']>[0],
		ms: number,
	): Promise<number> {
		const lift = app.slack.faults.add(fault);
		const from = app.now();
		await app.pass(ms);
		lift();
		return app.calls(fault.method, from).length;
	}

	const limited = (method: string) => ({ method, status: 429, retryAfter: 0 });

	/** A session whose form Ada has open, and somebody outside has answered: her window should say so. */
	async function outdatedWindow(app: WatchingApp): Promise<string> {
		const id = await app.watchedAsking(['Which colour?']);
		await app.threadSays(id, 'Which colour?');
		const ada = app.slack.as('ada');
		await ada.command('#agents', `/session ${id}`);
		await ada.waitForModal((modal) => modal.submitText() !== null);
		app.service.sessions.answerAsPage(id, ['Sand']);
		return id;
	}

	it('lists channels, and posts, every few seconds at most', async ({ app }) => {
		const id = await app.watched();
		const listCount = await callsWhile(app, limited('users.conversations'), 4 * MINUTE);
		expect(listCount).toBeGreaterThan(1);
		// One every 5 s.
		expect(listCount).toBeLessThanOrEqual(49);
		app.ask(id);
		const postCount = await callsWhile(app, limited('chat.postMessage'), MINUTE);
		expect(postCount).toBeGreaterThan(1);
		// One every 2 s, at both ends of the minute.
		expect(postCount).toBeLessThanOrEqual(31);
		await app.threadSays(id, 'Which colour?');
	});

	it('tells a window of news at growing intervals', async ({ app }) => {
		await outdatedWindow(app);
		const count = await callsWhile(app, limited('views.update'), 5 * MINUTE);
		expect(count).toBeGreaterThan(2);
		expect(count).toBeLessThanOrEqual(10);
		await app.until(() => app.slack.as('ada').modal()?.text().includes('Answered in the dashboard'));
	});

	it('gives a window up after a few tries when Slack refuses its update for good', async ({ app }) => {
		await outdatedWindow(app);
		const count = await callsWhile(app, { method: 'views.update', error: 'invalid_arguments' }, 14 * MINUTE);
		expect(count).toBe(4);
	});

	it('tells one person once a second at most that a press failed', async ({ app }) => {
		const id = await app.watchedAsking(['Which colour? One of: Sand, Forest']);
		const post = await app.threadSays(id, 'Which colour?');
		app.slack.faults.add({ method: 'users.info', error: 'internal_error' });
		app.slack.faults.add({ method: 'response_url', status: 500 });
		app.slack.faults.add({ method: 'chat.postEphemeral', error: 'user_not_in_channel' });
		await app.pass(6 * MINUTE);
		const pressed = post.press('Sand');
		const count = await callsWhile(app, limited('chat.postMessage'), 10_000);
		await pressed;
		expect(count).toBeGreaterThan(1);
		expect(count).toBeLessThanOrEqual(11);
		await app.until(() => app.slack.as('ada').dm().length > 0);
	});
});

/** Slack refuses every response_url, so replies are ephemeral messages. */
function withoutResponseUrls(app: WatchingApp): void {
	app.slack.faults.add({ method: 'response_url', status: 500 });
}

function cardFor(app: WatchingApp, who: string, id: string): Posted {
	const card = app.card(id, '#agents', who);
	if (card === undefined) throw new Error('There is no card.');
	return card;
}

it('shows a guest the reply to a press on a card without replies', async ({ app }) => {
	const id = await app.watched();
	withoutResponseUrls(app);
	const told = await app.toldAfter(() => cardFor(app, 'gus', id).press('Stop watching'), 'gus');
	expect(told.text()).toContain('Guests');
	expect(told.threadTs()).toBeNull();
});

it('shows the reply to a press in a modal where the modal was opened', async () => {
	const app = await forCase(watchingApp({ mayFail: true }));
	const id = await app.watched();
	await cardFor(app, 'ada', id).press('Open session');
	const modal = await app.slack.as('ada').waitForModal('Refresh');
	withoutResponseUrls(app);
	app.service.sessions.remove(id);
	app.slack.faults.add({ method: 'views.update', error: 'internal_error' });
	app.slack.faults.add({ method: 'views.push', error: 'expired_trigger_id' });
	const told = await app.toldAfter(() => modal.press('Refresh'));
	expect(told.text()).toContain(whatHappened('session_missing'));
	expect(told.threadTs()).toBeNull();
});

it('shows the reply to a press on a post of a thread in the channel', async ({ app }) => {
	const id = await app.watchedAsking();
	await app.threadSays(id, 'Which colour?');
	const [post] = app.thread(id, '#agents', 'gus');
	withoutResponseUrls(app);
	app.slack.faults.add({ method: 'views.open', error: 'expired_trigger_id' });
	const told = await app.toldAfter(async () => post?.press('Answer…'), 'gus');
	expect(told.text()).toContain('Guests');
	expect(told.threadTs()).toBeNull();
});

it('shows the reply to a mention in its thread', async ({ app }) => {
	const id = await app.watched();
	const told = await app.toldAfter(() =>
		app.slack.as('ada').mention('#agents', 'Sand', { thread: cardFor(app, 'ada', id) }),
	);
	expect(told.text()).toContain('asks nothing here now');
	expect(told.threadTs()).toBe(cardFor(app, 'ada', id).ts);
});
