import { mkdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import { asking, done, item, task } from '../fake-session-service/builders.ts';
import type { MessageJson } from '../fake-session-service/json.ts';
import { flight } from '../fake-session-service/scenarios/flight.ts';
import { waitingCountWords } from '../src/screens/inbox.ts';
import { digestText, ESCALATION, REMINDER, youHandedOver } from '../test/support/sentences.ts';
import { buttonNamed, launchBrowser } from './browser.ts';
import { createMovedClock } from './moved-clock.ts';
import { createSandbox, type Sandbox } from './sandbox.ts';

/*
 * The documents' pictures, made from the sandbox: `npm run screenshots`, or only one set with its function's name behind
 * `--`. Each is cropped to what it is about and has two pixels for one. On Linux x64 the fonts are the packaged Chromium's
 * and the sandbox's own, so every machine draws the same.
 */

const FOLDER = fileURLToPath(new URL('pictures', import.meta.url));
process.env.FONTCONFIG_PATH ??= join(tmpdir(), 'fonts');

/** The list of channels and the sandbox's tools, left and right of a channel. */
const BESIDE_CHANNEL = 236 + 66;
const LONG = { timeout: 60_000 };
/** The id that the documents use. */
const TRIP = '3f9a2c1d';
const OFFERS = 'LH 1173 leaves at 06:05 for 129 €. TP 570 leaves at 08:40 for 164 €, with a window seat.';
/** Listed like this, options are not repeated above their buttons; in a sentence, they read better in one line. */
const AS_LIST = '- LH 1173\n- TP 570';
const IN_A_LINE = 'One of: LH 1173, TP 570';

const browser = await launchBrowser();
const made: string[] = [];

interface Stage extends Sandbox {
	/** A person's window of #agents, with a channel of this width. */
	open(person: string, width: number): Promise<Page>;
}

/** Plays in a sandbox of its own, where it is 9:38 in the morning. */
async function inSandbox(undoSeconds: number, play: (stage: Stage) => Promise<void>): Promise<void> {
	const morning = new Date();
	morning.setHours(9, 38, 0, 0);
	if (morning.getTime() < Date.now()) morning.setDate(morning.getDate() + 1);
	const sandbox = await createSandbox({
		clock: createMovedClock(morning.getTime() - Date.now()),
		appEnv: { UNDO_SECONDS: String(undoSeconds) },
		onLine: (line, isProblem) => isProblem && console.error(line),
	});
	const context = await browser.newContext({ deviceScaleFactor: 2, reducedMotion: 'reduce' });
	try {
		await sandbox.slack.connected();
		await play({
			...sandbox,
			async open(person, width) {
				const page = await context.newPage();
				// High enough for all that is cropped.
				await page.setViewportSize({ width: width + BESIDE_CHANNEL, height: 1100 });
				await page.goto(`${sandbox.url}/?as=${person}&in=C0AGENTS`);
				await page.locator('.channel').waitFor();
				// The guide is for visitors of the page.
				const guide = button(page, 'Close the panel');
				if (await guide.isVisible()) await guide.click();
				return page;
			},
		});
	} finally {
		await context.close();
		await sandbox.close();
	}
}

interface Area {
	readonly first: Locator;
	/** The same by default. */
	readonly last?: Locator;
	/** So many pixels more below. */
	readonly below?: number;
}

/** A part of a page, as PNG: from the upper edge of `first` to the lower edge of `last`, as wide as `first`. */
async function crop({ first, last = first, below = 0 }: Area): Promise<Buffer> {
	const page = first.page();
	// Pictures show no pointer, no focus and no caret.
	await page.mouse.move(0, 0);
	await page.evaluate('document.activeElement.blur()');
	const [upper, lower] = [await first.boundingBox(), await last.boundingBox()];
	if (upper === null || lower === null) throw new Error('What should be in the picture is not visible.');
	// Whole pixels, so that there is nothing of its neighbours.
	const y = Math.ceil(upper.y) + 1;
	const clip = { x: upper.x, y, width: upper.width, height: Math.floor(lower.y + lower.height) + below - y };
	return page.screenshot({ clip, caret: 'hide', animations: 'disabled' });
}

/** Writes a picture: frames with round corners, one below the other, each with its caption (or "") above it. */
async function picture(name: string, ...frames: readonly (readonly [caption: string, png: Buffer])[]): Promise<void> {
	const figures = frames.map(
		([caption, png]) =>
			`<figure><figcaption>${caption}</figcaption><img src="data:image/png;base64,${png.toString('base64')}"></figure>`,
	);
	const page = await browser.newPage({ deviceScaleFactor: 2 });
	await page.setContent(`<style>
		body { margin: 0; font: 14px sans-serif; color: #6e7781; }
		main { display: inline-grid; gap: 14px; }
		figure { margin: 0; }
		figcaption:not(:empty) { padding: 0 0 5px 2px; }
		img { display: block; zoom: 0.5; border: 2px solid #d1d9e0; border-radius: 26px; }
	</style><main>${figures.join('')}</main>`);
	const path = `${FOLDER}/${name}.png`;
	await page.locator('main').screenshot({ path, omitBackground: true });
	await page.close();
	made.push(`${name}.png ${Math.round((await stat(path)).size / 1024)} kB`);
}

const button = (within: Locator | Page, name: string) => within.getByRole('button', { name: buttonNamed(name) });
const message = (page: Page, words: string | RegExp) =>
	page.locator('.channel .message:not(.message-ephemeral)').filter({ hasText: words }).last();
const question = (page: Page, session = 'Plan the Frankfurt trip') =>
	message(page, new RegExp(`${session} (asks|asked)|Sends at`));

async function type(page: Page, line: string): Promise<void> {
	await page.locator('#composer').fill(line);
	await page.locator('#composer').press('Enter');
}

async function choose(page: Page, label: string | RegExp, typed: string): Promise<void> {
	const modal = page.getByRole('dialog');
	const field = modal.getByRole('combobox', { name: label });
	await field.fill(typed);
	await field.press('Enter');
	if (await modal.getByRole('listbox').filter({ visible: true }).isVisible()) await field.press('Escape');
}

async function moveClock(page: Page, label: string): Promise<void> {
	await page.getByRole('button', { name: /^Trouble/ }).click();
	const moved = page.waitForResponse(/do\/move-clock/);
	await button(page, label).click();
	await moved;
	await button(page, 'Close the panel').click();
}

/** Its session works and is watched, Grace says something, then the agent asks: so the post stands by itself. */
async function watchTrip({ service, slack }: Stage, watcher: string, options: string): Promise<void> {
	const { promise: mayAsk, resolve: ask } = Promise.withResolvers<void>();
	service.sessions.run(TRIP, {
		...flight,
		async play(agent) {
			await mayAsk;
			const [number] = await agent.ask(OFFERS, [item('Which flight should I book?', options)]);
			await agent.wait(2000);
			agent.step(`I select ${number}.`, { click: { index: 4 } });
		},
	});
	await slack.as(watcher).command('#agents', `/session watch ${TRIP}`);
	const isWatched = () => slack.state.messages.some(({ text }) => text.includes('Watching'));
	await slack.changes.until(isWatched, () => 'The session is not watched.', LONG.timeout);
	await slack.as('grace').say('#agents', 'The meeting begins at noon, so either works for me.');
	ask();
}

/** A question, its answer, and what the agent does then. */
async function hero(): Promise<void> {
	await inSandbox(3, async (stage) => {
		await watchTrip(stage, 'grace', AS_LIST);
		const page = await stage.open('ada', 600);
		const post = question(page);
		await button(post, 'LH 1173').waitFor(LONG);
		const asks = await crop({ first: post });
		await button(post, 'LH 1173').click();
		await post.getByText('delivered').waitFor(LONG);
		const delivered = await crop({ first: post });
		const card = message(page, 'I select LH 1173.');
		await card.waitFor(LONG);
		await picture(
			'hero',
			['An agent asks. One press answers.', asks],
			['The same post, seconds later.', delivered],
			['The agent goes on.', await crop({ first: card })],
		);
	});
}

/** Two people press, before Slack shows them each other's press. */
async function presses(): Promise<void> {
	await inSandbox(10, async (stage) => {
		await watchTrip(stage, 'ada', AS_LIST);
		const [ada, grace] = [await stage.open('ada', 460), await stage.open('grace', 460)];
		await button(question(grace), 'TP 570').waitFor(LONG);
		const { faults } = stage.slack;
		const releases = [
			faults.hold('response_url', (args) => args.replace_original === true),
			faults.hold('chat.update'),
		];
		const pressed = ada.waitForResponse(/do\/act/);
		await button(question(ada), 'LH 1173').click();
		await pressed;
		await button(question(grace), 'TP 570').click();
		const lost = grace.locator('.message-ephemeral').last();
		await lost.getByText('LH 1173').waitFor(LONG);
		for (const release of releases) release();
		await question(grace).getByText('Sends at').waitFor();
		await picture('second', ['', await crop({ first: question(grace), last: lost })]);
		await picture('undo', ['', await crop({ first: question(ada) })]);
	});
}

/** A channel's settings, what they cause when nobody answers, and a question that is handed over. */
async function reminders(): Promise<void> {
	await inSandbox(10, async (stage) => {
		const [ada, grace] = [await stage.open('ada', 460), await stage.open('grace', 460)];
		const modal = ada.getByRole('dialog');
		await type(ada, '/session settings');
		await button(modal, 'Save').waitFor();
		await choose(ada, 'Escalate after', '30 min');
		await choose(ada, /^Mention \(/, 'grace');
		const fields = { first: modal.locator('.dialog-head'), last: modal.locator('.block-input').nth(3), below: 14 };
		await picture('settings', ['', await crop(fields)]);
		await button(modal, 'Save').click();
		await modal.getByText('Saved.').waitFor();
		await ada.keyboard.press('Escape');

		await watchTrip(stage, 'ada', IN_A_LINE);
		await button(question(grace), 'LH 1173').waitFor(LONG);
		await moveClock(ada, '+15 min');
		await message(grace, REMINDER).waitFor(LONG);
		await moveClock(ada, '+15 min');
		const escalation = message(grace, ESCALATION);
		await escalation.waitFor(LONG);
		await picture('reminder', ['', await crop({ first: question(grace), last: escalation })]);

		await button(question(ada), 'More options').click();
		await question(ada).getByRole('menuitem', { name: 'Hand over' }).click();
		await choose(ada, 'Hand over to', 'grace');
		await modal.getByRole('textbox', { name: /note/i }).fill('You know the airline.');
		await button(modal, 'Hand over').click();
		await modal.getByText(youHandedOver('Grace')).waitFor();
		await grace.getByRole('button', { name: /^Handraise.*unread/ }).click();
		const given = grace.locator('.channel .message').last();
		await button(given, 'More options').waitFor();
		await picture('hand-over', ['', await crop({ first: given })]);
	});
}

/** The form on a phone. */
async function phone(): Promise<void> {
	await inSandbox(10, async (stage) => {
		await watchTrip(stage, 'grace', IN_A_LINE);
		const page = await stage.open('ada', 460);
		await page.setViewportSize({ width: 390, height: 716 });
		await button(question(page), 'Other answer…').click(LONG);
		const modal = page.getByRole('dialog');
		await modal.getByRole('radio', { name: 'TP 570' }).check();
		await modal.getByRole('textbox').first().fill('Seat 12A, please');
		await picture('phone', ['', await crop({ first: page.locator('.client') })]);
	});
}

/** The inbox in the Home tab: a choice that can be taken back, two questions, the last answers. */
async function home(): Promise<void> {
	await inSandbox(60, async (stage) => {
		const { sessions } = stage.service;
		const put = (id: string, name: string, asked: MessageJson) =>
			sessions.put(id, { status: 'humanInput', name, messages: [task(name), asked] });
		put('5d20c7f4', 'Register the speakers', asking('', ['Which affiliation?']));
		put(
			'b81e06a9',
			'Renew the domain',
			asking('The price is 21.40 €.', [item('Shall I renew it anyway?', 'Yes or no')]),
		);
		put(TRIP, 'Plan the Frankfurt trip', asking(OFFERS, [item('Which flight should I book?', AS_LIST)]));
		put('e47a90b2', 'Prepare the newsletter', asking('', ['What is the subject line?']));
		put('90c3d5e8', 'Order new chairs', asking('', [item('Which colour?', '- Graphite\n- Sand')]));
		const page = await stage.open('ada', 460);
		await type(page, `/session watch ${sessions.ids().join(' ')}`);
		for (const id of sessions.ids()) await question(page, sessions.get(id).name ?? '').waitFor(LONG);
		await moveClock(page, '+15 min');
		await message(page, digestText(5)).waitFor(LONG);
		const domain = question(page, 'Renew the domain');
		await button(domain, 'No').click();
		await domain.getByText('Sends at').waitFor();
		await moveClock(page, '+1 min');
		await sessions.until('b81e06a9', () => sessions.values('b81e06a9', 1)[0] === 'No');
		sessions.answerAsPage('5d20c7f4', ['University of Lisbon']);
		for (const id of ['b81e06a9', '5d20c7f4']) {
			sessions.push(id, done('On it.'));
			sessions.setStatus(id, 'active');
		}
		await domain.getByText('continued', { exact: false }).waitFor(LONG);
		await page.getByRole('button', { name: /^Handraise/ }).click();
		await page.getByRole('tab', { name: 'Home' }).click();
		const tab = page.getByRole('tabpanel', { name: 'Home' });
		await tab.getByText(waitingCountWords(3, 0)).waitFor(LONG);
		await button(tab, 'Graphite').click();
		await button(tab, 'Undo').waitFor();
		const list = { first: page.getByRole('tablist'), last: tab.locator('.home-inner'), below: 16 };
		await picture('home', ['', await crop(list)]);
	});
}

try {
	await mkdir(FOLDER, { recursive: true });
	const [only] = process.argv.slice(2);
	for (const make of [hero, presses, reminders, phone, home]) {
		if (only === undefined || only === make.name) await make();
	}
	console.log(made.join('\n'));
} finally {
	await browser.close();
}
