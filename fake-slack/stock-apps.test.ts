import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRANSPORTS } from './bolt-app.ts';
import type { Actor } from './driver/actor.ts';
import type { Modal } from './driver/modal.ts';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import { startStockApp } from './stock-apps/run.ts';

const MANIFEST = fileURLToPath(new URL('./stock-apps/incidents/manifest.json', import.meta.url));

describe.each(TRANSPORTS)('a stock Bolt app, over %s', (transport) => {
	let slack: FakeSlack;
	let app: { stop(): Promise<void> };
	let ada: Actor;
	let grace: Actor;

	beforeAll(async () => {
		slack = await createFakeSlack({ manifest: MANIFEST });
		app = await startStockApp(slack, transport, 'incidents');
		ada = slack.as('ada');
		grace = slack.as('grace');
	});
	afterAll(async () => {
		await app?.stop();
		await slack.close();
	});

	/** Opens the modal with a command. */
	async function open(title: string): Promise<Modal> {
		expect(await ada.command('#agents', `/incident ${title}`)).toEqual({ ok: true, error: null });
		return ada.waitForModal('New incident');
	}
	const answers = (method: string) => slack.traffic.calls(method).map((call) => call.answer);

	it('verifies the app’s request URL, or connects it', async () => {
		if (transport === 'http') expect(await slack.verifyRequestUrl()).toBe(true);
		else expect(slack.sockets.count()).toBe(1);
	});

	it('answers a slash command in its acknowledgement, for everybody', async () => {
		expect(await ada.command('#agents', '/incidents')).toEqual({ ok: true, error: null });
		const message = await grace.waitForMessage('#agents', 'Incidents so far: 0');
		expect(message.isEphemeral()).toBe(false);
	});

	it('answers a slash command with respond, for one person, and again from the buttons of that answer', async () => {
		await ada.command('#agents', '/incident');
		const usage = await ada.waitForMessage('#agents', 'what happened');
		expect(usage.isEphemeral()).toBe(true);
		expect(await usage.press('Show everyone')).toBe(true);
		await grace.waitForMessage('#agents', 'Incidents: type /incident');
		expect(usage.exists()).toBe(true);
		await usage.press('Dismiss');
		await slack.changes.until(
			() => !usage.exists(),
			() => usage.text(),
		);
		await ada.command('#agents', '/incident');
		const next = await ada.waitForMessage('#agents', 'what happened');
		await next.press('Shorten');
		const shortened = await ada.waitForMessage('#agents', 'Just type it.');
		expect(shortened.ts).toBe(next.ts);
		expect(grace.messages('#agents').map((one) => one.text())).not.toContain('Just type it.');
	});

	it('opens a modal, answers with errors under fields, and posts what was submitted', async () => {
		const modal = await open('Oh');
		expect(modal.value('What happened?')).toBe('Oh');
		expect(await modal.submit()).toMatchObject({
			outcome: 'fieldErrors',
			errors: { 'What happened?': 'Say a little more.' },
		});
		await modal.fill('What happened?', 'The login page is blank');
		await modal.choose('Severity', 'Major');
		expect((await modal.submit()).outcome).toBe('closed');
		const posted = await grace.waitForMessage('#agents', 'The login page is blank');
		expect(posted.metadata()).toEqual({ event_type: 'incident', event_payload: { status: 'open' } });
	});

	it('answers a submission with another view, and clears the stack from there', async () => {
		const modal = await open('Everything is down');
		await modal.choose('Severity', 'Critical');
		expect((await modal.submit()).outcome).toBe('updated');
		const confirm = await ada.waitForModal('Wake somebody up?');
		expect((await confirm.submit()).outcome).toBe('closed');
		expect(ada.modal()).toBeNull();
		await grace.waitForMessage('#agents', 'Everything is down');
	});

	it('pushes a modal over the first, whose inputs are kept when it is updated from there', async () => {
		const modal = await open('Mails are late');
		await modal.fill('What happened?', 'Mails arrive a day late');
		expect(await modal.press('Add details')).toBe(true);
		const details = await ada.waitForModal('Details');
		await details.fill('Details', 'since Monday');
		expect((await details.submit()).outcome).toBe('closed');
		const updated = await ada.waitForModal('Details: since Monday');
		expect(updated.id).toBe(modal.id);
		expect(updated.value('What happened?')).toBe('Mails arrive a day late');
		await updated.submit();
		await grace.waitForMessage('#agents', 'Mails arrive a day late (since Monday)');
	});

	it('updates a modal by its hash, and only once when a button is pressed twice', async () => {
		const modal = await open('The search finds nothing');
		const before = answers('views.update').length;
		const release = slack.faults.hold('views.update');
		await modal.press('Show advice');
		await modal.press('Show advice');
		const updates = () => answers('views.update').slice(before);
		await slack.changes.until(
			() => updates().length === 2,
			() => `${updates().length} updates`,
		);
		release();
		await ada.waitForModal('Say what people notice');
		await slack.changes.until(
			() => !updates().includes(null),
			() => 'an update is under way',
		);
		expect(updates()).toMatchObject([{ ok: true }, { ok: false, error: 'hash_conflict' }]);
		await modal.close();
	});

	it('tells the app that a modal was closed', async () => {
		const modal = await open('Never mind');
		await modal.close();
		await ada.waitForMessage('dm', 'Your draft is discarded.');
	});

	it('opens a modal from a global shortcut', async () => {
		expect(await ada.globalShortcut('open_incident')).toBe(true);
		const modal = await ada.waitForModal('New incident');
		await modal.fill('What happened?', 'Nobody can log in');
		expect((await modal.submit()).outcome).toBe('closed');
		await ada.waitForMessage('dm', 'Nobody can log in');
	});

	it('opens a modal from a message shortcut, with the message in it, and responds beside it', async () => {
		const message = await grace.say('#agents', 'The cellar is under water');
		expect(await ada.shortcut(message, 'report_message')).toBe(true);
		const modal = await ada.waitForModal('New incident');
		expect(modal.value('What happened?')).toBe('The cellar is under water');
		const thanks = await ada.waitForMessage('#agents', 'Thank you for reporting this.');
		expect(thanks.isEphemeral()).toBe(true);
		expect(message.exists()).toBe(true);
		await modal.close();
	});

	it('publishes the Home tab when it is opened, and again by its hash', async () => {
		await grace.openApp('messages');
		await grace.openApp('home');
		const home = await slack.changes.until(
			() => grace.home(),
			() => 'nothing is published',
		);
		expect(home.text()).toContain('Welcome home, @grace');
		expect(await home.press('Refresh')).toBe(true);
		await slack.changes.until(
			() => answers('views.publish').length === 2,
			() => JSON.stringify(answers('views.publish')),
		);
		expect(answers('views.publish')).toMatchObject([{ ok: true }, { ok: true }]);
		expect(slack.traffic.calls('views.publish')[1]?.request).toHaveProperty('hash');
		expect(ada.home()).toBeNull();
	});

	it('loads the options of a select in a modal and in a message', async () => {
		const modal = await open('Invoices are wrong');
		expect(await modal.suggest('Service', 'b')).toBeNull();
		expect(await modal.suggest('Service', 'bil')).toEqual(['Billing', 'Bills archive']);
		await modal.choose('Service', 'Billing');
		expect((await modal.submit()).outcome).toBe('closed');
		const posted = await grace.waitForMessage('#agents', 'Invoices are wrong in billing');
		expect(await posted.suggest('Move to service', 'log')).toEqual(['Login']);
		await posted.choose('Move to service', 'Login');
		await grace.waitForMessage('#agents', 'Moved to login');
		expect(posted.thread().map((one) => one.text())).toContain('Moved to login');
	});

	it('tells the app of the metadata of its messages as they are posted, changed and deleted', async () => {
		const modal = await open('The lift is stuck');
		await modal.submit();
		const posted = await grace.waitForMessage('#agents', 'The lift is stuck');
		const reply = (text: string) =>
			slack.changes.until(
				() => posted.thread().find((one) => one.text() === text),
				() => JSON.stringify(posted.thread().map((one) => one.text())),
			);
		await reply('Logged as open');
		await posted.press('Resolve');
		await reply('From open to resolved');
		expect(posted.text()).toContain('resolved by @grace');
		expect(posted.buttons()).toEqual([]);

		await (await open('A false alarm')).submit();
		const withdrawn = await grace.waitForMessage('#agents', 'A false alarm');
		await slack.changes.until(
			() => withdrawn.thread().length === 1,
			() => 'it is not logged',
		);
		await withdrawn.press('Withdraw');
		await grace.waitForMessage('#agents', 'An incident that was open is withdrawn.');
		// Its thread has a reply, so a tombstone stands in its place.
		expect(withdrawn.text()).toBe('This message was deleted.');
	});

	it('answers a mention in its thread, and a message that it listens for', async () => {
		const mention = await ada.mention('#agents', 'are you there?');
		await ada.waitForMessage('#agents', 'You called, @ada?');
		expect(mention.thread().map((one) => one.text())).toEqual(['You called, @ada?']);
		await grace.say('#agents', 'hello everybody');
		const hello = await ada.waitForMessage('#agents', 'Hello, @grace');
		expect(hello.threadTs()).toBeNull();
	});

	it('sends nothing that Slack would refuse, and acknowledges everything', async () => {
		const unanswered = () => slack.traffic.deliveries().filter((one) => one.acked !== true);
		await slack.changes.until(
			() => unanswered().length === 0,
			() => JSON.stringify(unanswered()),
		);
		expect(slack.violations()).toEqual([]);
	});
});
