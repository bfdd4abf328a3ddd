import { WHAT_IT_IS } from '../../../src/screens/help.ts';
import { type App, askingSession, expect, startApp, whatHappened, withApp } from '../../kit.ts';

const it = withApp(() => startApp({ transport: 'http' }));

const replies = (app: App) =>
	app.slack
		.as('ada')
		.messages('#agents')
		.filter((message) => message.isEphemeral());

/** Runs the command and resolves to the reply that only this person sees. */
async function replyTo(app: App, line: string): Promise<string> {
	const before = replies(app).length;
	expect(await app.slack.as('ada').command('#agents', line)).toEqual({ ok: true, error: null });
	await app.slack.as('ada').waitForMessage('#agents', () => replies(app).length > before);
	return replies(app).at(-1)?.text() ?? '';
}

it.for([
	['the id alone', 'choices'],
	['a dashboard link with a label', '<https://dashboard.example.com/sessions/session?id=choices|the session>'],
] as const)('opens the session for %s', async ([, typed], { app }) => {
	const ada = app.slack.as('ada');
	expect(await ada.command('#agents', `/session ${typed}`)).toEqual({ ok: true, error: null });
	const modal = await ada.waitForModal('Which colour?');
	expect(modal.title()).toBe('Answer');
	expect(modal.text()).toContain('✋ Order new chairs asks · step 2');
	expect(modal.text()).toContain('\nSession choices\n');
	expect(modal.submitText()).toBe('Send answer');
});

it.for([
	['a misspelt command with an id', 'wacth choices', /No command `?wacth`?\. Did you mean `?watch`?\?/],
	['a mention', '@grace', /Handraise does not understand @grace\./],
	['watch of nothing', 'watch', /Which session\? Add its id, or its link from the dashboard/],
	['markup', '<!channel>', /Handraise does not understand <!channel>\./],
] as const)('replies to %s with one line', async ([, typed, words], { app }) => {
	const reply = await replyTo(app, `/session ${typed}`);
	expect(reply).toMatch(words);
	expect(reply).not.toContain('\n');
	expect(reply.match(/[\p{L}\p{N}][^\s]*/gu)?.length).toBeLessThanOrEqual(15);
	expect(app.slack.as('ada').modal()).toBeNull();
	expect(app.slack.as('grace').messages('#agents')).toEqual([]);
});

it.for(['#agents', 'dm'])('opens the inbox for nothing typed in %s', async (place, { app }) => {
	const ada = app.slack.as('ada');
	expect(await ada.command(place, '/session')).toEqual({ ok: true, error: null });
	const modal = await ada.waitForModal('No question for you.');
	expect(modal.title()).toBe('Home');
});

it('tells a guest who types nothing why they see no inbox', async ({ app }) => {
	const gus = app.slack.as('gus');
	expect(await gus.command('#agents', '/session')).toEqual({ ok: true, error: null });
	const told = await gus.waitForMessage('#agents', whatHappened('guest'));
	expect(told.isEphemeral()).toBe(true);
	expect(gus.modal()).toBeNull();
});

it('shows what people type in seven lines of help, and the rest in their place after *More*', async ({ app }) => {
	const short = await replyTo(app, '/session help');
	expect(short).toContain(WHAT_IT_IS);
	expect(app.slack.as('ada').modal()).toBeNull();
	expect(app.slack.as('grace').messages('#agents')).toEqual([]);
	const commands = Array.from(short.matchAll(/^`?\/session(?: <id>| (\w+)(?: <id>)?)?`? — /gm), ([, word]) => word);
	expect(commands).toEqual([undefined, undefined, 'watch', 'unwatch', 'list', 'settings', 'help']);
	for (const word of ['history', 'inbox', 'watch all']) expect(short).not.toContain(word);
	const count = replies(app).length;
	expect(await replies(app).at(-1)?.press('More')).toBe(true);
	await app.slack.as('ada').waitForMessage('#agents', '/session watch all');
	expect(replies(app).at(-1)?.text()).toContain('/session settings');
	expect(replies(app)).toHaveLength(count);
});

it('looks for the session frobnicate, and says where help is when there is none', async ({ app }) => {
	const ada = app.slack.as('ada');
	expect(await ada.command('#agents', '/session frobnicate')).toEqual({ ok: true, error: null });
	const modal = await ada.waitForModal(whatHappened('session_not_found'));
	expect(modal.text()).toContain('/session help');
	expect(modal.text()).not.toContain('Did you mean');
	expect(app.service.log.reads('frobnicate')).not.toEqual([]);
});

it.for([
	['SETTING', 'settings'],
	['hlep', 'help'],
] as const)('asks whether a command was meant by %s, if no session has that id', async ([typed, meant], { app }) => {
	const ada = app.slack.as('ada');
	expect(await ada.command('#agents', `/session ${typed}`)).toEqual({ ok: true, error: null });
	const modal = await ada.waitForModal(whatHappened('session_not_found'));
	expect(modal.text()).toContain(`Did you mean ${meant}?`);
	await modal.close();
	app.service.sessions.put(typed, askingSession(['Which colour?']));
	expect(await ada.command('#agents', `/session ${typed}`)).toEqual({ ok: true, error: null });
	expect((await ada.waitForModal('Which colour?')).text()).not.toContain('Did you mean');
});

it('opens what the channel watches for unwatch alone', async ({ app }) => {
	expect(await replyTo(app, '/session unwatch')).toMatch(/^This channel watches no session\./);
	expect(app.slack.as('ada').modal()).toBeNull();
});

it("says that the service's own word is no id, without a request", async ({ app }) => {
	const before = app.service.log.list().length;
	expect(await replyTo(app, '/session watch file')).toContain('A session id cannot be file:');
	expect(app.slack.as('ada').modal()).toBeNull();
	expect(app.service.log.list()).toHaveLength(before);
});

it('replies with a button that opens the session when the trigger has expired', async ({ app }) => {
	const ada = app.slack.as('ada');
	app.slack.faults.add({
		method: 'views.open',
		when({ trigger_id }) {
			// The trigger is as old as after four seconds.
			for (const trigger of Object.values(app.slack.state.triggers)) {
				if (trigger.id === trigger_id) trigger.at -= 4_000;
			}
			return false;
		},
	});
	const card = await replyTo(app, '/session choices');
	expect(card).toContain('three seconds');
	expect(ada.modal()).toBeNull();
	app.slack.faults.clear();
	expect(await replies(app).at(-1)?.press('Answer…')).toBe(true);
	const modal = await ada.waitForModal('Which colour?');
	expect(modal.submitText()).toBe('Send answer');
});

it.for([
	['limits the rate', { status: 429, retryAfter: 30 }],
	['cuts the connection', { drop: true }],
] as const)('replies with the button when Slack %s on opening', async ([, fault], { app }) => {
	app.slack.faults.add({ method: 'views.open', ...fault, times: 2 });
	expect(await replyTo(app, '/session choices')).toContain('Answer…');
	app.slack.faults.clear();
	await replies(app).at(-1)?.press('Answer…');
	await app.slack.as('ada').waitForModal('Which colour?');
});

it("fills the modal when Slack's response to its opening is lost", async ({ app }) => {
	app.slack.faults.add({ method: 'views.open', drop: true, afterEffect: true, times: 1 });
	await app.slack.as('ada').command('#agents', '/session choices');
	await app.slack.as('ada').waitForModal('Which colour?');
});

it('shows a loading view until the service responds, then the content', async ({ app }) => {
	const ada = app.slack.as('ada');
	const { promise, resolve } = Promise.withResolvers<void>();
	app.service.hooks.onRequest = () => promise;
	expect(await ada.command('#agents', '/session yesno')).toEqual({ ok: true, error: null });
	const modal = await ada.waitForModal('Looking at session');
	expect(modal.text()).toContain('yesno');
	expect(modal.submitText()).toBeNull();
	delete app.service.hooks.onRequest;
	resolve();
	await ada.waitForModal('Shall I renew it anyway?');
	expect(ada.modal()?.id).toBe(modal.id);
});

it('opens one modal for a command that Slack sends twice', async ({ app }) => {
	const before = app.slack.traffic.calls('views.open').length;
	app.slack.faults.duplicateNext('slash_commands');
	await app.slack.as('ada').command('#agents', '/session choices');
	await app.slack.as('ada').waitForModal('Which colour?');
	expect(app.slack.traffic.calls('views.open').length - before).toBe(1);
});

it('opens the session where the bot is not a member, and in a direct message', async ({ app }) => {
	for (const channel of ['#general', 'dm']) {
		expect(await app.slack.as('ada').command(channel, '/session choices')).toEqual({ ok: true, error: null });
		const modal = await app.slack.as('ada').waitForModal('Which colour?');
		await modal.close();
	}
});

it('replies to every direct message with the help', async ({ app }) => {
	await app.slack.as('ada').say('dm', 'hello?');
	const reply = await app.slack.as('ada').waitForMessage('dm', WHAT_IT_IS);
	expect(reply.author()).toBe('handraise');
	await reply.press('More');
	const whole = await app.slack.as('ada').waitForMessage('dm', '/session watch all');
	expect(whole.isEphemeral()).toBe(true);
});
