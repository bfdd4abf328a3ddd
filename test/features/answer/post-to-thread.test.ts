import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Modal, Posted } from '../../../fake-slack/index.ts';
import { PRESS_NOTES } from '../../../src/features/answer/receipt-view.ts';
import { whatHappened } from '../../support/sentences.ts';
import { expectNothingWrong, type WatchingApp, watchingApp } from '../watch/harness.ts';

const POST = 'Post my text to the thread';

let app: WatchingApp;
beforeAll(async () => {
	app = await watchingApp();
});
afterAll(() => app[Symbol.asyncDispose]());
afterEach(async () => {
	app.slack.faults.clear();
	await grace().modal()?.close(true);
	expectNothingWrong(app);
	await app.command('/session unwatch all');
});

const grace = () => app.slack.as('grace');

/** Grace's answer, given in the form that a question's post opened, came too late; her modal says so. */
async function tooLate(text: string): Promise<{ modal: Modal; asked: Posted }> {
	const id = await app.watchedAsking();
	const asked = app.seenBy('grace', await app.threadSays(id, 'Which colour?'));
	await asked.press('Answer…');
	const form = await grace().waitForModal((modal) => modal.submitText() !== null);
	await form.fill(0, text);
	app.service.sessions.answerAsPage(id, ['Sand']);
	await form.submit();
	const modal = await app.until(() => {
		const now = grace().modal();
		return now?.buttons().includes(POST) === true && now;
	});
	await app.threadSays(id, 'Sand');
	await app.pass(5_000);
	return { modal, asked };
}

/** A thread without replies disappears with its first message. */
function removeThread(asked: Posted): void {
	for (const post of asked.thread()) post.remove();
	asked.remove();
}

const standing = (text: string) =>
	app.slack
		.as('ada')
		.messages('#agents', { all: true })
		.filter((message) => message.text().includes(text));
const says = (words: string) => app.until(() => grace().modal()?.text().includes(words));

it('posts the text of a late answer into the thread from which its form was opened', async () => {
	const { modal, asked } = await tooLate('Graphite');
	await modal.press(POST);
	await says('Your text was posted.');
	expect(modal.buttons()).not.toContain(POST);
	const told = 'An answer that was not sent to the agent';
	expect(standing('Graphite').map((one) => [one.threadTs(), one.isBroadcast(), one.notification()])).toEqual([
		[asked.ts, false, told],
	]);
});

it('posts the text into a thread with replies whose first message was deleted', async () => {
	const { modal, asked } = await tooLate('Copper');
	await app.slack.as('grace').say('#agents', 'Nice.', { thread: asked });
	asked.remove();
	await modal.press(POST);
	await says(PRESS_NOTES.posted);
	expect(standing('Copper').map((message) => message.threadTs())).toEqual([asked.ts]);
});

it('posts nothing when the thread does not exist any more, and says so', async () => {
	const { modal, asked } = await tooLate('Forest');
	removeThread(asked);
	const from = app.now();
	await modal.press(POST);
	await says(whatHappened('thread_gone'));
	expect(grace().modal()?.text()).toContain('> Forest');
	expect(JSON.stringify(app.calls('chat.postMessage', from).map(({ request }) => request))).not.toContain('Forest');
	expect(standing('Forest')).toEqual([]);
});

it.each([
	['deletes the post from the channel', 'Ivory', whatHappened('thread_gone'), []],
	[
		'says that a post that stays is in the channel',
		'Amber',
		'so Slack posted it in the channel. Handraise could not delete it.',
		[null],
	],
])('%s when the thread disappears during the call', async (_, text, words, threads) => {
	const { modal, asked } = await tooLate(text);
	if (threads.length > 0) app.slack.faults.add({ method: 'chat.delete', error: 'cant_delete_message' });
	const release = app.slack.faults.hold('chat.postMessage', ({ thread_ts: ts }) => ts === asked.ts);
	const pressed = modal.press(POST);
	await app.slack.changes.until(
		() => app.calls('chat.postMessage').at(-1)?.doneAt === null,
		() => 'Nothing is being posted.',
	);
	removeThread(asked);
	release();
	await pressed;
	await says(words);
	expect(standing(text).map((message) => message.threadTs())).toEqual(threads);
});

it('posts nothing when Slack does not say whether the thread exists, and says so', async () => {
	const { modal } = await tooLate('Pearl');
	app.slack.faults.add({ method: 'chat.getPermalink', error: 'internal_error' });
	await modal.press(POST);
	await says(whatHappened('post_unsure'));
	expect(standing('Pearl')).toEqual([]);
});

it('does not say that the text stands in the thread when Slack does not say where it is', async () => {
	const { modal, asked } = await tooLate('Slate');
	app.slack.faults.add({ method: 'chat.postMessage', answer: { ts: asked.ts } });
	await modal.press(POST);
	await says(whatHappened('post_unsure'));
});
