import type { ItemJson } from '../../fake-session-service/json.ts';
import { SETTLED_WORDS } from '../../src/screens/question-post.ts';
import {
	asking,
	describe,
	done,
	expect,
	forCase,
	item,
	openButtons,
	type Posted,
	REMINDER,
	task,
	type WatchingApp,
	watchingApp,
	withApp,
} from '../kit.ts';

const MINUTE = 60_000;
const START = [task('Order six desk chairs.'), done('I open the shop.')];
const FLIGHT = item('Which flight?', 'One of: LH 1173, TP 570');
const TRAIN = item('Which train?', 'One of: ICE 5, TGV 9');

const start = (env: Record<string, string> = {}) =>
	watchingApp({ realRates: true, env, service: { list: { mode: 'on' } } });
const it = withApp(start);

const reads = (app: WatchingApp, id: string) => app.service.log.reads(id).length;

/** The agent asks this in the message in which it asked before, and a read has found it. */
async function asks(app: WatchingApp, id: string, asked: string | ItemJson): Promise<void> {
	app.service.sessions.patch(id, { status: 'humanInput', messages: [...START, asking('Tell me.', [asked])] });
	const before = reads(app, id);
	await app.until(() => reads(app, id) > before + 1);
}

/** The posts of a session's questions, as people see them now. */
const questions = (app: WatchingApp, id: string, channel = '#agents') =>
	app.thread(id, channel).filter((post) => /Question \d|Which/.test(post.text()) && !REMINDER.test(post.text()));

const says = (app: WatchingApp, post: Posted, words: string) =>
	app.until(
		() => post.text().includes(words),
		() => `waited for "${words}" and got:\n${post.text()}`,
	);

/** A session that the channel follows by `watch all`. */
async function discovered(app: WatchingApp): Promise<string> {
	await app.command('/session watch all');
	return app.session();
}

/** A session that asks, and the question's post. */
async function asked(app: WatchingApp, first: string | ItemJson = FLIGHT, begin = (one: WatchingApp) => one.watched()) {
	const id = await begin(app);
	await asks(app, id, first);
	const post = await app.until(() => questions(app, id)[0]);
	return { id, post };
}

describe('a question that its agent replaces within a minute, before anybody answers', () => {
	it('makes way in its post, which notifies nobody again, however often', async ({ app }) => {
		const { id, post } = await asked(app, 'Question 0?');
		const from = app.now();
		for (let number = 1; number <= 8; number += 1) await asks(app, id, `Question ${number}?`);
		await says(app, post, 'Question 8?');
		expect(post.text()).toContain('asks something else now');
		expect(post.text()).not.toContain('Question 7?');
		await app.pass(2 * MINUTE);
		expect(questions(app, id).map(({ ts }) => ts)).toEqual([post.ts]);
		expect(app.calls('chat.postMessage', from)).toEqual([]);
		await post.press('Answer…');
		const form = await app.slack.as('ada').waitForModal('Question 8?');
		await form.fill(0, 'Sand');
		await form.submit();
		await app.until(() => app.service.sessions.values(id, START.length)[0] === 'Sand');
		await says(app, post, 'ada: Sand');
	});

	it.each([
		['in the same message', (app: WatchingApp, id: string) => asks(app, id, TRAIN)],
		['in a new message', async (app: WatchingApp, id: string) => void app.ask(id, [TRAIN], 'No, wait.')],
	])('has buttons that act on the new one only, asked %s', async (_, replace) => {
		const app = await forCase(start({ UNDO_SECONDS: '0' }));
		const { id, post } = await asked(app);
		app.freezePosts();
		const edited = post.editHistory().length;
		await replace(app, id);
		await app.until(() => app.slack.traffic.calls('chat.update').some(({ request }) => request.ts === post.ts));
		expect(post.editHistory()).toHaveLength(edited);
		const told = await app.toldAfter(() => post.press('LH 1173'));
		expect(told.text()).toContain('LH 1173');
		expect(told.text()).toContain('was not sent. The agent asks something else now.');
		await app.pass(15_000);
		expect(app.service.log.puts(id)).toEqual([]);
		app.slack.faults.clear();
		await app.until(() => post.buttons().includes('ICE 5'));
		await app.seenBy('grace', post).press('ICE 5');
		await app.until(() => app.service.log.effectivePuts(id).length === 1);
		await says(app, post, 'grace: ICE 5');
		expect(questions(app, id)).toHaveLength(1);
	});

	it('is asked in the same post again when its agent asks the same in a new message', async ({ app }) => {
		const { id, post } = await asked(app);
		const before = reads(app, id);
		app.ask(id, [FLIGHT], 'I ask again.');
		await says(app, post, 'I ask again.');
		expect(reads(app, id)).toBeGreaterThan(before);
		expect(post.text()).not.toContain('something else');
		await app.pass(10_000);
		expect(questions(app, id)).toHaveLength(1);
		await post.press('TP 570');
		await app.until(() => app.service.log.effectivePuts(id).length === 1);
	});

	it('makes way in each channel, and in what a thread is about', async ({ app }) => {
		const id = await app.watched();
		await app.watch(id, { channel: '#secret' });
		await asks(app, id, FLIGHT);
		const posts = await app.until(() => {
			const found = ['#agents', '#secret'].map((channel) => questions(app, id, channel)[0]);
			return found.every((post) => post !== undefined) && (found as Posted[]);
		});
		await asks(app, id, TRAIN);
		for (const post of posts) await app.until(() => post.buttons().includes('TGV 9'));
		expect(['#agents', '#secret'].map((channel) => questions(app, id, channel).length)).toEqual([1, 1]);
		const [post] = posts;
		const told = await app.toldAfter(() => app.slack.as('ada').mention('#agents', 'TGV 9', { thread: post?.ts ?? '' }));
		expect(told.text()).toContain('Which train?');
	});

	it('is not posted when it was not yet', async ({ app }) => {
		const id = await app.watched();
		const lift = app.slack.faults.add({ method: 'chat.postMessage', error: 'internal_error' });
		await asks(app, id, FLIGHT);
		await asks(app, id, TRAIN);
		lift();
		const post = await app.until(() => questions(app, id)[0]);
		await app.until(() => post.buttons().includes('ICE 5'));
		expect(post.text()).not.toMatch(/something else|flight/);
		await app.pass(10_000);
		expect(questions(app, id)).toHaveLength(1);
	});
});

describe('a question gets a post of its own', () => {
	it('when the one before was asked a minute ago', async ({ app }) => {
		const { id, post } = await asked(app);
		await app.pass(MINUTE + 5_000);
		await asks(app, id, TRAIN);
		const next = await app.until(() => questions(app, id)[1]);
		expect(next.text()).toContain('asks something else now');
		await says(app, post, SETTLED_WORDS.changed);
		expect(openButtons(post)).toEqual([]);
		await asks(app, id, FLIGHT);
		await app.until(() => next.buttons().includes('LH 1173'));
		expect(questions(app, id)).toHaveLength(2);
	});

	it('when somebody has pressed on the one before, whose post says what became of that', async () => {
		const app = await forCase(start({ UNDO_SECONDS: '30' }));
		const { id, post } = await asked(app);
		await app.choose(post, 'LH 1173');
		await asks(app, id, TRAIN);
		const next = await app.until(() => questions(app, id).find(({ ts }) => ts !== post.ts));
		expect(next.buttons()).toContain('ICE 5');
		await says(app, post, SETTLED_WORDS.changed);
		await app.pass(40_000);
		expect(app.service.log.puts(id)).toEqual([]);
	});

	it.each([
		['watched with a card', (app: WatchingApp) => app.watched()],
		['discovered', discovered],
	])('when somebody deleted the post in whose place it comes, of a session that is %s', async (_, begin) => {
		const app = await forCase(start({ DISCOVER_SESSIONS: 'true' }));
		const { id, post } = await asked(app, FLIGHT, begin);
		post.remove();
		await asks(app, id, TRAIN);
		const next = await app.until(() => questions(app, id)[0]);
		expect(next.ts).not.toBe(post.ts);
		await next.press('ICE 5');
		await app.until(() => app.service.log.effectivePuts(id).length === 1);
		await says(app, next, 'ada: ICE 5');
		expect(questions(app, id)).toHaveLength(1);
	});
});
