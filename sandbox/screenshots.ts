import { mkdir, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { waitingCountWords } from '../src/features/inbox/view.ts';
import { asksWords } from '../src/features/watch/post-view.ts';
import { ESCALATION, line, youHandedOver } from '../test/support/sentences.ts';
import { launchBrowser } from './browser.ts';
import { createSandbox } from './sandbox.ts';

/*
 * The README's pictures, made from the sandbox: `npm run screenshots`. The machine's fonts draw emoji and text; the
 * pictures in the repository were made with Lato and Noto Color Emoji.
 */

const FOLDER = fileURLToPath(new URL('pictures', import.meta.url));
const WINDOW = { width: 1180, height: 740 };

const sandbox = await createSandbox({ onLine: (line, isProblem) => isProblem && console.error(line) });
const browser = await launchBrowser();
const made: string[] = [];

async function picture(page: Page, name: string): Promise<void> {
	const path = `${FOLDER}/${name}.png`;
	// Pictures show no pointer and no caret.
	await page.mouse.move(0, 0);
	await page.screenshot({ path, caret: 'hide', animations: 'disabled' });
	made.push(`${name}.png ${Math.round((await stat(path)).size / 1024)} kB`);
}

/** Home in a sandbox of its own, with a choice that can still be taken back. */
async function inboxPicture(): Promise<void> {
	const own = await createSandbox();
	try {
		await own.slack.connected();
		const page = await browser.newPage({ viewport: { ...WINDOW, height: 850 }, reducedMotion: 'reduce' });
		await page.goto(`${own.url}/?as=ada&in=C0AGENTS`);
		await page.locator('#composer').fill('/session watch demo report code yesno');
		await page.locator('#composer').press('Enter');
		await page.getByRole('button', { name: 'Close the panel' }).click();
		await page.getByRole('button', { name: 'Handraise', exact: true }).click();
		await page.getByRole('tab', { name: 'Home' }).click();
		const home = page.getByRole('tabpanel', { name: 'Home' });
		await home.getByText(waitingCountWords(4, 0)).waitFor({ timeout: 60_000 });
		await home.getByRole('button', { name: 'Yes', exact: true }).click();
		await home.getByRole('button', { name: 'Undo', exact: true }).waitFor();
		// The pressed question may have been further down.
		await page.evaluate("document.querySelector('#app-home').scrollTo(0, 0)");
		await picture(page, 'inbox');
		await page.close();
	} finally {
		await own.close();
	}
}

/** A channel's settings, what they cause when nobody answers, and a question that is handed over. */
async function reminderPictures(): Promise<void> {
	const own = await createSandbox();
	try {
		await own.slack.connected();
		const page = await browser.newPage({ viewport: { ...WINDOW, height: 900 }, reducedMotion: 'reduce' });
		await page.goto(`${own.url}/?as=ada&in=C0AGENTS`);
		const composer = page.locator('#composer');
		const modal = page.getByRole('dialog');
		const close = page.getByRole('button', { name: 'Close the panel' });
		const channel = page.locator('.channel');
		async function choose(label: string | RegExp, typed: string): Promise<void> {
			const field = modal.getByRole('combobox', { name: label });
			await field.fill(typed);
			await field.press('Enter');
			if (await modal.getByRole('listbox').filter({ visible: true }).isVisible()) await field.press('Escape');
		}
		async function move(label: string): Promise<void> {
			await page.getByRole('button', { name: /^Trouble/ }).click();
			await page.getByRole('button', { name: label, exact: true }).click();
			await close.click();
		}
		await close.click();
		await composer.fill('/session settings');
		await composer.press('Enter');
		await modal.getByRole('button', { name: 'Save' }).waitFor();
		await choose('Escalate after', '30 min');
		await choose(/^Mention \(/, 'grace');
		await picture(page, 'settings');
		await modal.getByRole('button', { name: 'Save' }).click();
		await modal.getByText('Saved.').waitFor();
		await page.keyboard.press('Escape');

		await composer.fill('/session watch flight');
		await composer.press('Enter');
		const post = channel.locator('.message', { hasText: asksWords('“Plan the Frankfurt trip”') });
		const menu = post.getByRole('button', { name: 'More options' });
		await menu.waitFor({ timeout: 60_000 });
		await move('+15 min');
		const replies = channel.getByRole('button', { name: /^1 reply/ });
		await replies.waitFor({ timeout: 60_000 });
		await move('+15 min');
		await channel.getByText(ESCALATION).waitFor({ timeout: 60_000 });
		await channel.getByRole('button', { name: /^1 reply/ }).click();
		await page.setViewportSize({ width: 1400, height: 800 });
		await page.evaluate('for (const list of document.querySelectorAll(".messages")) list.scrollTo(0, 1e6)');
		await picture(page, 'reminder');

		await page.getByRole('button', { name: 'Close the thread' }).click();
		await menu.click();
		await post.getByRole('menuitem', { name: 'Hand over' }).click();
		await choose('Hand over to', 'grace');
		await modal.getByRole('button', { name: 'Hand over' }).click();
		await modal.getByText(youHandedOver('Grace')).waitFor();
		await page.close();
		const grace = await browser.newPage({ viewport: { ...WINDOW, height: 560 }, reducedMotion: 'reduce' });
		await grace.goto(`${own.url}/?as=grace&in=C0GENERAL`);
		await grace.getByRole('button', { name: 'Close the panel' }).click();
		await grace.getByRole('button', { name: /^Handraise/ }).click();
		await grace.getByRole('button', { name: 'More options' }).waitFor();
		await picture(grace, 'hand-over');
		await grace.close();
	} finally {
		await own.close();
	}
}

try {
	await mkdir(FOLDER, { recursive: true });
	await sandbox.slack.connected();
	const context = await browser.newContext({ viewport: WINDOW, reducedMotion: 'reduce' });
	const page = await context.newPage();
	await page.goto(`${sandbox.url}/?as=ada&in=C0AGENTS`);
	const composer = page.locator('#composer');
	const modal = page.getByRole('dialog');
	const dismiss = page.getByRole('button', { name: 'Dismiss message' });
	await composer.waitFor();
	// The guide is for visitors of the page, not for pictures.
	const close = page.getByRole('button', { name: 'Close the panel' });
	if (await close.isVisible()) await close.click();

	await composer.pressSequentially('/session ');
	await page.getByRole('option').first().waitFor();
	await picture(page, 'command');

	await composer.fill('/session demo');
	await composer.press('Enter');
	await modal.getByRole('radio', { name: /TP 570/ }).check();
	await picture(page, 'question');

	await sandbox.troubles.set('service-down', true);
	await modal.getByRole('button', { name: 'Send answer' }).click();
	await modal.getByText('saved').first().waitFor();
	await picture(page, 'saved');

	await sandbox.troubles.clear();
	await modal.getByText(line('resumed')).first().waitFor({ timeout: 60_000 });
	await picture(page, 'resumed');
	await page.keyboard.press('Escape');
	await modal.waitFor({ state: 'detached' });

	await composer.fill('/session watch stepping');
	await composer.press('Enter');
	const answer = page.locator('.channel').getByRole('button', { name: 'Answer', exact: true });
	await answer.first().waitFor({ timeout: 60_000 });
	await dismiss.first().click();
	await picture(page, 'channel');

	await page.setViewportSize({ ...WINDOW, width: 1400 });
	await page.getByRole('button', { name: /^Trouble/ }).click();
	await answer.last().click();
	await modal.getByRole('textbox').first().fill('Spring is here: five new routes');
	await page.getByRole('button', { name: /^Down/ }).click();
	await modal.getByRole('button', { name: 'Send answer' }).click();
	await modal.getByText('saved').first().waitFor();
	await picture(page, 'trouble');
	await sandbox.troubles.clear();
	await page.keyboard.press('Escape');
	await modal.waitFor({ state: 'detached' });
	await composer.fill('/session unwatch all');
	await composer.press('Enter');
	await page.locator('.channel').getByText('not watched here any more').first().waitFor();

	await close.click();
	await page.setViewportSize(WINDOW);
	await composer.fill('/session watch flight');
	await composer.press('Enter');
	const option = page.locator('.channel').getByRole('button', { name: 'TP 570', exact: true });
	await option.waitFor({ timeout: 60_000 });
	await dismiss.last().click();
	// Pressing has scrolled up.
	await page.evaluate('document.querySelector(".messages").scrollTo(0, 1e6)');
	await picture(page, 'one-press');
	await option.click();
	await page.getByRole('button', { name: 'Undo' }).waitFor();
	await option.waitFor({ state: 'detached' });
	await picture(page, 'undo');
	await inboxPicture();
	await reminderPictures();
	console.log(made.join('\n'));
} finally {
	await browser.close();
	await sandbox.close();
}
