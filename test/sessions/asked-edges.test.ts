import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { done } from '../../fake-session-service/builders.ts';
import { OUTSIDE, SETTLED_WORDS } from '../../src/screens/question-post.ts';
import { openSession } from '../slack/support/open-session.ts';
import { answeredBy, line, openButtons, REMINDER } from '../support/sentences.ts';
import type { WatchingApp } from './harness.ts';
import { emptyNewest, leavePlayed, playedApp, takeUnanswered } from './played-agent.ts';

/* What is asked, taken and gone on where watches begin and end, and what channels may see of it. */

let app: WatchingApp;
beforeAll(async () => {
	app = await playedApp('5m');
});
afterAll(() => app[Symbol.asyncDispose]());
afterEach(() => leavePlayed(app));

const LOST = line('delivered', { agentOutcome: 'lost' });
const ITEM = { title: 'Which flight?', description: '', value: '' };
const posts = (id: string, channel = '#agents') =>
	app.thread(id, channel).filter((one) => one.text().includes('Which flight?'));
const step = (id: string) => app.service.sessions.push(id, done('I book it.'));

async function asked(status = 'humanInput') {
	const id = await app.watched();
	app.ask(id, [ITEM]);
	app.service.sessions.setStatus(id, status);
	const post = await app.threadSays(id, 'Which flight?');
	return { id, post };
}

const empty = (id: string) => emptyNewest(app, id);

async function answeredInForm(id: string, text: string, who = 'ada') {
	const form = await openSession(app.app, id, who);
	await form.fill(0, text);
	await form.submit();
	const count = app.service.log.savedPuts(id).length;
	await app.until(() => app.service.log.savedPuts(id).length > count);
	await form.close();
}

const dmSays = (id: string, words: string) =>
	app.until(() =>
		app.slack
			.as('ada')
			.dm()
			.find((dm) => dm.text().includes(words) && JSON.stringify(dm.blocks()).includes(id)),
	);

const MINUTE_MS = 60_000;
const tellsLost = (id: string) =>
	app.slack
		.as('ada')
		.dm()
		.filter((dm) => JSON.stringify(dm.blocks()).includes(id) && dm.text().includes(LOST));

function dropFirst(id: string): void {
	const messages = structuredClone(app.service.sessions.get(id).messages ?? []);
	messages.splice(
		messages.findIndex((one) => one.human_input?.length),
		1,
	);
	app.service.sessions.patch(id, { messages });
}

describe('a question in the words of an earlier one, which is dropped', () => {
	async function twice() {
		const { id, post } = await asked();
		await answeredInForm(id, 'LH 1173');
		app.service.sessions.setStatus(id, 'active');
		empty(id);
		step(id);
		await app.until(() => post.text().includes('· continued'));
		app.ask(id, [ITEM]);
		return { id, post: await app.until(() => posts(id).find(({ ts }) => ts !== post.ts)) };
	}

	it('is not posted again', async () => {
		const { id } = await twice();
		dropFirst(id);
		await app.pass(2 * MINUTE_MS);
		expect(posts(id)).toHaveLength(2);
		expect(posts(id).at(-1)?.buttons()).toContain('Answer…');
	});

	it('is not asked again when its agent took the answer in that moment', async () => {
		const { id } = await twice();
		await answeredInForm(id, 'TP 570');
		await app.pass(3_000);
		empty(id);
		dropFirst(id);
		await app.pass(8_000);
		app.service.sessions.setStatus(id, 'active');
		step(id);
		await app.pass(2 * MINUTE_MS);
		expect(posts(id)).toHaveLength(2);
	});

	it('tells its author when the answer is lost', async () => {
		const { id } = await twice();
		await answeredInForm(id, 'TP 570');
		dropFirst(id);
		await app.pass(20_000);
		empty(id);
		await app.pass(2 * MINUTE_MS);
		expect(posts(id)).toHaveLength(3);
		expect(tellsLost(id)).toHaveLength(1);
	});
});

it('does not offer to send an answer again that a waiting agent took in the moment of the PUT', async () => {
	const { id } = await asked();
	await app.pass(10_000);
	app.service.sessions.setStatus(id, 'active');
	await answeredInForm(id, 'LH 1173');
	empty(id);
	step(id);
	await app.pass(2 * MINUTE_MS);
	expect(
		JSON.stringify(
			app.slack
				.as('ada')
				.dm()
				.map((dm) => dm.blocks()),
		),
	).not.toContain('Send again');
});

describe('an answer that is lost', () => {
	it('is told to its author who was told that nothing shows, and is over for them once somebody answers again', async () => {
		const { id, post } = await asked();
		await answeredInForm(id, 'LH 1173');
		await app.pass(11 * MINUTE_MS);
		empty(id);
		await app.until(() => posts(id).some(({ ts }) => ts !== post.ts));
		await app.until(() => tellsLost(id).length === 1);
		const [told] = tellsLost(id);
		expect(told?.buttons()).toEqual(['Answer again']);
		await answeredInForm(id, 'TP 570', 'grace');
		await app.until(() => told?.text().includes('answered again since') === true);
		expect(openButtons(told)).toEqual([]);
	});

	it('is still said to be gone on the post of its question when that was answered again since', async () => {
		const { id, post } = await asked();
		await answeredInForm(id, 'LH 1173');
		empty(id);
		await app.until(() => post.text().includes('ada answered · delivered · not in the field any more'));
		await answeredInForm(id, 'TP 570', 'grace');
		await app.until(() => posts(id).some((other) => answeredBy('grace', 'TP 570').test(other.text())));
		app.service.sessions.setStatus(id, 'completed');
		await app.pass(MINUTE_MS);
		expect(post.text()).toContain('· delivered · not in the field any more');
	});

	it('is not called an answer of somebody meanwhile in the form of its author', async () => {
		const { id } = await asked();
		await answeredInForm(id, 'LH 1173');
		empty(id);
		const dm = await dmSays(id, LOST);
		await dm.press('Answer again');
		const form = await app.slack.as('ada').waitForModal('not in the field any more');
		expect(form.text()).not.toContain('meanwhile');
		await form.close(true);
		const hers = await openSession(app.app, id, 'grace');
		expect(hers.text()).toContain("Asked again. @ada's answer is not in the field any more.\n> LH 1173");
		await hers.close();
	});

	it('is the reason of a question that is asked again, also when it came from the dashboard', async () => {
		const { id, post } = await asked();
		app.service.sessions.answerAsPage(id, ['LH 1173']);
		await app.until(() => post.text().includes(OUTSIDE));
		empty(id);
		const again = await app.until(() => posts(id).find(({ ts }) => ts !== post.ts));
		expect(again.text()).toContain('The answer from the dashboard is not in the field any more');
		const form = await openSession(app.app, id, 'grace');
		expect(form.text()).toContain('The answer from the dashboard is not in the field any more');
		await form.close();
	});

	it('is told to its author within two minutes where nobody watches', async () => {
		const { id } = await asked();
		await app.command(`/session unwatch ${id}`);
		await answeredInForm(id, 'LH 1173');
		await app.pass(20_000);
		empty(id);
		await app.pass(2 * MINUTE_MS);
		expect(tellsLost(id)).toHaveLength(1);
	});

	it('shows nobody a value that channels do not see', async () => {
		const { id, post } = await asked();
		await answeredInForm(id, 'KX7-9942-QQ31-0815');
		empty(id);
		const again = await app.until(() => posts(id).find(({ ts }) => ts !== post.ts));
		expect(again.text()).toContain('is not in the field any more');
		expect(
			app
				.thread(id)
				.map((one) => one.text())
				.join('\n'),
		).not.toContain('KX7-9942');
	});

	it('can be given again where nobody watches the session any more', async () => {
		const { id } = await asked();
		await app.command(`/session unwatch ${id}`);
		await answeredInForm(id, 'LH 1173');
		empty(id);
		const dm = await dmSays(id, LOST);
		await app.pass(60_000);
		await dm.press('Answer again');
		const form = await app.slack.as('ada').waitForModal((modal) => modal.text().includes('step 2'));
		expect(form.submitText()).not.toBeNull();
	});
});

describe('an agent that went on and waits again', () => {
	async function goneOn() {
		const { id, post } = await asked();
		await app.pass(5_000);
		app.service.sessions.setStatus(id, 'active');
		step(id);
		await app.until(() => post.text().includes(SETTLED_WORDS.wentOn));
		return { id, post };
	}

	it('reminds nobody of the time in which it worked', async () => {
		const { id, post } = await goneOn();
		await app.pass(6 * 60_000);
		app.service.sessions.setStatus(id, 'humanInput');
		await app.until(() => post.buttons().length > 1);
		await app.pass(60_000);
		expect(app.thread(id).some((one) => REMINDER.test(one.text()))).toBe(false);
	});

	it('asks in a channel that began to watch meanwhile', async () => {
		const { id } = await goneOn();
		await app.watch(id, { channel: '#secret' });
		await app.pass(10_000);
		app.service.sessions.setStatus(id, 'humanInput');
		await app.pass(60_000);
		const asking = app
			.thread(id, '#secret')
			.filter((one) => one.buttons().some((label) => label.startsWith('Answer…')));
		expect(asking.length).toBe(1);
	});

	it('asks in a channel that stopped watching and watches again', async () => {
		const { id } = await goneOn();
		await app.command(`/session unwatch ${id}`);
		await app.watch(id);
		await app.pass(10_000);
		app.service.sessions.setStatus(id, 'humanInput');
		await app.pass(60_000);
		expect(posts(id).filter((one) => one.buttons().some((label) => label.startsWith('Answer…'))).length).toBe(1);
	});
});

describe('an answer of which nobody knows whether it arrived', () => {
	it('does not let a post say that the agent went on without one', async () => {
		const { id, post } = await asked();
		takeUnanswered(app, id);
		const form = await openSession(app.app, id);
		await form.fill(0, 'LH 1173');
		await form.submit();
		await app.until(() => form.text().includes('may have arrived'));
		await app.pass(2 * 60_000);
		expect([post.text(), ...post.editHistory()].join()).not.toContain(SETTLED_WORDS.wentOn);
	});
});
