import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { DELIVERED, ended, WATCHING } from '../test/support/sentences.ts';
import { type Harness, openHarness, type } from './harness.ts';

let harness: Harness;
/** Lets the time until then pass. */
const soon = <T>(awaited: PromiseLike<T>) => harness.soon(awaited);
/** One window for all tests, with the trouble panel open. */
let page: Page;

beforeAll(async () => {
	harness = await openHarness();
	page = await harness.window('ada', { channel: 'C0AGENTS' });
	await page.getByRole('button', { name: /^Trouble/ }).click();
});
afterAll(() => harness?.close());
afterEach(async () => {
	await harness.sandbox.troubles.clear();
	const close = dialog().getByRole('button', { name: 'Close', exact: true }).last();
	if (await close.isVisible()) await close.click();
	await dialog().waitFor({ state: 'detached' });
	expect(harness.complaints).toEqual([]);
});

const dialog = () => page.getByRole('dialog');
const sessions = () => harness.sandbox.service.sessions;
const arrived = () => soon(dialog().getByText(DELIVERED).first().waitFor());

/** Presses an entry of the panel and waits until it is on. */
async function turnOn(group: string, label: RegExp): Promise<void> {
	const entry = page.locator('.panel').getByRole('list', { name: group }).getByRole('button', { name: label });
	await entry.click();
	if ((await entry.getAttribute('aria-pressed')) !== null) await page.locator('.trouble-on').first().waitFor();
}
const service = (label: RegExp) => turnOn('The session service', label);
const slack = (label: RegExp) => turnOn('Slack', label);
const clear = () => page.getByRole('button', { name: 'Clear all' }).click();

/** A new question, so that no test meets another's answer. */
async function ask(id: string): Promise<void> {
	sessions().start('yesno', id);
	await soon(sessions().until(id, (json) => json.status === 'humanInput'));
}
async function open(id: string): Promise<void> {
	await type(page, `/session ${id}`);
	await soon(dialog().getByRole('radio', { name: 'Yes' }).waitFor());
}
async function answer(): Promise<void> {
	await dialog().getByRole('radio', { name: 'Yes' }).check();
	await dialog().getByRole('button', { name: 'Send answer' }).click();
}
/** The agent has the answer, exactly once. */
async function expectOnce(id: string): Promise<void> {
	await expect.poll(() => sessions().values(id, 2)).toEqual(['Yes']);
	await expect.poll(() => harness.sandbox.service.log.effectivePuts(id)).toHaveLength(1);
}

it('a slow service: the modal opens at once and fills when the session arrives', async () => {
	await ask('slow');
	await service(/^Slow/);
	await type(page, '/session slow');
	await dialog().waitFor();
	// The modal is visible before the program has Slack's response to its opening. It reads the session after that.
	await expect.poll(() => harness.sandbox.service.log.reads('slow').map((one) => one.status)).toEqual([null]);
	await expect.poll(() => dialog().getByRole('radio').count()).toBe(0);
	await soon(dialog().getByRole('radio', { name: 'Yes' }).waitFor());
});

it('a service that is down: the answer is saved, and arrives when the service is back', async () => {
	await ask('down');
	await open('down');
	await service(/^Down/);
	await answer();
	await dialog().getByText('saved').first().waitFor();
	await expect.poll(() => sessions().values('down', 2)).toEqual(['']);
	await clear();
	await arrived();
	await expectOnce('down');
});

it('a service that answers 429, resets, hangs, or is a proxy, or refuses the key: the person is told, and the next try works', async () => {
	await ask('refused');
	await type(page, '/session refused');
	for (const label of [/^Too many requests/, /^Reset/, /^Hangs/, /^A proxy/, /^Key refused/]) {
		await soon(dialog().getByRole('radio', { name: 'Yes' }).waitFor());
		await page.keyboard.press('Escape');
		await service(label);
		await type(page, '/session refused');
		const again = dialog().getByRole('button', { name: 'Try again' });
		await soon(again.waitFor());
		await clear();
		// While the service's own waiting time runs, the app repeats the message instead of reading.
		if (label.test('Too many requests')) await harness.pass(61_000);
		await again.click();
	}
	await soon(dialog().getByRole('radio', { name: 'Yes' }).waitFor());
	await answer();
	await arrived();
	await expectOnce('refused');
});

it('no list: a question of a watched session is found by reading, and by the list again after that', async () => {
	const { service: fake } = harness.sandbox;
	const listed = () => fake.log.lists().map(({ status }) => status);
	await soon(expect.poll(() => listed().includes(200)).toBe(true));
	await service(/^No list/);
	await ask('listless');
	await type(page, '/session watch listless');
	await page.getByText('listless', { exact: false }).first().waitFor();
	await soon(expect.poll(() => listed().at(-1)).toBe(404));
	const posts = () => harness.sandbox.slack.state.messages.filter(({ text }) => text.startsWith('An agent asks'));
	await soon(expect.poll(() => posts().length).toBeGreaterThan(0));
	await clear();
	await soon(expect.poll(() => listed().at(-1)).toBe(200));
});

it('500 after saving: the answer is not sent a second time', async () => {
	await ask('saved');
	await open('saved');
	await service(/^500 after saving/);
	await answer();
	await arrived();
	await expectOnce('saved');
});

it('somebody answers in the dashboard meanwhile: nothing is overwritten, and the person is told', async () => {
	await ask('outsider');
	// Its agent would go on to the end with the dashboard's answer, which is another test.
	sessions().put('outsider', sessions().get('outsider'));
	await open('outsider');
	await service(/^Somebody answers in the dashboard/);
	await answer();
	await soon(dialog().getByText('Answered by somebody in the dashboard').first().waitFor());
	await expect.poll(() => sessions().values('outsider', 2)).toEqual(['Answered by somebody in the dashboard']);
	await expect.poll(() => harness.sandbox.service.log.effectivePuts('outsider')).toHaveLength(0);
});

it('another organisation joins a channel: its watch ends, and its creator is told', async () => {
	await ask('shared-away');
	await type(page, '/session watch shared-away');
	await page.getByText(WATCHING.replaceAll('*', '')).first().waitFor();
	await slack(/^Share #agents/);
	const words = () =>
		harness.sandbox.slack
			.as('ada')
			.dm()
			.map((message) => message.text())
			.join('\n');
	await soon(expect.poll(words).toContain(ended('channelShared')));
	await expect.poll(() => words()).toContain('shared-away');
	await clear();
	await expect
		.poll(() => harness.sandbox.slack.state.channels.find(({ name }) => name === 'agents')?.isExtShared)
		.toBe(false);
});

it('a slow Slack: the answer still arrives', async () => {
	for (const id of ['quick-slack', 'slow-slack']) await ask(id);
	// What Slack tells of a person counts for 30 s, and a slow Slack would not tell in time: so it is told right before.
	// From then on time does not jump.
	await harness.pass(30_001);
	await type(page, '/session quick-slack');
	await answer();
	await dialog().getByText(DELIVERED).first().waitFor();
	await dialog().getByRole('button', { name: 'Close', exact: true }).last().click();
	await dialog().waitFor({ state: 'detached' });
	await slack(/^Slow/);
	await type(page, '/session slow-slack');
	await answer();
	await dialog().getByText(DELIVERED).first().waitFor();
	await expectOnce('slow-slack');
});

it('Slack refuses posts for a while: modals keep working', async () => {
	await ask('slack-429');
	await slack(/^Too many requests/);
	await open('slack-429');
	await answer();
	await arrived();
	await expectOnce('slack-429');
});

it('dropped and refreshed sockets: the app reconnects by itself', async () => {
	await ask('sockets');
	await slack(/^Drop the sockets/);
	await harness.sandbox.slack.connected();
	await slack(/^Refresh a socket/);
	await harness.sandbox.slack.connected();
	await open('sockets');
	await answer();
	await arrived();
	await expectOnce('sockets');
});

it('everything delivered twice: one modal, one answer', async () => {
	await ask('twice');
	await open('twice');
	await dialog().getByRole('radio', { name: 'Yes' }).check();
	await slack(/^Delivers twice/);
	await dialog().getByRole('button', { name: 'Send answer' }).click();
	await arrived();
	await expectOnce('twice');
	expect(harness.sandbox.troubles.list().filter((one) => one.active)).toEqual([]);
});
