import { afterEach, describe, expect, it } from 'vitest';
import { item } from '../../../sandbox/session-service/builders.ts';
import { OUTSIDE } from '../../../src/features/watch/post-view.ts';
import { expectNothingWrong, type WatchingApp, watchingApp } from './harness.ts';

const keyOf = (byte: number) => ({ ENCRYPTION_KEY: Buffer.alloc(32, byte).toString('base64') });
const [KEY, OTHER_KEY] = [keyOf(1), keyOf(2)];
const DAY = 24 * 3_600_000;
let app: WatchingApp;
afterEach(() => app[Symbol.asyncDispose]());

/** The key is another one until this post of a session was due for a minute. */
async function keyChangedBefore(words: string, happens: (id: string) => void, { isDown = false } = {}) {
	app = await watchingApp({ env: KEY });
	const id = await app.watched();
	app.slack.faults.rateLimit('chat.postMessage', { retryAfter: 20, times: 1 });
	const from = app.now();
	happens(id);
	await app.until(() => app.calls('chat.postMessage', from).length > 0);
	await app.pass(1_500);
	await app.stop();
	if (isDown) await app.service.goDown();
	await app.restart(OTHER_KEY);
	await app.pass(60_000);
	expect(app.thread(id).filter((post) => post.text().includes(words))).toEqual([]);
	await app.restart(KEY);
	if (isDown) await app.service.comeBack();
	await app.pass(60_000);
	return app.thread(id).filter((post) => post.text().includes(words));
}

describe('after the encryption key was changed by mistake', () => {
	it('a question that was answered meanwhile loses its buttons', async () => {
		app = await watchingApp({ env: KEY });
		const id = await app.watchedAsking();
		const post = await app.threadSays(id, 'Which colour?');
		await app.pass(5_000);
		await app.restart(OTHER_KEY);
		await app.pass(30_000);
		app.service.sessions.answerAsPage(id, ['Sand']);
		await app.pass(120_000);
		await app.restart(KEY);
		await app.until(() => post.buttons().length === 0);
	});

	it('a question that could not be read, in Slack and at the service, is posted', async () => {
		expect(await keyChangedBefore('Which colour?', (id) => app.ask(id), { isDown: true })).toHaveLength(1);
	});
});

it('a question that stays open while its watch’s older posts are removed is answered and drawn as any other', async () => {
	app = await watchingApp({ env: { WATCH_MAX_DAYS: '60', REMIND_AFTER: 'off', RETENTION_DAYS: '2' } });
	const id = await app.watched();
	const first = app.ask(id, [item('Which size?')]);
	await app.threadSays(id, 'Which size?');
	app.service.sessions.answerAsPage(id, ['large'], first);
	await app.threadSays(id, OUTSIDE);
	const second = app.ask(id, [item('Which flight?', 'One of: LH 1173, TP 570')]);
	const post = await app.threadSays(id, 'Which flight?');
	await app.pass(2_000);
	await app.stop();
	await app.clock.advance(9 * DAY);
	await app.restart();
	await app.pass(10_000);
	await app.choose(post, 'LH 1173');
	expect(post.text()).toContain('*@ada: LH 1173*');
	await post.press('Undo');
	await app.until(() => post.buttons().includes('TP 570'));
	app.service.sessions.answerAsPage(id, ['TP 570'], second);
	await app.until(() => post.buttons().length === 0);
	// What was settled before stays in Slack as it is.
	expect(app.thread(id).filter((one) => one.text().includes('Which size?'))).not.toEqual([]);
	expectNothingWrong(app);
});
