import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { CHOICE_WORDS } from '../src/screens/receipt.ts';
import { said } from '../test/support/said.ts';
import { ASKS, line } from '../test/support/sentences.ts';
import { buttonNamed } from './browser.ts';
import { type Harness, openHarness, type } from './harness.ts';
import { seriousFindings } from './serious-findings.ts';
import { askingSession, item } from './session-service/builders.ts';

/** Enough to find and press *Undo* on a busy machine. */
const UNDO_SECONDS = 20;
const CHANNEL = 'C0AGENTS';

let harness: Harness;
/** Lets the time until then pass. */
const soon = <T>(awaited: PromiseLike<T>) => harness.soon(awaited);
let asked = 0;

beforeAll(async () => {
	harness = await openHarness({ appEnv: { UNDO_SECONDS: String(UNDO_SECONDS) } });
});
afterAll(() => harness?.close());
afterEach(async () => {
	await harness.closeWindows();
	harness.sandbox.slack.faults.clear();
	await harness.unwatchAll();
	expect(harness.complaints).toEqual([]);
	expect(harness.sandbox.slack.violations()).toEqual([]);
});

const service = () => harness.sandbox.service;
const values = (id: string, index: number) => service().sessions.values(id, index);
const puts = (id: string) => service().log.puts(id);
/** The question's post, as long as it shows the question: not its card. */
const question = (page: Page, title: string) =>
	page
		.locator('.channel .message:not(.message-ephemeral)', { hasText: title })
		.filter({ hasText: / (asks|asked)|Sends at/ })
		.last();
const option = (post: Locator, name: string) => post.getByRole('button', { name: buttonNamed(name) });
const choice = (option: string) => ({ option, title: '', sessionId: '' });
/** The line of a post that says who pressed this option, until it is sent: when, says its headline. */
const held = (post: Locator, who: string, option: string) =>
	post
		.filter({ hasText: /Sends at \d/ })
		.locator('.blocks')
		.getByText(`${who}: ${option}`, { exact: true });
const privately = (page: Page, words: string) => page.locator('.message-ephemeral', { hasText: words }).last();

/** Ada's window, in which a session of its own asks which flight to book. */
async function watched(page: Page): Promise<{ id: string; index: number }> {
	asked += 1;
	const id = `flight-${asked}`;
	service().sessions.start('flight', id);
	await service().sessions.until(id, (json) => json.status === 'humanInput');
	await type(page, `/session watch ${id}`);
	await soon(option(question(page, 'Which flight'), 'LH 1173').waitFor());
	return { id, index: service().sessions.askingIndex(id) };
}

/** Presses Shift-Tab until the button has the focus. */
async function goBackTo(page: Page, name: string): Promise<void> {
	for (let presses = 0; presses < 30; presses++) {
		await page.keyboard.press('Shift+Tab');
		if ((await page.evaluate('document.activeElement?.textContent')) === name) return;
	}
	throw new Error(`The keyboard does not reach ${name}`);
}

/** The entries of a post's menu. */
async function menuOf(post: Locator): Promise<string[]> {
	await option(post, 'More options').click();
	const entries = await post.locator('.block-actions').getByRole('menuitem').allInnerTexts();
	await post.page().keyboard.press('Escape');
	return entries;
}

async function showNotification(post: Locator): Promise<string> {
	await post.hover();
	await post.getByRole('button', { name: /^More actions/ }).click();
	await post.getByRole('menuitem', { name: 'Show notification' }).click();
	return post.locator('.notification').innerText();
}

it.each([
	['', false],
	[' on a phone', true],
])('a post never grows by a press%s', async (_, narrow) => {
	const page = await harness.window('ada', { channel: CHANNEL, narrow });
	const list = '- LH 1173\n- TP 570\n- LH 1175\n- TP 574';
	const asks = {
		'a list and more': askingSession([
			item('Which flight?', `All of them have a window seat.\n\nChoose one:\n${list}`),
		]),
		'a list': askingSession([item('Which flight?', list)]),
		'yes or no': askingSession([item('Shall I book it?', 'Yes or no')]),
	};
	for (const [what, session] of Object.entries(asks)) {
		asked += 1;
		const id = `grows-${asked}`;
		service().sessions.put(id, { ...session, name: `Plan the trip to Frankfurt ${asked}` });
		await type(page, `/session watch ${id}`);
		const ts = await soon(question(page, `to Frankfurt ${asked}`).getAttribute('data-surface'));
		const post = page.locator(`.channel .message[data-surface="${ts}"]`);
		const buttons = post.locator('.block-actions');
		const choice = buttons.getByRole('button', { name: /^(?:LH 1173|Yes): / });
		await soon(choice.waitFor());
		const height = async () => Math.ceil((await post.locator('.blocks').boundingBox())?.height ?? Number.NaN);
		const before = await height();
		await choice.click();
		await option(post, 'Undo').waitFor();
		await expect.poll(() => buttons.count()).toBe(0);
		const pressed = await height();
		expect(pressed, `${what}: ${before} and ${pressed} pixels`).toBeLessThanOrEqual(before);
	}
});

it('answers short options and yes or no in one press, and the others in the form', async () => {
	const page = await harness.window('ada', { channel: CHANNEL });
	const { id, index } = await watched(page);
	const flight = question(page, 'Which flight');
	await expect
		.poll(() => flight.locator('.block-actions .button').allInnerTexts())
		.toEqual(['LH 1173', 'TP 570', 'Other answer…', '']);
	expect(await menuOf(flight)).toEqual(['Hand over', 'Snooze for me', 'Open session']);
	await expect
		.poll(() => showNotification(flight))
		.toMatch(
			/^Notification: An agent asks: Which flight should I book\? One of: LH 1173, TP 570 \(Plan the Frankfurt trip/,
		);
	const pressedAt = harness.now();
	await option(flight, 'TP 570').click();
	await held(flight, 'Ada', 'TP 570').waitFor();
	await flight.getByText('Which flight should I book?').waitFor();
	await option(flight, 'Undo').waitFor();
	expect(await privately(page, 'TP 570').count()).toBe(0);
	await expect.poll(() => flight.locator('.block-actions').count()).toBe(0);
	await soon(expect.poll(() => values(id, index)).toEqual(['TP 570']));
	expect((puts(id)[0]?.at ?? 0) - pressedAt).toBeGreaterThanOrEqual(UNDO_SECONDS * 1000);

	const bag = question(page, 'Add a checked bag');
	await soon(option(bag, 'No').click());
	await held(bag, 'Ada', 'No').waitFor();
	const hotel = question(page, 'Which hotel');
	await soon(option(hotel, 'Answer…').waitFor());
	await expect.poll(() => hotel.locator('.block-actions .button').allInnerTexts()).toEqual(['Answer…', '']);
	await expect.poll(() => service().log.effectivePuts(id)).toHaveLength(2);

	service().sessions.answerAsPage(id, ['Station Inn with free cancellation for 96 €']);
	const code = question(page, 'One-time code');
	await soon(option(code, 'Answer…').waitFor());
	await expect.poll(() => code.locator('.block-actions .button').allInnerTexts()).toEqual(['Answer…', '']);
	await expect.poll(() => showNotification(code)).toBe(`Notification: ${ASKS}`);
});

it('tells the second of two people who was first, and offers them the question when that is taken back', async () => {
	const [ada, grace] = await Promise.all([
		harness.window('ada', { channel: CHANNEL }),
		harness.window('grace', { channel: CHANNEL }),
	]);
	const { id, index } = await watched(ada);
	const graces = option(question(grace, 'Which flight'), 'TP 570');
	await graces.waitFor();
	// Both have seen the buttons before Slack shows them the other's press.
	const { faults } = harness.sandbox.slack;
	const releases = [
		faults.hold('response_url', ({ replace_original }) => replace_original === true),
		faults.hold('chat.update'),
	];
	const taken = ada.waitForResponse(/do\/act/);
	await option(question(ada, 'Which flight'), 'LH 1173').click();
	await taken;
	await graces.click();
	await privately(grace, said(CHOICE_WORDS.lost(choice('TP 570'), '@Ada', 'LH 1173'))).waitFor();
	for (const release of releases) release();
	await held(question(grace, 'Which flight'), 'Ada', 'LH 1173').waitFor();
	await option(question(grace, 'Which flight'), 'Undo').click();
	await privately(grace, 'Only @Ada can undo this.').waitFor();
	await option(question(ada, 'Which flight'), 'Undo').click();
	await soon(grace.getByRole('button', { name: /^Handraise.*unread/ }).click());
	const offer = grace.locator('.message', { hasText: line('conflicted', { lastError: 'first_failed' }) }).last();
	await offer.getByText('@Ada answered before you. That answer was not delivered. Your text is a draft now').waitFor();
	await option(offer, 'Open the question').click();
	await grace.getByRole('button', { name: 'Send answer' }).click();
	await soon(expect.poll(() => values(id, index)).toEqual(['TP 570']));
	await expect.poll(() => service().log.effectivePuts(id)).toHaveLength(1);
	await soon(
		question(ada, 'Which flight')
			.getByText(/^✅ Plan the Frankfurt trip asked: Which flight should I book\?\s*Grace: TP 570 · /)
			.waitFor(),
	);
});

it('sends nothing after Undo, and offers the options again, with the keyboard alone', async () => {
	const page = await harness.window('ada', { channel: CHANNEL });
	const { id, index } = await watched(page);
	await page.locator('#composer').focus();
	await goBackTo(page, 'LH 1173');
	await page.keyboard.press('Enter');
	const post = question(page, 'Which flight');
	await option(post, 'Undo').waitFor();
	await page.locator('#composer').focus();
	await goBackTo(page, 'Undo');
	await page.keyboard.press('Enter');
	await option(post, 'TP 570').waitFor();
	await expect.poll(() => post.innerText()).not.toContain('Sends at');
	await expect.poll(() => puts(id)).toHaveLength(0);
	// The pressed post has the focus, and none of its buttons.
	await expect.poll(() => post.and(page.locator('.message:focus')).count()).toBe(1);
	await page.locator('#composer').focus();
	await goBackTo(page, 'TP 570');
	await page.keyboard.press('Enter');
	await held(post, 'Ada', 'TP 570').waitFor();
	// The post has the focus, and no other button that a second Enter would press.
	await expect.poll(() => page.evaluate('document.activeElement?.className')).toMatch(/^message/);
	// The first choice would be sent before the second.
	await soon(expect.poll(() => values(id, index)).toEqual(['TP 570']));
	await expect.poll(() => puts(id)).toHaveLength(1);
});

it('wraps five options legibly on a phone, and has no serious axe findings', async () => {
	const cities = ['Frankfurt am Main, Terminal 1', 'Berlin Brandenburg', 'Munich', 'Hamburg', 'Cologne/Bonn Airport'];
	service().sessions.put(
		'five-options',
		askingSession([item('Which airport is best?', `- ${cities.join('\n- ')}`)], { name: 'Book a flight' }),
	);
	const page = await harness.window('ada', { channel: CHANNEL, narrow: true });
	await type(page, '/session watch five-options');
	const post = question(page, 'Which airport is best?');
	await soon(option(post, 'Munich').waitFor());
	const buttons = post.locator('.block-actions .button');
	await expect.poll(() => buttons.allInnerTexts()).toEqual([...cities, 'Other answer…', '']);
	for (const one of await buttons.all()) {
		const box = (await one.boundingBox()) ?? { x: -1, width: 0, height: 0 };
		const fits = box.x >= 0 && box.x + box.width <= 375 && box.height >= 24;
		expect(fits, await one.innerText()).toBe(true);
	}
	await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(375);
	await showNotification(post);
	expect(await seriousFindings(page, '.channel')).toEqual([]);
	await option(post, 'Munich').click();
	await held(post, 'Ada', 'Munich').waitFor();
	expect(await seriousFindings(page, '.channel')).toEqual([]);
});
