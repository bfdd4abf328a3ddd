import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openSetting, type Setting, type } from './setting.ts';

let setting: Setting;

beforeAll(async () => {
	setting = await openSetting();
});
afterAll(() => setting?.close());
afterEach(() => setting.sandbox.troubles.clear());

const dialog = (page: Page) => page.getByRole('dialog');
const sessions = () => setting.sandbox.service.sessions;
const arrived = (page: Page) => dialog(page).getByText('Your answer arrived').first().waitFor({ timeout: 25_000 });

/** A window with the trouble panel open. */
async function troubled(person = 'ada'): Promise<Page> {
	const page = await setting.window(person, { channel: 'C0AGENTS' });
	await page.getByRole('button', { name: /^Trouble/ }).click();
	return page;
}

/** Presses an entry of the panel and waits until it is on. */
async function turnOn(page: Page, group: string, label: RegExp): Promise<void> {
	const entry = page.locator('.panel').getByRole('list', { name: group }).getByRole('button', { name: label });
	await entry.click();
	if ((await entry.getAttribute('aria-pressed')) !== null) await page.locator('.trouble-on').first().waitFor();
}
const service = (page: Page, label: RegExp) => turnOn(page, 'The session service', label);
const slack = (page: Page, label: RegExp) => turnOn(page, 'Slack', label);
const clear = (page: Page) => page.getByRole('button', { name: 'Clear all' }).click();

/** A question of its own, so that no test meets another's answer. */
async function ask(id: string): Promise<void> {
	sessions().start('yesno', id);
	await sessions().until(id, (json) => json.status === 'humanInput');
}
async function open(page: Page, id: string): Promise<void> {
	await type(page, `/session ${id}`);
	await dialog(page).getByRole('radio', { name: 'Yes' }).waitFor({ timeout: 20_000 });
}
async function answer(page: Page): Promise<void> {
	await dialog(page).getByRole('radio', { name: 'Yes' }).check();
	await dialog(page).getByRole('button', { name: 'Send answer' }).click();
}
/** The agent has the answer, and got it once. */
function expectOnce(id: string): void {
	expect(sessions().values(id, 2)).toEqual(['Yes']);
	expect(setting.sandbox.service.log.effectivePuts(id)).toHaveLength(1);
}

test('a slow service: the modal opens at once and fills when the session is there', async () => {
	await ask('slow');
	const page = await troubled();
	await service(page, /^Slow/);
	await type(page, '/session slow');
	await dialog(page).waitFor({ timeout: 2500 });
	expect(await dialog(page).getByRole('radio').count()).toBe(0);
	await dialog(page).getByRole('radio', { name: 'Yes' }).waitFor({ timeout: 20_000 });
});

test('a service that is down: the answer is saved, and arrives when it is back', async () => {
	await ask('down');
	const page = await troubled();
	await open(page, 'down');
	await service(page, /^Down/);
	await answer(page);
	await dialog(page).getByText('saved').first().waitFor();
	expect(sessions().values('down', 2)).toEqual(['']);
	await clear(page);
	await arrived(page);
	expectOnce('down');
});

test.each([
	['429', /^Too many requests/],
	['reset', /^Reset/],
	['html', /^A proxy/],
	['key', /^Key refused/],
])('a service that answers %s: the person is told, and the next try works', async (id, label) => {
	await ask(id);
	const page = await troubled();
	await service(page, label);
	await type(page, `/session ${id}`);
	const again = dialog(page).getByRole('button', { name: 'Try again' });
	await again.waitFor({ timeout: 25_000 });
	await clear(page);
	await again.click();
	await dialog(page).getByRole('radio', { name: 'Yes' }).waitFor({ timeout: 25_000 });
	await answer(page);
	await arrived(page);
	expectOnce(id);
});

test('500 after saving: the answer is not sent a second time', async () => {
	await ask('saved');
	const page = await troubled();
	await open(page, 'saved');
	await service(page, /^500 after saving/);
	await answer(page);
	await arrived(page);
	expectOnce('saved');
});

test('somebody answers in the dashboard meanwhile: nothing is overwritten, and the person is told', async () => {
	await ask('outsider');
	const page = await troubled();
	await open(page, 'outsider');
	await service(page, /^Somebody answers in the dashboard/);
	await answer(page);
	await dialog(page).getByText('Answered by somebody in the dashboard').first().waitFor();
	expect(sessions().values('outsider', 2)).toEqual(['Answered by somebody in the dashboard']);
	expect(setting.sandbox.service.log.effectivePuts('outsider')).toHaveLength(0);
});

test('a slow Slack: the answer arrives all the same', async () => {
	await ask('slow-slack');
	const page = await troubled();
	await slack(page, /^Slow/);
	await open(page, 'slow-slack');
	await answer(page);
	await arrived(page);
	expectOnce('slow-slack');
});

test('Slack refuses posts for a while: modals go on working', async () => {
	await ask('slack-429');
	const page = await troubled();
	await slack(page, /^Too many requests/);
	await open(page, 'slack-429');
	await answer(page);
	await arrived(page);
	expectOnce('slack-429');
});

test('dropped and refreshed sockets: the app is back by itself', async () => {
	await ask('sockets');
	const page = await troubled();
	await slack(page, /^Drop the sockets/);
	await setting.sandbox.slack.connected();
	await slack(page, /^Refresh a socket/);
	await setting.sandbox.slack.connected();
	await open(page, 'sockets');
	await answer(page);
	await arrived(page);
	expectOnce('sockets');
});

test('everything delivered twice: one modal, one answer', async () => {
	await ask('twice');
	const page = await troubled();
	await open(page, 'twice');
	await dialog(page).getByRole('radio', { name: 'Yes' }).check();
	await slack(page, /^Delivers twice/);
	await dialog(page).getByRole('button', { name: 'Send answer' }).click();
	await arrived(page);
	expectOnce('twice');
	expect(setting.sandbox.troubles.list().filter((one) => one.active)).toEqual([]);
});

test('the bot is killed while it delivers: the answer arrives after the start', async () => {
	await ask('killed');
	const page = await troubled();
	await open(page, 'killed');
	await service(page, /^Down/);
	await answer(page);
	await dialog(page).getByText('saved').first().waitFor();
	await page.getByRole('button', { name: 'Kill (-9)' }).click();
	await page.getByText('stopped', { exact: true }).waitFor();
	await clear(page);
	await page.getByRole('button', { name: 'Start', exact: true }).click();
	await page.getByText(/^running/).waitFor();
	await expect.poll(() => sessions().values('killed', 2), { timeout: 20_000 }).toEqual(['Yes']);
	expectOnce('killed');
});

test('a bot that is not there: the command fails in Slack’s words, the modal keeps what was typed', async () => {
	await ask('gone');
	const page = await troubled();
	await open(page, 'gone');
	await page.getByRole('button', { name: 'Kill (-9)' }).click();
	await page.getByText('stopped', { exact: true }).waitFor();
	await answer(page);
	await dialog(page).getByText('We had some trouble connecting').waitFor();
	expect(await dialog(page).getByRole('radio', { name: 'Yes' }).isChecked()).toBe(true);
	await page.getByRole('button', { name: 'Start', exact: true }).click();
	await page.getByText(/^running/).waitFor();
	await dialog(page).getByRole('button', { name: 'Send answer' }).click();
	await arrived(page);
	expectOnce('gone');
});
