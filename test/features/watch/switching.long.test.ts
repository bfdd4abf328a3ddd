import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { Posted } from '../../../fake-slack/index.ts';
import { asking, done, task } from '../../../sandbox/session-service/builders.ts';
import type { ItemJson } from '../../../sandbox/session-service/json.ts';
import { NOTHING_ASKED, OUTSIDE, SETTLED_WORDS, switchingWords } from '../../../src/features/watch/post-view.ts';
import { watchCountWords } from '../../../src/features/watch/view.ts';
import { openButtons, REMINDER } from '../../support/sentences.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { expectNothingWrong, SOME_REQUESTS, type WatchingApp, watchingApp } from './harness.ts';

const MINUTE = 60_000;
/** So many questions without an answer are posted as usual. */
const USUAL = 6;
const START = [task('Order six desk chairs.'), done('I open the shop.')];
const OFTEN = switchingWords('').split('  ').at(-1) ?? '';
let app: WatchingApp;

afterEach(async () => {
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

/**
 * The agent asks this in the same message, and a read of the program has found it. One that does not wait for the answer
 * (`status` is active) is read more often.
 */
async function asks(id: string, title: string | ItemJson | null, above = 'Tell me.', status = 'humanInput') {
	const messages = title === null ? START : [...START, asking(above, [title])];
	app.service.sessions.patch(id, { status: title === null ? 'active' : status, messages });
	const count = app.service.log.reads(id).length;
	await app.until(() => app.service.log.reads(id).length > count + 1);
}

const isReminder = (post: Posted) => REMINDER.test(post.text());
const questionsIn = (posts: readonly Posted[]) =>
	posts.filter((post) => /Question \d+\?|changes its|buy it/.test(post.text()) && !isReminder(post));
/** What notifies the channel of a watched session's questions. */
const broadcasts = (id: string) => questionsIn(app.thread(id)).filter((post) => post.threadTs() === null);
const oftenIn = (posts: readonly Posted[]) => posts.filter((post) => post.text().includes(OFTEN));
const says = (post: Posted, words: string) =>
	app.until(
		() => post.text().includes(words),
		() => `waited for "${words}" and got:\n${post.text()}`,
	);

async function start(env: Record<string, string> = {}): Promise<void> {
	app = await watchingApp({ env: { ...SOME_REQUESTS, ...env }, service: { list: { mode: 'on' } } });
}

/** The agent asks these questions in turn without an answer. */
async function asksInTurn(id: string, from: number, to: number): Promise<void> {
	for (let number = from; number <= to; number += 1) await asks(id, `Question ${number}?`);
}

/** A watched session that changes its question often; its one post. */
async function switching(env: Record<string, string> = {}) {
	await start(env);
	const id = await app.watched();
	await asksInTurn(id, 1, USUAL + 1);
	const post = await app.until(() => oftenIn(app.thread(id))[0]);
	expect(broadcasts(id)).toHaveLength(USUAL + 1);
	return { id, post };
}

describe('a session that changes its question often', () => {
	it('gets one post from the sixth change without an answer on, which shows the newest question', async () => {
		const { id, post } = await switching();
		expect(post.threadTs()).toBeNull();
		await asksInTurn(id, 8, 12);
		expect(broadcasts(id)).toHaveLength(USUAL + 1);
		await says(post, 'Question 12?');
		expect(post.text()).not.toContain('Question 11?');
		expect(post.text()).toContain('opens what is asked when you press it');
		expect(post.buttons()).toEqual(['Answer…']);
		expect(app.thread(id).filter((one) => one.buttons().length > 0)).toHaveLength(1);
	});

	it('shows another text above the same question in its post, notifies nobody, and updates it now and then', async () => {
		await start();
		const id = await app.watched();
		const offer = { title: 'Shall I buy it?', description: 'yes/no' };
		const rewords = async (from: number, to: number) => {
			for (let number = from; number <= to; number += 1) await asks(id, offer, `It costs ${number} EUR.`);
		};
		await rewords(1, USUAL);
		const [asked] = await app.until(() => broadcasts(id).length === 1 && broadcasts(id));
		await says(asked as Posted, `It costs ${USUAL} EUR.`);
		const from = { calls: app.now(), at: app.clock.now() };
		await rewords(USUAL + 1, USUAL + 8);
		const updates = app.calls('chat.update', from.calls).filter(({ request }) => request.ts === asked?.ts);
		expect(updates.length).toBeLessThanOrEqual(1 + (app.clock.now() - from.at) / 10_000);
		await says(asked as Posted, `It costs ${USUAL + 8} EUR.`);
		expect(asked?.buttons()).toContain('Yes');
		await app.pass(2 * MINUTE);
		expect(broadcasts(id)).toHaveLength(1);
	});

	it('gets one post as well when its questions vanish and come back', async () => {
		await start();
		const id = await app.watched();
		for (let number = 1; number <= 8; number += 1) {
			await asks(id, `Question ${number % 2}?`);
			await asks(id, null);
		}
		await app.pass(5_000);
		expect(broadcasts(id)).toHaveLength(USUAL + 1);
		const [post] = oftenIn(app.thread(id));
		await app.until(() => post?.text().includes(NOTHING_ASKED));
		expect(openButtons(post)).toEqual([]);
		expect(app.thread(id)).toHaveLength(USUAL + 1);
		await asks(id, 'Question 5?');
		await app.until(() => post?.text().includes('Question 5?'));
		expect(post?.buttons()).toEqual(['Answer…']);
	});

	it('leaves the updates of a minute to others, and reminds nobody of one of its questions', async () => {
		const { id } = await switching({ REMIND_AFTER: '1m' });
		const from = app.now();
		const end = app.clock.now() + 2 * MINUTE;
		let number = 8;
		for (; app.clock.now() < end; number += 1) await asks(id, `Question ${number % 2}?`, 'Tell me.', 'active');
		expect(number).toBeGreaterThan(20);
		// Six a minute of the post, and six of the card, or twice as many when a change comes while it is updated.
		expect(app.calls('chat.update', from).length).toBeLessThanOrEqual(2 * 18 + 2);
		expect(app.calls('chat.postMessage', from)).toEqual([]);
	});

	it('notifies once when its question has rested for a minute, and reminders count from there', async () => {
		const { id, post } = await switching({ REMIND_AFTER: '2m' });
		// With the time until a read finds it, up to 10 s, less than a minute.
		await app.pass(35_000);
		await asks(id, 'Question 8?');
		await app.pass(35_000);
		expect(broadcasts(id)).toHaveLength(USUAL + 1);
		const rested = await app.until(() => broadcasts(id)[USUAL + 1]);
		const restedAt = app.clock.now();
		expect(rested.text()).toContain('Question 8?');
		expect(rested.buttons()).toContain('Answer…');
		await says(post, SETTLED_WORDS.own);
		await app.until(() => openButtons(post)?.length === 0);
		await app.threadSays(id, REMINDER);
		expect(app.clock.now() - restedAt).toBeGreaterThan(2 * MINUTE - 10_000);
		expect(broadcasts(id)).toHaveLength(USUAL + 2);
		const reminders = app.thread(id).filter(isReminder);
		expect(reminders.map((one) => one.threadTs())).toEqual([null]);
	});

	it('opens the newest question from its post, and does not use the post again after the answer', async () => {
		const { id, post } = await switching();
		app.service.sessions.patch(id, { messages: [...START, asking('Tell me.', ['Question 8?'])] });
		expect(await post.press('Answer…')).toBe(true);
		const form = await app.slack.as('ada').waitForModal('Question 8?');
		await form.fill(0, 'Sand');
		await form.submit();
		await says(post, '· continued');
		expect(post.text()).toMatch(/^\*@ada: “Sand”\* · continued$/m);
		expect(post.text()).toContain('Question 8?');
		await app.until(() => openButtons(post)?.length === 0);
		const edits = post.editHistory().length;
		await asks(id, 'Question 9?');
		const next = await app.until(() => broadcasts(id)[USUAL + 1]);
		expect(next.text()).toContain('Question 9?');
		expect(next.buttons()).toContain('Answer…');
		await asks(id, 'Question 10?');
		const second = await app.until(() => oftenIn(app.thread(id))[0]);
		expect(second.ts).not.toBe(post.ts);
		await asks(id, 'Question 11?');
		await says(second, 'Question 11?');
		expect(post.editHistory()).toHaveLength(edits);
		expect(broadcasts(id)).toHaveLength(USUAL + 3);
	});

	it('gets a new post when it changes its question again after a rest, also back to a former one', async () => {
		const { id, post } = await switching();
		await asks(id, 'Question 8?');
		await app.pass(MINUTE + 5_000);
		await says(post, SETTLED_WORDS.own);
		await asks(id, 'Question 7?');
		const second = await app.until(() => oftenIn(app.thread(id)).find(({ ts }) => ts !== post.ts));
		expect(second.text()).toContain('Question 7?');
		expect(broadcasts(id)).toHaveLength(USUAL + 3);
	});

	it('ends its post with an answer outside of Slack, and the question that waits is not posted', async () => {
		const { id, post } = await switching();
		app.service.sessions.answerAsPage(id, ['Sand']);
		await says(post, OUTSIDE);
		await app.pass(2 * MINUTE);
		expect(broadcasts(id)).toHaveLength(USUAL + 1);
	});

	it('ends its post with the watch', async () => {
		const { id, post } = await switching();
		await app.command(`/session unwatch ${id}`);
		await says(post, SETTLED_WORDS.unwatched);
		await app.pass(2 * MINUTE);
		expect(broadcasts(id)).toHaveLength(USUAL + 1);
	});

	it('has a post in each channel that watches it, and keeps them over a restart', async () => {
		await start();
		const id = await app.watched();
		await asksInTurn(id, 1, USUAL);
		await app.watch(id, { channel: '#secret' });
		await asks(id, 'Question 7?');
		const post = await app.until(() => oftenIn(app.thread(id))[0]);
		// This channel has seen one change.
		await app.until(() => questionsIn(app.thread(id, '#secret')).length === 2);
		await app.restart();
		await asksInTurn(id, 8, 13);
		await says(post, 'Question 13?');
		expect(broadcasts(id)).toHaveLength(USUAL + 1);
		await app.until(() => oftenIn(app.thread(id, '#secret'))[0]);
		await app.restart();
		for (const channel of ['#agents', '#secret']) {
			// The question that has rested, in a post of its own.
			await app.until(() => {
				const open = app.thread(id, channel).findLast((one) => one.buttons().includes('Answer…'));
				return open !== undefined && oftenIn([open]).length === 0;
			});
			expect(oftenIn(app.thread(id, channel))).toHaveLength(1);
		}
		expect(broadcasts(id)).toHaveLength(USUAL + 2);
	});
});

describe('a fast agent whose questions are answered', () => {
	it('loses no notification', async () => {
		await start();
		const id = await app.watched();
		for (let number = 1; number <= 8; number += 1) {
			const index = app.ask(id, [`Question ${number}?`]);
			await app.until(() => broadcasts(id).length === number);
			app.service.sessions.answerAsPage(id, ['Sand'], index);
			await app.threadSays(id, `Question ${number}?`);
			app.service.sessions.setStatus(id, 'active');
			await app.pass(3_000);
		}
		expect(broadcasts(id)).toHaveLength(8);
		expect(oftenIn(app.thread(id))).toEqual([]);
	});

	it('loses none either when it replaces each question before a read has seen the answer', async () => {
		await start({ UNDO_SECONDS: '0' });
		const id = await app.watched();
		for (let number = 1; number <= 8; number += 1) {
			const asked = asking('Tell me.', [{ title: `Question ${number}?`, description: 'One of: red, green' }]);
			app.service.sessions.patch(id, { status: 'humanInput', messages: [...START, asked] });
			const post = await app.until(() => broadcasts(id)[number - 1]);
			await post.press('red');
			await app.until(() => app.service.log.puts(id).length === number);
		}
		expect(broadcasts(id)).toHaveLength(8);
		expect(oftenIn(app.thread(id))).toEqual([]);
	});
});

const raised = () => questionsIn(app.inChannel());

it('a raised hand that changes its question often gets one post in the channel, also when its questions vanish and come back', async () => {
	await start({ DISCOVER_SESSIONS: 'true', REMIND_AFTER: 'off' });
	await app.command('/session watch all');
	const id = app.session();
	for (let number = 1; number <= USUAL; number += 1) {
		const asked = asking('Tell me.', [`Question ${number}?`]);
		app.service.sessions.patch(id, { status: 'humanInput', messages: [...START, asked] });
		await app.until(() => raised().length === number);
		app.service.sessions.patch(id, { status: 'active', messages: START });
		await app.until(() => raised().every((post) => openButtons(post)?.length === 0));
		await app.pass(3_000);
	}
	await asks(id, 'Question 7?');
	const post = await app.until(() => oftenIn(app.inChannel())[0]);
	expect(post.threadTs()).toBeNull();
	for (let number = 8; number <= 10; number += 1) {
		await asks(id, `Question ${number}?`);
		await asks(id, null);
	}
	await says(post, NOTHING_ASKED);
	await asks(id, 'Question 15?');
	await says(post, 'Question 15?');
	expect(raised()).toHaveLength(USUAL + 1);
	const rested = await app.until(() => raised()[USUAL + 1]);
	expect(rested.text()).toContain('Question 15?');
	expect(rested.threadTs()).toBeNull();
	await says(post, SETTLED_WORDS.own);
	app.service.sessions.patch(id, { status: 'active', messages: START });
	await app.until(() => openButtons(rested)?.length === 0);
	await app.pass(2 * MINUTE);
	expect((await app.command('/session list')).text()).toContain(watchCountWords(0, true));
	expect(raised()).toHaveLength(USUAL + 2);
});

it('gives a session that changes its question often one post for two replicas, and the rested question too', async () => {
	const DATABASE_URL = await (await sharedPostgres()).createDatabase();
	const ENCRYPTION_KEY = randomBytes(32).toString('base64');
	app = await watchingApp({ env: { ...SOME_REQUESTS, DATABASE_URL, ENCRYPTION_KEY } });
	const other = await app.app.startOther();
	const id = await app.watched();
	const switches = async (from: number, to: number) => {
		for (let number = from; number <= to; number += 1) await asks(id, `Question ${number % 2}?`);
	};
	await switches(1, 8);
	await app.until(() => broadcasts(id).length === 7);
	await other.stop();
	await switches(9, 9);
	const post = await app.until(() => broadcasts(id).find((one) => one.text().includes(OFTEN)));
	await app.until(() => post.text().includes('Question 1?'));
	expect(broadcasts(id)).toHaveLength(7);
	await app.until(() => broadcasts(id).length === 8);
	await app.until(() => openButtons(post)?.length === 0);
	await app.pass(20_000);
	expect(broadcasts(id)).toHaveLength(8);
}, 60_000);
