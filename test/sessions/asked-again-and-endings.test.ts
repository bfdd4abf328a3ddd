import { OUTSIDE } from '../../src/screens/question-post.ts';
import type { WatchEnd } from '../../src/store/watch.ts';
import {
	answeredBy,
	answering,
	asking,
	describe,
	done,
	ended,
	expect,
	FEWEST_REQUESTS,
	item,
	openButtons,
	task,
	type WatchingApp,
	watchingApp,
	withApp,
} from '../kit.ts';
import { auditRows } from '../support/audit-rows.ts';

const DAY_MS = 24 * 3_600_000;
const MINUTE_MS = 60_000;
const NOT_FOUND = { error: 'channel_not_found', when: ({ channel }: { channel?: unknown }) => channel === 'C0AGENTS' };

const it = withApp(() => watchingApp({ realRates: true, env: FEWEST_REQUESTS, service: { resumeAfterMs: 800 } }));

/** The direct messages to this person about a session. */
const dms = (app: WatchingApp, who: string, words: string) => app.slack.as(who).dm(words);

/** It is logged that and why the watch of the session ended. */
function expectLogged(app: WatchingApp, sessionId: string, reason: WatchEnd): void {
	expect(endsOf(app, sessionId)).toMatchObject([{ channel: 'C0AGENTS', outcome: reason }]);
}

async function expectLeftAlone(app: WatchingApp, id: string): Promise<void> {
	// A post, or a last read for the result, may be under way.
	await app.pass(20_000);
	const reads = app.service.log.reads(id).length;
	await app.pass(60_000);
	expect(app.service.log.reads(id)).toHaveLength(reads);
}

it('ends a watch when the bot is removed from the channel, and tells its creator', async ({ app }) => {
	const id = await app.watched();
	await app.slack.remove('#agents', 'handraise');
	const dm = await app.until(() => dms(app, 'ada', id)[0]);
	expect(dm.text()).toContain('Handraise was removed from the channel. Invite it');
	expect(dm.text()).toContain('#agents');
	await expectLeftAlone(app, id);
	expect(dms(app, 'ada', id)).toHaveLength(1);
	expectLogged(app, id, 'botRemoved');
});

it('offers on the card and the open question to watch again, in a discreet channel too, when it stops watching', async ({
	app,
}) => {
	const id = await app.watched({ name: 'Chairs' }, { discreet: true });
	app.ask(id);
	const isOpen = () => app.thread(id).findLast((one) => one.buttons().includes('Answer…'));
	const post = await app.until(isOpen);
	const card = app.card(id);
	await app.command(`/session unwatch ${id}`);
	await app.until(() => post.buttons().join() === 'Watch again' && card?.buttons().includes('Watch again'));
	expect(post.text()).toContain('No longer watched');
	expectLogged(app, id, 'unwatched');
	// Two people at the same moment.
	await Promise.all([app.seenBy('grace', post).press('Watch again'), post.press('Watch again')]);
	const again = await app.until(isOpen);
	expect(again.ts).not.toBe(post.ts);
	expect(again.notification()).not.toContain('Which');
	await app.until(() => openButtons(post)?.length === 0 && !card?.buttons().includes('Watch again'));
	expect([post.text(), card?.text()]).toEqual(Array(2).fill(expect.stringContaining('Watched again, in newer posts.')));
	await app.pass(10_000);
	// No card above a question.
	expect(app.card(id)?.ts).toBe(card?.ts);
	app.service.sessions.answerAsPage(id, ['Sand']);
	await app.until(() => app.card(id)?.ts !== card?.ts);
	const watched = app.inChannel().filter((one) => one.buttons().includes('Stop watching'));
	expect(watched.map(({ ts }) => ts)).toEqual([app.card(id)?.ts]);
});

it('ends watches when the channel is archived, with one message to each creator', async ({ app }) => {
	const ids = [app.session(), app.session(), app.session()];
	await app.command(`/session watch ${ids.join(' ')}`);
	const other = app.session();
	await app.command(`/session watch ${other}`, 'grace');
	await app.until(() => [...ids, other].every((id) => app.card(id)));
	await app.slack.archive('#agents');
	const dm = await app.until(() => dms(app, 'ada', ids[0] ?? '')[0]);
	expect(dm.text()).toContain('The channel was archived.');
	for (const id of ids) expect(dm.text()).toContain(id);
	const graces = await app.until(() => dms(app, 'grace', other)[0]);
	expect(graces.text()).not.toContain(ids[0]);
	await expectLeftAlone(app, other);
	expect(ids.flatMap((id) => dms(app, 'ada', id)).length).toBe(3);
	expect(new Set(ids.flatMap((id) => dms(app, 'ada', id).map(({ ts }) => ts))).size).toBe(1);
});

it.for([
	['chat.postMessage', 'is_archived', 'The channel was archived.'],
	['chat.postMessage', 'not_in_channel', 'Handraise was removed from the channel.'],
	['chat.update', 'is_inactive', 'The channel was archived.'],
] as const)(
	'ends a watch, without an event, when Slack answers %s with %s',
	async ([method, error, words], { app }) => {
		const id = await app.watched();
		app.slack.faults.add({ method, error, when: ({ channel }) => channel === 'C0AGENTS' });
		if (method === 'chat.update') app.step(id, 'I go on.');
		else app.ask(id);
		const dm = await app.until(() => dms(app, 'ada', id)[0]);
		expect(dm.text()).toContain(words);
		await expectLeftAlone(app, id);
	},
);

it('ends a watch without a change for a week, also when the program was down and links were renewed', async ({
	app,
}) => {
	const id = await app.watched({ files: [{ filename: 'offers.csv', timestamp: '2026-01-05T09:00:00Z' }] });
	const lively = await app.watched();
	// The first read is the base for changes.
	await app.until(() => app.service.log.reads(lively).length > 2);
	await app.stop();
	await app.clock.advance(8 * DAY_MS);
	app.step(lively, 'I was at work meanwhile.');
	await app.restart();
	const word = await app.threadSays(id, 'Nothing changed for 7 days');
	expect(app.service.sessions.get(id).files?.[0]?.timestamp).not.toBe('2026-01-05T09:00:00Z');
	expect(word.text()).toContain('/session watch');
	const card = await app.cardSays(id, 'Nothing changed for');
	expect(card.text()).toContain('7 days');
	expect(card.buttons()).not.toContain('Stop watching');
	await app.cardSays(lively, 'I was at work meanwhile.');
	await expectLeftAlone(app, id);
	expect((await app.command('/session list')).text()).toContain('This channel watches one session.');
	// The session can be watched again, with a new card.
	await app.command(`/session watch ${id}`);
	await app.until(() => app.card(id)?.buttons().includes('Stop watching'));
	expect(app.card(id)?.ts).not.toBe(card.ts);
});

it.for([
	['failed', /^❌ Order .* · failed · /, 'The session failed'],
	['stopped', /^⏹️ Order .* · stopped · /, 'The session was stopped'],
] as const)(
	'ends a watch when the session has %s, and closes the open question',
	async ([status, words, outcome], { app }) => {
		const { id, post } = await app.askedPost();
		app.service.sessions.setStatus(id, status);
		await app.until(() => post.text().endsWith(`\n${outcome}`));
		expect(openButtons(post)).toEqual([]);
		const card = await app.cardSays(id, words);
		expect(card.buttons()).not.toContain('Watch again');
		expect(card.buttons()).not.toContain('Answer…');
		await expectLeftAlone(app, id);
		expect(app.thread(id).map(({ ts }) => ts)).toEqual([post, ...app.ends(id)].map(({ ts }) => ts));
		expect(app.ends(id)).toHaveLength(1);
	},
);

it('posts questions and the end in the thread of the card where the channel wants that, and no progress', async ({
	app,
}) => {
	const id = await app.watched({}, { questionsInThread: true });
	app.service.sessions.setStatus(id, 'paused');
	await app.cardSays(id, 'paused');
	app.service.sessions.setStatus(id, 'active');
	await app.cardSays(id, 'working');
	app.ask(id);
	const post = await app.threadSays(id, 'Which colour?');
	expect(post.isBroadcast()).toBe(false);
	app.service.sessions.answerAsPage(id, ['Sand']);
	await app.until(() => post.text().includes(OUTSIDE));
	expect(post.text()).toContain(`${OUTSIDE}: Sand`);
	app.service.sessions.setStatus(id, 'completed');
	await app.cardSays(id, 'done');
	await app.pass(5_000);
	expect(app.thread(id).map((one) => one.threadTs())).toEqual(Array(2).fill(app.card(id)?.ts));
});

/** What the audit tells of watches of this session that ended. */
const endsOf = (app: WatchingApp, sessionId: string) =>
	auditRows(app.dataDir, 'unwatched').filter(({ session }) => session === sessionId);

/** The posts and updates that Slack refused because it does not find their channel. */
const refused = (app: WatchingApp, from: number) =>
	['chat.postMessage', 'chat.update']
		.flatMap((method) => app.calls(method, from))
		.filter(({ answer }) => JSON.stringify(answer).includes('channel_not_found'));

/** Takes the bot out of `#secret` without any event, as when Slack's is lost: Slack then does not find the channel. */
function loseSecretChannel(app: WatchingApp): void {
	const state = app.slack.snapshot();
	const secret = state.channels.find(({ id }) => id === 'C0SECRET');
	if (secret !== undefined) secret.members = secret.members.filter((id) => id !== state.app.botUser);
	app.slack.restore(state);
}

describe('a channel that Slack does not find', () => {
	it('keeps its watch when it is found a moment later, by updates of the card and of a post', async ({ app }) => {
		const { id, post } = await app.askedPost();
		app.slack.faults.add({ ...NOT_FOUND, method: 'chat.update', times: 4 });
		app.service.sessions.answerAsPage(id, ['Sand']);
		await app.until(() => openButtons(post)?.length === 0);
		app.step(id, 'I go on with sand.');
		await app.cardSays(id, 'I go on with sand.');
		expect(endsOf(app, id)).toEqual([]);
	});

	it.for([
		['finds it when asked', null],
		['does not tell', 'fatal_error'],
	] as const)('keeps its watch while Slack %s, and posts when it can', async ([, error], { app }) => {
		const id = await app.watched();
		const other = await app.watched();
		const lift = app.slack.faults.add({ ...NOT_FOUND, method: 'chat.postMessage' });
		if (error !== null) app.slack.faults.add({ ...NOT_FOUND, method: 'conversations.info', error });
		app.ask(id);
		app.ask(other);
		const from = app.now();
		await app.pass(3 * MINUTE_MS);
		// Not for each post, but again after a minute.
		expect(app.calls('conversations.info', from)).toHaveLength(2);
		lift();
		await app.threadSays(id, 'Which colour?');
		expect(endsOf(app, id)).toEqual([]);
	});

	it('keeps its watch when it was missing twice with two minutes between', async ({ app }) => {
		const id = await app.watched();
		for (const colour of ['red', 'blue']) {
			app.slack.faults.add({ ...NOT_FOUND, method: 'chat.postMessage', times: 1 });
			app.slack.faults.add({ ...NOT_FOUND, method: 'conversations.info', times: 1 });
			app.ask(id, [`Is ${colour} fine?`]);
			await app.threadSays(id, `Is ${colour} fine?`);
			await app.pass(2 * MINUTE_MS);
		}
		expect(endsOf(app, id)).toEqual([]);
	});

	it.for([
		['post', (app: WatchingApp, id: string): number => app.ask(id)],
		['update of its card', (app: WatchingApp, id: string): void => app.step(id, 'I go on.')],
	] as const)('loses its watch when the %s and Slack itself still say so after a minute', async ([, act], { app }) => {
		const id = app.session();
		await app.command(`/session watch ${id}`, 'ada', '#secret');
		await app.until(() => app.card(id, '#secret') && app.service.log.reads(id).length > 1);
		await app.pass(5_000);
		loseSecretChannel(app);
		const from = app.now();
		act(app, id);
		await app.until(() => refused(app, from).length > 0);
		const missingAt = app.clock.now();
		const dm = await app.until(() => app.slack.as('ada').dm(id)[0]);
		expect(app.clock.now() - missingAt).toBeGreaterThanOrEqual(MINUTE_MS);
		expect(app.clock.now() - missingAt).toBeLessThan(2 * MINUTE_MS);
		expect(dm.text()).toContain(ended('channelGone'));
		expect(dm.text()).toMatch(/deleted, or Handraise was removed from it\./);
		expect(endsOf(app, id)).toMatchObject([{ channel: 'C0SECRET', outcome: 'channelGone' }]);
		// Not with each attempt: others need the same rate.
		expect(refused(app, from).length).toBeGreaterThan(3);
		expect(app.calls('conversations.info', from)).toHaveLength(1);
	});

	it('loses its watch after a minute when it is a direct message, of which Slack tells nothing', async ({ app }) => {
		const id = app.session();
		await app.command(`/session watch ${id}`, 'ada', 'dm');
		const card = await app.until(() => app.service.log.reads(id).length > 1 && app.card(id, 'dm'));
		await app.pass(5_000);
		const when = ({ channel }: { channel?: unknown }) => channel === card.channel;
		app.slack.faults.add({ method: 'chat.postMessage', error: 'channel_not_found', when, times: 6 });
		const from = app.now();
		app.ask(id);
		await app.until(() => refused(app, from).length > 0);
		const missingAt = app.clock.now();
		await app.until(() => endsOf(app, id).length > 0);
		expect(app.clock.now() - missingAt).toBeGreaterThanOrEqual(MINUTE_MS);
		expect(endsOf(app, id)).toMatchObject([{ channel: card.channel, outcome: 'channelGone' }]);
	});
});

const start = [task('Order six desk chairs.'), done('I open the shop.')];
const question = asking('Three are in stock.', [item('Which colour?')]);

it('posts a question again whose answer was cleared, and settles each post with its own answer', async ({ app }) => {
	const { id, post: first } = await app.askedPost();
	app.service.sessions.answerAsPage(id, ['Sand']);
	await app.threadSays(id, 'Sand');
	await app.until(() => openButtons(first)?.length === 0);
	const settled = first.text();

	app.service.sessions.patch(id, { status: 'humanInput', messages: [...start, question] });
	const second = await app.until(() => app.thread(id).findLast((post) => post.buttons().includes('Answer…')));
	expect(second.ts).not.toBe(first.ts);
	expect(second.threadTs()).toBeNull();
	const edits = first.editHistory().length;
	app.service.sessions.answerAsPage(id, ['Forest']);
	await app.until(() => second.text().includes(`${OUTSIDE}: Forest`));
	expect(openButtons(second)).toEqual([]);
	expect(settled).toContain(`${OUTSIDE}: Sand`);
	expect(first.text()).toBe(settled);
	expect(first.editHistory()).toHaveLength(edits);
	await app.pass(30_000);
	expect(app.thread(id)).toHaveLength(2);
});

it('keeps the post of a question that moved in the session, and its button opens the question', async ({ app }) => {
	const id = await app.watched();
	app.service.sessions.patch(id, { status: 'humanInput', messages: [...start, question] });
	const post = await app.threadSays(id, 'Which colour?');
	app.service.sessions.patch(id, { messages: [{ role: 'system', content: 'A summary' }, ...start, question] });
	await app.pass(40_000);
	expect(app.thread(id)).toHaveLength(1);
	expect(await post.press('Answer…')).toBe(true);
	const form = await app.slack.as('ada').waitForModal((modal) => modal.submitText() !== null);
	expect(form.fields()[0]?.label).toBe('Which colour?');
	// A claim belongs to the question's place in the session.
	await app.until(() => post.text().includes(answering('ada')));
	app.service.sessions.answerAsPage(id, ['Sand']);
	await app.threadSays(id, 'Sand');
	await app.until(() => openButtons(post)?.length === 0);
	expect(app.thread(id)).toHaveLength(1);
});

it('does not name the author of a former answer when the question is asked again and answered elsewhere', async ({
	app,
}) => {
	const { id, post: first } = await app.askedPost();
	expect(await first.press('Answer…')).toBe(true);
	const form = await app.slack.as('ada').waitForModal((modal) => modal.submitText() !== null);
	await form.fill(0, 'Sand');
	await form.submit();
	await app.until(() => app.service.log.puts(id).length === 1);
	app.step(id, 'I go on.');
	await app.until(() => first.text().includes('· continued'));
	app.service.sessions.patch(id, { status: 'humanInput', messages: [...start, question] });
	const second = await app.until(() =>
		app.thread(id).findLast((post) => post.ts !== first.ts && post.buttons().includes('Answer…')),
	);
	app.service.sessions.answerAsPage(id, ['Forest']);
	await app.until(() => second.text().includes(`${OUTSIDE}: Forest`));
	expect(second.text()).not.toContain('ada');
	expect(first.text()).toMatch(answeredBy('ada', 'Sand'));
});

it('does not name the author of a later answer when the question was answered elsewhere before', async ({ app }) => {
	const { id, post: first } = await app.askedPost();
	app.service.sessions.answerAsPage(id, ['Sand']);
	await app.until(() => first.text().includes(`${OUTSIDE}: Sand`));
	app.service.sessions.patch(id, { status: 'humanInput', messages: [...start, question] });
	const second = await app.until(() =>
		app.thread(id).findLast((post) => post.ts !== first.ts && post.buttons().includes('Answer…')),
	);
	expect(await second.press('Answer…')).toBe(true);
	const form = await app.slack.as('ada').waitForModal((modal) => modal.submitText() !== null);
	await form.fill(0, 'Forest');
	await form.submit();
	await app.until(() => answeredBy('ada', 'Forest').test(second.text()));
	// Then both are drawn again.
	await app.setPosts({ discreet: true });
	await app.until(() => [first, second].every((post) => !/Sand|Forest/.test(post.text())));
	expect(first.text()).toContain(OUTSIDE);
	expect(second.text()).toContain('ada answered');
});
