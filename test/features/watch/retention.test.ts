import { afterEach, expect, it } from 'vitest';
import { item } from '../../../sandbox/session-service/builders.ts';
import { OUTSIDE } from '../../../src/features/watch/post-view.ts';
import { expectNothingWrong, type WatchingApp, watchingApp } from './harness.ts';

const DAY = 24 * 3_600_000;
let app: WatchingApp;

afterEach(async () => {
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
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
});
