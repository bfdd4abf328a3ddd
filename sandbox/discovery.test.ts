import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type Harness, openHarness, type } from './harness.ts';
import { seriousFindings } from './serious-findings.ts';

const PATIENCE = { timeout: 30_000 };
const AGENTS = 'C0AGENTS';

let harness: Harness;

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
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

it('shows in Home a session that nobody watches, and opens it', async () => {
	service().sessions.start('yesno');
	const page = await harness.window('ada', { home: true });
	const home = page.getByRole('tabpanel', { name: 'Home' });
	await home.getByText('Other waiting sessions').waitFor(PATIENCE);
	await home.getByText('One more session of the account waits for a person').waitFor(PATIENCE);
	expect(await seriousFindings(page)).toEqual([]);
	await home.getByRole('button', { name: 'Open', exact: true }).click();
	const dialog = page.getByRole('dialog');
	await dialog.getByRole('radio', { name: 'Yes' }).check();
	await dialog.getByRole('button', { name: 'Send answer' }).click();
	await service().sessions.until('yesno', (json) => json.status === 'completed');
	await page.keyboard.press('Escape');
	await home.getByText('No other session of the account waits').waitFor(PATIENCE);
});

it('brings each question into a channel that watches all, until it stops', async () => {
	const page = await harness.window('ada', { channel: AGENTS });
	await type(page, '/session watch all');
	await page.locator('.channel').getByText('Whenever a session of this account waits').waitFor();
	service().sessions.start('flight');
	await button(page, 'LH 1173').first().waitFor(PATIENCE);
	await button(page, 'LH 1173').first().click();
	// It asks again, in another post.
	await button(page, 'Yes').first().waitFor({ timeout: 60_000 });
	await page.getByText('LH 1173', { exact: false }).first().waitFor();
	expect(await button(page, 'LH 1173').count()).toBe(0);
	await type(page, '/session unwatch all');
	await page.locator('.channel').getByText('do not come into this channel any more').waitFor();
	await expect.poll(() => button(page, 'Yes').count(), PATIENCE).toBe(0);
});
