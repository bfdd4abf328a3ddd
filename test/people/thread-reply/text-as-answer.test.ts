import { itemsOf } from '../../../fake-session-service/log.ts';
import type { Actor } from '../../../fake-slack/index.ts';
import { chosenTextHelp } from '../../../src/screens/thread-reply.ts';
import {
	describe,
	expect,
	FEWEST_REQUESTS,
	openButtons,
	settingsOf,
	type WatchingApp,
	watchingApp,
	whatHappened,
	withApp,
} from '../../kit.ts';

const it = withApp(() => watchingApp({ realRates: true, env: FEWEST_REQUESTS }));

const ada = (app: WatchingApp) => app.slack.as('ada');
const isForm = (modal: { submitText(): string | null }) => modal.submitText() !== null;

/** A watched session with a question in its thread. */
async function asked(app: WatchingApp, ...titles: string[]): Promise<string> {
	const id = await app.watched();
	app.ask(id, titles);
	await app.threadSays(id, titles[0] ?? '');
	return id;
}

/** Says this in the thread, and uses the shortcut on it. */
async function useAsAnswer(app: WatchingApp, id: string, text: string, who = 'ada'): Promise<void> {
	const message = await sayInThread(app, id, text, who);
	expect(await app.slack.as(who).shortcut(message, 'use_as_answer')).toBe(true);
}

/** Mentions the app in the thread; resolves to what it asks. */
const mention = (app: WatchingApp, id: string, text: string) =>
	app.toldAfter(() => ada(app).mention('#agents', text, { thread: app.card(id) ?? '' }));
const sent = (app: WatchingApp, id: string) => app.service.log.effectivePuts(id).map((put) => itemsOf(put)[0]?.value);

async function sayInThread(app: WatchingApp, id: string, text: Parameters<Actor['say']>[1], who = 'ada') {
	const thread = app.card(id);
	if (thread === undefined) throw new Error('there is no card');
	return app.slack.as(who).say('#agents', text, { thread });
}

describe('the shortcut "Use as answer"', () => {
	it('opens the form by "Use as answer" with the text as it was typed', async ({ app }) => {
		const id = await asked(app, 'Which colour?');
		await useAsAnswer(app, id, 'Sand & <forest>, please');
		const form = await ada(app).waitForModal(isForm);
		expect(form.value(0)).toBe('Sand & <forest>, please');
		expect(form.text()).toContain('📝 The message is filled in below.');
		expect((await form.submit()).outcome).toBe('updated');
		await app.answered(id);
		expect(sent(app, id)).toEqual(['Sand & <forest>, please']);
	});

	it('sends emoji as their characters, and the workspace’s own by name', async ({ app }) => {
		const id = await asked(app, 'Which colour?');
		await useAsAnswer(app, id, 'Sand 👍🏽 :tada: :shipit: & 🦜');
		const form = await ada(app).waitForModal(isForm);
		expect((await form.submit()).outcome).toBe('updated');
		await app.answered(id);
		expect(sent(app, id)).toEqual(['Sand 👍🏽 🎉 :shipit: & 🦜']);
	});

	it('asks which of several items "Use as answer" is for', async ({ app }) => {
		const id = await asked(app, 'First?', 'Second?');
		await useAsAnswer(app, id, 'Only the second');
		const chooser = await ada(app).waitForModal('Which question does it answer?');
		expect(chooser.text()).toContain('> Only the second');
		await chooser.choose(0, '2. Second?');
		const form = await ada(app).waitForModal(isForm);
		expect([form.value(0), form.value(1)]).toEqual([null, 'Only the second']);
	});

	it('sends a chosen text of more than 3,000 characters whole', async ({ app }) => {
		const id = await asked(app, 'What should it say?');
		const text = Array.from({ length: 900 }, (_, index) => `word${index}`).join(' ');
		await useAsAnswer(app, id, text);
		const form = await ada(app).waitForModal(isForm);
		expect(form.text()).toMatch(/whole|characters/);
		expect((await form.submit()).outcome).toBe('updated');
		await app.answered(id);
		expect(sent(app, id)).toEqual([text]);
	});

	it('takes no message of Handraise for an answer', async ({ app }) => {
		const id = await asked(app, 'Which colour?');
		const post = app.thread(id)[0];
		if (post === undefined) throw new Error('no post');
		const told = await app.toldAfter(() => ada(app).shortcut(post, 'use_as_answer'));
		expect(told.text()).toBe('That message is from Handraise, so it is no answer.');
		expect(ada(app).modal()).toBeNull();
	});

	it('asks Slack for no names in a message of somebody who may not act', async ({ app }) => {
		const id = await asked(app, 'Which colour?');
		const message = await sayInThread(app, id, { text: 'Ask <@U0DORA>', blocks: [] }, 'gus');
		await app.slack.as('gus').shortcut(message, 'use_as_answer');
		await app.slack.as('gus').waitForModal(whatHappened('guest'));
		const names = () => app.slack.traffic.calls('users.info').map(({ request }) => Object(request).user);
		expect(names()).toContain('U0GUS');
		expect(names()).not.toContain('U0DORA');
		await ada(app).shortcut(message, 'use_as_answer');
		const form = await ada(app).waitForModal(isForm);
		expect(form.value(0)).toBe('Ask @dora');
		expect(names()).toContain('U0DORA');
	});

	it('does not use a message for a secret item', async ({ app }) => {
		const id = await asked(app, 'Your password');
		await useAsAnswer(app, id, 'hunter2-in-public');
		const form = await ada(app).waitForModal(isForm);
		expect(form.value(0)).toBeNull();
		expect(form.text()).toContain('password or code');
		expect(form.text()).not.toContain('hunter2-in-public');
	});

	it('says that no question is open for a chosen message', async ({ app }) => {
		const id = await app.watched();
		await useAsAnswer(app, id, 'Sand');
		const modal = await ada(app).waitForModal((now) => !now.text().includes('Looking at session'));
		expect(modal.submitText()).toBeNull();
		expect(modal.text()).toContain('no question');
	});

	describe('on a message outside a thread', () => {
		/** Uses the shortcut on a message of the channel itself; resolves to what only this person is shown. */
		async function useOutside(app: WatchingApp, text: string, who = 'ada') {
			const message = await app.slack.as(who).say('#agents', text);
			return app.toldAfter(() => app.slack.as(who).shortcut(message, 'use_as_answer'), who);
		}

		it('replies with help where no question is open', async ({ app }) => {
			const told = await useOutside(app, 'Sand');
			expect(told.text()).toBe('No question in this channel asks you. /session with an id opens a session.');
			expect(ada(app).modal()).toBeNull();
		});

		it('lists the open questions of the channel, and opens the form of the chosen one with the text', async ({
			app,
		}) => {
			const [colour, size] = [await asked(app, 'Which colour?'), await asked(app, 'Which size?')];
			const answered = await asked(app, 'Which shape?');
			app.service.sessions.answerAsPage(answered, ['round']);
			await app.answered(answered);
			await asked(app, 'Your password');
			const elsewhere = app.session();
			app.ask(elsewhere, ['Which elsewhere?']);
			await app.watch(elsewhere, { channel: '#secret' });
			const told = await useOutside(app, 'Sand & <forest>, please');
			expect(told.isEphemeral()).toBe(true);
			const [head, text, ...rows] = told.text().split('\n');
			expect([head, text]).toEqual(['Which question does it answer?', '> Sand & <forest>, please']);
			expect(rows.filter((row) => row !== '[Use as answer]').toSorted()).toEqual([
				expect.stringMatching(/^✋ Which colour\? · Order \d+ chairs$/),
				expect.stringMatching(/^✋ Which size\? · Order \d+ chairs$/),
			]);
			// Whatever their order: the button belongs to the row above it.
			const at = rows.filter((row) => row !== '[Use as answer]').findIndex((row) => row.startsWith('✋ Which size?'));
			await told.press('Use as answer', at);
			const form = await ada(app).waitForModal(isForm);
			expect(form.text()).toContain('Which size?');
			expect(form.value(0)).toBe('Sand & <forest>, please');
			expect((await form.submit()).outcome).toBe('updated');
			await app.answered(size);
			expect([sent(app, size), sent(app, colour)]).toEqual([['Sand & <forest>, please'], []]);
		});

		it('tells sessions of the same name apart, also to somebody who hears the buttons', async ({ app }) => {
			const ids = [app.session({ name: 'Same' }), app.session({ name: 'Same' }), app.session({ name: 'Another' })];
			for (const id of ids) {
				app.ask(id, ['Which colour?']);
				await app.watch(id);
				await app.threadSays(id, 'Which colour?');
			}
			const told = await useOutside(app, 'Sand');
			const rows = told.text().split('\n').slice(2);
			expect(rows.filter((row) => row !== '[Use as answer]').toSorted()).toEqual(
				['Another', ...ids.slice(0, 2).map((id) => `Same · ${id}`)]
					.map((name) => `✋ Which colour? · ${name}`)
					.toSorted(),
			);
			const shown = JSON.stringify(app.slack.state.messages.find(({ ts }) => ts === told.ts)?.blocks);
			for (const id of ids.slice(0, 2)) expect(shown).toContain(`"Use as answer: session ${id}"`);
			expect(shown).toContain('"Use as answer: Another"');
		});

		it('says why a question that only takes secrets is not listed', async ({ app }) => {
			await asked(app, 'One-time code');
			expect((await useOutside(app, 'Sand')).text()).toBe(chosenTextHelp('secret').text);
		});

		it('says how many more questions there are than it lists', async ({ app }) => {
			for (let count = 0; count < 11; count++) await asked(app, `Question ${count}?`);
			const one = await useOutside(app, 'Sand');
			expect(one.buttons()).toEqual(Array.from({ length: 10 }, () => 'Use as answer'));
			expect(one.text()).toContain('and 1 more question: to answer one of those, press Answer beside it.');
		});

		it.for([
			['one', ['Which size?']],
			['several', ['Which size?', 'Which shape?']],
		] as const)(
			'says that the session asks another question now, and does not fill in the message: %s',
			async ([, titles], { app }) => {
				const id = await asked(app, 'Which colour?');
				const told = await useOutside(app, 'Sand');
				app.service.sessions.answerAsPage(id, ['red']);
				app.ask(id, titles);
				await app.threadSays(id, 'Which size?');
				await told.press('Use as answer');
				const form = await ada(app).waitForModal(isForm);
				expect(form.text()).toContain('The question you chose is no longer asked. This is another one');
				expect(titles.map((_title, at) => form.value(at))).toEqual(titles.map(() => null));
			},
		);

		it('fills in what the message says now, for what is asked now, when it is used again', async ({ app }) => {
			const id = await asked(app, 'Which colour?');
			const message = await ada(app).say('#agents', 'Sand');
			const use = () => app.toldAfter(() => ada(app).shortcut(message, 'use_as_answer'));
			await use();
			await message.edit('Sky');
			await (await use()).press('Use as answer');
			const form = await ada(app).waitForModal(isForm);
			expect(form.value(0)).toBe('Sky');
			await form.close(true);
			app.service.sessions.answerAsPage(id, ['red']);
			app.ask(id, ['Which size?']);
			await app.threadSays(id, 'Which size?');
			await (await use()).press('Use as answer');
			const again = await ada(app).waitForModal(isForm);
			expect([again.text().includes('no longer asked'), again.value(0)]).toEqual([false, 'Sky']);
		});

		it('lists none that this person may not answer', async ({ app }) => {
			await app.slack.invite('#secret', 'grace');
			const settings = settingsOf(app);
			expect((await settings.save({ 'Who may answer': ['ada'] }, { channel: '#secret' })).outcome).toBe('updated');
			await settings.told(1, '#secret');
			const [hers, notHers] = [await asked(app, 'Which colour?'), await asked(app, 'Which size?')];
			await app.watch(notHers, { channel: '#secret' });
			const toldGrace = await useOutside(app, 'Sand', 'grace');
			expect(toldGrace.text()).toContain('Which colour? · ');
			expect(toldGrace.text()).not.toContain('Which size?');
			const toldAda = await useOutside(app, 'Sand');
			for (const title of ['Which colour? · ', 'Which size? · ']) expect(toldAda.text()).toContain(title);
			// Nor where the only one is not hers any more.
			app.service.sessions.answerAsPage(hers, ['red']);
			await app.answered(hers);
			expect((await useOutside(app, 'Sand', 'grace')).text()).toContain('No question in this channel asks you.');
		});
	});
});

describe('a mention in the thread', () => {
	it('asks the author of a mention, and only them, whether to send it, and sends it when *Undo* is over', async ({
		app,
	}) => {
		const id = await asked(app, 'Which colour?');
		const told = await mention(app, id, 'Forest, I think');
		expect(told.isEphemeral()).toBe(true);
		expect(told.threadTs()).toBe(app.card(id)?.ts);
		expect(told.text()).toMatch(
			/^Send this to the agent as the answer\?\n> Forest, I think\nWhich colour\? · Order \d+ chairs\n\[Send\] \[No\]$/,
		);
		await told.press('Send');
		await app.until(() => app.thread(id)[0]?.buttons().includes('Undo') === true);
		await app.until(() => sent(app, id).length === 1);
		expect(sent(app, id)).toEqual(['Forest, I think']);
	});

	it('sends long texts whole, and refuses secret items', async ({ app }) => {
		const secret = await asked(app, 'One-time code');
		const refused = await mention(app, secret, '314159 secretly');
		expect(refused.text()).toContain('Handraise never takes those from a message');
		expect(openButtons(refused)).toEqual([]);
		expect(app.log.join('\n')).not.toContain('314159 secretly');

		const long = await asked(app, 'Say everything');
		const text = `start ${'long '.repeat(1_000)}end`;
		const offer = await mention(app, long, text);
		await offer.press('Send');
		await app.until(() => sent(app, long).length === 1);
		expect(sent(app, long)).toEqual([text]);
	});

	it('replies to a mention outside a watched thread with help', async ({ app }) => {
		const told = await app.toldAfter(() => ada(app).mention('#agents', 'hello?'));
		expect(told.text()).toContain('/session watch');
	});
});

it('ignores messages without a mention in the thread', async ({ app }) => {
	const id = await asked(app, 'Which colour?');
	const from = app.now();
	await sayInThread(app, id, 'I would take sand');
	await sayInThread(app, id, 'yes', 'grace');
	await app.pass(30_000);
	expect(app.service.log.puts(id)).toEqual([]);
	expect(app.calls('chat.postEphemeral', from)).toEqual([]);
	expect(app.calls('chat.postMessage', from)).toEqual([]);
});
