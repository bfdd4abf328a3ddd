import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { namingErrors } from '../src/screens/settings.ts';
import { CHANGED_REMINDERS, DELIVERED, reminderOf, WAIT } from '../test/support/sentences.ts';
import { buttonNamed } from './browser.ts';
import { asksIn, expectNothingWrong, type Harness, moveClock, openHarness, type } from './harness.ts';
import { seriousFindings } from './serious-findings.ts';
import { askingSession, item } from './session-service/builders.ts';

const AGENTS = 'C0AGENTS';
const SECRET = 'C0SECRET';

const guest = { people: [{ id: '', why: 'guest' }], groups: [] } as const;
const known = { names: { displayName: () => '' }, groups: { kind: 'listed', groups: [] } } as const;
const IS_GUEST = namingErrors(guest, ['people', 'groups'], known).people?.replace('Somebody ', '') ?? '';

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

const { stringify } = JSON;
const service = () => harness.sandbox.service.sessions;
const dialog = (page: Page) => page.getByRole('dialog');
const button = (within: Page | Locator, name: string) => within.getByRole('button', { name: buttonNamed(name) });
const channelOf = (page: Page) => page.locator('.channel');
const posts = (channel: string) => harness.sandbox.slack.state.messages.filter((one) => one.channel === channel);
/** Also those whose question is settled. */
const reminders = (channel: string) => posts(channel).filter(({ text }) => /⏰|📣/u.test(text));

/** Ada's window with the tools that move the time. */
async function adaWithTime(): Promise<Page> {
	const page = await harness.window('ada', { channel: AGENTS });
	await page.getByRole('button', { name: /^Trouble/ }).click();
	return page;
}
/** Watches sessions that ask, each with a name of its own. Resolves when their questions are posted. */
async function watch(page: Page, names: readonly string[], channel = AGENTS): Promise<void> {
	for (const name of names) service().put(name, askingSession([item(`Which ${name}?`)], { name: `Order ${name}` }));
	const window = channel === AGENTS ? page : await harness.window('ada', { channel });
	await type(window, `/session watch ${names.join(' ')}`);
	const isPosted = (name: string) =>
		posts(channel).some(({ blocks }) => stringify(blocks).includes(asksIn(`Order ${name}`)));
	await soon(expect.poll(() => names.every(isPosted)).toBe(true));
}
async function openSettings(page: Page): Promise<Locator> {
	await type(page, '/session settings');
	await button(dialog(page), 'Save').waitFor();
	return dialog(page);
}
async function choose(form: Locator, label: string | RegExp, typed: string): Promise<void> {
	const field = form.getByRole('combobox', { name: label });
	await field.fill(typed);
	await field.press('Enter');
}
async function save(page: Page): Promise<void> {
	await button(dialog(page), 'Save').click();
	await dialog(page).getByText('Saved. The channel is told what changed.').waitFor();
	await page.keyboard.press('Escape');
	await dialog(page).waitFor({ state: 'detached' });
}
/** The label of what has the focus. */
const focused = (page: Page) =>
	page.evaluate(
		`((on) => on.getAttribute('aria-label') ?? on.labels?.[0]?.textContent ?? on.textContent)(document.activeElement)`,
	) as Promise<string>;
async function tabTo(page: Page, name: RegExp): Promise<void> {
	for (let presses = 0; presses < 40; presses++) {
		if (name.test(await focused(page))) return;
		await page.keyboard.press('Tab');
	}
	throw new Error(`The keyboard does not reach ${name}`);
}

it('refuses a guest in the settings, keeps the other choices, and tells the channel what was saved', async () => {
	const page = await adaWithTime();
	const form = await openSettings(page);
	await choose(form, 'Escalate after', '1 h');
	await choose(form, /^Mention \(/, 'gus');
	await choose(form, /^Mention \(/, 'grace');
	// The menu stays open for more.
	await page.keyboard.press('Escape');
	await button(form, 'Save').click();
	await form.getByText(IS_GUEST).waitFor();
	expect(posts(AGENTS).some(({ text }) => text.includes(CHANGED_REMINDERS))).toBe(false);
	await button(form, 'Remove Gus Guest').click();
	await expect.poll(() => form.getByRole('combobox', { name: 'Escalate after' }).inputValue()).toBe('1 h');
	await save(page);
	const told = channelOf(page).locator('.message', { hasText: CHANGED_REMINDERS }).last();
	await expect.poll(() => told.innerText()).toMatch(/Escalate after: off → 1 h\s+• Mention: nobody → Grace/);
	await expect.poll(() => told.innerText()).not.toContain('@Grace');
});

it('reminds in the channel when the time has come, then mentions the chosen person in the channel', async () => {
	const page = await adaWithTime();
	await watch(page, ['chairs']);
	await moveClock(page, '+15 min', '+5 min');
	await soon(
		channelOf(page)
			.locator('.message', { hasText: reminderOf('reminder', 20) })
			.waitFor(),
	);

	const grace = await harness.window('grace', { channel: 'C0GENERAL' });
	await moveClock(page, '+1 h');
	const agents = grace.getByRole('button', { name: /agents.*unread/ });
	await soon(agents.locator('.badge').waitFor());
	await agents.click();
	const post = channelOf(grace).locator('.message', { hasText: reminderOf('escalation', 80) });
	await expect.poll(() => post.locator('.mention-me').innerText()).toBe('@Grace');
	await button(post, 'Answer').click();
	await dialog(grace).getByRole('textbox').first().fill('Green ones');
	await button(dialog(grace), 'Send answer').click();
	await dialog(grace).getByText(DELIVERED).first().waitFor();
	await expect.poll(() => reminders(AGENTS)).toHaveLength(2);
});

it('makes one message of several that are due, without the one that was answered', async () => {
	const page = await adaWithTime();
	const before = reminders(AGENTS).length;
	const names = ['desks', 'lamps', 'plants'];
	await watch(page, names);
	// All are due at once. The message waits for their reads, and no time passes while a read is under way.
	await moveClock(page, '+15 min');
	const post = channelOf(page).locator('.message', { hasText: `3 ${WAIT}` });
	await soon(post.waitFor());
	const text = await post.innerText();
	// In the order of their posts.
	const asked = [...text.matchAll(/Which \w+\?/g)].map(([words]) => words);
	expect(asked.toSorted()).toEqual(['Which desks?', 'Which lamps?', 'Which plants?']);
	expect(text).not.toContain('chairs');
	const answers = button(post, 'Answer');
	await expect.poll(() => answers.count()).toBe(3);
	await expect.poll(() => reminders(AGENTS)).toHaveLength(before + 1);
	// Each row leads to its own question.
	await answers.last().click();
	await dialog(page)
		.getByText(asked.at(-1) ?? '')
		.first()
		.waitFor();
	await expect
		.poll(() =>
			dialog(page)
				.getByText(/Which \w+\?/)
				.allInnerTexts(),
		)
		.toEqual([asked.at(-1)]);
});

it('says nothing in quiet hours, and everything in one message at their end', async () => {
	const page = await adaWithTime();
	const form = await openSettings(page);
	for (const day of await form.getByRole('checkbox').all()) await day.check();
	await form.getByLabel('Quiet hours from').fill('22:00');
	await form.getByLabel('Quiet hours to').fill('09:00');
	await save(page);
	await channelOf(page).getByText('Quiet hours: none → every day 22:00 to 09:00').waitFor();
	await moveClock(page, 'To 22:00');
	await watch(page, ['cups', 'plates']);
	await watch(page, ['safes'], SECRET);
	const before = reminders(AGENTS).length;
	await moveClock(page, '+1 h');
	// A channel without quiet hours is reminded now.
	await soon(expect.poll(() => reminders(SECRET).length).toBe(1));
	await expect.poll(() => reminders(AGENTS)).toHaveLength(before);

	await moveClock(page, 'To tomorrow 9:00');
	const post = channelOf(page)
		.locator('.message', { hasText: `2 ${WAIT}` })
		.last();
	await soon(post.waitFor());
	await expect.poll(() => post.locator('time').innerText()).toBe('9:00 AM');
	await expect.poll(() => post.innerText()).toContain('@Grace');
	await expect.poll(() => reminders(AGENTS)).toHaveLength(before + 1);
});

it('sets the reminders of a channel with the keyboard alone, and closes a menu before the window', async () => {
	const page = await harness.window('ada', { channel: SECRET });
	await page.locator('#composer').focus();
	await page.keyboard.type('/session settings');
	await page.keyboard.press('Escape');
	await page.keyboard.press('Enter');
	await button(dialog(page), 'Save').waitFor();
	await tabTo(page, /^Escalate after/);
	await page.keyboard.press('ArrowDown');
	await page.keyboard.type('2 h');
	await page.keyboard.press('Enter');
	await tabTo(page, /^Mention \(/);
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Enter');
	await page.keyboard.press('Escape');
	await tabTo(page, /^Mon/);
	await page.keyboard.press('Space');
	await tabTo(page, /^Quiet hours from/);
	await page.keyboard.type('0915PM');
	await tabTo(page, /^Save/);
	await page.keyboard.press('Enter');
	await dialog(page).getByText('Saved. The channel is told what changed.').waitFor();
	const words = await dialog(page).innerText();
	expect(words).toContain('Escalate after: 2 h');
	expect(words).toContain('Mention: @Ada');
	expect(words).toMatch(/Quiet hours: Mon 21:15 to 08:00/);
	await page.keyboard.press('Escape');
	await dialog(page).waitFor({ state: 'detached' });
	await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('composer');
});

it('fits a phone and has no serious axe findings, with an open menu and with errors', async () => {
	const page = await harness.window('grace', { channel: AGENTS, narrow: true });
	const form = await openSettings(page);
	await choose(form, /^Mention \(/, 'una');
	expect(await seriousFindings(page, '.dialog')).toEqual([]);
	const menu = form.getByRole('listbox').filter({ visible: true });
	const box = (await menu.boundingBox()) ?? { x: -1, width: 0 };
	expect(box.x >= 0 && box.x + box.width <= 375).toBe(true);
	await page.keyboard.press('Escape');
	await button(form, 'Save').click();
	await form.getByText(IS_GUEST).waitFor();
	expect(await seriousFindings(page, '.dialog')).toEqual([]);
	await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(375);
	for (const field of await form.locator('.field').all()) {
		const { x, width } = (await field.boundingBox()) ?? { x: -1, width: 0 };
		expect(x >= 0 && x + width <= 375).toBe(true);
	}
});
