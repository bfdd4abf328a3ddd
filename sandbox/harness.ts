import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { passTime, steadyClock, watchRequests } from '../test/support/pass-time.ts';
import { createAppHere } from './app-here.ts';
import { launchBrowser } from './browser.ts';
import { createJumpingClock } from './jumping-clock.ts';
import { createSandbox, type Sandbox, type SandboxOptions } from './sandbox.ts';

interface WindowOptions {
	narrow?: boolean;
	channel?: string;
	/** Opens the app's Home tab instead of a channel. */
	home?: boolean;
}

export type Harness = Awaited<ReturnType<typeof openHarness>>;

interface HarnessOptions extends SandboxOptions {
	/** Starts the app as a process of its own, which can be killed. Its time is the machine's. */
	ownProcess?: boolean;
}

/** A jump's second takes at least this long: a page needs time to show what has come. */
const SECOND_TAKES_MS = 15;
/** The app needs a while to start on a busy machine. */
const START_MS = 40_000;
/** Waits on the page end after this time with Playwright's account of what was there. */
const PATIENCE_MS = 25_000;

/** A sandbox with the whole app and a real browser. */
export async function openHarness({ ownProcess = false, ...options }: HarnessOptions = {}) {
	const complaints: string[] = [];
	const problems: string[] = [];
	const clock = createJumpingClock();
	const unwatch = watchRequests();
	const [sandbox, browser]: [Sandbox, Browser] = await Promise.all([
		createSandbox({
			pace: 0.1,
			...(ownProcess ? {} : { clock, createApp: (deps) => createAppHere(clock, deps) }),
			onLine(line, isProblem) {
				if (isProblem) problems.push(line);
			},
			...options,
		}),
		launchBrowser(),
	]);
	const { bot, slack } = sandbox;
	try {
		if (bot !== null) {
			await slack.changes.until(
				() => slack.sockets.count() > 0,
				() => `The app is ${bot.status().status}. ${problems.join('\n')}`,
				START_MS,
			);
		}
	} catch (error) {
		await Promise.all([browser.close(), sandbox.close()]);
		throw error;
	}
	const context = await browser.newContext({ reducedMotion: 'reduce' });
	context.setDefaultTimeout(PATIENCE_MS);
	/** Pages of closed windows: one that is used again has compiled the page's scripts. */
	const closed: Page[] = [];
	const open: Page[] = [];
	let opened = 0;
	async function newPage(): Promise<Page> {
		const page = await context.newPage();
		page.on('pageerror', (error) => complaints.push(error.message));
		page.on('console', (message) => {
			if (/Content Security Policy/i.test(message.text())) complaints.push(message.text());
		});
		return page;
	}
	/** Resolves when every page has run a script: no time passes while a busy browser does not get to what it should show. */
	async function pagesRespond(): Promise<void> {
		// A page that is loading or closing cannot run it.
		await Promise.all(open.map((page) => page.evaluate('0').catch(() => undefined)));
	}
	async function until(condition: () => boolean, limitMs?: number): Promise<void> {
		const describe = () => `Slack has ${slack.state.messages.length} messages. ${problems.join('\n')}`;
		await passTime(sandbox, steadyClock(clock, SECOND_TAKES_MS, pagesRespond), condition, { describe, limitMs });
	}
	return {
		sandbox,
		/** The pages' complaints: script errors, and everything that the Content-Security-Policy refused. */
		complaints,
		/** Lines of the app's log that are errors. */
		problems: problems as readonly string[],
		/** The time of an app that has no process of its own, in milliseconds since the epoch. */
		now: clock.now,
		/** Lets the time until this condition of this process pass as fast as it can. */
		until: (condition: () => boolean) => until(condition),
		async pass(ms: number) {
			const end = clock.now() + ms;
			await until(() => clock.now() >= end);
		},
		/** Resolves with what is awaited, and lets the time until then pass. */
		async soon<T>(awaited: PromiseLike<T>): Promise<T> {
			let isOver = false;
			const end = () => {
				isOver = true;
			};
			awaited.then(end, end);
			// What is awaited ends by itself: the browser loses its patience.
			await until(() => isOver, Number.POSITIVE_INFINITY);
			return awaited;
		},
		async closeWindows() {
			await Promise.all(
				open.splice(0).map(async (page) => {
					await page.evaluate('sessionStorage.clear()');
					await page.goto(`${sandbox.url}/closed`);
					closed.push(page);
				}),
			);
		},
		/** Ends all that Ada's channel watches. */
		async unwatchAll(channel = '#agents') {
			const ada = sandbox.slack.as('ada');
			const replies = () => ada.messages(channel, { all: true }).filter((message) => message.isEphemeral());
			const before = new Set(replies().map(({ ts }) => ts));
			const reply = () => replies().find(({ ts }) => !before.has(ts));
			await ada.command(channel, '/session unwatch all');
			await until(() => reply() !== undefined);
			if (reply()?.buttons().includes('End all') !== true) return;
			await reply()?.press('End all');
			await until(() => reply()?.buttons().includes('End all') !== true);
		},
		/** A new browser window of this person, with its own modals. */
		async window(person: string, { narrow = false, channel, home = false }: WindowOptions = {}) {
			const page = closed.pop() ?? (await newPage());
			open.push(page);
			await page.setViewportSize(narrow ? { width: 375, height: 760 } : { width: 1280, height: 800 });
			const place = `${channel === undefined ? '' : `&in=${channel}`}${home ? '&tab=home' : ''}`;
			await page.goto(`${sandbox.url}/?as=${person}&window=${++opened}${place}`);
			await page.locator('.channel').waitFor();
			return page;
		},
		async close() {
			await Promise.allSettled([browser.close(), sandbox.close()]);
			unwatch();
		},
	};
}

export async function type(page: Page, line: string): Promise<void> {
	await page.locator('#composer').fill(line);
	await page.locator('#composer').press('Enter');
}

/** No script error, no refusal of Slack, and, where the app was not made to fail, no error in its log. */
export function expectNothingWrong({ complaints, problems, sandbox }: Harness, withProblems = true): void {
	expect(complaints).toEqual([]);
	if (withProblems) expect(problems).toEqual([]);
	expect(sandbox.slack.violations()).toEqual([]);
}
