import { afterEach, describe, expect, it } from 'vitest';
import { item } from '../../../sandbox/session-service/builders.ts';
import { expectNothingWrong, type WatchingApp, watchingApp } from '../watch/harness.ts';

const FLIGHT = item('Which flight should I book?', 'One of: LH 1173, TP 570');

let app: WatchingApp;
afterEach(() => app[Symbol.asyncDispose]());

async function asked() {
	const id = await app.watched();
	const index = app.ask(id, [FLIGHT], '');
	return { id, index, post: await app.threadSays(id, 'Which flight') };
}

const value = (id: string, index: number) => app.service.sessions.values(id, index)[0];

describe('one-press answers and their settings', () => {
	it('sends a choice at once when UNDO_SECONDS is 0', async () => {
		app = await watchingApp({ env: { UNDO_SECONDS: '0' } });
		const { id, index, post } = await asked();
		const before = app.clock.now();
		await post.press('TP 570');
		await app.until(() => value(id, index) === 'TP 570');
		expect(app.clock.now() - before).toBeLessThan(3_000);
		const own = app.slack.as('ada').messages('#agents', { all: true });
		expect(own.filter((message) => message.buttons().includes('Undo'))).toEqual([]);
		expectNothingWrong(app);
	});

	it('sends no message about a delivery that only waited for UNDO_SECONDS', async () => {
		app = await watchingApp({ env: { UNDO_SECONDS: '60' } });
		const { id, index, post } = await asked();
		await post.press('TP 570');
		await app.until(() => value(id, index) === 'TP 570');
		await app.answered(id);
		await app.pass(20_000);
		expect(app.slack.as('ada').messages('dm')).toEqual([]);
	});

	it('offers no options when QUICK_ANSWERS is off, and sends nothing for a press on an older post', async () => {
		app = await watchingApp();
		const { id, post } = await asked();
		await app.restart({ QUICK_ANSWERS: 'off' });
		const told = await app.toldAfter(() => post.press('TP 570'));
		expect(told.buttons()).toEqual(['Answer']);
		await app.pass(20_000);
		expect(app.service.log.puts(id)).toHaveLength(0);
		const second = await asked();
		expect(second.post.buttons()).toEqual(['Answer', ...app.MENU]);
	});

	it('tells only that somebody answered when channels see no answers', async () => {
		app = await watchingApp({ env: { SHOW_ANSWERS: 'never' } });
		const { id, index, post } = await asked();
		await app.choose(post, 'LH 1173');
		await app.until(() => value(id, index) === 'LH 1173');
		await app.answered(id);
		expect(post.text()).toContain('@ada answered · ✅ ');
		expect(post.text()).not.toContain('LH 1173');
	});
});
