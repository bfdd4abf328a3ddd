import { expect, it } from 'vitest';
import { asking } from '../../../sandbox/session-service/builders.ts';
import type { AppOptions } from '../../support/app.ts';
import { expectNothingWrong, type WatchingApp, watchingApp } from './harness.ts';

const WATCHED = 200;
/** So many questions, each long after the one before. */
const QUESTIONS = 5;

const listing = (options: AppOptions = {}) =>
	watchingApp({ ...options, service: { list: { mode: 'on' }, ...options.service } });

/** Watches `count` sessions at work; each was read when this resolves. */
async function watchedCrowd(app: WatchingApp, count = WATCHED): Promise<string[]> {
	const ids = Array.from({ length: count }, () => app.session());
	for (let at = 0; at < count; at += 20) {
		await app.command(`/session watch ${ids.slice(at, at + 20).join(' ')}`);
		// The reads of those who watch are limited too.
		await app.pass(10_000);
	}
	await app.pass(count * 1_000);
	const read = new Set(app.service.log.reads().map(({ sessionId }) => sessionId));
	expect(ids.filter((id) => !read.has(id))).toEqual([]);
	return ids;
}

/** Milliseconds from the question of a session to the read that finds it. */
async function seenAfter(app: WatchingApp, id: string, words: string): Promise<number> {
	const askedAt = app.clock.now();
	app.service.sessions.push(id, asking('I need to know something.', [words]));
	app.service.sessions.setStatus(id, 'humanInput');
	const { seq } = app.service.log.list().at(-1) ?? { seq: 0 };
	await app.until(() =>
		app.service.log.list({ since: seq, sessionId: id }).some(({ answeredAt }) => answeredAt !== null),
	);
	return app.clock.now() - askedAt;
}

it('sees a question within 4 s although 200 sessions are watched', async () => {
	await using app = await listing();
	const ids = await watchedCrowd(app);
	const delays: number[] = [];
	for (const id of ids.slice(0, QUESTIONS)) {
		await app.pass(7_300);
		delays.push(await seenAfter(app, id, `Question of ${id}?`));
	}
	expect(Math.max(...delays)).toBeLessThanOrEqual(4_000);
	await app.until(() => ids.slice(0, QUESTIONS).every((id) => app.thread(id).some((post) => post.text().includes(id))));
	expectNothingWrong(app);
});
