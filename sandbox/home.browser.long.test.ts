import { App } from '@slack/bolt';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { callSlack, type Json } from '../fake-slack/index.ts';
import { buttonNamed } from './browser.ts';
import { type Harness, openHarness } from './harness.ts';
import { seriousFindings } from './serious-findings.ts';

/** A small app of its own instead of Handraise: the tests look at the page. */
let harness: Harness;
let app: App;
/** What the app does with the next presses, by action_id. */
let onPress: Record<string, (body: Json) => Promise<unknown>>;

beforeAll(async () => {
	harness = await openHarness({ withBot: false });
	const { slack } = harness.sandbox;
	const { bot: token, app: appToken } = slack.tokens;
	app = new App({ token, appToken, socketMode: true, clientOptions: { slackApiUrl: slack.apiUrl } });
	app.event('app_home_opened', async () => {});
	app.action(/.*/, async ({ ack, body, action }) => {
		await ack();
		await onPress['action_id' in action ? action.action_id : '']?.(body as unknown as Json);
	});
	await app.start();
	await slack.connected();
});
afterAll(async () => {
	await app?.stop();
	await harness?.close();
});
beforeEach(() => {
	onPress = {};
});
afterEach(async () => {
	await harness.closeWindows();
	const { slack } = harness.sandbox;
	slack.forgetViews(Object.values(slack.state.homes));
	expect(harness.complaints).toEqual([]);
	expect(slack.violations()).toEqual([]);
});

const plain = (text: string) => ({ type: 'plain_text', text });
const button = (id: string, label = id) => ({ type: 'button', action_id: id, text: plain(label), value: id });
const actions = (id: string, ...labels: string[]) => ({
	type: 'actions',
	block_id: id,
	elements: labels.map((label) => button(label)),
});
const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } });

async function slackCall(method: string, args: Json): Promise<Json> {
	const reply = await callSlack(harness.sandbox.slack, method, args);
	expect(reply).toMatchObject({ ok: true });
	return reply;
}
const publish = (blocks: Json[], user = 'U0ADA') =>
	slackCall('views.publish', { user_id: user, view: { type: 'home', blocks } });
async function respond(body: Json, message: Json): Promise<void> {
	const headers = { 'content-type': 'application/json' };
	const init = { method: 'POST', headers, body: JSON.stringify(message) };
	expect((await fetch(String(body.response_url), init)).status).toBe(200);
}
const opened = () =>
	harness.sandbox.slack.traffic.deliveries('app_home_opened').map((one) => (one.request.event as Json).tab);

const homeOf = (page: Page) => page.getByRole('tabpanel', { name: 'Home' });
const tab = (page: Page, name: string) => page.getByRole('tab', { name });
/** The name or text of what has the focus; empty when the focus is lost. */
const focused = (page: Page) =>
	page.evaluate(`document.activeElement === document.body ? '' :
		document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent`);
const press = (page: Page, name: string) => page.getByRole('button', { name: buttonNamed(name) }).press('Enter');
/** Buttons above each other instead of beside each other. */
async function lines(buttons: Locator): Promise<number> {
	const boxes = await Promise.all((await buttons.all()).map((one) => one.boundingBox()));
	return new Set(boxes.map((box) => Math.round(box?.y ?? -1))).size;
}

it('opens Home from the sidebar, tells the app, and shows what it publishes', async () => {
	const page = await harness.window('ada', { channel: 'C0AGENTS' });
	const before = opened().length;
	await page.getByRole('button', { name: 'Handraise', exact: true }).press('Enter');
	await homeOf(page).getByText('Handraise has not published a Home tab for you yet.').waitFor();
	await expect.poll(() => opened().slice(before)).toEqual(['home']);
	await publish([section('*2 questions* wait for you'), { type: 'divider' }, actions('row', 'Answer')]);
	await homeOf(page).getByText('2 questions').waitFor();
	await publish([section('Nothing waits for you')]);
	await homeOf(page).getByText('Nothing waits for you').waitFor();
	await expect.poll(() => homeOf(page).getByRole('button').count()).toBe(0);
	await expect
		.poll(() => page.getByRole('button', { name: 'Handraise', exact: true }).getAttribute('aria-current'))
		.toBe('page');
	await page.reload();
	await homeOf(page).getByText('Nothing waits for you').waitFor();
	await expect.poll(() => opened().slice(before)).toEqual(['home', 'home']);

	const grace = await harness.window('grace', { home: true });
	await homeOf(grace).getByText('has not published').waitFor();
});

it('changes between the tabs with the arrow keys, and shows direct messages under Messages', async () => {
	await publish([section('Inbox')]);
	await slackCall('chat.postMessage', { channel: 'U0ADA', text: 'A direct message' });
	const page = await harness.window('ada', { home: true });
	await homeOf(page).getByText('Inbox').waitFor();
	await expect.poll(() => page.getByText('A direct message').count()).toBe(0);
	const before = opened().length;
	await tab(page, 'Home').focus();
	await page.keyboard.press('ArrowRight');
	await page.getByRole('tabpanel', { name: 'Messages' }).getByText('A direct message').waitFor();
	await expect.poll(() => focused(page)).toBe('Messages');
	await expect.poll(() => tab(page, 'Messages').getAttribute('aria-selected')).toBe('true');
	await expect.poll(() => tab(page, 'Home').getAttribute('tabindex')).toBe('-1');
	await page.keyboard.press('End');
	await page.keyboard.press('Home');
	await homeOf(page).getByText('Inbox').waitFor();
	await page.keyboard.press('ArrowLeft');
	await page.getByRole('textbox', { name: 'Message Handraise' }).or(page.locator('#composer')).fill('Hello');
	await page.locator('#composer').press('Enter');
	await page.locator('.message').getByText('Hello').waitFor();
	await expect.poll(() => opened().slice(before)).toEqual(['messages', 'home', 'messages']);
	// Unread messages come before Home, as they wait for the person.
	await page.getByRole('button', { name: 'agents' }).first().click();
	await slackCall('chat.postMessage', { channel: 'U0ADA', text: 'Another one' });
	await page.getByRole('button', { name: /Handraise.*unread/ }).click();
	await page.getByRole('tabpanel', { name: 'Messages' }).getByText('Another one').waitFor();
});

it('has only Messages without a Home tab in the manifest', async () => {
	const { settings } = harness.sandbox.slack;
	settings.homeTab = false;
	try {
		const page = await harness.window('grace', { home: true });
		await page.getByRole('button', { name: 'Handraise', exact: true }).click();
		await page.getByRole('heading', { name: 'Handraise', level: 1 }).waitFor();
		await expect.poll(() => page.getByRole('tab').count()).toBe(0);
		await page.locator('#composer').waitFor();
	} finally {
		settings.homeTab = true;
	}
});

it('opens a modal from a button, and keeps the focus on the button while Home is published again', async () => {
	const view = { type: 'modal', title: plain('Which flight?'), blocks: [section('Two are left')] };
	onPress.Answer = (body) => slackCall('views.open', { trigger_id: body.trigger_id, view });
	const inbox = (words: string) => [
		section(words),
		actions('demo', 'Answer', 'Later'),
		actions('report', 'Answer', 'Later'),
	];
	await publish(inbox('2 questions'));
	const page = await harness.window('ada', { home: true });
	const answer = homeOf(page).getByRole('button', { name: 'Answer' });
	await answer.nth(1).press('Enter');
	await page.getByRole('dialog', { name: 'Which flight?' }).getByText('Two are left').waitFor();
	await publish([section('New at the top'), actions('new', 'Answer'), ...inbox('3 questions')]);
	await page.keyboard.press('Escape');
	await page.getByRole('dialog').waitFor({ state: 'detached' });
	const focusedBlock = () =>
		page.evaluate('document.activeElement?.dataset.blockId ?? document.activeElement?.textContent');
	await expect.poll(() => focusedBlock()).toBe('report');
	await publish([actions('report', 'Later', 'Answer'), section('1 question')]);
	await homeOf(page).getByText('1 question').waitFor();
	await expect.poll(() => focusedBlock()).toBe('report');
	await expect.poll(() => focused(page)).toBe('Answer');
	// Another block with the same two ids, and the button elsewhere in it.
	await publish([{ ...section('Report'), block_id: 'report', accessory: button('Answer') }]);
	await homeOf(page).getByText('Report').waitFor();
	await expect.poll(() => focused(page)).toBe('Answer');
});

it('moves the focus to its row, or to the heading, when the focused button disappears from Home', async () => {
	const heading = { type: 'header', text: plain('2 questions wait') };
	await publish([heading, section('First'), actions('a', 'Dismiss'), section('Second'), actions('b', 'Dismiss')]);
	const page = await harness.window('ada', { home: true });
	await homeOf(page).getByRole('button', { name: 'Dismiss' }).first().focus();
	await publish([heading, section('First'), actions('a', 'Undo'), section('Second'), actions('b', 'Dismiss')]);
	await expect.poll(() => focused(page)).toBe('Undo');
	await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('DIV');
	await page.keyboard.press('Tab');
	await expect.poll(() => page.evaluate('document.activeElement?.dataset.blockId')).toBe('a');
	await publish([heading, section('Second'), actions('b', 'Dismiss')]);
	await expect.poll(() => focused(page)).toBe('2 questions wait');
	await homeOf(page).getByRole('heading', { name: '2 questions wait', level: 2 }).waitFor();
	await page.keyboard.press('Tab');
	await expect.poll(() => page.evaluate('document.activeElement?.dataset.blockId')).toBe('b');
	await publish([]);
	await expect.poll(() => focused(page)).toBe('Home of Handraise');
});

it('wraps two to six buttons legibly on a phone', async () => {
	const words = ['Answer', 'Answer in the channel', 'Remind me tomorrow', 'Open session', 'Mute', 'Stop watching'];
	const long = `Answer ${'with a very long label '.repeat(3)}`.slice(0, 75);
	const rows = [2, 3, 4, 5, 6].map((count) => actions(`row-${count}`, ...words.slice(0, count)));
	const blocks = [
		{ type: 'header', text: plain('Waiting for you') },
		...rows.flatMap((row) => [
			section(`*${row.elements.length} choices* in session \`demo\``),
			row,
			{ type: 'divider' },
		]),
		{
			...section('*Subject line*\nThe agent asks for the subject line of the newsletter'),
			accessory: button('Answer'),
		},
		actions('long', long, 'Mute'),
		{ type: 'context', elements: [{ type: 'mrkdwn', text: 'Last updated a minute ago' }] },
	];
	await publish(blocks);
	await slackCall('chat.postMessage', { channel: 'C0AGENTS', text: 'card', blocks: rows });
	const page = await harness.window('ada', { narrow: true, home: true });
	await homeOf(page).getByText('Waiting for you').waitFor();
	for (const surface of ['Home', 'message']) {
		if (surface === 'message') await page.goto(`${harness.sandbox.url}/?as=ada&in=C0AGENTS`);
		const buttonsOf = (row: string) => page.locator(`.button[data-block-id="${row}"]`);
		await buttonsOf('row-6').first().waitFor();
		await expect.poll(() => lines(buttonsOf('row-2'))).toBe(1);
		await expect.poll(() => lines(buttonsOf('row-6'))).toBeGreaterThan(2);
		for (const one of await page.locator('.block-actions .button').all()) {
			const box = (await one.boundingBox()) ?? { x: -1, width: 0, height: 0 };
			const fits = box.x >= 0 && box.x + box.width <= 375 && box.height >= 24;
			expect(fits, await one.innerText()).toBe(true);
		}
		await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(375);
	}
});

it('has no serious axe findings in a Home that is not published, wide or narrow, and in its Messages', async () => {
	const page = await harness.window('ada', { home: true });
	const narrow = await harness.window('ada', { narrow: true, home: true });
	for (const one of [page, narrow]) {
		await homeOf(one).getByRole('status').waitFor();
		expect(await seriousFindings(one)).toEqual([]);
	}
	await tab(page, 'Messages').click();
	await page.locator('#composer').waitFor();
	expect(await seriousFindings(page, '.client')).toEqual([]);
});

it('replaces and deletes an ephemeral message through the response_url of its button', async () => {
	const channel = 'C0AGENTS';
	const page = await harness.window('ada', { channel });
	onPress.start = (body) =>
		respond(body, { text: 'Sure?', blocks: [section('Sure?'), actions('sure', 'Undo', 'Yes')] });
	onPress.Undo = (body) =>
		respond(body, { replace_original: true, text: 'Kept.', blocks: [section('Kept.'), actions('kept', 'Close')] });
	onPress.Close = (body) => respond(body, { delete_original: true });
	const { ts } = await slackCall('chat.postMessage', {
		channel,
		text: 'card',
		blocks: [{ type: 'actions', elements: [button('start', 'Start over')] }],
	});
	await press(page, 'Start over');
	const hidden = page.locator('.message-ephemeral');
	await hidden.getByText('Sure?').waitFor();
	await press(page, 'Undo');
	await hidden.getByText('Kept.').waitFor();
	await expect.poll(() => hidden.getByText('Sure?').count()).toBe(0);
	await expect.poll(() => hidden.count()).toBe(1);
	// The message has the focus: the button is gone, and another one would be pressed by a second Enter.
	await expect.poll(() => focused(page)).toMatch(/^Handraise, .*: Kept\.$/);
	await page.keyboard.press('Tab');
	await expect.poll(() => focused(page)).toBe('Close');
	await page.keyboard.press('Enter');
	await hidden.waitFor({ state: 'detached' });
	await expect.poll(() => page.evaluate('document.activeElement?.dataset.surface')).toBe(ts);
	await slackCall('chat.delete', { channel, ts });
	await expect.poll(() => focused(page)).toMatch(/^(Ada|Grace|Handraise)/);
});

it('keeps the focus at a channel message whose buttons disappear', async () => {
	const channel = 'C0AGENTS';
	const page = await harness.window('ada', { channel });
	const blocks = (...labels: string[]) => [
		section('Which flight?'),
		...(labels.length > 0 ? [actions('ask', ...labels)] : []),
	];
	const { ts } = await slackCall('chat.postMessage', { channel, text: 'card', blocks: blocks('Answer', 'Skip') });
	const message = page.locator(`.message[data-surface="${ts}"]`);
	await message.getByRole('button', { name: 'Answer' }).focus();
	await slackCall('chat.update', { channel, ts, text: 'card', blocks: blocks('Skip', 'Answer') });
	await expect.poll(() => message.locator('.button').allInnerTexts()).toEqual(['Skip', 'Answer']);
	await expect.poll(() => focused(page)).toBe('Answer');
	await slackCall('chat.update', { channel, ts, text: 'card', blocks: blocks() });
	await message.locator('.button').first().waitFor({ state: 'detached' });
	await expect.poll(() => page.evaluate('document.activeElement?.dataset.surface')).toBe(ts);
	// The same when it happens behind a modal that the button opened.
	await slackCall('chat.update', { channel, ts, text: 'card', blocks: blocks('Answer') });
	const view = { type: 'modal', title: plain('Which flight?'), blocks: [section('Two are left')] };
	onPress.Answer = (body) => slackCall('views.open', { trigger_id: body.trigger_id, view });
	await message.getByRole('button', { name: 'Answer' }).press('Enter');
	await page.getByRole('dialog').waitFor();
	await slackCall('chat.update', { channel, ts, text: 'card', blocks: blocks() });
	await message.locator('.button').first().waitFor({ state: 'detached' });
	await page.keyboard.press('Escape');
	await page.getByRole('dialog').waitFor({ state: 'detached' });
	await expect.poll(() => page.evaluate('document.activeElement?.dataset.surface')).toBe(ts);
});

it('lets people join and leave a channel', async () => {
	const page = await harness.window('grace', { channel: 'C0AGENTS' });
	await page.locator('#composer').fill('/leave');
	await page.keyboard.press('Enter');
	await page.getByRole('button', { name: 'Join channel' }).waitFor();
	await expect.poll(() => focused(page)).toBe('Join channel');
	await page.keyboard.press('Enter');
	await page.locator('#composer').waitFor();
	await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('composer');
	await page.getByRole('button', { name: 'general', exact: true }).click();
	await page.locator('#composer').fill('/leave');
	await page.keyboard.press('Enter');
	await page.getByText('Nobody can leave #general.').first().waitFor();
});
