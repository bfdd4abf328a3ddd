import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { done } from '../../fake-session-service/builders.ts';
import { GONE_ON } from '../../src/screens/form.ts';
import { OUTSIDE, SETTLED_WORDS } from '../../src/screens/question-post.ts';
import { openSession } from '../slack/support/open-session.ts';
import { headline, line, openButtons, REMINDER } from '../support/sentences.ts';
import type { WatchingApp } from './harness.ts';
import { emptyNewest, leavePlayed, playedApp } from './played-agent.ts';

const MINUTE_MS = 60_000;
let app: WatchingApp;
beforeAll(async () => {
	app = await playedApp('3m');
});
afterAll(() => app[Symbol.asyncDispose]());
afterEach(() => leavePlayed(app));

const FLIGHTS = [{ title: 'Which flight?', description: 'One of: LH 1173, TP 570', value: '' }];
const posts = (id: string) => app.thread(id).filter((one) => one.text().includes('Which flight?'));

/** The agent of a watched session asks. */
async function asked(status = 'humanInput', items = FLIGHTS) {
	const id = await app.watched();
	app.ask(id, items);
	app.service.sessions.setStatus(id, status);
	const post = await app.threadSays(id, 'Which flight?');
	return { id, post };
}

/** Ada answers in one press, and the service has it. */
async function delivered({ id, post }: Awaited<ReturnType<typeof asked>>) {
	await post.press('LH 1173');
	await app.until(() => app.service.log.savedPuts(id).length === 1);
}

const empty = (id: string) => emptyNewest(app, id);

const step = (id: string, count = 1) => {
	for (let one = 0; one < count; one += 1) app.service.sessions.push(id, done('I book it.'));
};

describe('an agent that takes the answer and empties the field', () => {
	it('is not asked for again, on a post, by a reminder or in a form', async () => {
		const question = await asked();
		const { id, post } = question;
		const open = await openSession(app.app, id, 'grace');
		await delivered(question);
		app.service.sessions.setStatus(id, 'active');
		empty(id);
		step(id);
		await app.until(() => post.text().includes('· continued'));
		step(id, 2);
		await app.pass(6 * MINUTE_MS);
		expect(posts(id).map(({ ts }) => ts)).toEqual([post.ts]);
		expect(app.thread(id).some((one) => REMINDER.test(one.text()))).toBe(false);
		// Her window has named Ada since, and her answer is not sent.
		expect(open.text()).toContain('@ada has answered');
		await open.choose(0, 'TP 570');
		await open.submit();
		await app.until(() => open.text().includes(headline('conflicted')));
		await open.close();
		await app.slack.as('grace').command('#agents', `/session ${id}`);
		const form = await app.slack.as('grace').waitForModal((modal) => modal.text().includes('I book it.'));
		expect(form.submitText()).toBeNull();
		expect(form.text()).toContain('@ada answered its newest question');
		expect(app.service.log.savedPuts(id)).toHaveLength(1);
	});

	it('is not asked for a value from the dashboard again', async () => {
		const { id, post } = await asked();
		app.service.sessions.answerAsPage(id, ['TP 570']);
		await app.until(() => post.text().includes(OUTSIDE));
		app.service.sessions.setStatus(id, 'active');
		empty(id);
		step(id);
		await app.pass(3 * MINUTE_MS);
		expect(posts(id)).toHaveLength(1);
	});

	it('does not bring an older question back when it drops the items of the newest', async () => {
		const first = await asked();
		app.ask(first.id, [{ ...FLIGHTS[0], title: 'Which hotel?' }], 'Never mind the flight.');
		const post = await app.threadSays(first.id, 'Which hotel?');
		await delivered({ id: first.id, post });
		const messages = structuredClone(app.service.sessions.get(first.id).messages ?? []);
		delete messages.at(-1)?.human_input;
		app.service.sessions.patch(first.id, { status: 'active', messages: [...messages, done('Booked.')] });
		await app.until(() => post.text().includes('ada: LH 1173'));
		await app.pass(3 * MINUTE_MS);
		expect(posts(first.id)).toEqual([]);
		expect(openButtons(post)).toEqual([]);
	});
});

describe('an agent that puts back what it read before the answer', () => {
	it('is answered again once it has waited for a minute, and the author is told', async () => {
		const question = await asked();
		const { id, post } = question;
		await delivered(question);
		empty(id);
		await app.until(() => post.text().includes('delivered'));
		await app.pass(30_000);
		expect(posts(id)).toHaveLength(1);
		const again = await app.until(() => posts(id).find(({ ts }) => ts !== post.ts));
		expect(again.text()).toContain("Asked again. Not in the field any more: ada's answer, LH 1173");
		await app.until(() =>
			app.slack
				.as('ada')
				.dm()
				.some((dm) => dm.text().includes(line('delivered', { agentOutcome: 'lost' }))),
		);
		expect([post.text(), ...post.editHistory()].join()).not.toContain('continued');
		await again.press('LH 1173');
		await app.until(() => app.service.log.savedPuts(id).length === 2);
		app.service.sessions.setStatus(id, 'active');
		step(id);
		await app.until(() => again.text().includes('· continued'));
	});
});

describe('an agent that works on', () => {
	it('closes its question quietly, which can still be answered', async () => {
		const { id, post } = await asked();
		await app.pass(5_000);
		app.service.sessions.setStatus(id, 'active');
		step(id, 4);
		await app.until(() => post.text().includes(SETTLED_WORDS.wentOn));
		expect(post.buttons()).toEqual(['Answer anyway']);
		await app.pass(5 * MINUTE_MS);
		expect(app.thread(id).some((one) => REMINDER.test(one.text()))).toBe(false);
		await post.press('Answer anyway');
		const form = await app.slack.as('ada').waitForModal((modal) => modal.submitText() !== null);
		expect(form.text()).toContain(GONE_ON);
		await form.close();
		app.service.sessions.setStatus(id, 'humanInput');
		await app.until(() => post.buttons().includes('LH 1173'));
		await app.threadSays(id, REMINDER);
		expect(
			posts(id)
				.filter(({ ts }) => ts !== post.ts && post.buttons().includes('LH 1173'))
				.every((one) => REMINDER.test(one.text())),
		).toBe(true);
		await post.press('LH 1173');
		await app.until(() => app.service.log.savedPuts(id).length === 1);
	});

	it('says how far it has gone on where it never waits visibly', async () => {
		const { id, post } = await asked('active');
		step(id, 4);
		await app.until(() => post.text().includes('4 steps since'));
		await app.pass(2 * MINUTE_MS);
		expect(post.buttons()).toContain('LH 1173');
		const reminder = await app.threadSays(id, REMINDER);
		expect(reminder.text()).toContain('4 steps since');
	});

	it('has continued when it writes a message after the answer, and not before', async () => {
		const question = await asked('active');
		const { id, post } = question;
		step(id, 2);
		await delivered(question);
		await app.pass(3 * MINUTE_MS);
		expect([post.text(), ...post.editHistory()].join()).not.toContain('· continued');
		step(id);
		await app.until(() => post.text().includes('· continued'));
	});
});
