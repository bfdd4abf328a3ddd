import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ended } from '../../support/sentences.ts';
import { expectNothingWrong, type WatchingApp, watchingApp } from './harness.ts';

const MINUTE_MS = 60_000;
const NOT_FOUND = { error: 'channel_not_found', when: ({ channel }: { channel?: unknown }) => channel === 'C0AGENTS' };

let app: WatchingApp;
beforeAll(async () => {
	app = await watchingApp();
});
afterAll(() => app[Symbol.asyncDispose]());
afterEach(async () => {
	app.slack.faults.clear();
	await app.slack.invite('#secret', 'handraise');
	expectNothingWrong(app);
	await app.command('/session unwatch all');
});

/** The log lines of watches of this session that ended. */
const endsOf = (sessionId: string) =>
	app.log
		.filter((line) => line.includes('a watch ended'))
		.map((line) => JSON.parse(line))
		.filter((line) => line.sessionId === sessionId);

/** The posts and updates that Slack refused because it does not find their channel. */
const refused = (from: number) =>
	['chat.postMessage', 'chat.update']
		.flatMap((method) => app.calls(method, from))
		.filter(({ answer }) => JSON.stringify(answer).includes('channel_not_found'));

/** Takes the bot out of `#secret` without any event, as when Slack's is lost: Slack then does not find the channel. */
function loseSecretChannel(): void {
	const state = app.slack.snapshot();
	const secret = state.channels.find(({ id }) => id === 'C0SECRET');
	if (secret !== undefined) secret.members = secret.members.filter((id) => id !== state.app.botUser);
	app.slack.restore(state);
}

describe('a channel that Slack does not find', () => {
	it('keeps its watch when it is found a moment later, by a post', async () => {
		const id = await app.watched();
		app.slack.faults.add({ ...NOT_FOUND, method: 'chat.postMessage', times: 2 });
		app.slack.faults.add({ ...NOT_FOUND, method: 'conversations.info', times: 1 });
		app.ask(id);
		await app.threadSays(id, 'Which colour?');
		expect(endsOf(id)).toEqual([]);
	});

	it('keeps its watch when it is found a moment later, by updates of the card and of a post', async () => {
		const id = await app.watchedAsking();
		const post = await app.threadSays(id, 'Which colour?');
		app.slack.faults.add({ ...NOT_FOUND, method: 'chat.update', times: 4 });
		app.service.sessions.answerAsPage(id, ['Sand']);
		await app.until(() => post.buttons().length === 0);
		app.step(id, 'I go on with sand.');
		await app.cardSays(id, 'I go on with sand.');
		expect(endsOf(id)).toEqual([]);
	});

	it.each([
		['finds it when asked', null],
		['does not tell', 'fatal_error'],
	])('keeps its watch while Slack %s, and posts when it can', async (_, error) => {
		const id = await app.watched();
		const lift = app.slack.faults.add({ ...NOT_FOUND, method: 'chat.postMessage' });
		if (error !== null) app.slack.faults.add({ ...NOT_FOUND, method: 'conversations.info', error });
		app.ask(id);
		const from = app.now();
		await app.pass(3 * MINUTE_MS);
		expect(app.calls('conversations.info', from)).not.toEqual([]);
		lift();
		await app.threadSays(id, 'Which colour?');
		expect(endsOf(id)).toEqual([]);
	});

	it('keeps its watch when it was missing twice with two minutes between', async () => {
		const id = await app.watched();
		for (const colour of ['red', 'blue']) {
			app.slack.faults.add({ ...NOT_FOUND, method: 'chat.postMessage', times: 1 });
			app.slack.faults.add({ ...NOT_FOUND, method: 'conversations.info', times: 1 });
			app.ask(id, [`Is ${colour} fine?`]);
			await app.threadSays(id, `Is ${colour} fine?`);
			await app.pass(2 * MINUTE_MS);
		}
		expect(endsOf(id)).toEqual([]);
	});

	it.each([
		['post', (id: string) => void app.ask(id)],
		['update of its card', (id: string) => app.step(id, 'I go on.')],
	])('loses its watch when the %s and Slack itself still say so after a minute', async (_, act) => {
		const id = app.session();
		await app.command(`/session watch ${id}`, 'ada', '#secret');
		await app.until(() => app.card(id, '#secret') && app.service.log.reads(id).length > 1);
		await app.pass(5_000);
		loseSecretChannel();
		const from = app.now();
		act(id);
		await app.until(() => refused(from).length > 0);
		const missingAt = app.clock.now();
		const dm = await app.until(() => app.slack.as('ada').dm(id)[0]);
		expect(app.clock.now() - missingAt).toBeGreaterThanOrEqual(MINUTE_MS);
		expect(app.clock.now() - missingAt).toBeLessThan(2 * MINUTE_MS);
		expect(dm.text()).toContain(ended('channelGone'));
		expect(endsOf(id)).toMatchObject([{ watchId: expect.any(String), channel: 'C0SECRET', reason: 'channelGone' }]);
		// Not with each attempt: others need the same rate.
		expect(refused(from).length).toBeGreaterThan(3);
		expect(app.calls('conversations.info', from)).toHaveLength(1);
	});

	it('loses its watch after a minute when it is a direct message, of which Slack tells nothing', async () => {
		const id = app.session();
		await app.command(`/session watch ${id}`, 'ada', 'dm');
		const card = await app.until(() => app.service.log.reads(id).length > 1 && app.card(id, 'dm'));
		await app.pass(5_000);
		const when = ({ channel }: { channel?: unknown }) => channel === card.channel;
		app.slack.faults.add({ method: 'chat.postMessage', error: 'channel_not_found', when, times: 6 });
		const from = app.now();
		app.ask(id);
		await app.until(() => refused(from).length > 0);
		const missingAt = app.clock.now();
		await app.until(() => endsOf(id).length > 0);
		expect(app.clock.now() - missingAt).toBeGreaterThanOrEqual(MINUTE_MS);
		expect(endsOf(id)).toMatchObject([{ channel: card.channel, reason: 'channelGone' }]);
	});
});
