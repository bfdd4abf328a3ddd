import {
	describe,
	ESCALATION,
	expect,
	FEWEST_REQUESTS,
	type Json,
	REMINDER,
	settingsOf,
	WATCHING,
	type WatchingApp,
	watchingApp,
	withApp,
} from '../kit.ts';

const it = withApp(() => watchingApp({ realRates: true, env: { ...FEWEST_REQUESTS, REMIND_AFTER: '5m' } }));

const asks = ({ blocks }: Json) => JSON.stringify(blocks).includes('"text":" asks"');
/** Slack refuses for good what is posted to a channel, or only questions. */
const refusePosts = (app: WatchingApp, only?: (message: Json) => boolean) =>
	app.slack.faults.add({
		method: 'chat.postMessage',
		error: 'restricted_action',
		when: (message) => message.channel === 'C0AGENTS' && only?.(message) !== false,
	});
/** What whoever began the watch is told of it. */
const told = (app: WatchingApp) => app.slack.as('ada').dm('Slack refused a post of Handraise about');

describe("a question's post that Slack refuses for good", () => {
	it('is told to whoever began the watch once a day, and reminders and escalations come all the same', async ({
		app,
	}) => {
		await settingsOf(app, '30 min').save({ Mention: ['grace'] });
		const id = await app.watched();
		refusePosts(app, asks);
		app.ask(id);
		const [dm] = await app.until(() => told(app).length > 0 && told(app));
		expect(dm?.text()).toMatch(/in #agents .*restricted_action/);
		expect(dm?.text()).toContain(`/session watch ${id}`);
		const reminder = await app.until(
			() => app.thread(id).find((post) => REMINDER.test(post.text())),
			undefined,
			900_000,
		);
		expect(reminder.threadTs()).toBeNull();
		expect(reminder.text()).toContain('Go to question');
		const escalation = await app.until(
			() => app.inChannel().find((post) => ESCALATION.test(post.text())),
			undefined,
			2_400_000,
		);
		await escalation.press('Answer');
		await app.slack.as('ada').waitForModal('Which colour?');
		await app.slack.as('ada').modal()?.close(true);
		app.service.sessions.answerAsPage(id, ['Sand']);
		await app.pass(60_000);
		app.ask(id, ['Which size?']);
		await app.pass(120_000);
		expect(told(app)).toHaveLength(1);
	});

	it('has reminders also where no card stands, without asking Slack for a link', async ({ app }) => {
		await settingsOf(app, '30 min').save({ Mention: ['grace'] });
		const id = app.session();
		refusePosts(app, (message) => asks(message) || JSON.stringify(message).includes('session.open'));
		await app.command(`/session watch ${id}`);
		app.ask(id);
		const from = app.now();
		const isHere = (words: RegExp) => () => app.inChannel().find((post) => words.test(post.text()));
		await app.until(isHere(REMINDER), undefined, 900_000);
		const escalation = await app.until(isHere(ESCALATION), undefined, 2_400_000);
		expect(escalation.threadTs()).toBeNull();
		expect(app.calls('chat.getPermalink', from)).toEqual([]);
	});

	it('is posted when somebody watches the session again after apps may post there', async ({ app }) => {
		const id = await app.watched();
		const lift = refusePosts(app, asks);
		app.ask(id);
		await app.until(() => told(app)[0]);
		expect((await app.command(`/session watch ${id}`)).text()).toContain('Slack refuses what Handraise posts here');
		await app.pass(60_000);
		lift();
		await app.pass(60_000);
		expect(app.thread(id).filter((post) => post.text().includes('asks'))).toEqual([]);
		expect((await app.command(`/session watch ${id}`)).text()).toContain('is already watched here.');
		await app.threadSays(id, 'Which colour?');
		await app.until(() => !app.card(id)?.text().includes('Which colour?'));
	});
});

describe('reminders that Slack refuses for good', () => {
	const isReminder = ({ blocks }: Json) => /[⏰📣]/u.test(JSON.stringify(blocks));

	it('are told to whoever began the watch once a day', async ({ app }) => {
		await app.watchedAsking();
		refusePosts(app, isReminder);
		const [dm] = await app.until(() => told(app).length > 0 && told(app), undefined, 900_000);
		expect(dm?.text()).toMatch(/in #agents .*restricted_action.* reminders may be missing/);
		await app.pass(1_800_000);
		expect(told(app)).toHaveLength(1);
	});

	it('are told too where they are a list', async ({ app }) => {
		const ids = [await app.watched(), await app.watched()];
		refusePosts(app, isReminder);
		for (const id of ids) app.ask(id);
		await app.until(() => told(app)[0], undefined, 2_400_000);
		const lists = app
			.calls('chat.postMessage')
			.filter(({ request }) => JSON.stringify(request).includes('2 questions still ask'));
		expect(lists.length).toBeGreaterThan(0);
	});
});

describe('a watch whose first post Slack refuses for good', () => {
	/** A session that asks, so that the question is posted at once. */
	function asking(app: WatchingApp): string {
		const id = app.session();
		app.ask(id);
		return id;
	}

	it('is told to both of two people who type the same at once', async ({ app }) => {
		const id = asking(app);
		const { promise: hold, resolve: release } = Promise.withResolvers<void>();
		app.slack.faults.add({ method: 'chat.postMessage', error: 'restricted_action', hold });
		const from = app.now();
		await app.slack.as('ada').command('#agents', `/session watch ${id}`);
		await app.until(() => app.calls('chat.postMessage', from).length > 0);
		await app.slack.as('grace').command('#agents', `/session watch ${id}`);
		// Both have read it, and wait for the post.
		await app.until(() => app.service.log.reads(id).length >= 2 || app.onlyFor('grace', '#agents').length > 0);
		release();
		const told = (who: string) => app.onlyFor(who, '#agents').at(-1)?.text();
		await app.until(() => told('ada') !== undefined && told('grace') !== undefined);
		expect(told('ada')).toContain('(restricted_action)');
		expect(told('ada')).not.toContain(WATCHING);
	});

	it('is told in the reply to the command, and posted when somebody watches the session again', async ({ app }) => {
		const id = asking(app);
		const lift = refusePosts(app);
		const reply = await app.command(`/session watch ${id}`);
		expect(reply.text()).toContain('(restricted_action)');
		expect(reply.text()).not.toContain(WATCHING);
		await app.until(() => told(app)[0]);
		// Its card, which would show the question, too.
		await app.until(() => app.log.filter((line) => line.includes('"post_refused"')).length === 2);
		lift();
		await app.pass(120_000);
		expect([app.card(id), ...app.thread(id)]).toEqual([undefined]);
		await app.command(`/session watch ${id}`);
		await app.threadSays(id, 'Which colour?');
	});

	it('and whose session asks nothing is told in a direct message, a minute later', async ({ app }) => {
		const id = app.session();
		const lift = refusePosts(app);
		expect((await app.command(`/session watch ${id}`)).text()).toContain(WATCHING);
		const at = app.clock.now();
		await app.until(() => told(app)[0]);
		expect(app.clock.now() - at).toBeGreaterThan(50_000);
		lift();
		await app.pass(120_000);
		expect(app.card(id)).toBeUndefined();
		await app.command(`/session watch ${id}`);
		await app.until(() => app.card(id));
	});

	it('is told for each session of the command', async ({ app }) => {
		const ids = [asking(app), asking(app)];
		refusePosts(app);
		const reply = await app.command(`/session watch ${ids.join(' ')}`);
		for (const id of ids) expect(reply.text()).toContain(`about ${id} (restricted_action)`);
	});

	it('is not told while Slack only delays it', async ({ app }) => {
		const id = asking(app);
		app.slack.faults.rateLimit('chat.postMessage', { retryAfter: 20, times: 1 });
		const from = app.clock.now();
		expect((await app.command(`/session watch ${id}`)).text()).toContain(WATCHING);
		expect(app.clock.now() - from).toBeLessThan(4_000);
		await app.threadSays(id, 'Which colour?');
	});
});

describe('changes that Slack takes no more', () => {
	const closeEdits = (app: WatchingApp, ts?: string) =>
		app.slack.faults.add({
			method: 'chat.update',
			error: 'edit_window_closed',
			when: (one) => ts === undefined || one.ts === ts,
		});

	it("have the outcome of a question told in one line of its post's thread, which notifies nobody", async ({ app }) => {
		const { id, post } = await app.askedPost();
		closeEdits(app, post.ts);
		app.service.sessions.answerAsPage(id, ['Sand']);
		const line = await app.until(() => post.thread().find((one) => one.text().includes('Answered in the dashboard')));
		await app.pass(300_000);
		expect(post.thread()).toHaveLength(1);
		expect(line.text()).toContain('Sand');
		expect(line.text()).toContain('↪️ Slack takes no more changes of the message above. ✅');
		expect(line.editHistory()).toEqual([]);
	});

	it('have it told without any change of a message, and what becomes of it then in a further line', async ({ app }) => {
		const { id, post } = await app.askedPost();
		await app.until(() => app.card(id)?.text().includes(' asks'));
		closeEdits(app);
		await post.press('Answer…');
		const form = await app.slack.as('ada').waitForModal('Which colour?');
		await form.fill(0, 'Sand');
		await form.submit();
		await app.until(() => post.thread().some((one) => one.text().includes('· continued')));
		await app.pass(600_000);
		const lines = post.thread().map((one) => one.text());
		expect(lines.filter((line) => line.includes('Sand'))).toEqual(lines);
		expect(lines.join()).not.toContain('<@');
		expect(new Set(lines).size).toBe(lines.length);
		expect(lines.length).toBeLessThan(4);
	});

	it('have the end of a watch told in the thread of its card', async ({ app }) => {
		const id = await app.watched();
		const card = await app.until(() => app.card(id));
		closeEdits(app, card.ts);
		await app.command(`/session unwatch ${id}`);
		await app.until(() => card.thread().find((one) => one.text().includes('No longer watched.')));
		await app.pass(300_000);
		expect(card.thread()).toHaveLength(1);
	});
});
