import { ended, expect, headline, says, type WatchingApp, watchingApp, whatHappened, withApp } from '../kit.ts';
import { typed } from './played-agent.ts';

const MINUTE_MS = 60_000;
const NOT_FOUND = whatHappened('session_missing');
const NOTHING_FOUND = whatHappened('service_missing');

const it = withApp(watchingApp);

const posts = (app: WatchingApp, words: string) => app.inChannel().filter((post) => post.text().includes(words));
const endings = (app: WatchingApp) => app.log.filter((line) => line.includes('a watch ended'));
const receiptSays = (app: WatchingApp, words: string) =>
	app.until(
		() => says(app.slack.as('ada').modal()?.text() ?? '', words),
		() => `The receipt was to say "${words}" and says:\n${app.slack.as('ada').modal()?.text()}`,
	);

async function expectDelivered(app: WatchingApp, id: string): Promise<void> {
	await app.until(() => app.service.sessions.values(id, 2)[0] === 'Sand');
	expect(app.service.log.puts(id).filter(({ status }) => status === 200)).toHaveLength(1);
}

it('keeps an answer, watches and questions when all is 404 for 40 s, and says so', async ({ app }) => {
	const [id, other] = [await app.watchedAsking(), await app.watchedAsking()];
	const post = await app.threadSays(other, 'Which colour?');
	await app.threadSays(id, 'Which colour?');
	const send = await typed(app, id);
	app.service.faults.add({ kind: 'html', status: 404 });
	await send();
	await app.pass(40_000);
	expect(app.service.log.puts(id)).toEqual([]);
	await app.until(() => posts(app, NOTHING_FOUND).length === 1);
	await receiptSays(app, NOTHING_FOUND);
	app.service.faults.clear();
	await expectDelivered(app, id);
	await app.answered(id);
	await app.pass(MINUTE_MS);
	expect([endings(app).length, posts(app, NOTHING_FOUND).length]).toEqual([0, 1]);
	expect(post.buttons()).toContain('Answer…');
	expect(app.card(other)?.buttons()).toContain('Stop watching');
	expect(app.card(other)?.text()).not.toContain(NOT_FOUND);
});

it('looks for ten minutes for one session that is not found, and says so, while others can be read', async ({
	app,
}) => {
	const [id, other] = [await app.watchedAsking(), await app.watched()];
	const post = await app.threadSays(id, 'Which colour?');
	const send = await typed(app, id);
	app.service.sessions.remove(id);
	const from = app.clock.now();
	await send();
	await app.cardSays(id, NOT_FOUND);
	await receiptSays(app, NOT_FOUND);
	await receiptSays(app, 'Discard answer');
	// Not that it is sent when the service is back.
	expect(post.text()).toMatch(/not delivered yet$/m);
	expect(app.log.some((line) => line.includes('session_missing') && line.includes('could not be read'))).toBe(true);
	await app.pass(from + 9.5 * MINUTE_MS - app.clock.now());
	expect(endings(app)).toEqual([]);
	await app.threadSays(id, ended('sessionGone'));
	expect(app.clock.now() - from).toBeGreaterThanOrEqual(10 * MINUTE_MS);
	expect(app.clock.now() - from).toBeLessThan(13 * MINUTE_MS);
	const card = await app.cardSays(id, ended('sessionGone'));
	expect(card.text()).not.toContain(NOT_FOUND);
	await receiptSays(app, headline('refused', { lastError: 'session_not_found' }));
	expect(posts(app, NOTHING_FOUND)).toEqual([]);
	expect(app.card(other)?.buttons()).toContain('Stop watching');
});

it('sends an answer again whose PUT gets 410 for a minute', async ({ app }) => {
	const { id } = await app.askedPost();
	const send = await typed(app, id);
	app.service.faults.add({ kind: 'error', status: 410, method: 'PUT' });
	await send();
	await receiptSays(app, whatHappened('refused'));
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
