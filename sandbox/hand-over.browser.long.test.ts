import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { handOverRefusedText } from '../src/screens/hand-over.ts';
import { waitingCountWords } from '../src/screens/inbox.ts';
import { asksWords } from '../src/screens/question-post.ts';
import { said } from '../test/support/said.ts';
import {
	GAVE_BACK,
	HANDED_OVER,
	HANDED_TO_YOU,
	handedOver,
	YOU_HAVE_IT,
	youHandedOver,
} from '../test/support/sentences.ts';
import { buttonNamed } from './browser.ts';
import { expectNothingWrong, type Harness, moveClock, openHarness, type } from './harness.ts';
import { seriousFindings } from './serious-findings.ts';
import { askingSession, item } from './session-service/builders.ts';

const CHANNEL = 'C0AGENTS';

let harness: Harness;
/** Lets the time until then pass. */
const soon = <T>(awaited: PromiseLike<T>) => harness.soon(awaited);

beforeAll(async () => {
	harness = await openHarness();
});
afterAll(() => harness?.close());
afterEach(async () => {
	await harness.closeWindows();
	await harness.unwatchAll();
	expectNothingWrong(harness);
});

const dialog = (page: Page) => page.getByRole('dialog');
const homeOf = (page: Page) => page.getByRole('tabpanel', { name: 'Home' });
const button = (within: Page | Locator, name: string) => within.getByRole('button', { name: buttonNamed(name) });
/** The question's post, not the card. */
const question = (page: Page, name: string) =>
	page.locator('.channel .message', { hasText: said(asksWords(`Order ${name}`)) }).last();
/** A person's direct message about a question. */
const told = (page: Page, words: string | RegExp) => page.locator('.channel .message', { hasText: words }).last();

/** A session that asks. */
function asks(name: string): void {
	const session = askingSession([item(`Which ${name}?`, 'One of: Graphite, Sand')], { name: `Order ${name}` });
	harness.sandbox.service.sessions.put(name, session);
}
/** Ada's window, in which a session that asks is watched. */
async function watched(page: Page, name: string): Promise<Locator> {
	asks(name);
	await type(page, `/session watch ${name}`);
	await soon(button(question(page, name), 'More options').waitFor());
	return question(page, name);
}
async function handOver(page: Page, to: string): Promise<void> {
	const field = dialog(page).getByRole('combobox', { name: 'Hand over to' });
	await field.fill(to);
	await field.press('Enter');
	await button(dialog(page), 'Hand over').click();
}
async function openMessages(page: Page): Promise<void> {
	await soon(page.getByRole('button', { name: /^Handraise.*unread/ }).click());
}
async function choose(from: Locator, label: string): Promise<void> {
	await button(from, 'More options').click();
	await from.getByRole('menuitem', { name: label }).click();
}
/** The label of what has the focus. */
const focused = (page: Page) =>
	page.evaluate(
		`((on) => on.getAttribute('aria-label') ?? on.labels?.[0]?.textContent ?? on.placeholder ?? on.textContent)(document.activeElement)`,
	) as Promise<string>;
async function press(page: Page, key: 'Tab' | 'Shift+Tab', until: string): Promise<void> {
	for (let presses = 0; presses < 60; presses++) {
		await page.keyboard.press(key);
		if ((await focused(page)) === until) return;
	}
	throw new Error(`The keyboard does not reach ${until}`);
}

it('refuses a guest, hands over to a person who gives back, and shows both on the post', async () => {
	const [ada, grace] = await Promise.all(['ada', 'grace'].map((who) => harness.window(who, { channel: CHANNEL })));
	if (ada === undefined || grace === undefined) throw new Error('no windows');
	const post = await watched(ada, 'chairs');
	await choose(post, 'Hand over');
	await handOver(ada, 'gus');
	await dialog(ada).getByText(handOverRefusedText('guest', {})).waitFor();
	await handOver(ada, 'grace');
	await dialog(ada).getByText(youHandedOver('Grace')).waitFor();
	await ada.keyboard.press('Escape');
	await soon(post.getByText(handedOver('Ada', 'Grace')).waitFor());

	await openMessages(grace);
	const message = told(grace, YOU_HAVE_IT);
	await message.getByText('Which chairs?', { exact: true }).waitFor();
	await expect
		.poll(() => message.locator('.block-actions .button').allInnerTexts())
		.toEqual(['Graphite', 'Sand', 'Other answer…', '']);
	await choose(message, 'Give back');
	await soon(button(message, 'More options').waitFor({ state: 'detached' }));
	await soon(post.getByText(HANDED_OVER).waitFor({ state: 'detached' }));
	await openMessages(ada);
	await told(ada, `@Grace ${GAVE_BACK}`).waitFor();
});

it('lets the person who got a question answer it with one press, and tells the post', async () => {
	const ada = await harness.window('ada', { channel: CHANNEL });
	const post = await watched(ada, 'desks');
	await choose(post, 'Hand over');
	await handOver(ada, 'grace');
	await dialog(ada).getByText(youHandedOver('Grace')).waitFor();
	const grace = await harness.window('grace', { home: true });
	const home = homeOf(grace);
	await soon(home.getByText(`${HANDED_TO_YOU} Ada`).waitFor());
	await button(home, 'Sand').click();
	const { sessions } = harness.sandbox.service;
	await soon(expect.poll(() => sessions.values('desks', 1)).toEqual(['Sand']));
	await ada.keyboard.press('Escape');
	await soon(told(ada, /Order desks asked: Which desks\?\s*Grace: Sand · /).waitFor());
});

it('snoozes a question in one’s own inbox only, shows it again, and brings it back when its time has come', async () => {
	asks('lamps');
	await harness.sandbox.slack.as('ada').command('#agents', '/session watch lamps');
	const grace = await harness.window('grace', { home: true });
	await soon(homeOf(grace).getByText(waitingCountWords(1, 0)).waitFor());
	const ada = await harness.window('ada', { home: true });
	const home = homeOf(ada);
	await choose(home, 'Snooze until tomorrow 9:00');
	await home.getByText(waitingCountWords(0, 1)).waitFor();
	await home.getByText(/It comes back here tomorrow 9:00 AM/).waitFor();
	await expect.poll(() => button(home, 'Sand').count()).toBe(0);
	await button(home, 'Show now').click();
	await home.getByText(waitingCountWords(1, 0)).waitFor();

	await ada.getByRole('button', { name: /^Trouble/ }).click();
	await choose(home, 'Snooze for 1 h');
	await home.getByText('1 is snoozed').waitFor();
	await homeOf(grace).getByText(waitingCountWords(1, 0)).waitFor();
	await moveClock(ada, '+15 min', '+15 min', '+15 min', '+5 min', '+5 min');
	// An inbox follows for ten minutes after it was opened.
	await ada.getByRole('tab', { name: 'Messages' }).click();
	await ada.getByRole('tab', { name: 'Home' }).click();
	await home.getByText('1 is snoozed').waitFor();
	await moveClock(ada, '+5 min');
	await soon(home.getByText(waitingCountWords(1, 0)).waitFor());
	await button(home, 'Sand').waitFor();
});

it('hands over and snoozes with the keyboard alone', async () => {
	const page = await harness.window('ada', { channel: CHANNEL });
	const post = await watched(page, 'plants');
	await page.locator('#composer').focus();
	await press(page, 'Shift+Tab', 'More options');
	await page.keyboard.press('Enter');
	await expect.poll(() => focused(page)).toBe('Hand over');
	await page.keyboard.press('Enter');
	await dialog(page).getByRole('combobox').waitFor();
	await press(page, 'Tab', 'Hand over to*');
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Enter');
	await press(page, 'Tab', 'Hand over');
	await page.keyboard.press('Enter');
	await dialog(page).getByText(youHandedOver('Grace')).waitFor();
	await page.keyboard.press('Escape');
	await soon(post.getByText(HANDED_OVER).waitFor());
	await expect
		.poll(() => page.evaluate(`document.activeElement?.closest('.message')?.textContent ?? ''`))
		.toContain('Order plants');

	const home = homeOf(await harness.window('ada', { home: true }));
	await soon(home.getByText('Grace has it').waitFor());
	await home.page().getByRole('tab', { name: 'Home' }).focus();
	await press(home.page(), 'Tab', 'More options');
	await home.page().keyboard.press('Enter');
	await home.page().keyboard.press('Enter');
	await home.getByText('1 is snoozed').waitFor();
});

it('fits a phone and has no serious axe findings: the window, the direct message and a snoozed inbox', async () => {
	const page = await harness.window('grace', { channel: CHANNEL, narrow: true });
	const post = await watched(page, 'cups');
	await choose(post, 'Hand over');
	const field = dialog(page).getByRole('combobox');
	await field.press('ArrowDown');
	expect(await seriousFindings(page, '.dialog')).toEqual([]);
	const menu = (await dialog(page).getByRole('listbox').boundingBox()) ?? { x: -1, width: 0 };
	expect(menu.x >= 0 && menu.x + menu.width <= 375).toBe(true);
	await page.keyboard.press('Escape');
	await handOver(page, 'ada');
	await dialog(page).getByText(youHandedOver('Ada')).waitFor();
	await page.keyboard.press('Escape');

	const ada = await harness.window('ada', { home: true, narrow: true });
	await choose(homeOf(ada), 'Snooze for 1 h');
	await soon(homeOf(ada).getByText('1 is snoozed').waitFor());
	expect(await seriousFindings(ada, '.client')).toEqual([]);
	await ada.getByRole('tab', { name: /^Messages/ }).click();
	await button(told(ada, YOU_HAVE_IT), 'More options').last().waitFor();
	expect(await seriousFindings(ada, '.channel')).toEqual([]);
	for (const one of [page, ada]) {
		await expect.poll(() => one.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(375);
	}
});
