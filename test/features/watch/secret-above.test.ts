import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Modal } from '../../../fake-slack/index.ts';
import { REMOVED_ANSWER } from '../../../src/features/answer/view.ts';
import { chosenTextHelp } from '../../../src/features/reply/view.ts';
import { OUTSIDE } from '../../../src/features/watch/post-view.ts';
import { openSession } from '../../slack/support/open-session.ts';
import { ASKS, answeredBy } from '../../support/sentences.ts';
import { expectNothingWrong, type WatchingApp, watchingApp } from './harness.ts';

const ONE = 'Secret';
const HIDE = 'Keep secret';
const TAKEN = JSON.stringify(chosenTextHelp('secret'));

let app: WatchingApp;
beforeAll(async () => {
	app = await watchingApp();
});
afterAll(() => app[Symbol.asyncDispose]());
afterEach(async () => {
	for (const who of ['ada', 'grace']) await app.slack.as(who).modal()?.close(true);
	expectNothingWrong(app);
});

const ada = () => app.slack.as('ada');

/** A watched session whose agent asks in the text above its items; its post stands. */
async function askedAbove(text: string, items: string[] = ['Answer']) {
	const id = await app.watched();
	app.ask(id, items, text);
	const { ts } = await app.threadSays(id, text.slice(-20));
	return { id, notification: app.slack.state.messages.find((message) => message.ts === ts)?.text };
}

/** Closes a form and resolves once the program has kept what may be kept of it. */
async function close(modal: Modal): Promise<void> {
	const done = () => app.log.filter((line) => line.includes('"handled"') && line.includes('"close handraise.')).length;
	const before = done();
	await modal.close();
	await app.until(() => done() > before);
}

describe('a secret that only the text above the items asks for', () => {
	it.each([
		['a password', 'The shop wants me to log in. Please give me the password of the account.', 'Tr0ub4dor-one'],
		['a code by SMS', 'The bank has sent a code by SMS. What is it?', '271828-one'],
		['a PIN', 'Please enter the PIN of the card.', '4711-one'],
		['a TAN without a verb of asking', 'Ich bin fast fertig. Es fehlt nur noch die TAN.', '908172-one'],
		['what an SMS says', 'The bank just sent you an SMS. Let me know what it says.', '551903-one'],
		['what is mandatory', 'I cannot file the form. SSN is mandatory.', '078-05-1120-one'],
	])('is ticked, not kept as a draft, not shown and wiped: %s', async (_what, text, value) => {
		const { id, notification } = await askedAbove(text);
		expect(notification).toBe(ASKS);
		const first = await openSession(app.app, id);
		expect(first.value(ONE)).toEqual([HIDE]);
		await first.fill(0, `${value}-draft`);
		await close(first);
		const modal = await openSession(app.app, id);
		expect(modal.value(0)).toBeNull();
		await modal.fill(0, value);
		expect((await modal.submit()).outcome).toBe('updated');
		expect((await app.answered(id)).text()).toMatch(answeredBy('ada'));
		await app.until(() => ada().modal()?.text().includes(REMOVED_ANSWER));
		await ada().modal()?.close(true);
		await app.slack.as('grace').command('#agents', `/session history ${id}`);
		await app.until(() => app.slack.as('grace').modal()?.text().includes(REMOVED_ANSWER));
		expect(await app.said()).not.toContain(value);
		expect(app.log.join('\n')).not.toContain(value);
	});

	it('is not taken from a message of the thread', async () => {
		const { id } = await askedAbove('I need the API key of the weather service.');
		const thread = app.card(id);
		if (thread === undefined) throw new Error('there is no card');
		const refused = await app.toldAfter(() => ada().mention('#agents', 'wx-90210-secretly', { thread }));
		expect(refused.buttons()).toEqual([]);
		expect(TAKEN).toContain(refused.text().slice(0, 40));
		const message = await ada().say('#agents', 'wx-90210-secretly', { thread });
		await ada().shortcut(message, 'use_as_answer');
		const form = await ada().waitForModal((modal) => modal.submitText() !== null);
		expect([form.value(0), form.value(ONE)]).toEqual([null, [HIDE]]);
		expect(form.text()).toContain('password or code');
	});

	it('is hidden when it was answered outside of Slack', async () => {
		const { id } = await askedAbove('Please send me the password for the shop.');
		app.service.sessions.answerAsPage(id, ['swordfish']);
		await app.threadSays(id, new RegExp(`${OUTSIDE}$`));
		const modal = await openSession(app.app, id, 'grace');
		expect(modal.text()).not.toContain('swordfish');
		expect(await app.said()).not.toContain('swordfish');
	});
});

describe('a text above the items that only mentions a secret', () => {
	it.each([
		['I reset the password; which colour?', 'Answer'],
		['Please enter the password. Shall I go on?', 'Shall I go on?'],
	])('leaves the answer ordinary: %s', async (text, title) => {
		const { id } = await askedAbove(text, [title]);
		const modal = await openSession(app.app, id);
		expect(modal.buttons()).toContain('Keep secret');
	});

	it('keeps the draft', async () => {
		const { id, notification } = await askedAbove('The password is set; which colour?');
		expect(notification).not.toBe(ASKS);
		const first = await openSession(app.app, id);
		await first.fill(0, 'sand');
		await close(first);
		expect((await openSession(app.app, id)).value(0)).toBe('sand');
	});

	it('leaves the other items ordinary when one item asks for the secret', async () => {
		const { id } = await askedAbove('Please enter the password and the colour.', ['Password', 'Colour']);
		const modal = await openSession(app.app, id);
		expect(modal.value('Keep secret')).toEqual(['1. “Password”']);
	});
});
