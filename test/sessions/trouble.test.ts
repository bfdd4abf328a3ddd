import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json, Posted } from '../../fake-slack/index.ts';
import { MAYBE_REPEAT } from '../../src/slack/parts.ts';
import { opensSession } from '../support/opens-session.ts';
import { answering, openButtons, SERVICE_BACK, SERVICE_DOWN } from '../support/sentences.ts';
import { expectNothingWrong, FEWEST_REQUESTS, type WatchingApp, watchingApp } from './harness.ts';

type Fault = Omit<Parameters<WatchingApp['slack']['faults']['add']>[0], 'method'>;
let app: WatchingApp;
beforeAll(async () => {
	app = await watchingApp({ env: FEWEST_REQUESTS });
});
afterAll(() => app[Symbol.asyncDispose]());
afterEach(async () => {
	app.slack.faults.clear();
	app.service.faults.clear();
	await app.service.comeBack();
	await app.slack.as('ada').modal()?.close(true);
	expectNothingWrong(app);
	await app.unwatchAll();
	await app.unwatchAll('#secret');
});

const notices = (words: string, channel: string) =>
	app.inChannel(channel).filter((message) => message.threadTs() === null && message.text().includes(words));

describe('a session service that is down', () => {
	it('posts one notice for each channel when the service is down, and one when it is back', async () => {
		const ids = Array.from({ length: 5 }, () => app.session());
		await app.command(`/session watch ${ids.join(' ')}`);
		await app.command(`/session watch ${ids[0]}`, 'ada', '#secret');
		await app.until(() => ids.every((id) => app.card(id)) && app.card(ids[0] ?? '', '#secret'));
		await app.service.goDown();
		await app.until(() => notices(SERVICE_DOWN, '#agents')[0] && notices(SERVICE_DOWN, '#secret')[0]);
		await app.pass(120_000);
		app.ask(ids[1] ?? '');
		await app.service.comeBack();
		const back = await app.until(() => notices(SERVICE_BACK, '#agents')[0]);
		expect(back.text()).toMatch(/back after \d+ (?:s|min)/);
		await app.until(() => notices(SERVICE_BACK, '#secret')[0]);
		await app.threadSays(ids[1] ?? '', 'Which colour?');
		await app.pass(30_000);
		for (const channel of ['#agents', '#secret']) {
			expect(notices(SERVICE_DOWN, channel)).toHaveLength(1);
			expect(notices(SERVICE_BACK, channel)).toHaveLength(1);
		}
	});

	it('posts nothing when the service is down for a few seconds', async () => {
		const id = await app.watched();
		await app.service.goDown();
		await app.pass(15_000);
		await app.service.comeBack();
		app.ask(id);
		await app.threadSays(id, 'Which colour?');
		expect(
			app.inChannel().filter((message) => [SERVICE_DOWN, SERVICE_BACK].some((words) => message.text().includes(words))),
		).toHaveLength(2);
	});
});

it('stays within the limit when other clients of the address used the budget', async () => {
	const id = await app.watched();
	app.service.useBudget(245);
	app.ask(id);
	await app.threadSays(id, 'Which colour?');
	// One request that could not know yet; the program uses the header of its response.
	expect(app.service.log.list().filter(({ status }) => status === 429).length).toBeLessThanOrEqual(1);
	app.service.log.clear();
	// The others' minute ends.
	await app.pass(60_000);
});

describe('Slack', () => {
	it('updates a limited card once with the newest progress, while questions and forms are not delayed', async () => {
		const id = await app.watched();
		const asks = await app.watched();
		const from = app.now();
		app.slack.faults.rateLimit('chat.update', { retryAfter: 40, times: 1 });
		app.step(id, 'Step two.');
		await app.until(() => app.calls('chat.update', from)[0]);
		for (const text of ['Step three.', 'Step four.', 'Step five.']) {
			app.step(id, text);
			await app.pass(4_000);
		}
		app.ask(asks);
		const post = await app.threadSays(asks, 'Which colour?');
		expect(app.calls('chat.update', from)).toHaveLength(1);
		// The clock stands still here, so a wait for the updates would block this.
		await post.press('Answer…');
		const form = await app.slack.as('ada').waitForModal((modal) => modal.submitText() !== null);
		expect(form.fields()[0]?.label).toBe('Which colour?');
		await app.cardSays(id, 'Step five.');
		await app.until(() => post.text().includes(answering('ada')));
		expect(app.card(id)?.editHistory()).toHaveLength(1);
	});

	it('delays neither posts nor forms when Slack does not respond to an update', async () => {
		const id = await app.watched();
		const release = app.slack.faults.hold('chat.update');
		app.step(id, 'Step two.');
		await app.until(() => app.calls('chat.update').at(-1)?.doneAt === null);
		const form = app.slack.as('ada');
		await app.card(id)?.press('Open session');
		await form.waitForModal('Step 2');
		release();
		await app.cardSays(id, 'Step two.');
	});

	it.each([
		['rate_limited', 6],
		['message_limit_exceeded', 6],
		['team_added_to_org', 6],
		['token_expired', 6],
		// This may be refused for good, so it is not tried as often.
		['not_documented', 4],
	])('posts and settles a question once although Slack refuses both with %s, %i times', async (error, times) => {
		const id = await app.watched();
		app.slack.faults.add({ method: 'chat.postMessage', error, times });
		app.ask(id);
		const post = await app.threadSays(id, 'Which colour?');
		app.slack.faults.add({ method: 'chat.update', error, times, when: ({ ts }) => ts === post.ts });
		app.service.sessions.answerAsPage(id, ['Sand']);
		await app.until(() => openButtons(post)?.length === 0);
		expect(app.thread(id)).toHaveLength(1);
	});

	it.each<[string, Fault]>([
		['limited posts', { status: 429, retryAfter: 20, times: 2 }],
		['cut connections for a while', { drop: true, times: 3 }],
		// The client makes an error with the whole text of it.
		['sent the page of a proxy', { error: '<html>An Only-on-this-page error</html>', times: 1, afterEffect: true }],
	])('posts a question once after Slack %s', async (_, fault) => {
		const id = await app.watched();
		app.slack.faults.add({ method: 'chat.postMessage', ...fault });
		app.ask(id);
		await app.threadSays(id, 'Which colour?');
		await app.pass(60_000);
		expect(app.thread(id)).toHaveLength(1);
		expect(app.log.join()).not.toContain('Only-on-this-page');
	});

	it.each([null, 'Wed, 21 Oct 2026 07:28:00 GMT'])(
		'repeats a limited post for which a proxy asks to wait: %s',
		async (retryAfter) => {
			const id = await app.watched();
			const from = app.now();
			app.slack.faults.add({ method: 'chat.postMessage', status: 429, retryAfter, times: 1 });
			app.ask(id);
			await app.threadSays(id, 'Which colour?');
			expect(app.calls('chat.postMessage', from)).toHaveLength(2);
			// Nothing is looked for: it was certainly not posted.
			expect(app.calls('conversations.replies', from)).toEqual([]);
		},
	);

	it.each([
		{ what: 'found in the history and not repeated', without: [], posts: 1, marked: 0 },
		{
			what: 'repeated with a mark where the history cannot be read',
			without: ['channels:history', 'groups:history'],
			posts: 2,
			marked: 1,
		},
	] as const)('that fails after posting has the post $what', async ({ without, posts, marked }) => {
		const id = await app.watched();
		const { settings } = app.slack;
		const scopes = settings.scopes;
		settings.scopes = scopes.filter((scope) => !without.some((one) => one === scope));
		app.loseReply();
		app.ask(id);
		await app.threadSays(id, 'Which colour?');
		await app.pass(60_000);
		settings.scopes = scopes;
		expect(app.thread(id)).toHaveLength(posts);
		const repeats = app
			.thread(id)
			.filter((post) => post.text().includes('Handraise was interrupted: this post may be a repeat.'));
		expect(repeats).toHaveLength(marked);
		app.service.sessions.answerAsPage(id, ['Sand']);
		await app.until(() => app.thread(id).filter((post) => post.text().includes('Sand')).length === 1);
		await app.until(() => openButtons(app.thread(id).at(-1))?.length === 0);
	});

	it('finds a post in its thread after the place of questions was changed', async () => {
		const id = await app.watched({}, { questionsInThread: true });
		app.loseReply();
		app.ask(id);
		await app.threadSays(id, 'Which colour?');
		await app.setPosts({});
		await app.pass(60_000);
		expect(app.thread(id)).toHaveLength(1);
	});

	describe('that gives 15 messages of the history at a time', () => {
		async function talk(messages: number, options: { thread?: Posted } = {}) {
			for (let number = 1; number <= messages; number++) {
				await app.slack.as('grace').say('#agents', `Message ${number}`, options);
			}
		}
		beforeEach(() => {
			app.slack.settings.historyPageSize = 15;
		});
		afterEach(() => {
			app.slack.settings.historyPageSize = 999;
			return app.setPosts({});
		});

		it('finds a post in its thread behind pages of 15 messages, as fast as Slack allows', async () => {
			const id = await app.watched({}, { questionsInThread: true });
			const thread = app.card(id);
			await talk(40, thread === undefined ? {} : { thread });
			const from = app.now();
			const isLater = ({ cursor }: Json) => cursor !== undefined;
			app.slack.faults.add({ method: 'conversations.replies', status: 429, retryAfter: 40, times: 1, when: isLater });
			app.loseReply();
			app.ask(id);
			await app.threadSays(id, 'Which colour?');
			const limited = await app.until(() => app.calls('conversations.replies', from)[1]);
			const limitedAt = app.clock.now();
			await app.until(() => app.calls('conversations.replies', from).length > 2);
			expect(app.clock.now() - limitedAt).toBeGreaterThanOrEqual(39_000);
			await app.pass(60_000);
			const cursors = app.calls('conversations.replies', from).map(({ request }) => (request as Json).cursor);
			expect(cursors).toHaveLength(4);
			expect(cursors[0]).toBeUndefined();
			expect(cursors[1]).toBe((limited.request as Json).cursor);
			expect(cursors[2]).toBe(cursors[1]);
			expect(app.thread(id)).toHaveLength(1);
		});

		it('finds a card in its channel behind pages of 15 messages', async () => {
			const id = app.session();
			app.loseReply();
			await app.watch(id);
			await talk(40);
			app.ask(id);
			await app.threadSays(id, 'Which colour?');
			await app.cardSays(id, ' asks');
			const cards = app
				.inChannel()
				.filter((message) => message.buttons().includes('Stop watching') && opensSession(message.blocks(), id));
			expect(cards.filter((message) => message.threadTs() === null)).toHaveLength(1);
		});

		it('posts again with a mark when the post is not found in ten pages', async () => {
			const id = await app.watched({}, { questionsInThread: true });
			const thread = app.card(id);
			await talk(150, thread === undefined ? {} : { thread });
			const from = app.now();
			app.loseReply();
			app.ask(id);
			await app.until(() => app.thread(id).some((post) => post.text().includes(MAYBE_REPEAT)));
			await app.pass(30_000);
			expect(app.calls('conversations.replies', from)).toHaveLength(10);
			expect(app.thread(id)).toHaveLength(2);
		});
	});
});

const metricsText = () => fetch(`${app.app.url}/metrics`).then((answer) => answer.text());

it('counts cards, posts and reads in the metrics', async () => {
	const id = await app.watchedAsking();
	await app.threadSays(id, 'Which colour?');
	// What Slack responds is counted a moment after the post is there.
	await app.pass(1_000);
	const metrics = await metricsText();
	const value = (name: string) =>
		Number(new RegExp(`^${name}(?:\\{[^}]*\\})? ([0-9.e+]+)$`, 'm').exec(metrics)?.[1] ?? Number.NaN);
	expect(value('handraise_watched_sessions')).toBeGreaterThan(0);
	expect(value('handraise_service_budget_left')).toBeGreaterThan(0);
	expect(metrics).toMatch(/handraise_service_requests_total\{priority="background",outcome="\w+"\} [1-9]/);
	expect(metrics).toMatch(/handraise_slack_calls_total\{method="chat.update",outcome="429"\} [1-9]/);
	expect(metrics).toMatch(/handraise_card_updates_total\{outcome="sent"\} [1-9]/);
	expect(metrics).toMatch(/handraise_posts_total\{outcome="posted"\} [1-9]/);
	expect(metrics).toMatch(/handraise_detection_age_seconds_count [1-9]/);
});

it('counts a read as unchanged and writes no view while the same question stays open', async () => {
	const id = await app.watchedAsking();
	await app.threadSays(id, 'Which colour?');
	await app.pass(10_000);
	const changed = async () => /handraise_watch_reads_total\{outcome="changed"\} (\d+)/.exec(await metricsText())?.[1];
	const view = () => {
		using database = new DatabaseSync(join(app.dataDir, 'handraise.db'), { readOnly: true });
		return database.prepare('select view from watched_sessions where session_id = ?').get(id)?.view;
	};
	const before = await changed();
	const viewBefore = view();
	expect(viewBefore).toBeTypeOf('string');
	const reads = app.service.log.reads(id).length;
	await app.until(() => app.service.log.reads(id).length > reads + 2);
	expect(await changed()).toBe(before);
	// Sealed again, it would differ.
	expect(view()).toBe(viewBefore);
});
