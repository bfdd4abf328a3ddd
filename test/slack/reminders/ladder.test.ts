import { afterEach, describe, expect, it } from 'vitest';
import type { Posted } from '../../../fake-slack/index.ts';
import { expectNothingWrong, type WatchingApp, watchingApp } from '../watching/harness.ts';

const MINUTE = 60_000;
let app: WatchingApp;

afterEach(async () => {
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

const start = async (env: Record<string, string> = {}) => {
	app = await watchingApp({ env: { REMIND_AFTER: '2m', ESCALATE_AFTER: '5m', UNDO_SECONDS: '0', ...env } });
};

/** The posts of a thread or channel that remind. */
const rungs = (posts: readonly Posted[]) =>
	posts.filter((post) => /Nobody has answered|Still no answer/.test(post.text()));

async function asked(title = 'Which colour?'): Promise<string> {
	const id = await app.watched();
	app.ask(id, [title]);
	await app.threadSays(id, title);
	return id;
}

describe('a question that nobody answers', () => {
	it('is reminded of in its thread, then shown in the channel, at most three times', async () => {
		await start();
		const id = await asked();
		const askedAt = app.clock.now();
		const reminder = await app.threadSays(id, 'Nobody has answered');
		expect(app.clock.now() - askedAt).toBeGreaterThanOrEqual(2 * MINUTE - 2_000);
		expect(app.clock.now() - askedAt).toBeLessThan(2 * MINUTE + 30_000);
		expect(reminder.text()).toContain('Which colour?');
		expect(app.inChannel().some((post) => post.text().includes('Nobody has answered'))).toBe(false);
		await app.threadSays(id, 'Still no answer');
		expect(app.clock.now() - askedAt).toBeLessThan(5 * MINUTE + 30_000);
		await app.pass(20 * MINUTE);
		expect(rungs(app.thread(id))).toHaveLength(4);
		expect(rungs(app.inChannel()).length).toBe(3);
	});

	it('is not reminded of once it is answered', async () => {
		await start();
		const id = await asked();
		app.service.sessions.answerAsPage(id, ['red']);
		await app.pass(12 * MINUTE);
		expect(rungs(app.thread(id))).toEqual([]);
	});

	it('is not reminded of while the service is away, and once when it is back', async () => {
		await start({ ESCALATE_AFTER: 'off' });
		const id = await asked();
		app.service.faults.add({ kind: 'error', status: 503, method: 'GET' });
		await app.pass(5 * MINUTE);
		expect(rungs(app.thread(id))).toEqual([]);
		app.service.faults.clear();
		await app.threadSays(id, 'Nobody has answered');
		await app.pass(2 * MINUTE);
		expect(rungs(app.thread(id))).toHaveLength(1);
	});
});
