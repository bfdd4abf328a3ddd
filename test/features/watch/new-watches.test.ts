import { expect, it } from 'vitest';
import { expectNothingWrong, USUAL_REQUESTS, type WatchingApp, watchingApp } from './harness.ts';

const start = (options: Parameters<typeof watchingApp>[0] = {}) => watchingApp({ env: USUAL_REQUESTS, ...options });

async function watchAtOnce(app: WatchingApp, count: number): Promise<string[]> {
	const ids = Array.from({ length: count }, () => app.session());
	for (let at = 0; at < count; at += 20) await app.command(`/session watch ${ids.slice(at, at + 20).join(' ')}`);
	return ids;
}

it('sees questions within 5 s although 120 watches began at once', async () => {
	await using app = await start({ service: { list: { mode: 'on' } } });
	await watchAtOnce(app, 40);
	await app.pass(120_000);
	const ids = await watchAtOnce(app, 120);
	const delays: number[] = [];
	for (const id of ids.slice(-20)) {
		await app.pass(1_000);
		const askedAt = app.clock.now();
		const { seq } = app.service.log.list().at(-1) ?? { seq: 0 };
		app.ask(id);
		await app.until(() =>
			app.service.log.list({ since: seq, sessionId: id }).some(({ answeredAt }) => answeredAt !== null),
		);
		delays.push(app.clock.now() - askedAt);
	}
	expect(Math.max(...delays)).toBeLessThanOrEqual(5_000);
	expectNothingWrong(app);
});

it('posts the open question of a new watch from the read of whoever watches, without another one', async () => {
	await using app = await start();
	const id = app.session();
	app.ask(id);
	await app.command(`/session watch ${id}`);
	await app.threadSays(id, 'Which colour?');
	expect(app.service.log.reads(id)).toHaveLength(1);
	await app.pass(30_000);
	expect(app.thread(id)).toHaveLength(1);
	app.service.sessions.answerAsPage(id, ['Blue']);
	await app.until(() => !(app.thread(id)[0]?.buttons() ?? []).includes('Answer'));
	expectNothingWrong(app);
});

it('takes nothing back in a new watch because of a read that began before it', async () => {
	await using app = await start();
	const id = app.session();
	await app.watch(id, { channel: '#secret' });
	const { promise: isHeld, resolve: held } = Promise.withResolvers<void>();
	const { promise: released, resolve: release } = Promise.withResolvers<void>();
	app.service.hooks.onWorkedOut = (entry) => {
		if (entry.kind !== 'read' || entry.sessionId !== id) return undefined;
		delete app.service.hooks.onWorkedOut;
		held();
		return released;
	};
	let isOld = false;
	void isHeld.then(() => {
		isOld = true;
	});
	await app.until(() => isOld);
	app.ask(id);
	// The clock moves on, as between any two acts of people.
	await app.clock.advance(5);
	await app.command(`/session watch ${id}`);
	await app.threadSays(id, 'Which colour?');
	release();
	await app.pass(30_000);
	const posts = app.thread(id);
	expect(posts.map((post) => post.buttons())).toEqual([expect.arrayContaining(['Answer'])]);
	await app.threadSays(id, 'Which colour?', '#secret');
	expectNothingWrong(app);
});
