import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { item } from '../../../sandbox/session-service/builders.ts';
import { itemsOf } from '../../../sandbox/session-service/log.ts';
import { expectNothingWrong, type WatchingApp, watchingApp } from '../../sessions/harness.ts';
import { openButtons } from '../../support/sentences.ts';

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
const isForm = (modal: { submitText(): string | null }) => modal.submitText() !== null;

/** A watched session with a question in its thread. */
async function asked(...titles: string[]): Promise<string> {
	const id = await app.watched();
	app.ask(
		id,
		titles.map((title) => item(title)),
	);
	await app.threadSays(id, titles[0] ?? '');
	return id;
}

/** Says this in the thread, and uses the shortcut on it. */
async function useAsAnswer(id: string, text: string, who = 'ada'): Promise<void> {
	const message = await sayInThread(id, text, who);
	expect(await app.slack.as(who).shortcut(message, 'use_as_answer')).toBe(true);
}

/** Mentions the app in the thread; resolves to what it asks. */
const mention = (id: string, text: string) =>
	app.toldAfter(() => ada().mention('#agents', text, { thread: app.card(id) ?? '' }));
const sent = (id: string) => app.service.log.effectivePuts(id).map((put) => itemsOf(put)[0]?.value);

async function sayInThread(id: string, text: string, who = 'ada') {
	const thread = app.card(id);
	if (thread === undefined) throw new Error('there is no card');
	return app.slack.as(who).say('#agents', text, { thread });
}

describe('the shortcut "Use as answer"', () => {
	it('opens the form by "Use as answer" with the text as it was typed', async () => {
		const id = await asked('Which colour?');
		await useAsAnswer(id, 'Sand & <forest>, please');
		const form = await ada().waitForModal(isForm);
		expect(form.value(0)).toBe('Sand & <forest>, please');
		expect(form.text()).toContain('📝 Your message is filled in below.');
		expect((await form.submit()).outcome).toBe('updated');
		await app.answered(id);
		expect(sent(id)).toEqual(['Sand & <forest>, please']);
	});

	it('asks which of several items "Use as answer" is for', async () => {
		const id = await asked('First?', 'Second?');
		await useAsAnswer(id, 'Only the second');
		const chooser = await ada().waitForModal('Which question does it answer?');
		expect(chooser.text()).toContain('> Only the second');
		await chooser.choose(0, '2. “Second?”');
		const form = await ada().waitForModal(isForm);
		expect([form.value(0), form.value(1)]).toEqual([null, 'Only the second']);
	});

	it('sends a chosen text of more than 3,000 characters whole', async () => {
		const id = await asked('What should it say?');
		const text = Array.from({ length: 900 }, (_, index) => `word${index}`).join(' ');
		await useAsAnswer(id, text);
		const form = await ada().waitForModal(isForm);
		expect(form.text()).toMatch(/whole|characters/);
		expect((await form.submit()).outcome).toBe('updated');
		await app.answered(id);
		expect(sent(id)).toEqual([text]);
	});

	it('uses the text of the bot’s own question when the shortcut is used on it', async () => {
		const id = await asked('Which colour?');
		const post = app.thread(id)[0];
		if (post === undefined) throw new Error('no post');
		await ada().shortcut(post, 'use_as_answer');
		await ada().waitForModal();
	});

	it('does not use a message for a secret item', async () => {
		const id = await asked('Your password');
		await useAsAnswer(id, 'hunter2-in-public');
		const form = await ada().waitForModal(isForm);
		expect(form.value(0)).toBeNull();
		expect(form.text()).toContain('password or code');
		expect(form.text()).not.toContain('hunter2-in-public');
	});

	it('says that no question is open for a chosen message', async () => {
		const id = await app.watched();
		await useAsAnswer(id, 'Sand');
		const modal = await ada().waitForModal((now) => !now.text().includes('Looking at session'));
		expect(modal.submitText()).toBeNull();
		expect(modal.text()).toContain('no question');
	});

	it('replies with help when the message is not in a watched thread', async () => {
		const message = await ada().say('#agents', 'Sand');
		const told = await app.toldAfter(() => ada().shortcut(message, 'use_as_answer'));
		expect(told.text()).toContain('Handraise cannot tell which session that message is for');
		expect(ada().modal()).toBeNull();
	});

	it('refuses "Use as answer" to a guest', async () => {
		const id = await asked('Which colour?');
		await useAsAnswer(id, 'Sand', 'gus');
		const modal = await app.slack.as('gus').waitForModal((now) => !now.text().includes('Looking at session'));
		expect(modal.text()).toContain('Guests');
		await modal.close(true);
	});
});

describe('a mention in the thread', () => {
	it('asks the author of a mention, and only them, whether to send it, and sends it when *Undo* is over', async () => {
		const id = await asked('Which colour?');
		const told = await mention(id, 'Forest, I think');
		expect(told.isEphemeral()).toBe(true);
		expect(told.threadTs()).toBe(app.card(id)?.ts);
		expect(told.text()).toMatch(
			/^Send this to the agent as the answer\?\n> Forest, I think\n“Which colour\?” · “Order \d+ chairs”\n\[Send\] \[No\]$/,
		);
		await told.press('Send');
		await app.until(() => app.thread(id)[0]?.buttons().includes('Undo') === true);
		await app.until(() => sent(id).length === 1);
		expect(sent(id)).toEqual(['Forest, I think']);
	});

	it("says who answered when the mention's button is pressed later", async () => {
		const id = await asked('Which colour?');
		const told = await mention(id, 'Forest');
		await app.pass(1_000);
		const grace = app.slack.as('grace');
		const [post] = app.thread(id);
		if (post !== undefined) await app.seenBy('grace', post).press('Answer…');
		const hers = await grace.waitForModal(isForm);
		await hers.fill(0, 'Sand');
		await hers.submit();
		await app.answered(id);
		await told.press('Send');
		await app.until(() => told.text().includes('@grace answered “Sand” before you.'));
		expect(app.service.log.effectivePuts(id)).toHaveLength(1);
	});

	it('asks which item a mention is for, sends long texts whole, and refuses secret items', async () => {
		const several = await asked('First?', 'Second?');
		const told = await mention(several, 'the second one');
		await told.press('Use as answer');
		const chooser = await ada().waitForModal('Which question does it answer?');
		await chooser.choose(0, '2. “Second?”');
		const form = await ada().waitForModal(isForm);
		expect(form.value(1)).toBe('the second one');
		await form.close(true);

		const secret = await asked('One-time code');
		const refused = await mention(secret, '314159 secretly');
		expect(refused.text()).toContain('Handraise never takes those from a message');
		expect(openButtons(refused)).toEqual([]);
		expect(app.log.join('\n')).not.toContain('314159 secretly');

		const long = await asked('Say everything');
		const text = `start ${'long '.repeat(1_000)}end`;
		const offer = await mention(long, text);
		await offer.press('Send');
		await app.until(() => sent(long).length === 1);
		expect(sent(long)).toEqual([text]);
	});

	it('replies to a mention outside a watched thread with help', async () => {
		const told = await app.toldAfter(() => ada().mention('#agents', 'hello?'));
		expect(told.text()).toContain('/session watch');
	});
});

it('ignores messages without a mention in the thread', async () => {
	const id = await asked('Which colour?');
	const from = app.now();
	await sayInThread(id, 'I would take sand');
	await sayInThread(id, 'yes', 'grace');
	await app.pass(30_000);
	expect(app.service.log.puts(id)).toEqual([]);
	expect(app.calls('chat.postEphemeral', from)).toEqual([]);
	expect(app.calls('chat.postMessage', from)).toEqual([]);
});
