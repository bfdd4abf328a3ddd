import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { buttonNamed, launchBrowser } from '../../sandbox/browser.ts';
import { createSandbox } from '../../sandbox/sandbox.ts';
import { readOptions } from '../../test/support/options.ts';
import { lineHeightOf, openWindow, type Shown, shownIn, wordsOfWindow } from './in-page.ts';
import { countWords } from './own-words.ts';
import { AGENTS_TEXTS, type Asks, OPTIONS, scriptOf, TEN } from './scripts.ts';

/*
 * `npm run bench -- words`: how much people see, counted in the sandbox's page in Chromium, 1280 pixels wide. The agents' own
 * words are not counted. It knows no words of the program, only those of its own agents, so it counts any version of the
 * views. Takes about five minutes.
 */

const GOALS = {
	openWords: 18,
	openControls: 5,
	deliveredWords: 15,
	postWords: 25,
	postLines: 2,
	window: 50,
	pressCalls: 4,
	lines: 90,
	homeScreens: 2.2,
	mistyped: 15,
};
const PHONE = { width: 390, height: 844 };

const AUTHOR = 'Handraise';
const CHANNEL = 'C0AGENTS';
const PEOPLE = ['ada', 'grace'];
/** Longer than the program waits between two looks whether the agent went on, except for its last ones. */
const QUIET_MS = 20_000;

readOptions('npm run bench -- words', {});
const sandbox = await createSandbox({
	pace: 0.3,
	onLine: (line, isProblem) => isProblem && console.error(line),
});
const { sessions } = sandbox.service;
const browser = await launchBrowser();
const open = (person: string, channel = CHANNEL) => openWindow(browser, sandbox.url, person, channel);

/** Resolves when no message and no window has changed for this long. */
async function quiet(ms = QUIET_MS): Promise<void> {
	const look = () => JSON.stringify([sandbox.slack.state.messages, sandbox.slack.state.views]);
	let last = look();
	let since = performance.now();
	while (performance.now() - since < ms) {
		await pause(250);
		const now = look();
		if (now !== last) since = performance.now();
		last = now;
	}
}

async function type(page: Page, line: string): Promise<void> {
	await page.locator('#composer').fill(line);
	await page.locator('#composer').press('Enter');
}

/** The button of an option, on the newest post of the question. */
function optionOn(page: Page, { title }: Asks) {
	const posts = page.locator('.channel article.message', { hasText: title });
	return posts.getByRole('button', { name: buttonNamed(OPTIONS[0]) }).last();
}

/** Watches a session, and dismisses what that says to the person who typed it. */
async function watch(page: Page, id: string, asks: Asks): Promise<void> {
	sessions.run(id, scriptOf(asks, id !== 'goes-on'));
	await type(page, `/session watch ${id}`);
	await optionOn(page, asks).waitFor({ timeout: 120_000 });
	const dismiss = page.getByRole('button', { name: 'Dismiss message' });
	// It comes after the question's post.
	await dismiss.first().waitFor();
	for (let left = await dismiss.count(); left > 0; left--) await dismiss.first().click();
}

/** Every message of the app that one of the people sees: in the channel, in its threads and to them directly. */
async function everythingShown(): Promise<Map<string, Shown>> {
	const found = new Map<string, Shown>();
	const add = (all: readonly Shown[]) => {
		for (const one of all) if (!found.has(one.ts)) found.set(one.ts, one);
	};
	for (const person of PEOPLE) {
		const { user } = sandbox.slack.as(person);
		const direct = sandbox.slack.state.channels.filter((one) => one.isIm && one.members.includes(user));
		for (const channel of [CHANNEL, ...direct.map((one) => one.id)]) {
			const page = await open(person, channel);
			// An open window makes what is behind it inert, not invisible.
			add(await shownIn(page, '.channel', AUTHOR));
			const threads = await page.locator('.channel article.message:has(.replies)').all();
			for (const ts of await Promise.all(threads.map((one) => one.getAttribute('data-surface')))) {
				await page.goto(`${sandbox.url}/?as=${person}&window=${person}&in=${channel}&thread=${ts}`);
				await page.locator('.thread .messages').waitFor();
				add(await shownIn(page, '.thread', AUTHOR));
			}
			await page.context().close();
		}
	}
	return found;
}

function tell(what: string, figure: number, goal: number | null, more = ''): void {
	const verdict = goal === null ? '' : `goal ${goal}${figure > goal ? ', MISSED' : ''}`;
	const shown = Number.isInteger(figure) ? String(figure) : figure.toFixed(1);
	console.log(`  ${what.padEnd(42)} ${shown.padStart(5)}  ${verdict.padEnd(17)} ${more}`.trimEnd());
}

/** The calls about messages from now on: each method and how often, and the number of all. */
function callsFromNow() {
	const { traffic } = sandbox.slack;
	const from = traffic.all().at(-1)?.seq ?? 0;
	return () => {
		const sent = traffic
			.all()
			.filter(({ seq, direction, name }) => seq > from && direction !== 'delivery' && /^(?:chat|response)/.test(name));
		const counts = Object.entries(Object.groupBy(sent, ({ name }) => name));
		return { count: sent.length, names: counts.map(([name, calls]) => `${name} ${calls?.length ?? 0}`).join(', ') };
	};
}

/** Of all messages together. */
function tellAll(when: string, shown: ReadonlyMap<string, Shown>, goals: Partial<typeof GOALS> = {}): void {
	const messages = [...shown.values()];
	const counts = messages.map(({ text }) => countWords(text, AGENTS_TEXTS));
	const sum = (figures: readonly number[]) => figures.reduce((one, other) => one + other, 0);
	const words = counts.map(({ own }) => own);
	const more = `${words.join(' + ')}; ${sum(counts.map(({ all }) => all))} with the agent’s`;
	tell(`${when}: words`, sum(words), goals.openWords ?? null, more);
	const controls = messages.map(({ labels }) => labels.length);
	tell(`${when}: buttons and menus`, sum(controls), goals.openControls ?? null, controls.join(' + '));
}

/** A question from its post until its agent went on, and the window that Grace opens meanwhile. */
async function followOne(asks: Asks): Promise<void> {
	const ada = await open('ada');
	await watch(ada, 'goes-on', asks);
	await quiet(5_000);
	const asked = await everythingShown();
	const post = [...asked.values()].find(({ labels }) => OPTIONS.every((option) => labels.includes(option)));
	if (post === undefined) throw new Error('No message has the options.');
	console.log('One question with two options in a watched channel, all messages and people:');
	tellAll('open', asked, GOALS);
	const notified = sandbox.slack.state.messages.find((one) => one.ts === post.ts)?.text ?? '';
	const told = notified.includes(asks.title) ? notified : `MISSED: ${notified}`;
	tell('words of its notification', countWords(notified, AGENTS_TEXTS).own, null, told);

	const grace = await open('grace');
	await type(grace, '/session goes-on');
	await grace.locator('.dialog .block-input').first().waitFor();
	await quiet(5_000);
	const form = await wordsOfWindow(grace);
	tellAll('open, Grace has its window', await everythingShown(), GOALS);
	await grace.keyboard.press('Escape');
	await grace.locator('.dialog').waitFor({ state: 'detached' });
	await grace.context().close();
	// Until the post is drawn without her: a press on its former look would meet no button.
	await quiet(2_000);

	const fromPress = callsFromNow();
	await optionOn(ada, asks).click();
	await optionOn(ada, asks).waitFor({ state: 'detached' });
	await quiet(2_000);
	tellAll('pressed a moment ago', await everythingShown(), GOALS);
	await sessions.until('goes-on', (json) => (json.messages?.length ?? 0) > 3);
	await quiet();
	const settled = fromPress();
	const after = await everythingShown();
	tellAll('delivered, and the agent continued', after, { openWords: GOALS.deliveredWords });
	tell('calls until the agent continued', settled.count, GOALS.pressCalls, settled.names);

	console.log('The post of that question, when the agent went on:');
	const { text = '', lines = 0 } = after.get(post.ts) ?? {};
	const words = countWords(text, AGENTS_TEXTS);
	tell('words, with the agent’s', words.all, GOALS.postWords, `${words.own} of ours`);
	tell('lines of text', lines, GOALS.postLines);

	console.log('The window of that question:');
	const all = countWords(form, AGENTS_TEXTS);
	tell('words before “Send answer”', all.own, GOALS.window, `${all.all} with the agent’s`);
	await type(ada, '/session watch goes-on --qustions-only');
	await quiet(3_000);
	const [mistyped] = (await shownIn(ada, '.channel', AUTHOR)).slice(-1);
	tell('words after a mistyped command', countWords(mistyped?.text ?? '', []).all, GOALS.mistyped, mistyped?.text);
	await ada.context().close();
}

/** How many screens of a phone the questions take in Home. */
async function measureHome(): Promise<void> {
	const phone = await open('ada');
	await phone.setViewportSize(PHONE);
	await phone.goto(`${sandbox.url}/?as=ada&window=phone&tab=home`);
	await phone.locator('#app-home').getByText(`${TEN.length} questions for you`).waitFor({ timeout: 60_000 });
	await quiet(3_000);
	const height = await phone.locator('#app-home .blocks').evaluate((blocks) => blocks.getBoundingClientRect().height);
	console.log(`Home with ten questions, ${PHONE.width} × ${PHONE.height}:`);
	tell('screens', height / PHONE.height, GOALS.homeScreens, `${Math.round(height)} pixels`);
	await phone.context().close();
}

/** Ten sessions: each asks once, is answered by a press, and completes. */
async function followTen(): Promise<void> {
	const channel = 'C0GENERAL';
	await sandbox.slack.invite(channel, sandbox.slack.state.app.botUser);
	const ada = await open('ada', channel);
	const calls = callsFromNow();
	for (const [index, asks] of TEN.entries()) await watch(ada, `ten-${index}`, asks);
	await measureHome();
	for (const asks of TEN) await optionOn(ada, asks).click();
	for (const index of TEN.keys()) await sessions.until(`ten-${index}`, (json) => json.status === 'completed');
	await quiet();
	const { count, names } = calls();
	// She has no messages that only Ada sees.
	const grace = await open('grace', channel);
	const shown = await shownIn(grace, '.channel', AUTHOR);
	const height = shown.reduce((sum, one) => sum + one.height, 0);
	console.log('The channel after ten sessions, each asked and answered once, as somebody else sees it:');
	tell('lines', height / (await lineHeightOf(grace)), GOALS.lines, `${shown.length} messages`);
	tell('calls for a watch, a question and an end', count / TEN.length, null, names);
}

try {
	// A busy machine takes its time to start the program.
	await sandbox.slack.changes.until(
		() => sandbox.slack.sockets.count() > 0,
		() => 'the program did not connect',
		60_000,
	);
	// Before the other: Home shows what somebody has answered, too.
	await followTen();
	const [first] = TEN;
	if (first !== undefined) await followOne(first);
} finally {
	await browser.close();
	await sandbox.close();
}
