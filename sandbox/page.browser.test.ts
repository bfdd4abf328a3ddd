import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { askingSession, item } from '../fake-session-service/builders.ts';
import { DELIVERED } from '../test/support/sentences.ts';
import { buttonNamed } from './browser.ts';
import { expectNothingWrong, type Harness, openHarness, type } from './harness.ts';
import { seriousFindings } from './serious-findings.ts';

let harness: Harness;
/** Lets the time until then pass. */
const soon = <T>(awaited: PromiseLike<T>) => harness.soon(awaited);

beforeAll(async () => {
	harness = await openHarness();
});
afterAll(() => harness?.close());
afterEach(async () => {
	await harness.closeWindows();
	expectNothingWrong(harness, false);
});

const dialog = (page: Page) => page.getByRole('dialog');
const send = (page: Page) => dialog(page).getByRole('button', { name: 'Send answer' });
/** The receipt says that the answer was delivered, and what the agent did then. */
const arrived = (page: Page) => soon(dialog(page).getByText(DELIVERED).first().waitFor());
const service = () => harness.sandbox.service.sessions;

/** The question's post, as long as it shows the question: not its card. */
const question = (page: Page, title: string) =>
	page
		.locator('.channel .message:not(.message-ephemeral)', { hasText: title })
		.filter({ hasText: / (asks|asked)/ })
		.last();

it('answers /session demo, and the agent goes on', async () => {
	const page = await harness.window('ada');
	await type(page, '/session demo');
	await dialog(page)
		.getByRole('radio', { name: /LH 1173/ })
		.check();
	await send(page).click();
	await arrived(page);
	// What comes of it is said.
	await dialog(page).getByRole('status').getByText(DELIVERED).waitFor();
	await soon(
		service().until('demo', (json) => JSON.stringify(json).includes('You chose “LH 1173 at 06:05 for 129 €”')),
	);
	await page.keyboard.press('Escape');
	await dialog(page).waitFor({ state: 'detached' });

	await soon(service().until('demo', (json) => json.status === 'humanInput'));
	await type(page, '/session demo');
	await dialog(page).getByRole('radio', { name: 'Yes' }).check();
	await send(page).click();
	await soon(service().until('demo', (json) => json.status === 'completed'));
});

it.each([
	['', false],
	[' on a phone', true],
])('a post never grows by a press%s', async (_, narrow) => {
	const page = await harness.window('ada', { channel: 'C0AGENTS', narrow });
	const list = '- LH 1173\n- TP 570\n- LH 1175\n- TP 574';
	const asks = {
		'a list and more': askingSession([
			item('Which flight?', `All of them have a window seat.\n\nChoose one:\n${list}`),
		]),
		'a list': askingSession([item('Which flight?', list)]),
		'yes or no': askingSession([item('Shall I book it?', 'Yes or no')]),
	};
	for (const [at, [what, session]] of Object.entries(asks).entries()) {
		const id = `grows-${narrow}-${at}`;
		service().put(id, { ...session, name: `Plan the trip to Frankfurt ${id}` });
		await type(page, `/session watch ${id}`);
		const asks = question(page, `to Frankfurt ${id}`);
		const ts = await soon(asks.getAttribute('data-surface'));
		const post = page.locator(`.channel .message[data-surface="${ts}"]`);
		const buttons = post.locator('.block-actions');
		const choice = buttons.getByRole('button', { name: /^(?:LH 1173|Yes): / });
		await soon(choice.waitFor());
		const height = async () => Math.ceil((await post.locator('.blocks').boundingBox())?.height ?? Number.NaN);
		const before = await height();
		await choice.click();
		await post.getByRole('button', { name: buttonNamed('Undo') }).waitFor();
		await expect.poll(() => buttons.count()).toBe(0);
		const pressed = await height();
		expect(pressed, `${what}: ${before} and ${pressed} pixels`).toBeLessThanOrEqual(before);
	}
	await harness.unwatchAll();
});

it('shows hostile texts as text, and forbids inline script', async () => {
	harness.sandbox.service.sessions.start('hostile');
	await soon(service().until('hostile', (json) => json.status === 'humanInput'));
	const page = await harness.window('ada', { channel: 'C0AGENTS' });
	const answer = await page.request.get(`${harness.sandbox.url}/`);
	const policy = answer.headers()['content-security-policy'] ?? '';
	expect(policy).toContain("script-src 'self'");
	expect(policy).not.toContain('unsafe');

	await harness.sandbox.slack
		.as('grace')
		.say(
			'#agents',
			'<img src=x onerror="document.title=1"> <script>document.title=2</script> [x](javascript:alert(1))',
		);
	await page.locator('.message').getByText('<img src=x onerror="document.title=1">').waitFor();
	await type(page, '/session hostile');
	await dialog(page).getByText('<!channel>').first().waitFor();
	await type(await harness.window('grace', { channel: 'C0AGENTS' }), '/session watch hostile');
	await soon(page.locator('.channel .message').getByText('Your bank').first().waitFor());
	await expect
		.poll(() => page.locator('#root script, #root iframe, #root img[src="x"], a[href^="javascript"]').count())
		.toBe(0);
	await expect.poll(() => page.locator('.mention', { hasText: /^@(channel|here|everyone)/ }).count()).toBe(0);
	await expect
		.poll(() => page.locator('a[href*="evil.example"]').allInnerTexts())
		.toEqual((await page.locator('a[href*="evil.example"]').all()).map(() => expect.stringContaining('evil.example')));
	await expect.poll(() => page.title()).not.toMatch(/^[12]$/);
});

it('has no serious axe findings in channel, modal, panels and a narrow window', async () => {
	harness.sandbox.service.sessions.start('fields', 'scanned');
	await soon(service().until('scanned', (json) => json.status === 'humanInput'));
	const scan = async (page: Page, part?: string) => expect(await seriousFindings(page, part)).toEqual([]);
	const page = await harness.window('grace', { channel: 'C0AGENTS' });
	// A wide window shows the guide.
	await page.getByRole('complementary', { name: 'Sandbox: Guide' }).waitFor();
	await scan(page);
	for (const panel of ['Agents', 'Trouble', 'Traffic']) {
		await page.getByRole('button', { name: new RegExp(`^${panel}`) }).click();
		await page.getByRole('complementary', { name: `Sandbox: ${panel}` }).waitFor();
		await scan(page, '.panel');
		if (panel !== 'Agents') continue;
		for (const name of ['Copy link: scanned', 'Start again: demo']) await page.getByRole('button', { name }).waitFor();
		await page.getByRole('link', { name: 'Open dashboard: scanned' }).waitFor();
	}
	await type(page, '/session scanned');
	await send(page).click();
	await dialog(page).getByText('Please complete this required field.').first().waitFor();
	await scan(page, '.dialog');
	const narrow = await harness.window('una', { narrow: true });
	await scan(narrow);
	await narrow.getByRole('button', { name: 'Channels' }).click();
	await scan(narrow, '.sidebar');
});

it('has a Gallery of every state, with switches, and without serious axe findings, in a narrow window too', async () => {
	const page = await harness.window('ada');
	await page.getByRole('link', { name: 'Gallery' }).click();
	const open = page.getByRole('region', { name: 'asks', exact: true }).first();
	await open.getByRole('button', { name: 'LH 1173' }).waitFor();
	expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual(
		expect.arrayContaining(['A question', 'The card of a session', 'Reminders', 'The window', 'Home']),
	);
	expect(await seriousFindings(page)).toEqual([]);
	await page.setViewportSize({ width: 390, height: 800 });
	await page.getByRole('checkbox', { name: 'One-press buttons off' }).check();
	await open.getByRole('button', { name: 'LH 1173' }).waitFor({ state: 'detached' });
	expect(await seriousFindings(page)).toEqual([]);
	await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(390);
});
