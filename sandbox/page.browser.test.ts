import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { REMOVED_ANSWER } from '../src/screens/answer.ts';
import { DELIVERED, whatHappened } from '../test/support/sentences.ts';
import { buttonNamed } from './browser.ts';
import { expectNothingWrong, type Harness, openHarness, type } from './harness.ts';
import { seriousFindings } from './serious-findings.ts';
import { askingSession, item } from './session-service/builders.ts';

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

it('shows the traffic of a command, and copies a modal for the Block Kit Builder', async () => {
	const page = await harness.window('ada', { channel: 'C0AGENTS' });
	await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
	await type(page, '/session completed');
	await dialog(page).getByText('Find three e-bike suppliers').first().waitFor();
	await page.getByRole('button', { name: /^Traffic/ }).click();
	const call = (name: string) => page.locator('.call', { hasText: name }).first();
	await call('GET read').waitFor();
	await expect.poll(() => call('slash_commands').innerText()).toMatch(/\/session completed[\s\S]*acknowledged/);
	await call('views.open').getByRole('button').click();
	await call('views.open').getByText('Slack’s rules are kept').waitFor();
	await expect.poll(() => call('views.open').locator('pre').innerText()).toContain('"trigger_id"');
	await dialog(page).getByRole('button', { name: 'Copy this modal' }).click();
	await page.getByText('Copied. Paste it into').waitFor();
	const copied = (await page.evaluate('navigator.clipboard.readText()')) as string;
	expect(JSON.parse(copied)).toMatchObject({ type: 'modal', title: { text: 'Session' } });
	await dialog(page)
		.getByRole('img', { name: /screenshot/i })
		.waitFor();
	await expect
		.poll(() => page.evaluate(`document.querySelector('[role="dialog"] img').naturalWidth`))
		.toBeGreaterThan(100);
});

it('shows the second of two people the first one’s answer, and keeps their own text', async () => {
	harness.sandbox.service.sessions.start('choices', 'shared-question');
	await soon(service().until('shared-question', (json) => json.status === 'humanInput'));
	const [ada, grace] = await Promise.all([harness.window('ada'), harness.window('grace')]);
	for (const page of [ada, grace]) await type(page, '/session shared-question');
	await dialog(grace)
		.getByRole('radio', { name: /^None of these/, checked: true })
		.waitFor();
	await dialog(grace).getByRole('textbox').fill('Bright orange, please');
	await dialog(ada).getByRole('radio', { name: 'Sand' }).check();
	await send(ada).click();
	await arrived(ada);
	await send(grace).click();
	await dialog(grace).getByText('Sand').first().waitFor();
	await dialog(grace).getByText('Bright orange, please').first().waitFor();
	await expect.poll(() => harness.sandbox.service.log.effectivePuts('shared-question')).toHaveLength(1);
});

it('works with the keyboard alone, and keeps the focus in the modal', async () => {
	harness.sandbox.service.sessions.start('three', 'by-keyboard');
	await soon(service().until('by-keyboard', (json) => json.status === 'humanInput'));
	const page = await harness.window('ada');
	await page.locator('#composer').focus();
	await page.keyboard.type('/ses');
	await page.getByRole('option', { name: /\/session/ }).waitFor();
	await page.keyboard.press('Tab');
	await page.keyboard.type('by-keyboard');
	await page.keyboard.press('Enter');
	await send(page).waitFor();
	for (const answer of ['Ada Lovelace', 'Grace Hopper', 'Analytical Engines Ltd']) {
		await page.keyboard.press('Control+a');
		await page.keyboard.type(answer);
		await page.keyboard.press('Tab');
	}
	for (let presses = 0; presses < 25; presses++) {
		await page.keyboard.press('Tab');
		await expect.poll(() => page.evaluate(`document.activeElement?.closest('[role="dialog"]') !== null`)).toBe(true);
	}
	await send(page).focus();
	await page.keyboard.press('Enter');
	await arrived(page);
	await expect
		.poll(() => service().values('by-keyboard', 2))
		.toEqual(['Ada Lovelace', 'Grace Hopper', 'Analytical Engines Ltd']);
	await page.keyboard.press('Escape');
	await dialog(page).waitFor({ state: 'detached' });
	await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('composer');
});

it('names what is missing under its field, and moves the focus there', async () => {
	harness.sandbox.service.sessions.start('fields', 'with-errors');
	await soon(service().until('with-errors', (json) => json.status === 'humanInput'));
	const page = await harness.window('ada');
	await type(page, '/session with-errors');
	await dialog(page).getByLabel('Email address', { exact: true }).fill('nobody');
	await dialog(page).getByLabel('Website URL', { exact: true }).fill('nowhere');
	await send(page).click();
	const wrongAddress = dialog(page).getByText('Please enter a valid URL.');
	await Promise.all([wrongAddress.waitFor(), dialog(page).getByText('Please enter a valid email address.').waitFor()]);
	const focused = () => page.evaluate(`document.activeElement?.closest('.block-input')?.textContent`);
	await expect.poll(() => focused()).toContain('Number of participants');

	// The field with the focus keeps it, although another field is still wrong.
	await dialog(page).getByLabel('Website URL', { exact: true }).focus();
	await page.keyboard.type('/agenda');
	await wrongAddress.waitFor({ state: 'detached' });
	await expect.poll(() => focused()).toContain('Website URL');
	await dialog(page).getByLabel('Number of participants', { exact: true }).fill('12');
	await dialog(page).getByLabel('Email address', { exact: true }).fill('office@example.com');
	await dialog(page).getByLabel('Website URL', { exact: true }).fill('https://example.com/agenda');
	await dialog(page).getByLabel('Date', { exact: true }).fill('2026-12-04');
	await dialog(page).getByLabel('Start time', { exact: true }).fill('14:30');
	await send(page).click();
	await arrived(page);
	const values = ['12', 'office@example.com', 'https://example.com/agenda', '2026-12-04', '14:30'];
	await expect.poll(() => service().values('with-errors', 2)).toEqual(values);
});

it('keeps an answer whose box is ticked secret from the channel, and the box and what is typed over a reload', async () => {
	// No scripted agent plays it, because that one tells in its next step what it was told.
	harness.sandbox.service.sessions.put('kept-secret', askingSession(['Name', 'Name', 'Affiliation']));
	const page = await harness.window('ada', { channel: 'C0AGENTS' });
	await type(page, '/session watch kept-secret');
	const post = page.locator('.channel .message', { hasText: 'Affiliation' }).last();
	await soon(post.getByRole('button', { name: buttonNamed('Answer…') }).click());
	await dialog(page).getByRole('button', { name: 'More options' }).first().click();
	await page.getByRole('menuitem', { name: /^Hide these answers/ }).click();
	const box = dialog(page).getByRole('group', { name: /Hide these answers/ });
	const tick = box.getByRole('checkbox', { name: '3. Affiliation' });
	await expect.poll(() => box.getByRole('checkbox').count()).toBe(3);
	const field = (label: string) => dialog(page).getByRole('textbox', { name: label });
	const views = () => JSON.stringify(harness.sandbox.slack.snapshot().views);
	await field('Name (question 1 of 3)').fill('Ada, with a hat');
	await page.keyboard.press('Tab');
	await tick.check();
	await expect.poll(views).toContain('"selected_options":[{');
	await expect.poll(views).toContain('Ada, with a hat');
	await page.reload();
	await expect.poll(() => tick.isChecked()).toBe(true);
	await expect.poll(() => field('Name (question 1 of 3)').inputValue()).toBe('Ada, with a hat');
	for (const [label, text] of [
		['Name (question 2 of 3)', 'Grace'],
		['Affiliation', 'the ministry of silence'],
	] as const) {
		await field(label).fill(text);
	}
	await send(page).click();
	await arrived(page);
	await expect
		.poll(() => service().values('kept-secret', 1))
		.toEqual(['Ada, with a hat', 'Grace', 'the ministry of silence']);
	const menu = page
		.locator('.channel .message', { hasText: 'asked 3 questions' })
		.getByRole('button', { name: 'More options' });
	// Again where the post was drawn anew under the open menu, or the window came too late or before the hidden answer
	// was removed.
	const answersShown = async () => {
		await page.keyboard.press('Escape');
		try {
			await menu.click({ timeout: 5_000 });
			await page.getByRole('menuitem', { name: 'Show question' }).click({ timeout: 5_000 });
			return await dialog(page).innerText({ timeout: 5_000 });
		} catch {
			return 'no window';
		}
	};
	await soon(expect.poll(answersShown, { timeout: 25_000 }).toContain(REMOVED_ANSWER));
	expect(await dialog(page).innerText()).toContain('Ada, with a hat');
	expect(await dialog(page).innerText()).not.toContain('ministry of silence');
	await page.keyboard.press('Escape');
	expect(JSON.stringify(harness.sandbox.slack.state.messages)).not.toContain('ministry of silence');
	await type(page, '/session unwatch kept-secret');
});

it('posts a watched session’s questions where the app was invited, and takes answers from there', async () => {
	const page = await harness.window('ada', { channel: 'C0GENERAL' });
	await type(page, '/invite @Handraise');
	await page.locator('.channel').getByText('@Handraise is in the channel now').waitFor();
	await type(page, '/session watch stepping');
	const answer = (title: string) =>
		page
			.locator('.channel .message', { hasText: title })
			.last()
			.getByRole('button', { name: /^(?:Other a|A)nswer…(?:$|: )/ });

	await soon(answer('Subject line').click());
	await dialog(page).getByLabel('Subject line').fill('Five new routes');
	await send(page).click();
	await arrived(page);
	await page.keyboard.press('Escape');

	await soon(answer('Send it now?').click());
	await dialog(page).getByRole('radio', { name: 'Yes' }).check();
	await send(page).click();
	await arrived(page);
	await page.keyboard.press('Escape');
	await soon(
		page
			.locator('.channel')
			.getByText(/is done/)
			.first()
			.waitFor(),
	);
});

it('refuses a guest and a person of another organisation, with the reason', async () => {
	const gus = await harness.window('gus', { channel: 'C0AGENTS' });
	await type(gus, '/session demo');
	await dialog(gus).getByText(whatHappened('guest')).waitFor();
	const eve = await harness.window('eve');
	await type(eve, '/session demo');
	await dialog(eve).getByText(whatHappened('external')).waitFor();
	for (const page of [gus, eve]) expect(await dialog(page).locator('.block-input').count()).toBe(0);
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
	// Chromium has refused the font if it gives none.
	await expect
		.poll(() => page.evaluate(`document.fonts.load('16px "Sandbox emoji"', '✋').then(({ length }) => length)`))
		.toBe(1);
	expect(await seriousFindings(page)).toEqual([]);
	await page.setViewportSize({ width: 390, height: 800 });
	await page.getByRole('checkbox', { name: 'One-press buttons off' }).check();
	await open.getByRole('button', { name: 'LH 1173' }).waitFor({ state: 'detached' });
	expect(await seriousFindings(page)).toEqual([]);
	await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(390);
});

it('has three full members: where a channel names two, the third reads whom to ask', async () => {
	const [ada, mary] = await Promise.all(['ada', 'mary'].map((who) => harness.window(who, { channel: 'C0AGENTS' })));
	if (ada === undefined || mary === undefined) throw new Error('no windows');
	await type(ada, '/session settings');
	const field = dialog(ada).getByRole('combobox', { name: 'Who may answer' });
	for (const name of ['ada', 'grace']) {
		await field.fill(name);
		await field.press('Enter');
	}
	await dialog(ada).getByRole('button', { name: 'Save' }).click();
	await soon(
		dialog(ada)
			.getByText(/^✅ Saved/)
			.waitFor(),
	);
	await ada.keyboard.press('Escape');
	service().put('lamps', askingSession([item('Which lamp?', 'One of: Globe, Arc')]));
	await type(ada, '/session watch lamps');
	await soon(mary.getByRole('button', { name: buttonNamed('Globe') }).click());
	const refused = /was not sent\. Only Ada and Grace may answer\. Ask them\./;
	await soon(mary.locator('.channel .message', { hasText: refused }).waitFor());
});
