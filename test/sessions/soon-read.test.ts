import { expect, forCase, it, type WatchingApp, watchingApp } from '../kit.ts';

async function watchAtOnce(app: WatchingApp, count: number): Promise<string[]> {
	const ids = Array.from({ length: count }, () => app.session());
	for (let at = 0; at < count; at += 20) await app.command(`/session watch ${ids.slice(at, at + 20).join(' ')}`);
	return ids;
}

it('reads the others within seconds while a session hangs right after the start', async () => {
	const app = await forCase(watchingApp({ env: { SESSION_SERVICE_TIMEOUT_MS: '20000' } }));
	const [hanging = '', ...others] = Array.from({ length: 6 }, () => app.session());
	await app.command(`/session watch ${[hanging, ...others].join(' ')}`);
	app.service.faults.add({ kind: 'hang', sessionId: hanging, method: 'GET' });
	const isHanging = () => app.service.log.reads(hanging).some(({ answeredAt }) => answeredAt === null);
	await app.until(isHanging);
	const from = app.clock.now();
	for (const id of others) app.ask(id);
	await app.until(() => others.every((id) => app.service.log.reads(id).some(({ at }) => at >= from)));
	expect(isHanging()).toBe(true);
	expect(app.clock.now() - from).toBeLessThan(10_000);
});

it('sees questions within 30 s although 120 watches began at once', async () => {
	const app = await forCase(watchingApp({ service: { list: { mode: 'on' } } }));
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
	// What people read for 120 commands is kept for them, and comes back at three a second.
	expect(Math.max(...delays)).toBeLessThanOrEqual(30_000);
	expect(delays.at(-1)).toBeLessThanOrEqual(5_000);
});

it('posts the open question of a new watch from the read of whoever watches, without another one', async () => {
	const app = await forCase(watchingApp());
	const id = app.session();
	app.ask(id);
	await app.command(`/session watch ${id}`);
	await app.threadSays(id, 'Which colour?');
	expect(app.service.log.reads(id)).toHaveLength(1);
	await app.pass(30_000);
	expect(app.thread(id)).toHaveLength(1);
	app.service.sessions.answerAsPage(id, ['Blue']);
	await app.until(() => !(app.thread(id)[0]?.buttons() ?? []).includes('Answer…'));
});

it('takes nothing back in a new watch because of a read that began before it', async () => {
	const app = await forCase(watchingApp());
	const id = app.session();
	await app.watch(id, { channel: '#secret' });
	const { promise: released, resolve: release } = Promise.withResolvers<void>();
	let isOld = false;
	app.service.hooks.onWorkedOut = (entry) => {
		if (entry.kind !== 'read' || entry.sessionId !== id) return undefined;
		delete app.service.hooks.onWorkedOut;
		isOld = true;
		return released;
	};
	await app.until(() => isOld);
	app.ask(id);
	// The clock moves on, as between any two acts of people.
	await app.clock.advance(5);
	await app.command(`/session watch ${id}`);
	await app.threadSays(id, 'Which colour?');
	release();
	await app.pass(30_000);
	const posts = app.thread(id);
	expect(posts.map((post) => post.buttons())).toEqual([expect.arrayContaining(['Answer…'])]);
	await app.threadSays(id, 'Which colour?', '#secret');
});
