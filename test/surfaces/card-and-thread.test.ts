import { noFormWords } from '../../src/screens/question.ts';
import { OUTSIDE } from '../../src/screens/question-post.ts';
import { MAYBE_REPEAT, statusWords, waitingWords } from '../../src/slack/phrases.ts';
import {
	answeredBy,
	answering,
	describe,
	done,
	expect,
	FEWEST_REQUESTS,
	item,
	openButtons,
	type Posted,
	SETTLED_MENU,
	said,
	type WatchingApp,
	watchingApp,
	withApp,
} from '../kit.ts';
import { opensSession } from '../support/opens-session.ts';

const it = withApp(() => watchingApp({ realRates: true, env: FEWEST_REQUESTS }));

describe('a watched session', () => {
	/** Opens the form from the post's button, as a person does. */
	async function openForm(app: WatchingApp, id: string, who = 'ada', channel = '#agents') {
		const isAnswer = (label: string) => /^(?:Other a|A)nswer…$/.test(label);
		const post = await app.until(() => app.thread(id, channel).findLast((one) => one.buttons().some(isAnswer)));
		expect(await app.seenBy(who, post).press(post.buttons().find(isAnswer) ?? '')).toBe(true);
		return app.slack.as(who).waitForModal((modal) => modal.submitText() !== null);
	}

	it('updates one card with each step, and makes no call while nothing changes', async ({ app }) => {
		const id = await app.watched();
		app.step(id, 'I compare the prices.');
		const card = await app.cardSays(id, 'step 2');
		expect(card.text()).toContain('I compare the prices.');
		app.step(id, 'I choose the cheapest.');
		await app.cardSays(id, 'step 3');
		expect(card.thread()).toEqual([]);
		expect(app.inChannel().filter((message) => JSON.stringify(message.blocks()).includes(id))).toHaveLength(1);
		const from = app.now();
		app.service.sessions.renewLinks(id);
		await app.pass(40_000);
		expect(app.calls('chat.update', from)).toEqual([]);
		expect(app.calls('chat.postMessage', from)).toEqual([]);
		const reads = app.service.log.reads(id);
		expect(reads.filter(({ status }) => status === 304)).not.toEqual([]);
		expect(reads.filter(({ ifNoneMatch, status }) => ifNoneMatch !== null && status === 200)).not.toEqual([]);
	});

	it('refers to the dashboard when the agent waits without a question that can be answered', async ({ app }) => {
		const id = await app.watched({}, { progress: true });
		app.step(id, 'Log in, please.');
		app.service.sessions.setStatus(id, 'humanInput');
		const words = said(waitingWords(null, null));
		const card = await app.cardSays(id, words);
		expect(card.text()).toContain('Log in, please.');
		expect(card.text()).not.toContain(OUTSIDE);
		expect((await app.threadSays(id, `: ${statusWords('humanInput').words} (before: `)).text()).toContain(words);
		app.step(id, 'I ask.');
		app.ask(id);
		await app.threadSays(id, 'Which colour?');
		await app.until(() => !card.text().includes(words));
		app.service.sessions.answerAsPage(id, ['Sand']);
		await app.threadSays(id, OUTSIDE);
		app.step(id, 'Now log in there, please.');
		app.service.sessions.setStatus(id, 'humanInput');
		await app.cardSays(id, said(waitingWords({ goneOn: true }, null)));
	});

	it('posts a question once, accepts the answer from there, and says there who answered what', async ({ app }) => {
		const id = await app.watched();
		await app.watch(id, { channel: '#secret' });
		app.ask(id, [item('Which colour?', 'One of: sand, forest')], 'The shop has two colours.');
		const post = await app.threadSays(id, 'Which colour?');
		const elsewhere = await app.threadSays(id, 'Which colour?', '#secret');
		expect(post.text()).toContain('The shop has two colours.');
		expect(post.threadTs()).toBeNull();
		expect(post.buttons()).toEqual(['sand', 'forest', 'Other answer…', ...app.MENU]);
		await app.cardSays(id, /^✋ Order \d+ chairs asks · Go to question$/m);
		for (const words of ['Which colour?', 'two colours']) expect(app.card(id)?.text()).not.toContain(words);
		expect(app.card(id)?.buttons()).toEqual(['Open session', 'Open in the dashboard', 'Stop watching']);

		await post.press('Other answer…');
		const form = await app.slack.as('ada').waitForModal((modal) => modal.submitText() !== null);
		const isAnswering = (who: string) => (one: Posted) => one.text().includes(answering(who));
		await app.until(() => [post, elsewhere].every(isAnswering('ada')));
		await form.close();
		await app.until(() => ![post, elsewhere].some((one) => one.text().includes('answering')));

		const again = await openForm(app, id, 'grace');
		await app.until(() => isAnswering('grace')(post));
		await again.choose(0, 'sand');
		const at = app.clock.now();
		expect((await again.submit()).outcome).toBe('updated');
		for (const channel of ['#agents', '#secret']) {
			const answered = await app.threadSays(id, answeredBy('grace', 'sand'), channel);
			expect(answered.ts).toBe((channel === '#agents' ? post : elsewhere).ts);
			expect(answered.text().split('\n')).toEqual([
				expect.stringMatching(/^✅ Order \d+ chairs asked: Which colour\?$/),
				expect.anything(),
				'[…]',
			]);
			expect(answered.buttons()).toEqual(SETTLED_MENU);
			expect(app.card(id, channel)?.text()).not.toMatch(/grace|sand/i);
			expect(app.card(id, channel)?.buttons()).not.toContain('Answer…');
		}
		await app.until(() => openButtons(post)?.length === 0 && openButtons(elsewhere)?.length === 0);
		// Not when the claim would have lapsed.
		expect(app.clock.now() - at).toBeLessThan(60_000);
		await app.pass(30_000);
		expect(app.thread(id)).toHaveLength(1);
		expect(post.thread()).toEqual([]);
		expect(app.service.log.effectivePuts(id)).toHaveLength(1);
	});

	it('offers no form for a question that Slack cannot show in one, and says where to answer it', async ({ app }) => {
		const words = noFormWords({ kind: 'tooMany', count: 91 }, false);
		const id = await app.watchedAsking(Array.from({ length: 91 }, (_, index) => `Item ${index}`));
		const post = await app.threadSays(id, words);
		expect(post.buttons()).toEqual(['Open session', ...app.MENU.filter((label) => label !== 'Open session')]);
		expect(words).toMatch(/Please answer it in the dashboard\.$/);
		await post.press('Open session');
		await app.until(() => app.slack.as('ada').modal()?.text().includes('more than Slack can show in one form'));
		await app.slack.as('ada').modal()?.close(true);
		await app.slack.as('ada').openApp('home');
		const home = () => app.slack.as('ada').home();
		await app.until(() => home()?.text().includes(words));
		expect(home()?.buttons()).not.toContain('Answer…');

		app.service.sessions.answerAsPage(id, ['All of it']);
		await app.until(() => openButtons(post)?.length === 0);
		expect(post.text()).not.toContain(words);
		const fits = await app.watchedAsking(Array.from({ length: 90 }, (_, index) => `Item ${index}`));
		expect((await app.threadSays(fits, 'Item 0')).buttons()).toContain('Answer…');
	});

	it('shows on its post which items of a question have values', async ({ app }) => {
		const id = await app.watched();
		const index = app.ask(id, ['Which colour?', 'Which size?', 'One-time code', 'A remark']);
		const post = await app.threadSays(id, 'Which colour?');
		const fill = (values: readonly string[]) => {
			const { messages = [] } = structuredClone(app.service.sessions.get(id));
			for (const [at, value] of values.entries()) Object.assign(messages?.[index]?.human_input?.[at] ?? {}, { value });
			app.service.sessions.patch(id, { messages });
		};
		fill(['Sand', '', '271828']);
		await app.until(() => post.text().includes(`${OUTSIDE}: Sand; (hidden)`));
		// The agent waits on for the others.
		const again = await app.until(() =>
			app.thread(id).find(({ ts, text }) => ts !== post.ts && text().includes('Still open')),
		);
		expect(again.text()).toContain('Still open: 2 questions.');
		for (const words of ['Which colour?\n> Sand', 'One-time code\n(hidden)']) expect(again.text()).toContain(words);
		await app.restart();
		fill(['Sand', 'XL', '271828', 'Call me: +44 20 7946 0958']);
		await app.until(() => again.text().includes(OUTSIDE));
		// As it was last open, two items were.
		expect(again.text()).toContain(`\n${OUTSIDE}: XL; (hidden)`);
		expect([post, again].map((one) => one.text()).join()).not.toMatch(/Still open|271828|7946/);
		expect(openButtons(again)).toEqual([]);
		expect(app.thread(id)).toHaveLength(2);
	});

	it('says nothing of a question that was settled before the watch began', async ({ app }) => {
		const id = app.session();
		app.ask(id);
		app.service.sessions.answerAsPage(id, ['Sand']);
		await app.watch(id);
		await app.pass(30_000);
		expect(app.card(id)?.text()).not.toContain('Which colour?');
		expect(app.thread(id)).toEqual([]);
	});

	it('posts pause and continuation in the thread where the channel wants that, tells the end with its result in the channel, and nothing after that', async ({
		app,
	}) => {
		const id = await app.watched({}, { progress: true });
		app.service.sessions.setStatus(id, 'paused');
		await app.threadSays(id, 'paused (before: working)');
		app.service.sessions.setStatus(id, 'active');
		await app.threadSays(id, 'working (before: paused)');
		app.service.sessions.setStatus(id, 'completed');
		await app.until(() => app.service.log.reads(id).at(-1)?.status === 200 && app.service.log.reads(id).at(-1));
		// The result comes a moment after the status.
		app.service.sessions.push(id, done('', { done: { text: '**Ordered:** six chairs' } }));
		const card = await app.cardSays(id, /^✅ Order \d+ chairs · done · Go to result$/m);
		expect(card.buttons()).toEqual([]);
		const [end] = app.ends(id);
		expect(end?.text()).toMatch(/^✅ Order \d+ chairs is done\n\[…\]\n> Ordered: six chairs/);
		expect(end?.threadTs()).toBeNull();
		expect(end?.buttons()).toEqual(['Open session', 'Open in the dashboard']);
		expect(app.thread(id)).toHaveLength(3);
		const reads = app.service.log.reads(id).length;
		await app.pass(60_000);
		expect(app.service.log.reads(id)).toHaveLength(reads);
	});

	it('has a card without its question, and without *Answer…*, once nobody watches it any more', async ({ app }) => {
		const id = await app.watched({}, { questionsInThread: true });
		app.ask(id);
		const card = await app.cardSays(id, 'Which colour?');
		expect(card.buttons()).toContain('Answer…');
		await app.command(`/session unwatch ${id}`);
		await app.until(() => card.buttons().includes('Watch again'));
		expect(card.text()).not.toContain('Which colour?');
		expect(card.buttons()).not.toContain('Answer…');
	});
});

function present<T>(value: T | undefined): T {
	if (value === undefined) throw new Error('It is not there.');
	return value;
}

const cardOf = (app: WatchingApp, id: string): Posted => present(app.card(id));
const outsideThreads = (app: WatchingApp) => app.inChannel().filter((message) => message.threadTs() === null);
const isCard = (message: Posted) => message.buttons().includes('Stop watching');
const cards = (app: WatchingApp, id: string) =>
	outsideThreads(app).filter((one) => isCard(one) && opensSession(one.blocks(), id));
/** The bot's posts in the channel outside threads, without cards, since `from`. */
const openWords = (app: WatchingApp, from: Posted) =>
	outsideThreads(app).flatMap((message) => (message.ts > from.ts && !isCard(message) ? message.text() : []));

/** Resolves to the card that comes after `former`. */
const newCard = (app: WatchingApp, id: string, former: Posted): Promise<Posted> =>
	app.until(() => {
		const now = app.card(id);
		return now !== undefined && now.ts > former.ts && now.buttons().includes('Open session') && now;
	});

describe('a card that somebody deleted', () => {
	it.for([[false], [true]] as const)(
		'is replaced by one that is kept current; it had replies, and questions in its thread: %s',
		async ([isThreadOnly], { app }) => {
			const id = await app.watched({}, { questionsInThread: isThreadOnly });
			const former = cardOf(app, id);
			if (isThreadOnly) await app.slack.as('grace').say('#agents', 'Nice.', { thread: former });
			former.remove();
			app.step(id, 'I compare prices.');
			const card = await newCard(app, id, former);
			expect(card.text()).toContain('I compare prices.');
			app.ask(id);
			const post = await app.threadSays(id, 'Which colour?');
			expect(post.threadTs()).toBe(isThreadOnly ? card.ts : null);
			app.service.sessions.answerAsPage(id, ['Sand']);
			expect((await app.threadSays(id, 'Sand')).ts).toBe(post.ts);
			await app.pass(10_000);
			expect(cards(app, id)).toHaveLength(1);
			expect(openWords(app, former)).toHaveLength(isThreadOnly ? 0 : 1);
		},
	);

	it('has a word in its thread posted once though Slack did not answer', async ({ app }) => {
		const id = await app.watched({}, { progress: true });
		const former = cardOf(app, id);
		const from = app.now();
		const release = app.slack.faults.add({ method: 'chat.update', error: 'internal_error' });
		former.remove();
		app.loseReply();
		app.service.sessions.setStatus(id, 'paused');
		await app.until(() => app.calls('conversations.history', from).length > 0);
		release();
		const card = await newCard(app, id, former);
		await app.pass(30_000);
		const all = app.slack
			.as('ada')
			.messages('#agents', { all: true })
			.filter((one) => one.ts > former.ts && one.ts !== card.ts && one.text().includes('(before: working)'));
		expect(all.map((one) => one.threadTs())).toEqual([null]);
		expect(all[0]?.text()).not.toContain(MAYBE_REPEAT);
		expect(cards(app, id)).toHaveLength(1);
	});
});
