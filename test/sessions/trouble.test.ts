import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { slackOutcome } from '../../src/slack/clients.ts';
import { MAYBE_REPEAT } from '../../src/slack/phrases.ts';
import {
	answering,
	describe,
	expect,
	FEWEST_REQUESTS,
	type Json,
	openButtons,
	type Posted,
	SERVICE_BACK,
	SERVICE_DOWN,
	type WatchingApp,
	watchingApp,
	withApp,
} from '../kit.ts';
import { opensSession } from '../support/opens-session.ts';

type Fault = Omit<Parameters<WatchingApp['slack']['faults']['add']>[0], 'method'>;
const it = withApp(() => watchingApp({ realRates: true, env: FEWEST_REQUESTS }));

const notices = (app: WatchingApp, words: string, channel: string) =>
	app.inChannel(channel).filter((message) => message.threadTs() === null && message.text().includes(words));

describe('a session service that is down', () => {
	it('posts one notice for each channel when the service is down, and one when it is back', async ({ app }) => {
		const ids = Array.from({ length: 5 }, () => app.session());
		await app.command(`/session watch ${ids.join(' ')}`);
		await app.command(`/session watch ${ids[0]}`, 'ada', '#secret');
		await app.until(() => ids.every((id) => app.card(id)) && app.card(ids[0] ?? '', '#secret'));
		await app.service.goDown();
		await app.until(() => notices(app, SERVICE_DOWN, '#agents')[0] && notices(app, SERVICE_DOWN, '#secret')[0]);
		await app.pass(120_000);
		app.ask(ids[1] ?? '');
		await app.service.comeBack();
		const back = await app.until(() => notices(app, SERVICE_BACK, '#agents')[0]);
		expect(back.text()).toMatch(/back after \d+ (?:s|min)/);
		await app.until(() => notices(app, SERVICE_BACK, '#secret')[0]);
		await app.threadSays(ids[1] ?? '', 'Which colour?');
		await app.pass(30_000);
		for (const channel of ['#agents', '#secret']) {
			expect(notices(app, SERVICE_DOWN, channel)).toHaveLength(1);
			expect(notices(app, SERVICE_BACK, channel)).toHaveLength(1);
		}
	});
});

it('stays within the limit when other clients of the address used the budget', async ({ app }) => {
	const id = await app.watched();
	app.service.useBudget(245);
	app.ask(id);
	await app.threadSays(id, 'Which colour?');
	// One request that could not know yet; the program uses the header of its response.
	expect(app.service.log.list().filter(({ status }) => status === 429).length).toBeLessThanOrEqual(1);
	app.service.log.clear();
});

describe('Slack', () => {
	it('updates a limited card once with the newest progress, while questions and forms are not delayed', async ({
		app,
	}) => {
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

	it.for([
		['rate_limited', 'later'],
		['message_limit_exceeded', 'later'],
		['team_added_to_org', 'later'],
		['token_expired', 'later'],
		['not_documented', 'refused'],
	] as const)('is tried again after %s: %s', ([code, kind]) => {
		const error = Object.assign(new Error(code), { data: { ok: false, error: code } });
		expect(slackOutcome(error)).toMatchObject({ kind, code });
	});

	it.for([
		['token_expired', 6],
		// This may be refused for good, so it is not tried as often.
		['not_documented', 4],
	] as const)(
		'posts and settles a question once although Slack refuses both with %s, %i times',
		async ([error, times], { app }) => {
			const id = await app.watched();
			app.slack.faults.add({ method: 'chat.postMessage', error, times });
			app.ask(id);
			const post = await app.threadSays(id, 'Which colour?');
			app.slack.faults.add({ method: 'chat.update', error, times, when: ({ ts }) => ts === post.ts });
			app.service.sessions.answerAsPage(id, ['Sand']);
			await app.until(() => openButtons(post)?.length === 0);
			expect(app.thread(id)).toHaveLength(1);
		},
	);

	it.for<[string, Fault]>([
		['limited posts', { status: 429, retryAfter: 20, times: 2 }],
		['cut connections for a while', { drop: true, times: 3 }],
		// The client makes an error with the whole text of it.
		['sent the page of a proxy', { error: '<html>An Only-on-this-page error</html>', times: 1, afterEffect: true }],
	] as const)('posts a question once after Slack %s', async ([, fault], { app }) => {
		const id = await app.watched();
		app.slack.faults.add({ method: 'chat.postMessage', ...fault });
		app.ask(id);
		await app.threadSays(id, 'Which colour?');
		await app.pass(60_000);
		expect(app.thread(id)).toHaveLength(1);
		expect(app.log.join()).not.toContain('Only-on-this-page');
	});

	it.for([null, 'Wed, 21 Oct 2026 07:28:00 GMT'])(
		'repeats a limited post for which a proxy asks to wait: %s',
		async (retryAfter, { app }) => {
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

	it('finds a post in its thread after the place of questions was changed', async ({ app }) => {
		const id = await app.watched({}, { questionsInThread: true });
		app.loseReply();
		app.ask(id);
		await app.threadSays(id, 'Which colour?');
		await app.setPosts({});
		await app.pass(60_000);
		expect(app.thread(id)).toHaveLength(1);
	});

	describe('that gives 15 messages of the history at a time', () => {
		async function talk(app: WatchingApp, messages: number, options: { thread?: Posted } = {}) {
			for (let number = 1; number <= messages; number++) {
				await app.slack.as('grace').say('#agents', `Message ${number}`, options);
			}
		}
		const it = withApp(() => watchingApp({ env: FEWEST_REQUESTS, slack: { settings: { historyPageSize: 15 } } }));

		it('finds a post in its thread behind pages of 15 messages, as fast as Slack allows', async ({ app }) => {
			const id = await app.watched({}, { questionsInThread: true });
			const thread = app.card(id);
			await talk(app, 40, thread === undefined ? {} : { thread });
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

		it('finds a card in its channel behind pages of 15 messages', async ({ app }) => {
			const id = app.session();
			app.loseReply();
			await app.watch(id);
			await talk(app, 40);
			app.ask(id);
			await app.threadSays(id, 'Which colour?');
			await app.cardSays(id, ' asks');
			const cards = app
				.inChannel()
				.filter((message) => message.buttons().includes('Stop watching') && opensSession(message.blocks(), id));
			expect(cards.filter((message) => message.threadTs() === null)).toHaveLength(1);
		});

		it('posts again with a mark when the post is not found in ten pages', async ({ app }) => {
			const id = await app.watched({}, { questionsInThread: true });
			const thread = app.card(id);
			await talk(app, 150, thread === undefined ? {} : { thread });
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

const metricsText = (app: WatchingApp) => fetch(`${app.app.url}/metrics`).then((answer) => answer.text());

it('counts cards, posts and reads in the metrics', async ({ app }) => {
	const id = await app.watched();
	app.slack.faults.rateLimit('chat.update', { retryAfter: 5, times: 1 });
	app.ask(id);
	await app.threadSays(id, 'Which colour?');
	await app.cardSays(id, ' asks');
	// What Slack responds is counted a moment after the post is there.
	await app.pass(1_000);
	const metrics = await metricsText(app);
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

it('counts a read as unchanged and writes no view while the same question stays open', async ({ app }) => {
	const { id } = await app.askedPost();
	await app.pass(10_000);
	const changed = async () =>
		/handraise_watch_reads_total\{outcome="changed"\} (\d+)/.exec(await metricsText(app))?.[1];
	const view = () => {
		using database = new DatabaseSync(join(app.dataDir, 'handraise.db'), { readOnly: true });
		return database.prepare('select snapshot from watched_sessions where session_id = ?').get(id)?.snapshot;
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
