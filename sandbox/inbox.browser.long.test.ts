import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { emptyWords, waitingCountWords } from '../src/screens/inbox.ts';
import { said } from '../test/support/said.ts';
import { DELIVERED, line } from '../test/support/sentences.ts';
import { buttonNamed } from './browser.ts';
import { asksIn, expectNothingWrong, type Harness, openHarness, type } from './harness.ts';
import { seriousFindings } from './serious-findings.ts';
import { askingSession, item } from './session-service/builders.ts';

let harness: Harness;
/** Lets the time until then pass. */
const soon = <T>(awaited: PromiseLike<T>) => harness.soon(awaited);
/** Sessions of a test end with it, so that every test begins with an empty inbox. */
let asked: string[];

beforeAll(async () => {
	harness = await openHarness();
});
afterAll(() => harness?.close());
beforeEach(() => {
	asked = [];
});
afterEach(async () => {
	for (const id of asked) service().setStatus(id, 'stopped');
	await harness.until(homesAreEmpty);
	await harness.closeWindows();
	expectNothingWrong(harness);
});

const service = () => harness.sandbox.service.sessions;
const slack = () => harness.sandbox.slack;
const homeOf = (page: Page) => page.getByRole('tabpanel', { name: 'Home' });
const dialog = (page: Page) => page.getByRole('dialog');
const pressable = (within: Locator, name: string) => within.getByRole('button', { name: buttonNamed(name) });
const OPTIONS = 'One of: Graphite, Sand';
/** What the menu of each question offers. */
const MENU = ['Hand over', 'Snooze for 1 h', 'Snooze until tomorrow 9:00'];

/** Sessions that ask; each is named after its id. */
function asks(ids: readonly string[], description = ''): void {
	for (const id of ids) {
		service().put(id, askingSession([item('Which colour?', description)], { name: `Chairs ${id}` }));
		asked.push(id);
	}
}
/** Resolves when the questions are posted: an inbox that is shown before that gets other ids for its rows afterwards. */
async function watch(who: string, ids: readonly string[], channel = '#agents'): Promise<void> {
	await slack()
		.as(who)
		.command(channel, `/session watch ${ids.join(' ')}`);
	await harness.until(() => {
		const posts = slack().state.messages.map(({ blocks }) => JSON.stringify(blocks));
		return ids.every((id) => posts.some((post) => post.includes(asksIn(`Chairs ${id}`))));
	});
}
/** No person's Home shows a question. */
const homesAreEmpty = () =>
	Object.values(slack().state.homes).every((id) =>
		JSON.stringify(slack().state.views[id]).includes(waitingCountWords(0, 0)),
	);
/**
 * Resolves when the row of this question has the id that it keeps: it may be in Home before its post, which the id names.
 * A press under an id that changes at this moment is refused, and the page says so.
 */
async function settled(home: Locator, id: string): Promise<void> {
	const post = slack().state.messages.find(({ blocks }) => JSON.stringify(blocks).includes(asksIn(`Chairs ${id}`)));
	await soon(home.locator(`[data-block-id*='"threadTs":"${post?.ts}"']`).first().waitFor());
}
const PHONE = { width: 390, height: 844 };
const heightOf = async (home: Locator) => (await home.locator('.home-inner').boundingBox())?.height ?? Number.NaN;
/** The names of the sessions whose questions are shown, in their order: a channel follows a name, in last answers a question. */
async function shown(within: Locator): Promise<string[]> {
	return [...(await within.innerText()).matchAll(/Chairs (\S+) ·\s*#/g)].map(([, id = '']) => id);
}
/** The name or text of what has the focus, with the block that it is in. */
const focused = (page: Page) =>
	page.evaluate(
		`((on) => [on?.dataset.blockId ?? '', on?.getAttribute('aria-label') ?? on?.textContent ?? ''])(document.activeElement)`,
	) as Promise<[string, string]>;
/** Presses Tab until the button with this name has the focus. */
async function tabTo(page: Page, name: string, most = 60): Promise<void> {
	for (let count = 0; count < most; count++) {
		await page.keyboard.press('Tab');
		if (buttonNamed(name).test((await focused(page))[1])) return;
	}
	throw new Error(`${most} times Tab did not reach ${name}.`);
}

it('says what to do next, then shows a question that is answered, taken back and answered again', async () => {
	const page = await harness.window('ada', { home: true });
	const home = homeOf(page);
	await soon(home.getByText(waitingCountWords(0, 0)).waitFor());
	await soon(home.getByText(said(emptyWords(false, false))).waitFor());
	asks(['pressed'], OPTIONS);
	await watch('grace', ['pressed']);

	await soon(home.getByText(waitingCountWords(1, 0)).waitFor());
	await soon(home.getByText('#agents').waitFor());
	await soon(pressable(home, 'Sand').waitFor());
	await settled(home, 'pressed');
	// It only lists the buttons.
	expect(await home.getByText(OPTIONS).count()).toBe(0);
	await pressable(home, 'Sand').click();
	await pressable(home, 'Undo').click();
	await soon(home.getByText(waitingCountWords(1, 0)).waitFor());
	await soon(pressable(home, 'Undo').waitFor({ state: 'detached' }));
	await expect.poll(() => service().values('pressed', 1)).toEqual(['']);

	await pressable(home, 'Graphite').click();
	await pressable(home, 'Undo').waitFor();
	await soon(home.getByText(waitingCountWords(0, 0)).waitFor());
	await harness.until(() => service().values('pressed', 1)[0] === 'Graphite');
	await soon(
		home.getByText(new RegExp(`Chairs pressed · Which colour\\? · You: Graphite · .*${line('resumed')}`)).waitFor(),
	);
	await soon(home.getByText(/Chairs pressed · Which colour\? · You: Sand · .*Undone/).waitFor());
	await expect.poll(() => harness.sandbox.service.log.effectivePuts('pressed')).toHaveLength(1);
});

it('pages 21 questions in Home, on at most three screens of a phone, and in the window, without serious axe findings', async () => {
	const ids = Array.from({ length: 21 }, (_, index) => `n${String(index + 1).padStart(2, '0')}`);
	asks(ids, '- Graphite\n- Sand');
	// One person may read 20 sessions at once.
	await watch('ada', ids.slice(0, 12));
	await watch('grace', ids.slice(12));
	// She has answered nothing.
	const page = await harness.window('grace', { narrow: true, home: true });
	const home = homeOf(page);
	await soon(home.getByText(waitingCountWords(21, 0)).waitFor());
	await soon(home.getByText('Questions 1 to 10 of 21').waitFor());
	await page.setViewportSize(PHONE);
	const pages = [await shown(home)];
	const heights = [await heightOf(home)];
	// Ten questions.
	expect(heights[0]).toBeLessThanOrEqual(1.75 * PHONE.height);
	expect(await seriousFindings(page, '#app-home')).toEqual([]);
	await pressable(home, 'Next 10').click();
	await soon(home.getByText('Questions 11 to 20 of 21').waitFor());
	pages.push(await shown(home));
	heights.push(await heightOf(home));
	await pressable(home, 'Next 1').click();
	await soon(home.getByText('Question 21 of 21').waitFor());
	pages.push(await shown(home));
	heights.push(await heightOf(home));
	expect(heights.reduce((sum, height) => sum + height, 0)).toBeLessThanOrEqual(3.75 * PHONE.height);
	expect(pages.map((one) => one.length)).toEqual([10, 10, 1]);
	expect(pages.flat().toSorted()).toEqual(ids);
	await expect.poll(() => home.getByRole('button', { name: /^Next/ }).count()).toBe(0);
	await pressable(home, 'Previous 10').click();
	await soon(home.getByText('Questions 11 to 20 of 21').waitFor());

	const channel = await harness.window('ada', { channel: 'C0GENERAL' });
	await type(channel, '/session inbox');
	const inbox = dialog(channel);
	await soon(inbox.getByText('Questions 1 to 10 of 21').waitFor());
	await expect.poll(() => shown(inbox)).toEqual(pages[0]);
	expect(await seriousFindings(channel, '.dialog')).toEqual([]);
	await pressable(inbox, 'Next 10').click();
	await soon(inbox.getByText('Questions 11 to 20 of 21').waitFor());
	await expect.poll(() => shown(inbox)).toEqual(pages[1]);
	await pressable(inbox, 'Sand').first().click();
	await pressable(inbox, 'Undo').click();
	await soon(pressable(inbox, 'Undo').waitFor({ state: 'detached' }));
	await soon(inbox.getByText(waitingCountWords(21, 0)).waitFor());
	await inbox.getByRole('button', { name: 'Close', exact: true }).last().click();
	await soon(inbox.waitFor({ state: 'detached' }));
	await expect.poll(() => channel.evaluate('document.activeElement?.id')).toBe('composer');
}, 180_000);

it('opens the form over Home, sends from there, and shows what was sent', async () => {
	asks(['formed'], OPTIONS);
	await watch('ada', ['formed']);
	const page = await harness.window('ada', { home: true });
	const home = homeOf(page);
	await settled(home, 'formed');
	await pressable(home, 'Other answer…').click();
	await dialog(page).getByRole('radio', { name: 'Sand' }).check();
	await dialog(page).getByRole('button', { name: 'Send answer' }).click();
	await dialog(page).getByText(DELIVERED).first().waitFor();
	await page.keyboard.press('Escape');
	await soon(home.getByText(waitingCountWords(0, 0)).waitFor());
	await soon(home.getByText(/Chairs formed · Which colour\? · You: Sand/).waitFor());
	await expect.poll(() => service().values('formed', 1)).toEqual(['Sand']);
});

it('takes a click during which the app publishes the same row under another id', async () => {
	asks(['clicked'], OPTIONS);
	await watch('ada', ['clicked']);
	const page = await harness.window('ada', { home: true });
	await settled(homeOf(page), 'clicked');
	const other = pressable(homeOf(page), 'Other answer…');
	await other.hover();
	await page.mouse.down();
	const before = (await other.getAttribute('data-block-id')) ?? '';
	const after = before.replace(/"[^"]+"\]$/, '"another"]');
	const view = slack().state.views[slack().state.homes.U0ADA ?? ''];
	if (view === undefined) throw new Error('no Home');
	view.payload = JSON.parse(JSON.stringify(view.payload).replace(JSON.stringify(before), JSON.stringify(after)));
	slack().changes.emit({ kind: 'view', id: view.id });
	await expect.poll(() => other.getAttribute('data-block-id')).toBe(after);
	await page.mouse.up();
	await dialog(page).getByRole('radio', { name: 'Sand' }).waitFor();
});

it('does not show the question of a private channel to somebody who is not in it', async () => {
	asks(['hidden', 'common']);
	await watch('ada', ['hidden'], '#secret');
	await watch('ada', ['common']);
	const [ada, grace] = await Promise.all(['ada', 'grace'].map((who) => harness.window(who, { home: true })));
	if (ada === undefined || grace === undefined) throw new Error('no windows');
	await soon(homeOf(ada).getByText(waitingCountWords(2, 0)).waitFor());
	await soon(homeOf(grace).getByText(waitingCountWords(1, 0)).waitFor());
	await expect.poll(async () => (await shown(homeOf(ada))).toSorted()).toEqual(['common', 'hidden']);
	await expect.poll(() => shown(homeOf(grace))).toEqual(['common']);
	await type(await harness.window('grace', { channel: 'C0GENERAL' }), '/session inbox');
	const traffic = slack().state.views;
	await expect
		.poll(() =>
			Object.values(traffic).filter((view) => view.user === 'U0GRACE' && JSON.stringify(view).includes('common')),
		)
		.toHaveLength(2);
	const ofGrace = Object.values(traffic).filter((view) => view.user === 'U0GRACE');
	expect(JSON.stringify(ofGrace)).not.toContain('hidden');
});

it('works with the keyboard alone, and keeps the focus while Home changes', async () => {
	asks(['first', 'second'], OPTIONS);
	await watch('ada', ['first']);
	await watch('ada', ['second']);
	const page = await harness.window('ada', { home: true });
	const home = homeOf(page);
	await soon(home.getByText(waitingCountWords(2, 0)).waitFor());
	await settled(home, 'first');
	await page.getByRole('tab', { name: 'Home' }).focus();
	await tabTo(page, 'Sand');
	const place = await focused(page);
	asks(['third'], OPTIONS);
	await watch('grace', ['third']);
	// Without a jump: after ten minutes Home is not followed any more, and a reminder comes.
	await home.getByText(waitingCountWords(3, 0)).waitFor();
	await expect.poll(() => focused(page)).toEqual(place);

	await page.keyboard.press('Enter');
	await pressable(home, 'Undo').waitFor();
	// The pressed button is gone: no other button has the focus, which a second Enter would press.
	await expect.poll(() => page.evaluate(`document.activeElement.closest('#app-home') !== null`)).toBe(true);
	await expect.poll(() => page.evaluate('document.activeElement.tagName')).not.toBe('BUTTON');
	await page.keyboard.press('Tab');
	await expect.poll(async () => (await focused(page))[1]).toMatch(buttonNamed('Undo'));
	await page.keyboard.press('Enter');
	await soon(pressable(home, 'Undo').waitFor({ state: 'detached' }));
	await soon(home.getByText(waitingCountWords(3, 0)).waitFor());
	await expect.poll(() => page.evaluate(`document.activeElement.closest('#app-home') !== null`)).toBe(true);

	await page.getByRole('tab', { name: 'Home' }).focus();
	await tabTo(page, 'Other answer…');
	await page.keyboard.press('Enter');
	await dialog(page).getByRole('radio').first().waitFor();
	await page.keyboard.press('Escape');
	await dialog(page).waitFor({ state: 'detached' });
	await expect.poll(async () => (await focused(page))[1]).toMatch(buttonNamed('Other answer…'));
});

it('fits a phone and has no serious axe findings there, empty and with three questions', async () => {
	const page = await harness.window('grace', { narrow: true, home: true });
	const home = homeOf(page);
	await soon(home.getByText(waitingCountWords(0, 0)).waitFor());
	expect(await seriousFindings(page, '#app-home')).toEqual([]);
	const ids = Array.from({ length: 3 }, (_, index) => `phone${index}`);
	asks(ids, 'One of: A colour with a long name, Another colour of that kind, Graphite, Sand, Forest green');
	await watch('grace', ids);
	await soon(home.getByText(waitingCountWords(3, 0)).waitFor());
	const [buttons, menus] = [home.getByRole('button'), pressable(home, 'More options')];
	await expect.poll(async () => [await buttons.count(), await menus.count()]).toEqual([21, 3]);
	async function expectToFit(all: readonly Locator[]): Promise<void> {
		for (const one of all) {
			const box = (await one.boundingBox()) ?? { x: -1, width: 0, height: 0 };
			expect(
				box.x >= 0 && box.x + box.width <= 375 && box.height >= 24,
				`${await one.innerText()} ${JSON.stringify(box)}`,
			).toBe(true);
		}
	}
	await expectToFit(await buttons.all());
	await menus.first().click();
	const entries = home.getByRole('menuitem');
	await expect.poll(() => entries.allInnerTexts()).toEqual(MENU);
	await expectToFit(await entries.all());
	await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(375);
	expect(await seriousFindings(page, '#app-home')).toEqual([]);
});
