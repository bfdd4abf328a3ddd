import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Posted } from '../../fake-slack/index.ts';
import { type WatchingApp, watchingApp } from '../features/watch/harness.ts';
import { whatHappened } from '../support/sentences.ts';

let app: WatchingApp;
beforeAll(async () => {
	app = await watchingApp();
});
afterAll(() => app[Symbol.asyncDispose]());
afterEach(async () => {
	app.slack.faults.clear();
	for (const who of ['ada', 'gus']) await app.slack.as(who).modal()?.close(true);
	expect(app.slack.violations()).toEqual([]);
	await app.command('/session unwatch all');
});

/** Slack refuses every response_url, so replies are ephemeral messages. */
function withoutResponseUrls(): void {
	app.slack.faults.add({ method: 'response_url', status: 500 });
}

function cardFor(who: string, id: string): Posted {
	const card = app.card(id, '#agents', who);
	if (card === undefined) throw new Error('There is no card.');
	return card;
}

it('shows a guest the reply to a press on a card without replies', async () => {
	const id = await app.watched();
	withoutResponseUrls();
	const told = await app.toldAfter(() => cardFor('gus', id).press('Stop watching'), 'gus');
	expect(told.text()).toContain('Guests');
	expect(told.threadTs()).toBeNull();
});

it('shows the reply to a press in a modal where the modal was opened', async () => {
	const id = await app.watched();
	await cardFor('ada', id).press('Open');
	const modal = await app.slack.as('ada').waitForModal('Refresh');
	withoutResponseUrls();
	app.service.sessions.remove(id);
	app.slack.faults.add({ method: 'views.update', error: 'internal_error' });
	app.slack.faults.add({ method: 'views.push', error: 'expired_trigger_id' });
	const told = await app.toldAfter(() => modal.press('Refresh'));
	expect(told.text()).toContain(whatHappened('session_not_found'));
	expect(told.threadTs()).toBeNull();
});

it('shows the reply to a press on a post of a thread in the channel', async () => {
	const id = await app.watchedAsking();
	await app.threadSays(id, 'Which colour?');
	const [post] = app.thread(id, '#agents', 'gus');
	withoutResponseUrls();
	app.slack.faults.add({ method: 'views.open', error: 'expired_trigger_id' });
	const told = await app.toldAfter(async () => post?.press('Answer'), 'gus');
	expect(told.text()).toContain('Guests');
	expect(told.threadTs()).toBeNull();
});

it('shows the reply to a mention in its thread', async () => {
	const id = await app.watched();
	const told = await app.toldAfter(() =>
		app.slack.as('ada').mention('#agents', 'Sand', { thread: cardFor('ada', id) }),
	);
	expect(told.text()).toContain('No question');
	expect(told.threadTs()).toBe(cardFor('ada', id).ts);
});
