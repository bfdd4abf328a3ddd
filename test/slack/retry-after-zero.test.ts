import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { expectNothingWrong, type WatchingApp, watchingApp } from '../features/watch/harness.ts';

const MINUTE = 60_000;

let app: WatchingApp;
beforeAll(async () => {
	app = await watchingApp();
});
afterAll(() => app[Symbol.asyncDispose]());
afterEach(async () => {
	app.slack.faults.clear();
	await app.slack.as('ada').modal()?.close(true);
	expectNothingWrong(app);
});

/** How often a method is called in this time while Slack refuses each call. */
async function callsWhile(fault: Parameters<WatchingApp['slack']['faults']['add']>[0], ms: number): Promise<number> {
	const lift = app.slack.faults.add(fault);
	const from = app.now();
	await app.pass(ms);
	lift();
	return app.calls(fault.method, from).length;
}

const limited = (method: string) => ({ method, status: 429, retryAfter: 0 });

/** A session whose form Ada has open, and somebody outside has answered: her window should say so. */
async function outdatedWindow(): Promise<string> {
	const id = await app.watchedAsking(['Which colour?']);
	await app.threadSays(id, 'Which colour?');
	const ada = app.slack.as('ada');
	await ada.command('#agents', `/session ${id}`);
	await ada.waitForModal((modal) => modal.submitText() !== null);
	app.service.sessions.answerAsPage(id, ['Sand']);
	return id;
}

it('lists channels, and posts, every few seconds at most while Slack says "Retry-After: 0"', async () => {
	const id = await app.watched();
	expect(await callsWhile(limited('users.conversations'), 4 * MINUTE)).toBeLessThanOrEqual(15);
	app.ask(id);
	const postCount = await callsWhile(limited('chat.postMessage'), MINUTE);
	expect(postCount).toBeGreaterThan(1);
	expect(postCount).toBeLessThanOrEqual(30);
	await app.threadSays(id, 'Which colour?');
});

it('tells a window of news at growing intervals while Slack says "Retry-After: 0"', async () => {
	await outdatedWindow();
	const count = await callsWhile(limited('views.update'), 5 * MINUTE);
	expect(count).toBeGreaterThan(2);
	expect(count).toBeLessThanOrEqual(10);
	await app.until(() => app.slack.as('ada').modal()?.text().includes('answered'));
});

it('gives a window up after a few tries when Slack refuses its update for good', async () => {
	await outdatedWindow();
	const count = await callsWhile({ method: 'views.update', error: 'invalid_arguments' }, 14 * MINUTE);
	expect(count).toBe(4);
});

it('tells one person once a second at most that a press failed while Slack says "Retry-After: 0"', async () => {
	const id = await app.watchedAsking(['Which colour? One of: Sand, Forest']);
	const post = await app.threadSays(id, 'Which colour?');
	app.slack.faults.add({ method: 'users.info', error: 'internal_error' });
	app.slack.faults.add({ method: 'response_url', status: 500 });
	app.slack.faults.add({ method: 'chat.postEphemeral', error: 'user_not_in_channel' });
	await app.pass(6 * MINUTE);
	const pressed = post.press('Sand');
	const count = await callsWhile(limited('chat.postMessage'), 10_000);
	await pressed;
	expect(count).toBeGreaterThan(1);
	expect(count).toBeLessThanOrEqual(11);
	await app.until(() => app.slack.as('ada').dm().length > 0);
});
