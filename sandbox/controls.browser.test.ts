import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import { callSlack, type Json } from '../fake-slack/index.ts';
import { type Harness, openHarness } from './harness.ts';

/** No app runs here: the tests look at the page and at Slack's side of it. */
let harness: Harness;
let page: Page;

beforeAll(async () => {
	harness = await openHarness({ withBot: false });
	page = await harness.window('ada', { channel: 'C0AGENTS' });
});
afterAll(() => harness?.close());
afterEach(async () => {
	const dialogs = () => page.getByRole('dialog').count();
	for (let open = await dialogs(); open > 0; open = await dialogs()) {
		await page.keyboard.press('Escape');
		// A second press while the first is under way would close the next test's modal.
		await expect.poll(dialogs).toBeLessThan(open);
	}
	expect(harness.complaints).toEqual([]);
});

const plain = (text: string) => ({ type: 'plain_text', text });
const section = (text: string) => ({ type: 'section', text: plain(text) });
const options = (...texts: string[]) => texts.map((text) => ({ text: plain(text), value: text.toLowerCase() }));
const input = (id: string, element: Json, traits: Json = {}) => ({
	type: 'input',
	block_id: id,
	label: plain(id),
	element: { action_id: 'it', ...element },
	...traits,
});

/** The window is named after the first one opened. */
const trigger = (view?: string) => harness.sandbox.slack.trigger('ada', { window: '1', ...(view && { view }) });
async function slackCall(method: string, args: Json): Promise<Json> {
	const reply = await callSlack(harness.sandbox.slack, method, args);
	expect(reply).toMatchObject({ ok: true });
	return reply;
}
/** A message of the app in #agents, until the case ends. Returns its ts. */
async function post(text: string, blocks: Json[]): Promise<string> {
	const { ts } = await slackCall('chat.postMessage', { channel: 'C0AGENTS', text, blocks });
	onTestFinished(async () => void (await slackCall('chat.delete', { channel: 'C0AGENTS', ts })));
	return String(ts);
}
const shownAt = (ts: string, within: Page = page) => within.locator(`[data-surface="${ts}"]`);
/** A window of somebody who reads another language. */
async function abroad(locale: string, width = 1280): Promise<Page> {
	const options = { locale, timezoneId: 'Europe/Berlin', viewport: { width, height: 800 } };
	const opened = await page.context().browser()?.newPage(options);
	if (opened === undefined) throw new Error('The page has no browser.');
	onTestFinished(() => opened.close());
	await opened.goto(`${harness.sandbox.url}/?as=ada&window=${locale}&in=C0AGENTS`);
	return opened;
}
function modal(blocks: Json[], title = 'Everything'): Json {
	return { type: 'modal', title: plain(title), submit: plain('Send'), blocks };
}
async function open(blocks: Json[]): Promise<{ id: string }> {
	const { view } = await slackCall('views.open', { trigger_id: trigger(), view: modal(blocks) });
	return view as { id: string };
}
/** Types into a menu and takes the first entry. */
async function choose(dialog: Locator, label: string, typed: string): Promise<void> {
	await dialog.getByRole('combobox', { name: label }).fill(typed);
	await page.keyboard.press('Enter');
}
const held = (id: string) => harness.sandbox.slack.state.views[id]?.input.values;

it('puts the value of every control where Slack gives it to the app', async () => {
	const view = await open([
		input('Line', { type: 'plain_text_input', placeholder: plain('Type here') }),
		input('Text', { type: 'plain_text_input', multiline: true, initial_value: 'before' }),
		input('Number', { type: 'number_input', is_decimal_allowed: true }),
		input('Mail', { type: 'email_text_input' }, { optional: true, hint: plain('At work') }),
		input('Address', { type: 'url_text_input' }),
		input('Colour', { type: 'static_select', options: options('Red', 'Green', 'Blue') }),
		input('Size', { type: 'radio_buttons', options: options('Small', 'Large') }),
		input('Extras', { type: 'checkboxes', options: options('Bag', 'Seat', 'Meal') }),
		input('Stops', { type: 'multi_static_select', placeholder: plain('Choose'), options: options('Rome', 'Oslo') }),
		input('Owner', { type: 'users_select', placeholder: plain('Choose') }),
		input('Guests', { type: 'multi_users_select', max_selected_items: 2 }),
		input('Day', { type: 'datepicker' }),
		input('Hour', { type: 'timepicker' }),
	]);
	const dialog = page.getByRole('dialog', { name: 'Everything' });
	const field = (label: string) => dialog.getByLabel(label, { exact: false }).first();
	await expect.poll(() => field('Text').inputValue()).toBe('before');
	await expect.poll(() => field('Mail').getAttribute('aria-required')).toBeNull();
	await expect.poll(() => field('Line').getAttribute('aria-required')).toBe('true');
	await field('Line').fill('one line');
	await field('Text').fill('two\nlines');
	await field('Number').fill('2.5');
	await field('Mail').fill('a@example.com');
	await field('Address').fill('https://example.com/');
	const select = dialog.getByRole('combobox', { name: 'Colour' });
	await select.click();
	await select.fill('gr');
	await dialog.getByRole('option', { name: 'Red' }).waitFor({ state: 'detached' });
	await page.keyboard.press('Enter');
	await expect.poll(() => select.inputValue()).toBe('Green');
	await dialog.getByRole('radio', { name: 'Large' }).check();
	await dialog.getByRole('checkbox', { name: 'Bag' }).check();
	await dialog.getByRole('checkbox', { name: 'Meal' }).check();
	await dialog.getByRole('checkbox', { name: 'Bag' }).uncheck();
	const stops = dialog.getByRole('combobox', { name: 'Stops' });
	await stops.press('ArrowDown');
	await stops.press('Enter');
	await stops.fill('os');
	await dialog.getByRole('option', { name: 'Rome' }).waitFor({ state: 'detached' });
	await page.keyboard.press('Enter');
	// The menu stays open for more. Escape closes it, and not the modal.
	await page.keyboard.press('Escape');
	await dialog.getByRole('button', { name: 'Remove Rome' }).click();
	await choose(dialog, 'Owner', 'grace');
	for (const name of ['ada', 'gus', 'eve']) await choose(dialog, 'Guests', name);
	await dialog.getByText('2 at most. Take one out to choose another.').waitFor();
	await page.keyboard.press('Backspace');
	await dialog.getByRole('button', { name: /^Remove Gus/ }).waitFor({ state: 'detached' });
	await choose(dialog, 'Guests', 'eve');
	await page.keyboard.press('Escape');
	await field('Day').fill('2026-12-04');
	await field('Hour').fill('14:30');
	const [red, green] = options('Red', 'Green');
	expect(red?.value).toBe('red');
	await expect
		.poll(() => held(view.id))
		.toEqual({
			Line: { it: { type: 'plain_text_input', value: 'one line' } },
			Text: { it: { type: 'plain_text_input', value: 'two\nlines' } },
			Number: { it: { type: 'number_input', value: '2.5' } },
			Mail: { it: { type: 'email_text_input', value: 'a@example.com' } },
			Address: { it: { type: 'url_text_input', value: 'https://example.com/' } },
			Colour: { it: { type: 'static_select', selected_option: green } },
			Size: { it: { type: 'radio_buttons', selected_option: options('Large')[0] } },
			Extras: { it: { type: 'checkboxes', selected_options: options('Meal') } },
			Stops: { it: { type: 'multi_static_select', selected_options: options('Oslo') } },
			Owner: { it: { type: 'users_select', selected_user: 'U0GRACE' } },
			Guests: { it: { type: 'multi_users_select', selected_users: ['U0ADA', 'U0EVE'] } },
			Day: { it: { type: 'datepicker', selected_date: '2026-12-04' } },
			Hour: { it: { type: 'timepicker', selected_time: '14:30' } },
		});
});

it('keeps what was chosen last while a slow network still reports former choices', async () => {
	const view = await open([input('Stops', { type: 'multi_static_select', options: options('Rome', 'Oslo') })]);
	const dialog = page.getByRole('dialog', { name: 'Everything' });
	const tokens = dialog.getByRole('button', { name: /^Remove/ });
	const slow: (() => void)[] = [];
	await page.route('**/do/act', async (route) => {
		await new Promise<void>((go) => slow.push(go));
		await route.continue();
	});
	for (const name of ['rome', 'oslo']) await choose(dialog, 'Stops', name);
	await dialog.getByRole('combobox', { name: 'Stops' }).press('Backspace');
	const reported = ['oslo', 'rome'].map((last) => expect.objectContaining({ value: last }));
	for (const chosen of [[reported[1]], [reported[1], reported[0]]]) {
		await expect.poll(() => slow.length).toBe(1);
		slow.pop()?.();
		await expect.poll(() => held(view.id)?.Stops?.it?.selected_options).toEqual(chosen);
		// What the sandbox says next comes after its report of this choice.
		await slackCall('chat.postMessage', { channel: 'C0AGENTS', text: `report ${chosen.length}` });
		await page.getByText(`report ${chosen.length}`).first().waitFor();
		expect(await tokens.allTextContents()).toHaveLength(1);
	}
	await expect.poll(() => slow.length).toBe(1);
	slow.pop()?.();
	await expect.poll(() => held(view.id)?.Stops?.it?.selected_options).toEqual([reported[1]]);
	expect(await tokens.allTextContents()).toHaveLength(1);
	await page.unroute('**/do/act');
	await page.keyboard.press('Escape');
});

it('lets the keys choose in a menu that opens under a mouse at rest', async () => {
	const view = await open([
		input('Stop', { type: 'static_select', options: options('Rome', 'Oslo', 'Bern') }),
		input('Text', { type: 'plain_text_input' }),
	]);
	const dialog = page.getByRole('dialog');
	const menu = dialog.getByRole('combobox', { name: 'Stop' });
	await menu.click();
	await dialog.getByRole('option', { name: 'Bern' }).hover();
	await page.keyboard.press('Escape');
	const underTheMouse = dialog.locator('[role="option"]:hover');
	await expect.poll(() => underTheMouse.count()).toBe(0);
	await menu.press('ArrowDown');
	await expect.poll(() => underTheMouse.count()).toBe(1);
	await page.keyboard.press('Enter');
	await expect.poll(() => held(view.id)?.Stop?.it?.selected_option).toMatchObject({ value: 'rome' });
	await menu.click();
	await dialog.getByRole('option', { name: 'Oslo' }).hover();
	await page.keyboard.press('Enter');
	await expect.poll(() => held(view.id)?.Stop?.it?.selected_option).toMatchObject({ value: 'oslo' });
});

it('presses a button, and shows the entries of a menu', async () => {
	await open([
		{
			type: 'actions',
			block_id: 'row',
			elements: [
				{ type: 'button', action_id: 'delete', text: plain('Delete'), style: 'danger' },
				{ type: 'overflow', action_id: 'more', options: options('Rename', 'Move') },
			],
		},
	]);
	const pressed = () => harness.sandbox.slack.traffic.deliveries('block_actions').map((one) => one.request.actions);
	await page.getByRole('button', { name: 'Delete' }).press('Enter');
	await expect.poll(() => pressed().at(-1)).toMatchObject([{ action_id: 'delete' }]);
	await page.getByRole('alert').getByText('The app did not respond').waitFor();
	await page.getByRole('button', { name: 'More options' }).press('Enter');
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Enter');
	await expect.poll(() => pressed().at(-1)).toMatchObject([{ selected_option: { value: 'move' } }]);
});

it('opens a menu where all of it is seen, and returns the focus to its button on Escape', async () => {
	const menu = {
		type: 'overflow',
		action_id: 'more',
		options: options('Hand over', 'Snooze until tomorrow 9:00', 'Hide this answer and delete it after delivery'),
	};
	const more = (within: Page | Locator) => within.getByRole('button', { name: /^More/ });
	const focused = (within: Page) => within.evaluate('document.activeElement.getAttribute("aria-label")');
	async function expectSeen(opener: Locator): Promise<void> {
		await opener.press('Enter');
		const shown = opener.page();
		const entries = shown.getByRole('menuitem');
		await expect.poll(() => entries.count()).toBe(3);
		const isSeen = await shown.evaluate(`[...document.querySelectorAll('[role="menuitem"]')].map((one) => {
			const { left, right, top, bottom } = one.getBoundingClientRect();
			const corners = [[left + 1, top + 1], [right - 1, top + 1], [left + 1, bottom - 1], [right - 1, bottom - 1]];
			return corners.every(([x, y]) => document.elementFromPoint(x, y) === one);
		})`);
		expect(isSeen).toEqual(Array(3).fill(true));
		await shown.keyboard.press('Escape');
		await expect.poll(() => entries.count()).toBe(0);
		expect(await focused(shown)).toBe(await opener.getAttribute('aria-label'));
	}
	// At the right edge of a modal, and at the left.
	await open([
		{ ...section('More'), accessory: menu },
		{ type: 'actions', block_id: 'row', elements: [menu] },
	]);
	for (const at of [0, 1]) await expectSeen(more(page.getByRole('dialog')).nth(at));
	await page.keyboard.press('Escape');
	// In the lowest message, also on a phone.
	const blocks = [section('Which?'), { type: 'actions', elements: [menu] }];
	const ts = await post('menus', blocks);
	const phone = await harness.window('ada', { narrow: true, channel: 'C0AGENTS' });
	for (const one of [page, phone]) {
		const message = shownAt(ts, one);
		await expectSeen(more(message).first());
		// The toolbar of the message itself.
		await expectSeen(more(message).nth(1));
	}
	await slackCall('views.publish', { user_id: 'U0ADA', view: { type: 'home', blocks } });
	await phone.goto(`${harness.sandbox.url}/?as=ada&window=phone&tab=home`);
	await expectSeen(more(phone.getByRole('tabpanel')));
	await phone.close();
});

it('says new messages, each by its author, and what a modal has come to', async () => {
	const { slack } = harness.sandbox;
	const said = page.getByRole('log', { name: 'New messages' }).locator('p');
	const before = await said.count();
	const twice = [1, 2];
	for (const _ of twice) await slack.as('grace').say('#agents', 'The same words, @ada');
	await page.locator('#composer').fill('/nothing-like-it');
	await page.keyboard.press('Enter');
	await expect.poll(() => said.count()).toBe(before + 3);
	const words = (await said.allInnerTexts()).slice(before);
	expect(words.slice(0, 2)).toEqual(twice.map(() => 'Grace Hopper: The same words, @Ada'));
	expect(words[2]).toMatch(/^Slackbot, only visible to you: .*nothing-like-it/);
	const posts = page.getByRole('article', { name: /^Grace Hopper, .*: The same words, @Ada$/ });
	await expect.poll(() => posts.count()).toBe(2);

	const { id } = await open([section('Loading…'), input('Line', { type: 'plain_text_input' })]);
	const status = page.getByRole('dialog').getByRole('status');
	await status.getByText('Loading…').waitFor();
	await page.evaluate(`document.querySelector('[role="dialog"] [role="status"]').dataset.stays = 'yes'`);
	const boxes = { type: 'actions', elements: [{ type: 'checkboxes', action_id: 'hide', options: options('Hide it') }] };
	await slackCall('views.update', { view_id: id, view: modal([section('Delivered'), boxes]) });
	await expect.poll(() => status.innerText()).toBe('Delivered');
	expect(await status.getAttribute('data-stays')).toBe('yes');
	// A box alone is named by its own words.
	await page.getByRole('checkbox', { name: 'Hide it', exact: true }).waitFor();
	expect(await page.getByRole('dialog').getByRole('group').count()).toBe(0);
});

it('submits on Enter in a line and breaks the line in a text; shows Slack’s own words above the modal without the app', async () => {
	const view = await open([
		input('Line', { type: 'plain_text_input' }),
		input('Text', { type: 'plain_text_input', multiline: true }, { optional: true }),
	]);
	const dialog = page.getByRole('dialog');
	await dialog.getByLabel('Text').fill('first');
	await dialog.getByLabel('Text').press('End');
	await dialog.getByLabel('Text').press('Enter');
	await page.keyboard.type('second');
	await dialog.getByLabel('Line').press('Enter');
	await dialog.getByText('Please complete this required field.').waitFor();
	await page.keyboard.type('now there is something');
	await page.keyboard.press('Enter');
	await dialog.getByText('We had some trouble connecting').waitFor();
	await expect.poll(() => held(view.id)?.Line?.it?.value).toBe('now there is something');
	await expect.poll(() => held(view.id)?.Text?.it?.value).toBe('first\nsecond');
});

it('stacks modals; Esc closes the top one, the X all of them', async () => {
	let { id } = await open([{ type: 'section', text: plain('the first') }]);
	for (const name of ['second', 'third']) {
		const view = modal([{ type: 'section', text: plain(`the ${name}`) }], name);
		const pushed = await slackCall('views.push', { trigger_id: trigger(id), view });
		({ id } = pushed.view as { id: string });
	}
	await page.getByRole('dialog', { name: 'third' }).waitFor();
	const isInModal = () => page.evaluate(`document.activeElement?.closest('[role="dialog"]') !== null`);
	// F6 goes to the sandbox's own tools, which stay usable, and back.
	await page.keyboard.press('F6');
	await expect.poll(() => isInModal()).toBe(false);
	await page.keyboard.press('F6');
	await expect.poll(() => isInModal()).toBe(true);
	await page.keyboard.press('Escape');
	await page.getByRole('dialog', { name: 'second' }).waitFor();
	await page.getByRole('button', { name: 'Close all' }).click();
	await page.getByRole('dialog').waitFor({ state: 'detached' });
});

it('shows Markdown and rich text, and loads nothing from elsewhere', async () => {
	const channel = 'C0AGENTS';
	const blocks = [
		{
			type: 'markdown',
			text: '## Offers\n\n| who | price |\n|---|---|\n| Rad | 12 |\n\n![spy](https://spy.example/x.png)',
		},
		{
			type: 'section',
			text: { type: 'mrkdwn', text: ':tada: *bold* <https://a.example|label> &lt;b&gt; <!date^0^{date_num}|x>' },
		},
	];
	const answers: string[] = [];
	page.on('response', (answer) => answers.push(answer.url()));
	const { ts } = await slackCall('chat.postMessage', { channel, text: 'offers', blocks });
	const message = page.locator('.message').last();
	await message.getByRole('cell', { name: 'Rad' }).waitFor();
	const words = await message.locator('.block-section').innerText();
	expect(words).toMatch(/^🎉 bold label <b> 19(69-12-31|70-01-01)$/);
	expect(answers.filter((url) => !url.startsWith(harness.sandbox.url))).toEqual([]);
	await slackCall('chat.delete', { channel, ts });
	// Drawn again, it complains again: after its end and one more answer of the page, nothing is on its way.
	await message.getByRole('cell', { name: 'Rad' }).waitFor({ state: 'detached' });
	await page.evaluate(() => null);
	// The policy even prevents a request for a picture on another server.
	expect([...new Set(harness.complaints.splice(0))]).toEqual([expect.stringContaining('https://spy.example/x.png')]);
});

it('shows the table of a message at its end, wherever it was sent', async () => {
	const cell = (text: string) => ({ type: 'raw_text', text });
	const rows = [
		[cell('Flight'), cell('Price')],
		[cell('LH 1173'), { type: 'raw_number', value: 129, text: '129 €' }],
	];
	const go = { type: 'actions', elements: [{ type: 'button', action_id: 'go', text: plain('Book it') }] };
	const blocks = [{ type: 'table', rows, column_settings: [{ is_wrapped: true }, { align: 'right' }] }, go];
	const message = shownAt(await post('offers', blocks));
	await message.getByRole('columnheader', { name: 'Price' }).waitFor();
	await message.getByRole('cell', { name: '129 €' }).waitFor();
	expect(await message.locator('.blocks').innerText()).toMatch(/^Book it\s[\s\S]*LH 1173/);
});

it('writes dates in the language of the reader’s browser, and says so when nobody has the name in the address', async () => {
	const now = Math.floor(Date.now() / 1000);
	const text = `<!date^${now}^Seen {date_short_pretty} {time}|then> <!date^1764255600^{date_short}|then>`;
	const ts = await post('dates', [{ type: 'section', text: { type: 'mrkdwn', text } }]);
	const german = await abroad('de-DE');
	const message = shownAt(ts, german).locator('.block-section');
	await expect.poll(() => message.innerText()).toMatch(/^Seen heute \d?\d:\d\d 27\.11\.2025$/);
	await german.goto(`${harness.sandbox.url}/?as=nobody`);
	await german.getByRole('alert').getByText('Nobody in this workspace is called “nobody”.').waitFor();
	await german.getByRole('link', { name: 'Be Ada' }).click();
	await german.locator('#composer').waitFor();
	// Whoever opens a channel can type at once.
	await expect.poll(() => german.evaluate('document.activeElement.id')).toBe('composer');
});

it('draws rich text as Slack does, as wide as the window, with dates in the reader’s zone', async () => {
	const text = (words: string, style?: Json) => ({ type: 'text', text: words, ...(style && { style }) });
	const part = (type: string, ...elements: Json[]) => ({ type: `rich_text_${type}`, elements });
	const date = { type: 'date', timestamp: 1764255600, format: '{date_num} {time}', fallback: 'then' };
	const address = `https://example.com/${'long'.repeat(40)}`;
	const elements = [
		part(
			'section',
			text('Bold', { bold: true }),
			text(' and '),
			text('code', { code: true }),
			text(' *as is*\nat '),
			date,
		),
		part('quote', text('one\n\nthree, '), { type: 'user', user_id: 'U0ADA' }, text(' of '), {
			type: 'usergroup',
			usergroup_id: 'S0OPS',
		}),
		{ ...part('preformatted', text(`a  b\n  ${'c'.repeat(90)}`)), border: 1 },
		part('section', { type: 'link', url: 'https://example.com/', text: 'Here' }, text(' '), {
			type: 'link',
			url: address,
		}),
		part('section', { type: 'channel', channel_id: 'C0AGENTS' }, { type: 'link', url: address, text: '<b>x</b>' }),
	];
	const ts = await post('rich', [{ type: 'rich_text', elements }]);
	const berlin = await abroad('en-GB', 390);
	const shown = shownAt(ts, berlin).locator('.blocks');
	const lines = ['Bold and code *as is*', 'at 2025-11-27 16:00', 'one', '', 'three, @Ada of @ops', 'a  b'];
	await expect.poll(() => shown.innerText().then((words) => words.split('\n').slice(0, 6))).toEqual(lines);
	// One bar for all lines of a quote, and one for what has a border.
	const look = (selector: string, property: string) =>
		berlin.evaluate(
			`Array.from(document.querySelectorAll('[data-surface="${ts}"] .blocks ${selector}'), (one) => ` +
				`getComputedStyle(one).getPropertyValue('${property}'))`,
		);
	expect(await look('blockquote', 'border-left-width')).toEqual(['4px']);
	expect(await look('.rich-bar', 'border-left-width')).toEqual(['4px']);
	expect(await look('pre', 'border-top-width')).toEqual(['1px']);
	expect(await look(':is(pre, code)', 'font-family')).toEqual([
		expect.stringMatching(/monospace$/),
		expect.stringMatching(/monospace$/),
	]);
	expect(await look('b', 'font-weight')).toEqual([expect.stringMatching(/^[7-9]00$/)]);
	expect(await shown.locator('.mention').allInnerTexts()).toEqual(['@Ada', '@ops', '#agents']);
	expect(await shown.locator('.mention-me').allInnerTexts()).toEqual(['@Ada']);
	const links = shown.locator('a[target="_blank"][rel~="noopener"]');
	expect(await links.allInnerTexts()).toEqual(['Here', address, '<b>x</b>']);
	expect(await links.first().getAttribute('href')).toBe('https://example.com/');
	expect(await berlin.evaluate('document.documentElement.scrollWidth')).toBe(390);
	expect(await shown.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
});

it('draws the fields of a section in two columns left of its button, in one where there is no room', async () => {
	const fields = [plain('Session *x*'), { type: 'mrkdwn', text: '*Asked*' }, plain('Third'), plain('Third')];
	const accessory = { type: 'button', action_id: 'go', text: plain('Open it') };
	const ts = await post('fields', [{ type: 'section', fields, accessory }]);
	const message = shownAt(ts).locator('.blocks');
	const boxOf = async (which: Locator) => (await which.boundingBox()) ?? { x: -1, y: -1 };
	const boxes = () =>
		Promise.all([
			boxOf(message.getByText('Session *x*')),
			boxOf(message.locator('b', { hasText: 'Asked' })),
			boxOf(message.getByRole('button', { name: 'Open it' })),
		]);
	const [first, second, button] = await boxes();
	expect([first.x < second.x, second.x < button.x, Math.abs(first.y - second.y) < 3]).toEqual([true, true, true]);
	expect(await message.getByText('Third').count()).toBe(2);
	await page.setViewportSize({ width: 390, height: 800 });
	await expect.poll(() => boxes().then(([above, below]) => above.y < below.y && above.x === below.x)).toBe(true);
	const [above, , beside] = await boxes();
	expect([above.x < beside.x, Math.abs(above.y - beside.y) < 12]).toEqual([true, true]);
	expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
	await page.setViewportSize({ width: 1280, height: 800 });
});

it('types a command of the guide by a press', async () => {
	const wide = await harness.window('grace', { channel: 'C0GENERAL' });
	const guide = wide.getByRole('button', { name: 'Guide' });
	if ((await guide.getAttribute('aria-expanded')) === 'false') await guide.click();
	await wide.getByRole('button', { name: '/session watch flight' }).click();
	await expect.poll(() => wide.locator('#composer').inputValue()).toBe('/session watch flight');
	await expect.poll(() => wide.getByRole('main').getAttribute('aria-label')).toBe('Channel agents');
	await wide.close();
});

it('shows unread channels in bold, and the line “New” above unread messages', async () => {
	const grace = await harness.window('grace', { channel: 'C0GENERAL' });
	await harness.sandbox.slack.as('ada').say('#agents', 'Something new, @grace');
	const entry = grace.getByRole('button', { name: /agents.*unread/ });
	await entry.waitFor();
	await expect.poll(() => grace.locator('.badge').innerText()).toBe('1');
	const elements = [{ type: 'rich_text_section', elements: [{ type: 'user', user_id: 'U0GRACE' }] }];
	await post('For you', [{ type: 'rich_text', elements }]);
	await expect.poll(() => grace.locator('.badge').innerText()).toBe('2');
	await entry.click();
	await grace.locator('.new-line').waitFor();
	await grace.locator('.entry-unread').waitFor({ state: 'detached' });
});
