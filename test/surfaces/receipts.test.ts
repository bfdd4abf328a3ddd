import {
	askingSession,
	describe,
	expect,
	headline,
	openSession,
	startTimedApp,
	type TimedApp,
	withApp,
} from '../kit.ts';

const it = withApp(startTimedApp);
const dm = (app: TimedApp, id: string) => app.slack.as('ada').dm(id);
const textsIn = (app: TimedApp, id: string) => dm(app, id).map((message) => message.text());
const says = (app: TimedApp, id: string, words: string) =>
	app.until(
		() => textsIn(app, id).some((text) => text.includes(words)),
		() => textsIn(app, '').join('\n'),
	);
const UNAVAILABLE = headline('accepted', { lastError: 'unavailable' });

/** An answer of Ada's whose window is closed, while the service is away. */
async function sent(app: TimedApp): Promise<string> {
	const id = 'receipt';
	app.service.sessions.put(id, askingSession(['First']));
	const modal = await openSession(app, id);
	await modal.fill(0, 'Ada');
	await app.service.goDown();
	await modal.submit();
	await modal.close();
	return id;
}

/** The same, and a direct message says it. */
async function waiting(app: TimedApp): Promise<string> {
	const id = await sent(app);
	await says(app, id, UNAVAILABLE);
	return id;
}

describe('the direct message about an answer', () => {
	it('is one, which tells the failure and then the delivery', async ({ app }) => {
		const id = await waiting(app);
		const [first] = dm(app, id);
		await app.service.comeBack();
		await says(app, id, headline('resumed'));
		expect(dm(app, id).map(({ ts }) => ts)).toEqual([first?.ts]);
	});

	it('comes within half a minute where delivery takes long, and not before', async ({ app }) => {
		const id = 'receipt';
		app.service.sessions.put(id, askingSession(['First']));
		const modal = await openSession(app, id);
		await modal.fill(0, 'Ada');
		app.service.faults.add({ kind: 'hang', method: 'GET', sessionId: id });
		const sentAt = app.clock.now();
		await modal.submit();
		await modal.close();
		await app.until(() => dm(app, id).length > 0);
		expect(app.clock.now() - sentAt).toBeGreaterThanOrEqual(10_000);
		expect(app.clock.now() - sentAt).toBeLessThan(33_000);
	});

	it.for(['message_not_found', 'cant_update_message', 'edit_window_closed'])(
		'is replaced when there is news, since Slack says %s',
		async (error, { app }) => {
			const id = await waiting(app);
			const [first] = dm(app, id);
			app.slack.faults.add({ method: 'chat.update', error, when: ({ ts }) => ts === first?.ts });
			await app.service.comeBack();
			await says(app, id, headline('resumed'));
			await app.pass(60_000);
			expect(dm(app, id)).toHaveLength(2);
			expect(dm(app, id)[0]?.text()).toContain(UNAVAILABLE);
		},
	);

	it('is not replaced without news after its author has deleted it', async ({ app }) => {
		const id = await waiting(app);
		dm(app, id)[0]?.remove();
		await app.pass(5 * 60_000);
		expect(dm(app, id)).toEqual([]);
		await app.service.comeBack();
		await says(app, id, headline('resumed'));
		expect(dm(app, id)).toHaveLength(1);
	});

	it('is neither repeated nor replaced while Slack fails', async ({ app }) => {
		const id = await waiting(app);
		const [first] = dm(app, id);
		app.slack.faults.add({ method: 'chat.update', error: 'internal_error', times: 2 });
		await app.service.comeBack();
		await says(app, id, headline('resumed'));
		expect(dm(app, id).map(({ ts }) => ts)).toEqual([first?.ts]);
	});

	it('is found after a post of which Slack said nothing', async ({ app }) => {
		app.slack.faults.add({ method: 'chat.postMessage', drop: true, afterEffect: true, times: 1 });
		const id = await waiting(app);
		await app.pass(60_000);
		expect(dm(app, id)).toHaveLength(1);
	});

	it.for(['channel_not_found', 'is_archived', 'not_in_channel'])(
		'comes although Slack has said %s once',
		async (error, { app }) => {
			const id = await sent(app);
			await app.pass(5_000);
			app.slack.faults.add({ method: 'chat.postMessage', error, times: 1 });
			app.service.sessions.setStatus(id, 'stopped');
			await app.service.comeBack();
			await says(app, id, headline('ended'));
		},
	);

	it('comes when Slack takes messages again after some minutes, with the news until then', async ({ app }) => {
		const id = await sent(app);
		app.slack.faults.add({ method: 'chat.postMessage', error: 'messages_tab_disabled' });
		await app.pass(25_000);
		app.service.sessions.setStatus(id, 'stopped');
		await app.service.comeBack();
		await app.pass(5 * 60_000);
		app.slack.faults.clear();
		await says(app, id, headline('ended'));
	});

	it('shows a press of *Try again* at once', async ({ app }) => {
		const id = await waiting(app);
		const [message] = dm(app, id);
		app.service.sessions.remove(id);
		await app.service.comeBack();
		// Another session can be read, so it is this one that is gone.
		for (let tries = 0; tries < 15 && message?.buttons().includes('Try again') !== true; tries += 1) {
			app.service.sessions.put('other', askingSession(['Other']));
			await (await openSession(app, 'other')).close(true);
			await app.pass(60_000);
		}
		app.service.sessions.put(id, askingSession(['First']));
		app.service.faults.add({ kind: 'hang', method: 'GET', sessionId: id });
		await app.pass(60_000);
		await message?.press('Try again');
		await app.until(() => message?.buttons().includes('Try again') === false);
	});
});

describe('the window of a receipt', () => {
	/** Ada's receipt, which says that the agent asks another question now. */
	async function changed(app: TimedApp, id: string) {
		app.service.sessions.put(id, askingSession(['First']));
		const hers = await openSession(app, id);
		await hers.fill(0, 'Ada');
		app.service.sessions.put(id, askingSession(['Second']));
		await hers.submit();
		await app.until(() => hers.buttons().includes('Answer the new question'));
		// Since then it would say that sending takes long, if it went on.
		await app.pass(35_000);
		return hers;
	}

	it('leaves a form alone of which Slack said nothing', async ({ app }) => {
		const id = 'pressed-2';
		const hers = await changed(app, id);
		app.slack.faults.add({ method: 'views.update', drop: true, afterEffect: true, times: 2 });
		await hers.press('Answer the new question');
		await app.pass(3_000);
		expect(hers.submitText()).not.toBeNull();
		await hers.fill(0, 'What she types');
		await openSession(app, id, 'grace');
		await app.pass(5_000);
		expect(hers.submitText()).not.toBeNull();
	});

	it('opens the new question at a press although another person closes the form meanwhile', async ({ app }) => {
		const id = 'pressed-1';
		app.service.sessions.put(id, askingSession(['First']));
		const other = await openSession(app, id, 'grace');
		const hers = await changed(app, id);
		app.service.faults.add({ kind: 'slow', ms: 1_500, method: 'GET', sessionId: id });
		const pressing = hers.press('Answer the new question');
		await app.pass(300);
		await other.close();
		await app.pass(6_000);
		await pressing;
		expect(hers.text()).toContain('Second');
		expect(hers.submitText()).not.toBeNull();
	});
});
