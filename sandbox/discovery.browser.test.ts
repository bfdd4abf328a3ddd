import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { othersAskWords } from '../src/screens/inbox.ts';
import { BEGAN_ALL, ENDED_ALL } from '../test/support/sentences.ts';
import { buttonNamed } from './browser.ts';
import { type Harness, openHarness, type } from './harness.ts';
import { seriousFindings } from './serious-findings.ts';

const AGENTS = 'C0AGENTS';

let harness: Harness;
/** Lets the time until then pass. */
const soon = <T>(awaited: PromiseLike<T>) => harness.soon(awaited);

beforeAll(async () => {
	harness = await openHarness({ appEnv: { DISCOVER_SESSIONS: 'true' } });
});
afterAll(() => harness?.close());
afterEach(async () => {
	await harness.closeWindows();
	expect(harness.complaints).toEqual([]);
	expect(harness.problems).toEqual([]);
	expect(harness.sandbox.slack.violations()).toEqual([]);
});

const service = () => harness.sandbox.service;
const button = (page: Page, name: string) => page.getByRole('button', { name: buttonNamed(name) });

it('shows in Home a session that nobody watches, and opens it', async () => {
	service().sessions.start('yesno');
	const page = await harness.window('ada', { home: true });
	const home = page.getByRole('tabpanel', { name: 'Home' });
	await soon(home.getByText('Other sessions that ask').waitFor());
	await soon(home.getByText(othersAskWords(1)).waitFor());
	expect(await seriousFindings(page, '#app-home')).toEqual([]);
	await home.getByRole('button', { name: buttonNamed('Answer') }).click();
	const dialog = page.getByRole('dialog');
	await dialog.getByRole('radio', { name: 'Yes' }).check();
	await dialog.getByRole('button', { name: 'Send answer' }).click();
	await soon(service().sessions.until('yesno', (json) => json.status === 'completed'));
	await page.keyboard.press('Escape');
	await soon(home.getByText('Other sessions that ask').waitFor({ state: 'detached' }));
});

it('brings each question into a channel that watches all, until it stops', async () => {
	const page = await harness.window('ada', { channel: AGENTS });
	await type(page, '/session watch all');
	await page.locator('.channel').getByText(BEGAN_ALL.replaceAll('`', '')).waitFor();
	service().sessions.start('flight');
	await soon(button(page, 'LH 1173').first().waitFor());
	await button(page, 'LH 1173').first().click();
	// It asks again, in another post.
	await soon(button(page, 'Yes').first().waitFor());
	await page.getByText('LH 1173', { exact: false }).first().waitFor();
	await expect.poll(() => button(page, 'LH 1173').count()).toBe(0);
	await type(page, '/session unwatch all');
	await button(page, 'End all').click();
	await page.locator('.channel').getByText(ENDED_ALL.replaceAll('`', '')).first().waitFor();
	await soon(expect.poll(() => button(page, 'Yes').count()).toBe(0));
});
