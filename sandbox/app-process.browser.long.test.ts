import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { DELIVERED, reminderOf } from '../test/support/sentences.ts';
import { buttonNamed } from './browser.ts';
import { asksIn, expectNothingWrong, type Harness, moveClock, openHarness, type } from './harness.ts';
import { askingSession, item } from './session-service/builders.ts';

/** The app is a process of its own here, as for a visitor of the sandbox. Its time is the machine's. */
let harness: Harness;
let page: Page;

beforeAll(async () => {
	harness = await openHarness({ ownProcess: true });
	page = await harness.window('ada', { channel: 'C0AGENTS' });
	await page.getByRole('button', { name: /^Trouble/ }).click();
});
afterAll(() => harness?.close());
afterEach(async () => {
	const close = dialog().getByRole('button', { name: 'Close', exact: true }).last();
	if (await close.isVisible()) await close.click();
	await dialog().waitFor({ state: 'detached' });
	expectNothingWrong(harness, false);
});

const PATIENCE = { timeout: 30_000 };
const dialog = (window = page) => window.getByRole('dialog');
const button = (name: string | RegExp) =>
	page.getByRole('button', { name: typeof name === 'string' ? buttonNamed(name) : name });
const sessions = () => harness.sandbox.service.sessions;

/** Opens a new question and chooses its answer. */
async function choose(id: string, window = page): Promise<void> {
	sessions().start('yesno', id);
	await sessions().until(id, (json) => json.status === 'humanInput');
	await type(window, `/session ${id}`);
	await dialog(window).getByRole('radio', { name: 'Yes' }).check();
}
const send = (window = page) => dialog(window).getByRole('button', { name: 'Send answer' }).click();
async function kill(): Promise<void> {
	await button('Kill (-9)').click();
	await page.getByText('stopped', { exact: true }).waitFor();
}
async function start(): Promise<void> {
	await button('Start').click();
	await page.getByText(/^running/).waitFor();
}
/** The agent has the answer, exactly once. */
async function arrivesOnce(id: string): Promise<void> {
	await expect.poll(() => sessions().values(id, 2), PATIENCE).toEqual(['Yes']);
	await expect.poll(() => harness.sandbox.service.log.effectivePuts(id)).toHaveLength(1);
}

it('the bot is killed while it delivers: the modal of another keeps what was typed, and after the start both arrive', async () => {
	const grace = await harness.window('grace', { channel: 'C0AGENTS' });
	await choose('killed', grace);
	await choose('gone');
	await button(/^Down/).click();
	await page.locator('.trouble-on').first().waitFor();
	await send(grace);
	await dialog(grace).getByText('saved').first().waitFor();
	await kill();
	await button('Clear all').click();
	await send();
	await dialog().getByText('We had some trouble connecting').waitFor();
	await expect.poll(() => dialog().getByRole('radio', { name: 'Yes' }).isChecked()).toBe(true);
	await start();
	await arrivesOnce('killed');
	await send();
	await dialog().getByText(DELIVERED).first().waitFor();
	await arrivesOnce('gone');
});

it('keeps the moved time when the app is killed and started again', async () => {
	await moveClock(page, 'To tomorrow 9:00');
	await expect.poll(() => page.locator('.clock time').innerText()).toMatch(/, 09:00$/);
	const { bot, slack } = harness.sandbox;
	const before = bot?.status().pid;
	await button('Kill and restart').click();
	await expect.poll(() => bot?.status().pid, PATIENCE).not.toBe(before);
	await expect.poll(() => bot?.status().status, PATIENCE).toBe('running');
	await expect.poll(() => slack.sockets.count(), PATIENCE).toBe(2);
	sessions().put('vases', askingSession([item('Which vases?')], { name: 'Order vases' }));
	await type(page, '/session watch vases');
	const posts = () => slack.state.messages.filter((one) => one.channel === 'C0AGENTS');
	await expect.poll(() => JSON.stringify(posts()), PATIENCE).toContain(asksIn('Order vases'));
	await expect.poll(() => page.locator('.channel .message time').last().innerText()).toMatch(/^9:0\d AM$/);
	await moveClock(page, '+15 min');
	await moveClock(page, '+5 min');
	const reminders = () => posts().filter(({ text }) => text.includes('⏰'));
	await expect.poll(() => reminders().at(-1)?.text, PATIENCE).toMatch(reminderOf('reminder', 20));
});
