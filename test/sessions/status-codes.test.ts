import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { ended, headline, says, whatHappened } from '../support/sentences.ts';
import { expectNothingWrong, SOME_REQUESTS, type WatchingApp, watchingApp } from './harness.ts';
import { typed } from './played-agent.ts';

const MINUTE_MS = 60_000;
const NOT_FOUND = whatHappened('session_missing');
const NOTHING_FOUND = whatHappened('service_missing');

let app: WatchingApp;
beforeAll(async () => {
	app = await watchingApp({ env: SOME_REQUESTS });
});
afterAll(() => app[Symbol.asyncDispose]());
afterEach(async () => {
	app.service.faults.clear();
	await app.slack.as('ada').modal()?.close(true);
	expectNothingWrong(app);
	await app.unwatchAll();
});

const posts = (words: string) => app.inChannel().filter((post) => post.text().includes(words));
const endings = () => app.log.filter((line) => line.includes('a watch ended'));
const receiptSays = (words: string) =>
	app.until(
		() => says(app.slack.as('ada').modal()?.text() ?? '', words),
		() => `The receipt was to say "${words}" and says:\n${app.slack.as('ada').modal()?.text()}`,
	);

async function expectDelivered(id: string): Promise<void> {
	await app.until(() => app.service.sessions.values(id, 2)[0] === 'Sand');
	expect(app.service.log.puts(id).filter(({ status }) => status === 200)).toHaveLength(1);
}

it('keeps an answer, watches and questions when all is 404 for 40 s, and says so', async () => {
	const [id, other] = [await app.watchedAsking(), await app.watchedAsking()];
	const post = await app.threadSays(other, 'Which colour?');
	await app.threadSays(id, 'Which colour?');
	const send = await typed(app, id);
	const before = [endings().length, posts(NOTHING_FOUND).length];
	app.service.faults.add({ kind: 'html', status: 404 });
	await send();
	await app.pass(40_000);
	expect(app.service.log.puts(id)).toEqual([]);
	await app.until(() => posts(NOTHING_FOUND).length === (before[1] ?? 0) + 1);
	await receiptSays(NOTHING_FOUND);
	app.service.faults.clear();
	await expectDelivered(id);
	await app.answered(id);
	await app.pass(MINUTE_MS);
	expect([endings().length, posts(NOTHING_FOUND).length]).toEqual([before[0], (before[1] ?? 0) + 1]);
	expect(post.buttons()).toContain('Answer…');
	expect(app.card(other)?.buttons()).toContain('Stop watching');
	expect(app.card(other)?.text()).not.toContain(NOT_FOUND);
});

it('looks for ten minutes for one session that is not found, and says so, while others can be read', async () => {
	const [id, other] = [await app.watchedAsking(), await app.watched()];
	await app.threadSays(id, 'Which colour?');
	const send = await typed(app, id);
	const before = [endings().length, posts(NOTHING_FOUND).length];
	app.service.sessions.remove(id);
	const from = app.clock.now();
	await send();
	await app.cardSays(id, NOT_FOUND);
	await receiptSays(NOT_FOUND);
	await receiptSays('Discard answer');
	expect(app.log.some((line) => line.includes('session_missing') && line.includes('could not be read'))).toBe(true);
	await app.pass(from + 9.5 * MINUTE_MS - app.clock.now());
	expect(endings()).toHaveLength(before[0] ?? 0);
	await app.threadSays(id, ended('sessionGone'));
	expect(app.clock.now() - from).toBeGreaterThanOrEqual(10 * MINUTE_MS);
	expect(app.clock.now() - from).toBeLessThan(13 * MINUTE_MS);
	const card = await app.cardSays(id, ended('sessionGone'));
	expect(card.text()).not.toContain(NOT_FOUND);
	await receiptSays(headline('refused', { lastError: 'session_not_found' }));
	expect(posts(NOTHING_FOUND)).toHaveLength(before[1] ?? 0);
	expect(app.card(other)?.buttons()).toContain('Stop watching');
});

it('sends an answer again whose PUT gets 410 for a minute', async () => {
	const id = await app.watchedAsking();
	await app.threadSays(id, 'Which colour?');
	const send = await typed(app, id);
	app.service.faults.add({ kind: 'error', status: 410, method: 'PUT' });
	await send();
	await receiptSays(whatHappened('refused'));
	await app.pass(35_000);
	// The window may have been closed unnoticed.
	const told = await app.until(() => app.slack.as('ada').dm(id).at(-1));
	expect(told.text()).toContain(headline('accepted', { lastError: 'refused' }));
	expect(told.buttons()).toEqual(['Discard answer']);
	await app.pass(25_000);
	// It backs off as other failures do.
	expect(app.service.log.puts(id).length).toBeLessThan(9);
	app.service.faults.clear();
	await app.until(() => app.service.sessions.values(id, 2)[0] === 'Sand');
	await app.until(() => says(told.text(), headline('resumed')) || says(told.text(), headline('delivered')));
});
