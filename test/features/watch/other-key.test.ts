import { afterEach, describe, expect, it } from 'vitest';
import { type WatchingApp, watchingApp } from './harness.ts';

const keyOf = (byte: number) => ({ ENCRYPTION_KEY: Buffer.alloc(32, byte).toString('base64') });
const [KEY, OTHER_KEY] = [keyOf(1), keyOf(2)];
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
