import { afterEach, describe, expect, it } from 'vitest';
import type { Posted } from '../../../fake-slack/index.ts';
import { item } from '../../../sandbox/session-service/builders.ts';
import { OUTSIDE } from '../../../src/features/watch/post-view.ts';
import { ASKS, whatHappened } from '../../support/sentences.ts';
import { expectNothingWrong, type WatchingApp, watchingApp } from '../watch/harness.ts';

const FLIGHT = item('Which flight should I book?', 'One of: LH 1173, TP 570');

let app: WatchingApp;
afterEach(() => app[Symbol.asyncDispose]());

async function asked(flags = '', items = [FLIGHT]): Promise<{ id: string; index: number; post: Posted }> {
	const id = await app.watched({}, flags);
	const index = app.ask(id, items, '');
	const post = await app.threadSays(id, items[0]?.title ?? '');
	return { id, index, post };
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

	it('leaves the options out with --no-buttons, and offers them again after --buttons', async () => {
		app = await watchingApp();
		const { id, post } = await asked('--no-buttons');
		expect(post.buttons()).toEqual(['Answer', ...app.MENU]);
		await app.command(`/session watch ${id} --buttons`);
		app.service.sessions.answerAsPage(id, ['TP 570']);
		await app.threadSays(id, OUTSIDE);
		app.ask(id, [item('Which seat?', 'One of: aisle, window')], '');
		const next = await app.threadSays(id, 'Which seat?');
		expect(next.buttons()).toEqual(['aisle', 'window', 'Answer…', ...app.MENU]);
	});

	it('tells neither question nor choice with --discreet', async () => {
		app = await watchingApp();
		const { id, index, post } = await asked('--discreet');
		expect(post.notification()).toBe(ASKS);
		await app.choose(post, 'LH 1173');
		expect(post.text()).toContain('@ada answered* · sends at'.replace('*', ''));
		await app.until(() => value(id, index) === 'LH 1173');
		await app.answered(id);
		expect(post.text()).toContain('@ada answered · ✅ ');
		expect(post.text().split('One of:')[0]).not.toContain('LH 1173');
		await app.command(`/session watch ${id} --no-discreet`);
		app.ask(id, [item('Which seat?', 'One of: aisle, window')], '');
		const next = await app.threadSays(id, 'Which seat?');
		expect(next.notification()).toContain('An agent asks: Which seat? One of: aisle, window');
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

	it('offers no options for a question that looks secret, and does not tell it in the notification', async () => {
		app = await watchingApp();
		const { post } = await asked('', [item('Which password should I use?', 'One of: hunter1, hunter2')]);
		expect(post.buttons()).toEqual(['Answer', ...app.MENU]);
		expect(post.notification()).toBe(ASKS);
	});

	it('sends nothing and tells the person when Slack does not say who they are', async () => {
		app = await watchingApp();
		const { id, post } = await asked();
		await app.pass(60_000);
		app.slack.faults.add({ method: 'users.info', error: 'internal_error' });
		const told = await app.toldAfter(() => post.press('TP 570'));
		expect(told.text()).toContain('Your choice, “TP 570”, was not sent.');
		expect(told.text()).toContain(whatHappened('could_not_check'));
		await app.pass(20_000);
		expect(app.service.log.puts(id)).toHaveLength(0);
		expect(post.buttons()).toContain('TP 570');
	});

	it('counts a press that Slack delivers twice as one', async () => {
		app = await watchingApp();
		const { id, index, post } = await asked();
		app.slack.faults.duplicateNext('block_actions');
		await app.choose(post, 'TP 570');
		await app.until(() => value(id, index) === 'TP 570');
		expect(app.service.log.effectivePuts(id)).toHaveLength(1);
	});

	it('tells the person on an old post who answered it', async () => {
		app = await watchingApp();
		const { id, index, post } = await asked();
		app.freezePosts();
		await post.press('LH 1173');
		await app.until(() => value(id, index) === 'LH 1173');
		const graces = app.thread(id, '#agents', 'grace').find(({ ts }) => ts === post.ts);
		const told = await app.toldAfter(async () => graces?.press('TP 570'), 'grace');
		expect(told.text()).toMatch(/ada.* answered “LH 1173” before you/i);
		await app.pass(20_000);
		expect(app.service.log.effectivePuts(id)).toHaveLength(1);
		app.slack.faults.clear();
	});
});
