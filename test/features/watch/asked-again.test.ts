import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { asking, done, item, task } from '../../../sandbox/session-service/builders.ts';
import { OUTSIDE } from '../../../src/features/watch/post-view.ts';
import { answeredBy, answering, says } from '../../support/sentences.ts';
import { expectNothingWrong, type WatchingApp, watchingApp } from './harness.ts';

let app: WatchingApp;
beforeAll(async () => {
	app = await watchingApp();
});
afterAll(() => app[Symbol.asyncDispose]());
afterEach(async () => {
	await app.slack.as('ada').modal()?.close(true);
	expectNothingWrong(app);
	await app.command('/session unwatch all');
});

const BY_ADA = answeredBy('ada', 'Sand');
const start = [task('Order six desk chairs.'), done('I open the shop.')];
const question = asking('Three are in stock.', [item('Which colour?')]);

it('posts a question again whose answer was cleared, and settles each post with its own answer', async () => {
	const id = await app.watchedAsking();
	const first = await app.threadSays(id, 'Which colour?');
	app.service.sessions.answerAsPage(id, ['Sand']);
	await app.threadSays(id, 'Sand');
	await app.until(() => first.buttons().length === 0);
	const settled = first.text();

	app.service.sessions.patch(id, { status: 'humanInput', messages: [...start, question] });
	const second = await app.until(() => app.thread(id).findLast((post) => post.buttons().includes('Answer')));
	expect(second.ts).not.toBe(first.ts);
	expect(second.threadTs()).toBeNull();
	const edits = first.editHistory().length;
	app.service.sessions.answerAsPage(id, ['Forest']);
	await app.until(() => second.text().includes(`${OUTSIDE}: *“Forest”*`));
	expect(second.buttons()).toEqual([]);
	expect(settled).toContain(`${OUTSIDE}: *“Sand”*`);
	expect(first.text()).toBe(settled);
	expect(first.editHistory()).toHaveLength(edits);
	await app.pass(30_000);
	expect(app.thread(id)).toHaveLength(2);
});

it('keeps the post of a question that moved in the session, and its button opens the question', async () => {
	const id = await app.watched();
	app.service.sessions.patch(id, { status: 'humanInput', messages: [...start, question] });
	const post = await app.threadSays(id, 'Which colour?');
	app.service.sessions.patch(id, { messages: [{ role: 'system', content: 'A summary' }, ...start, question] });
	await app.pass(40_000);
	expect(app.thread(id)).toHaveLength(1);
	expect(await post.press('Answer')).toBe(true);
	const form = await app.slack.as('ada').waitForModal((modal) => modal.submitText() !== null);
	expect(form.fields()[0]?.label).toBe('“Which colour?”');
	// A claim belongs to the question's place in the session.
	await app.until(() => post.text().includes(answering('ada')));
	app.service.sessions.answerAsPage(id, ['Sand']);
	await app.threadSays(id, 'Sand');
	await app.until(() => post.buttons().length === 0);
	expect(app.thread(id)).toHaveLength(1);
});

/** Ada answers a question in Slack, and its message is put back to how it asked. */
async function answeredAndCleared(isSeen: boolean) {
	const id = await app.watchedAsking();
	const first = await app.threadSays(id, 'Which colour?');
	expect(await first.press('Answer')).toBe(true);
	const form = await app.slack.as('ada').waitForModal((modal) => modal.submitText() !== null);
	await form.fill(0, 'Sand');
	await form.submit();
	await app.until(() => (isSeen ? says(first.text(), BY_ADA) : app.service.log.puts(id).length === 1));
	app.service.sessions.patch(id, { status: 'humanInput', messages: [...start, question] });
	const isAgain = (ts: string, buttons: readonly string[]) => ts !== first.ts && buttons.includes('Answer');
	const second = await app.until(() => app.thread(id).findLast((post) => isAgain(post.ts, post.buttons())));
	return { id, first, second };
}

it('does not name the author of a former answer when the question is asked again and answered elsewhere', async () => {
	const { id, first, second } = await answeredAndCleared(true);
	app.service.sessions.answerAsPage(id, ['Forest']);
	await app.until(() => second.text().includes(`${OUTSIDE}: *“Forest”*`));
	expect(second.text()).not.toContain('@ada');
	expect(first.text()).toMatch(BY_ADA);
});

it('tells of an answer on the post of its question, also when the same is asked again at once', async () => {
	const { id, first, second } = await answeredAndCleared(false);
	// No read saw her answer.
	await app.until(() => says(first.text(), answeredBy('ada')));
	expect(second.text()).not.toContain('@ada');
	await app.pass(10_000);
	expect(app.thread(id)).toHaveLength(2);
});
