import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Posted } from '../../../fake-slack/index.ts';
import { MAYBE_REPEAT } from '../../../src/slack/words.ts';
import { opensSession } from '../../support/opens-session.ts';
import { expectNothingWrong, type WatchingApp, watchingApp } from './harness.ts';

let app: WatchingApp;
beforeAll(async () => {
	app = await watchingApp();
});
afterAll(() => app[Symbol.asyncDispose]());
afterEach(async () => {
	app.slack.faults.clear();
	for (const who of ['ada', 'grace']) await app.slack.as(who).modal()?.close(true);
	expectNothingWrong(app);
	await app.command('/session unwatch all');
});

function present<T>(value: T | undefined): T {
	if (value === undefined) throw new Error('It is not there.');
	return value;
}

const cardOf = (id: string): Posted => present(app.card(id));
const cards = (id: string): Posted[] =>
	app
		.inChannel()
		.filter(
			(message) => message.threadTs() === null && message.buttons().includes('Stop watching') && names(message, id),
		);
const names = (message: Posted, id: string) => opensSession(message.blocks(), id);
/** The bot's posts in the channel outside threads, without cards, since `from`. */
const openWords = (from: Posted): string[] =>
	app
		.inChannel()
		.filter(
			(message) => message.threadTs() === null && message.ts > from.ts && !message.buttons().includes('Stop watching'),
		)
		.map((message) => message.text());

/** Resolves to the card that comes after `former`. */
const newCard = (id: string, former: Posted): Promise<Posted> =>
	app.until(() => {
		const now = app.card(id);
		return now !== undefined && now.ts > former.ts && now.buttons().includes('Open') && now;
	});

describe('a card that somebody deleted', () => {
	it.each([
		['', false],
		['--thread-only', false],
		['with replies', true],
		['with replies --thread-only', true],
	])(
		'%s is replaced by one that is kept current; questions go into the channel, or into its thread',
		async (how, replied) => {
			const id = await app.watched({}, how.replace('with replies', '').trim());
			const former = cardOf(id);
			if (replied) await app.slack.as('grace').say('#agents', 'Nice.', { thread: former });
			former.remove();
			app.step(id, 'I compare prices.');
			const card = await newCard(id, former);
			expect(card.text()).toContain('I compare prices.');
			app.ask(id);
			const isThreadOnly = how.includes('--thread-only');
			const post = await app.threadSays(id, 'Which colour?');
			expect(post.threadTs()).toBe(isThreadOnly ? card.ts : null);
			app.service.sessions.answerAsPage(id, ['Sand']);
			expect((await app.threadSays(id, 'Sand')).ts).toBe(post.ts);
			await app.pass(10_000);
			expect(cards(id)).toHaveLength(1);
			expect(openWords(former)).toHaveLength(isThreadOnly ? 0 : 1);
		},
	);

	it('shows the question of a deleted card in the channel, once, and in the new card', async () => {
		const id = await app.watched({}, '--thread-only');
		const former = cardOf(id);
		former.remove();
		app.ask(id);
		const card = await newCard(id, former);
		await app.cardSays(id, 'Which colour?');
		expect(card.buttons()).toContain('Answer');
		await app.pass(20_000);
		expect(app.thread(id)).toHaveLength(1);
		const post = present(app.thread(id)[0]);
		await post.press('Answer');
		const form = await app.slack.as('ada').waitForModal((modal) => modal.submitText() !== null);
		await form.fill(0, 'Forest');
		await form.submit();
		await app.threadSays(id, 'Forest');
		await app.until(() => post.buttons().length === 0);
		expect(cards(id)).toHaveLength(1);
	});

	it('accepts an answer in the thread of a question whose card was deleted', async () => {
		const id = await app.watched();
		const former = cardOf(id);
		app.slack.faults.hold('chat.update');
		former.remove();
		app.ask(id);
		const post = await app.until(() =>
			app.inChannel().find((one) => one.ts > former.ts && one.text().includes('Which colour?')),
		);
		expect(post.threadTs()).toBeNull();
		app.slack.faults.clear();
		await newCard(id, former);
		const said = await app.slack.as('ada').say('#agents', 'Sand, please', { thread: post });
		await app.slack.as('ada').shortcut(said, 'use_as_answer');
		const form = await app.slack.as('ada').waitForModal((modal) => modal.submitText() !== null);
		expect(form.value(0)).toBe('Sand, please');
	});

	it('leaves what Slack put into the channel there, and posts what follows into the new thread', async () => {
		const id = await app.watched();
		const former = cardOf(id);
		const release = app.slack.faults.hold('chat.update');
		former.remove();
		app.service.sessions.setStatus(id, 'paused');
		await app.until(() => openWords(former).length > 0);
		release();
		const card = await newCard(id, former);
		app.service.sessions.setStatus(id, 'active');
		const post = await app.threadSays(id, '(before: paused)');
		expect(post.threadTs()).toBe(card.ts);
		await app.pass(20_000);
		expect(openWords(former)).toEqual([expect.stringContaining('(before: working)')]);
	});

	it.each(['question', 'word'] as const)('has a %s posted once though Slack did not answer', async (what) => {
		const id = await app.watched();
		const former = cardOf(id);
		const from = app.now();
		const release = app.slack.faults.add({ method: 'chat.update', error: 'internal_error' });
		former.remove();
		app.loseReply();
		if (what === 'question') app.ask(id);
		else app.service.sessions.setStatus(id, 'paused');
		const words = what === 'question' ? 'Which colour?' : '(before: working)';
		await app.until(() => app.calls('conversations.history', from).length > 0);
		release();
		const card = await newCard(id, former);
		await app.pass(30_000);
		const all = app.slack
			.as('ada')
			.messages('#agents', { all: true })
			.filter((one) => one.ts > former.ts && one.ts !== card.ts && one.text().includes(words));
		expect(all.map((one) => one.threadTs())).toEqual([null]);
		expect(all[0]?.text()).not.toContain(MAYBE_REPEAT);
		expect(cards(id)).toHaveLength(1);
	});

	it('posts a repeatedly deleted card again once an hour, also after a restart, and questions in the channel meanwhile', async () => {
		const id = await app.watched();
		const first = cardOf(id);
		first.remove();
		app.step(id, 'Step two.');
		const second = await newCard(id, first);
		await app.pass(2_000);
		second.remove();
		app.step(id, 'Step three.');
		app.service.sessions.setStatus(id, 'paused');
		await app.pass(60_000);
		app.service.sessions.setStatus(id, 'active');
		app.ask(id);
		const post = await app.until(() =>
			app.inChannel().find((one) => one.ts > second.ts && one.text().includes('Which colour?')),
		);
		expect(post.threadTs()).toBeNull();
		await app.pass(120_000);
		expect(cards(id)).toEqual([]);
		await app.restart();
		await app.pass(60_000);
		expect(cards(id)).toEqual([]);
		// What was posted at the very moment of the deletion stays there too.
		expect(openWords(second).filter((words) => !words.includes('(before: working)'))).toHaveLength(1);
		app.service.sessions.answerAsPage(id, ['Sand']);
		await app.until(() => post.buttons().length === 0);
		await app.stop();
		await app.clock.advance(3_600_000);
		await app.restart();
		await app.until(() => cards(id).length === 1);
		expect(cardOf(id).text()).not.toContain('Which colour?');
		app.ask(id, [{ title: 'And which size?', description: '', value: '' }]);
		expect((await app.threadSays(id, 'And which size?')).threadTs()).toBeNull();
	});

	it('does not post a deleted card again when its session has ended', async () => {
		const id = await app.watched();
		const former = cardOf(id);
		app.slack.faults.hold('chat.update');
		former.remove();
		app.service.sessions.setStatus(id, 'completed');
		await app.until(() => app.service.log.reads(id).length > 2);
		app.slack.faults.clear();
		await app.pass(30_000);
		expect(openWords(former)).toEqual([]);
		expect(cards(id)).toEqual([]);
	});

	it('does not post a deleted card again when the watch has ended', async () => {
		const id = await app.watched();
		const former = cardOf(id);
		former.remove();
		await app.command(`/session unwatch ${id}`);
		await app.pass(10_000);
		expect(app.inChannel().filter((one) => one.ts > former.ts)).toEqual([]);
	});
});
