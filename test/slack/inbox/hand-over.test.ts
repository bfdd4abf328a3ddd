import { afterEach, describe, expect, it } from 'vitest';
import { type Posted, sampleWorkspace, withMembers } from '../../../fake-slack/index.ts';
import { asking } from '../../../sandbox/session-service/builders.ts';
import { expectNothingWrong } from '../watching/harness.ts';
import { type InboxApp, inboxApp } from './harness.ts';

let app: InboxApp;

/** bob, cleo and dan are members of #agents; tess is in no channel that the app is in. */
function workspace() {
	const all = withMembers(sampleWorkspace(), 'agents', ['bob', 'cleo', 'dan']);
	const whole = withMembers(all, 'vault', ['tess']);
	const [ada] = whole.people;
	if (ada === undefined) throw new Error('nobody is there');
	// Slackbot looks like a person, except for its id.
	return { ...whole, people: [...whole.people, { ...ada, id: 'USLACKBOT', name: 'slackbot', realName: 'Slackbot' }] };
}

const start = async (env: Record<string, string> = {}) => {
	app = await inboxApp({ env: { UNDO_SECONDS: '0', ...env }, slack: { workspace: workspace() } });
};
afterEach(async () => {
	app.slack.faults.clear();
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

const FLIGHT = { title: 'Which flight?', description: 'One of: LH 1173, TP 570' };

/** A question of a watched session, and its post. */
async function asked(flags = '', items: Parameters<InboxApp['ask']>[1] = [FLIGHT]) {
	const id = await app.watched({ name: 'Book a flight' }, flags);
	const index = app.ask(id, items, '');
	const post = await app.until(() => app.thread(id).findLast((one) => one.buttons().includes('Hand over')));
	return { id, index, post };
}

/** Somebody presses a button of a post that another person sees too. */
async function press(post: Posted, who: string, label: string) {
	const seen = app.slack
		.as(who)
		.messages(post.channel, { all: true })
		.find(({ ts }) => ts === post.ts);
	await seen?.press(label);
}

/** Somebody presses *Hand over*, chooses somebody and submits; resolves to the window. */
async function handOver(post: Posted, from: string, to: string) {
	await press(post, from, 'Hand over');
	const modal = await app.slack.as(from).waitForModal('Hand over to');
	await modal.choose('Hand over to', to);
	return { modal, ...(await modal.submit()) };
}

const dms = (who: string) => app.slack.as(who).dm();
const newestDm = (who: string, words: string) =>
	app.until(
		() => dms(who).findLast((dm) => dm.text().includes(words)),
		() =>
			`${who} has:\n${dms(who)
				.map((dm) => dm.text())
				.join('\n--\n')}`,
	);
const saysIn = (post: Posted, words: string) =>
	app.until(
		() => post.text().includes(words),
		() => post.text(),
	);

describe('Hand over', () => {
	it('shows a question that the person had snoozed', async () => {
		await start();
		const { post } = await asked();
		await app.openHome('grace');
		await app.slack.as('grace').home()?.choose('Snooze', 'Tomorrow 9:00');
		await app.homeSays('No question waits for you, 1 is snoozed', { who: 'grace' });
		await handOver(post, 'ada', 'grace');
		await app.homeSays('handed this over to you', { who: 'grace' });
	});

	it('gives a question with its buttons to somebody who is not in the channel, and shows everywhere who has it', async () => {
		await start({ ALLOWED_CHANNELS: 'C0AGENTS' });
		const { id, index, post } = await asked();
		await app.openHome('tess');
		await app.openHome('grace');
		const { modal, outcome } = await handOver(post, 'ada', 'tess');
		expect(outcome).toBe('updated');
		expect(modal.text()).toContain('You handed the question over to @tess');
		const dm = await newestDm('tess', 'handed a question over to you');
		expect(dm.notification()).toContain('An agent asks: Which flight? One of: LH 1173, TP 570 (Book a flight)');
		expect(dm.buttons()).toEqual(['LH 1173', 'TP 570', 'Answer…', 'Give back', 'Hand over']);
		await saysIn(post, 'handed this over to @tess');
		await app.cardSays(id, 'handed this over to @tess');
		await app.homeSays('handed this over to you', { who: 'tess' });
		await app.homeSays('@tess has it', { who: 'grace' });
		await dm.press('TP 570');
		await app.until(() => app.service.log.effectivePuts(id).length === 1);
		expect(app.service.sessions.values(id, index)).toEqual(['TP 570']);
		await app.until(() => dm.buttons().length === 0);
		expect(dm.text()).toContain('chose TP 570');
		await app.homeSays('No question waits for you.', { who: 'tess', without: ['handed this over'] });
		expect(dms('tess')).toHaveLength(1);
	});

	it('opens the form for the channel and thread of the question', async () => {
		await start({ ALLOWED_CHANNELS: 'C0AGENTS' });
		const { id, post } = await asked('', ['Which colour?']);
		await handOver(post, 'ada', 'tess');
		const dm = await newestDm('tess', 'Which colour?');
		await dm.press('Answer');
		const form = await app.slack.as('tess').waitForModal('Which colour?');
		await form.fill(0, 'grey');
		app.service.sessions.answerAsPage(id, ['red']);
		await form.submit();
		await app.windowSays('somebody else answered first', { who: 'tess' });
		await app.slack.as('tess').modal()?.press('Post my text to the thread');
		await app.until(() =>
			app
				.card(id)
				?.thread()
				.some((one) => one.text().includes('> grey')),
		);
	});

	it('is given back with one press, of which whoever handed it over hears', async () => {
		await start();
		const { id, post } = await asked();
		await handOver(post, 'ada', 'tess');
		const dm = await newestDm('tess', 'handed a question over to you');
		await saysIn(post, 'handed this over to @tess');
		expect(dm.text()).toContain('opens it for all again and tells @ada.');
		await dm.press('Give back');
		await app.until(() => dm.buttons().length === 0);
		expect(dm.text()).toContain('asks for an answer');
		expect(dm.text()).toContain('You gave this question back. It is open for all again.');
		const told = await newestDm('ada', 'gave back the question');
		expect(told.text()).toContain('Which flight?');
		expect(told.buttons()).toEqual(['LH 1173', 'TP 570', 'Answer…', 'Hand over']);
		await app.until(() => !post.text().includes('handed this over'));
		expect(post.buttons()).toEqual(['LH 1173', 'TP 570', 'Answer…', 'Hand over']);
		await app.cardSays(id, /^(?![\s\S]*handed this over)/);
	});

	describe('that was given back', () => {
		/** The message to ada, to whom tess gave the question back. */
		async function givenBack(env: Record<string, string> = {}) {
			await start(env);
			const question = await asked();
			await handOver(question.post, 'ada', 'tess');
			await (await newestDm('tess', 'handed a question over to you')).press('Give back');
			return { ...question, told: await newestDm('ada', 'gave back the question') };
		}

		it('loses the button in the message about it when somebody answers, and says who', async () => {
			const { id, told } = await givenBack();
			expect(told.buttons()).toEqual(['LH 1173', 'TP 570', 'Answer…', 'Hand over']);
			app.service.sessions.answerAsPage(id, ['TP 570']);
			await saysIn(told, 'Answered outside Slack');
			expect(told.buttons()).toEqual([]);
			expect(told.text()).not.toContain('open for all');
		});

		it('shows a choice in the message about it while it can be taken back', async () => {
			const { post, told } = await givenBack({ UNDO_SECONDS: '30' });
			const chosen = await app.toldAfter(() => post.press('LH 1173'));
			await saysIn(told, '@ada chose LH 1173');
			expect(told.buttons()).toEqual([]);
			await chosen.press('Undo');
			await saysIn(told, 'It is open for all again.');
			expect(told.buttons()).toEqual(['LH 1173', 'TP 570', 'Answer…', 'Hand over']);
		});

		it('says in the message about it that it was handed over again, or is not watched any more', async () => {
			const { id, post, told } = await givenBack();
			await handOver(post, 'ada', 'bob');
			await saysIn(told, 'Handed over again.');
			expect(told.buttons()).toEqual([]);
			await (await newestDm('bob', 'handed a question over to you')).press('Give back');
			const second = await app.until(() => dms('ada').find((dm) => dm.text().includes('gave back the question')));
			await app.command(`/session unwatch ${id}`);
			await saysIn(second, 'Not watched here any more.');
			expect(second.buttons()).toEqual([]);
		});
	});

	it('is given back in the inbox, by whoever has it', async () => {
		await start();
		const { post } = await asked();
		await handOver(post, 'ada', 'tess');
		await newestDm('tess', 'handed a question over to you');
		await app.openHome('tess');
		await app.slack.as('tess').home()?.press('Give back');
		await app.homeSays('No question waits for you.', { who: 'tess' });
		await newestDm('ada', 'gave back the question');
		await app.until(() => !post.text().includes('handed this over'));
	});

	it('settles the direct message when somebody else answers, and its old buttons say who did', async () => {
		await start();
		const { id, post } = await asked();
		await handOver(post, 'ada', 'tess');
		const dm = await newestDm('tess', 'handed a question over to you');
		app.slack.faults.add({ method: 'chat.update', error: 'internal_error' });
		await app.slack
			.as('grace')
			.messages(post.channel, { all: true })
			.find(({ ts }) => ts === post.ts)
			?.press('LH 1173');
		await app.until(() => app.service.log.effectivePuts(id).length === 1);
		const before = dms('tess').length;
		await dm.press('TP 570');
		await app.until(() => dms('tess').length > before);
		expect(dms('tess').at(-1)?.text()).toContain('answered “LH 1173” before you');
		app.slack.faults.clear();
		await app.until(() => dm.buttons().length === 0);
		expect(dm.text()).toContain('@grace');
	});

	it('shows a choice in the direct message while it can be taken back, and the buttons again after that', async () => {
		await start({ UNDO_SECONDS: '30' });
		const { id, post } = await asked();
		await handOver(post, 'ada', 'tess');
		const dm = await newestDm('tess', 'handed a question over to you');
		const told = await app.toldAfter(() => post.press('LH 1173'));
		await app.until(() => dm.buttons().length === 0);
		expect(dm.text()).toContain('@ada chose LH 1173');
		await told.press('Undo');
		await app.until(() => dm.buttons().includes('LH 1173'));
		expect(dm.text()).toContain('handed a question over to you');
		expect(app.service.log.puts(id)).toEqual([]);
	});

	it('settles the direct message when the agent changes the question, and when it is not watched any more', async () => {
		await start();
		const { id, index, post } = await asked();
		await handOver(post, 'ada', 'tess');
		const dm = await newestDm('tess', 'handed a question over to you');
		const messages = structuredClone(app.service.sessions.get(id).messages ?? []);
		messages[index] = asking('', ['Which hotel?']);
		app.service.sessions.patch(id, { messages });
		await app.until(() => dm.buttons().length === 0);
		expect(dm.text()).toContain('asks something else now');
		const next = await app.threadSays(id, 'Which hotel?');
		await app.pass(2_000);
		expect(next.text()).not.toContain('handed this over');
		await handOver(next, 'ada', 'tess');
		const second = await newestDm('tess', 'Which hotel?');
		await app.command(`/session unwatch ${id}`);
		await app.until(() => second.buttons().length === 0);
		expect(second.text()).toContain('Not watched here any more.');
		expect([second.text(), second.notification()].join()).toMatch(/“Book a flight”.*“Book a flight”/s);
	});

	it('goes round three times, and then says who had it last and what to do', async () => {
		await start();
		const { post } = await asked();
		await handOver(post, 'ada', 'bob');
		const bobs = await newestDm('bob', 'handed a question over to you');
		await handOver(bobs, 'bob', 'cleo');
		const cleos = await newestDm('cleo', 'handed a question over to you');
		await app.until(() => bobs.buttons().length === 0);
		expect(bobs.text()).toContain('Handed over again.');
		await handOver(cleos, 'cleo', 'ada');
		const adas = await newestDm('ada', 'handed a question over to you');
		expect(adas.buttons()).toEqual(['LH 1173', 'TP 570', 'Answer…', 'Give back']);
		await app.openHome();
		await app.homeSays('handed this over to you', { without: ['Hand over'] });
		await press(post, 'bob', 'Hand over');
		await app.windowSays('Only @ada can give it back', { who: 'bob', without: ['over or give'] });
		await adas.press('Give back');
		await newestDm('cleo', 'gave back the question');
		await press(post, 'dan', 'Hand over');
		await app.windowSays('handed over 3 times, last by @cleo to @ada. It cannot be handed over again. Answer it', {
			who: 'dan',
			without: ['bob'],
		});
	});

	it('refuses people who may not answer, in the window, and keeps the window', async () => {
		await start();
		const { post } = await asked();
		const { modal, errors } = await handOver(post, 'ada', 'gus');
		expect(Object.values(errors)[0]).toContain('This person is a guest');
		const refusals: [string, string][] = [
			['otherbot', 'This is an app or a bot'],
			['slackbot', 'This is an app or a bot'],
			['ada', 'That is you.'],
			['dora', 'is deactivated'],
			['eve', 'belongs to another workspace'],
		];
		for (const [who, words] of refusals) {
			await modal.choose('Hand over to', who);
			expect(Object.values((await modal.submit()).errors)[0]).toContain(words);
		}
		app.slack.faults.add({ method: 'users.info', error: 'internal_error' });
		await modal.choose('Hand over to', 'tess');
		expect(Object.values((await modal.submit()).errors)[0]).toContain('could not check');
		app.slack.faults.clear();
		await app.pass(3_000);
		expect(post.text()).not.toContain('handed this over');
		expect((await modal.submit()).outcome).toBe('updated');
		await newestDm('tess', 'handed a question over to you');
	});

	it('has one winner when two people hand over at the same moment, and tells the other who has it', async () => {
		await start();
		const { post } = await asked();
		const press = async (who: string, to: string) => {
			const seen = app.slack.as(who).messages(post.channel, { all: true });
			await seen.find(({ ts }) => ts === post.ts)?.press('Hand over');
			const modal = await app.slack.as(who).waitForModal('Hand over to');
			await modal.choose('Hand over to', to);
			return modal;
		};
		const windows = [await press('ada', 'bob'), await press('grace', 'cleo')];
		await Promise.all(windows.map((modal) => modal.submit()));
		const texts = windows.map((modal) => modal.text());
		expect(texts.filter((text) => text.includes('You handed the question over'))).toHaveLength(1);
		expect(texts.filter((text) => /@(bob|cleo) has this question/.test(text))).toHaveLength(1);
		await app.pass(5_000);
		expect(dms('bob').length + dms('cleo').length).toBe(1);
		// Somebody who does not have it hears that at once.
		const seen = app.slack.as('dan').messages(post.channel, { all: true });
		await seen.find(({ ts }) => ts === post.ts)?.press('Hand over');
		await app.windowSays('has this question', { who: 'dan' });
	});

	it('tells nobody about a question who may not use Handraise any more', async () => {
		await start();
		const { id, post } = await asked();
		await handOver(post, 'ada', 'tess');
		const dm = await newestDm('tess', 'handed a question over to you');
		await app.restart({ ALLOWED_USERS: ['tess', 'bob'].map((who) => app.slack.as(who).user).join() });
		await dm.press('Give back');
		await app.until(() => dm.buttons().length === 0);
		await app.pass(10_000);
		expect(dms('ada')).toEqual([]);
		app.slack.faults.add({ method: 'conversations.open', error: 'internal_error' });
		await handOver(post, 'bob', 'tess');
		await app.restart({ ALLOWED_USERS: app.slack.as('bob').user });
		app.slack.faults.clear();
		await app.cardSays(id, 'handed this over');
		await app.pass(30_000);
		expect(dms('tess')).toHaveLength(1);
	});

	it('sends the direct message when Slack can tell again whether its person may answer', async () => {
		await start();
		const { post } = await asked();
		app.slack.faults.add({ method: 'conversations.open', error: 'internal_error' });
		await handOver(post, 'ada', 'tess');
		app.slack.faults.add({ method: 'users.info', error: 'internal_error' });
		await app.restart({});
		app.slack.faults.clear();
		app.slack.faults.add({ method: 'users.info', error: 'internal_error' });
		await app.pass(10_000);
		expect(dms('tess')).toEqual([]);
		app.slack.faults.clear();
		await newestDm('tess', 'handed a question over to you');
	});

	it('shows in posts and reminders only those items that are open still', async () => {
		await start({ REMIND_AFTER: '60s' });
		const { id, index, post } = await asked('', ['Which colour?', 'Which size?']);
		const messages = structuredClone(app.service.sessions.get(id).messages ?? []);
		Object.assign(messages[index]?.human_input?.[0] ?? {}, { value: 'red' });
		app.service.sessions.patch(id, { messages });
		const reminder = await app.threadSays(id, 'Nobody has answered');
		await handOver(post, 'ada', 'grace');
		await saysIn(reminder, 'has it');
		for (const one of [post, reminder]) {
			expect(one.text()).toContain('Which size?');
			expect(one.text()).not.toContain('Which colour?');
		}
	});

	it('is given back when Slack refuses the direct message, and whoever handed it over hears that', async () => {
		await start();
		const { id, post } = await asked();
		const lift = app.slack.faults.add({ method: 'conversations.open', error: 'user_disabled' });
		await handOver(post, 'ada', 'tess');
		await app.until(() => app.log.some((line) => line.includes('a post is refused')));
		lift();
		const dm = await newestDm('ada', '@tess did not get the question that you handed over');
		expect(dm.text()).toContain('Which flight?');
		expect(post.text()).not.toContain('handed this over');
		await app.pass(5_000);
		expect(app.card(id)?.text()).not.toContain('handed this over');
		expect((await handOver(post, 'bob', 'tess')).modal.text()).toContain('You handed the question over to @tess');
		await newestDm('tess', 'handed a question over to you');
		await app.until(() => dm.buttons().length === 0);
	});

	it('is given back when the chosen person may not answer any more before the direct message is posted', async () => {
		await start();
		const { post } = await asked();
		const lift = app.slack.faults.add({ method: 'conversations.open', error: 'internal_error' });
		await handOver(post, 'ada', 'tess');
		await app.until(() => app.slack.traffic.calls('conversations.open').length > 0);
		await app.restart({ ALLOWED_USERS: ['ada', 'bob'].map((who) => app.slack.as(who).user).join() });
		lift();
		await newestDm('ada', '@tess did not get the question that you handed over');
		await app.until(() => !post.text().includes('handed this over'));
		expect(dms('tess')).toEqual([]);
	});

	it('mentions nobody in the posts of a watch that begins later', async () => {
		await start();
		const { id, post } = await asked();
		await handOver(post, 'ada', 'grace');
		await newestDm('grace', 'handed a question over to you');
		await saysIn(post, '@ada handed this over to @grace');
		await app.watch(id, { channel: '#secret' });
		const other = await app.until(() =>
			app.thread(id, '#secret').findLast((one) => one.buttons().includes('Hand over')),
		);
		expect(other.text()).toContain('handed this over to');
		const posts = [...app.thread(id, '#secret'), ...app.inChannel('#secret')];
		expect(posts.flatMap((one) => one.rung())).toEqual([]);
	});

	it('can be handed over by anybody while whoever has it may not answer any more', async () => {
		await start();
		const { id, post } = await asked();
		await handOver(post, 'ada', 'tess');
		await newestDm('tess', 'handed a question over to you');
		await app.restart({ ALLOWED_USERS: ['ada', 'bob', 'cleo'].map((who) => app.slack.as(who).user).join() });
		expect((await handOver(post, 'bob', 'cleo')).modal.text()).toContain('You handed the question over to @cleo');
		const dm = await newestDm('cleo', 'handed a question over to you');
		await app.cardSays(id, '@bob handed this over to @cleo');
		await app.until(() => dms('tess')[0]?.buttons().length === 0);
		expect(dms('tess')[0]?.text()).toContain('Handed over again.');
		await press(post, 'ada', 'Hand over');
		await app.windowSays('@cleo has this question');
		await dm.press('Give back');
		await newestDm('bob', 'gave back the question');
	});

	it('can be handed over by anybody also after three times, when whoever has it may not answer any more', async () => {
		await start({ REMIND_AFTER: '2m' });
		const { id, post } = await asked();
		await handOver(post, 'ada', 'bob');
		await handOver(await newestDm('bob', 'handed a question over to you'), 'bob', 'cleo');
		await handOver(await newestDm('cleo', 'handed a question over to you'), 'cleo', 'tess');
		await newestDm('tess', 'handed a question over to you');
		const tess = app.slack.state.people.find(({ name }) => name === 'tess');
		if (tess === undefined) throw new Error('there is no tess');
		tess.deleted = true;
		const reminder = await app.threadSays(id, 'Nobody has answered');
		expect(reminder.text()).not.toContain('has it');
		expect((await handOver(post, 'ada', 'grace')).modal.text()).toContain('You handed the question over to @grace');
		const dm = await newestDm('grace', 'handed a question over to you');
		expect(dm.buttons()).not.toContain('Hand over');
		await saysIn(reminder, 'has it');
		await press(post, 'bob', 'Hand over');
		await app.windowSays('Only @grace can give it back', { who: 'bob' });
	});

	it('cannot be handed over by others while Slack does not say whether whoever has it may answer', async () => {
		await start();
		const { post } = await asked();
		await handOver(post, 'ada', 'tess');
		await newestDm('tess', 'handed a question over to you');
		await press(post, 'bob', 'Hand over');
		await app.windowSays('@tess has this question', { who: 'bob' });
		await app.slack.as('bob').modal()?.close();
		await app.pass(60_000);
		app.slack.faults.add({ method: 'users.info', error: 'internal_error' });
		await press(post, 'bob', 'Hand over');
		await app.windowSays('@tess has this question', { who: 'bob' });
	});

	it('says in whose direct messages a question was asked', async () => {
		await start();
		const id = app.session({ name: 'My own' });
		await app.slack.as('ada').command('dm', `/session watch ${id}`);
		await newestDm('ada', 'My own');
		await app.pass(3_000);
		app.ask(id, [FLIGHT], '');
		const post = await app.until(() => dms('ada').findLast((one) => one.buttons().includes('Hand over')));
		await handOver(post, 'ada', 'grace');
		const dm = await newestDm('grace', 'handed a question over to you');
		const place = 'the direct messages of @ada with Handraise';
		expect(dm.text()).toContain(`Asked in ${place}.`);
		await app.openHome('grace');
		await app.homeSays(place, { who: 'grace' });
		await handOver(dm, 'grace', 'ada');
		const back = await newestDm('ada', 'handed a question over to you');
		expect(back.text()).toContain('Asked in our direct messages.');
	});

	it('shows in its window which question it is about, unless that may not be told, and is logged with ids', async () => {
		await start();
		const { id, post } = await asked();
		await handOver(post, 'ada', 'tess');
		const opened = app.slack.traffic.calls('views.open').at(-1);
		expect(JSON.stringify(opened?.request)).toContain('> An agent asks: Which flight? One of: LH 1173, TP 570 (Book');
		const dm = await newestDm('tess', 'handed a question over to you');
		await dm.press('Give back');
		await newestDm('ada', 'gave back the question');
		const logged = (words: string) => JSON.parse(app.log.findLast((line) => line.includes(words)) ?? '{}');
		const place = { session: id, channel: 'C0AGENTS' };
		expect(logged('"hand over"')).toMatchObject({ ...place, user: 'U0ADA', to: app.slack.as('tess').user });
		expect(logged('"give back"')).toMatchObject({ ...place, user: app.slack.as('tess').user, to: 'U0ADA' });
		expect(app.log.join()).not.toContain('flight');
		const discreet = await asked('--discreet');
		await press(discreet.post, 'ada', 'Hand over');
		await app.windowSays('An agent asks for an answer.', { without: ['flight'] });
	});

	it('tells neither the question of a discreet watch nor a secret in the notification', async () => {
		await start();
		const discreet = await asked('--discreet');
		await handOver(discreet.post, 'ada', 'tess');
		const dm = await newestDm('tess', 'Which flight?');
		expect(dm.notification()).toMatch(/handed a question over to you\. An agent asks for an answer\.$/);
		const secret = await asked('', [{ title: 'Which password should I use?' }]);
		await handOver(secret.post, 'ada', 'cleo');
		const other = await newestDm('cleo', 'Which password');
		expect(other.notification()).not.toContain('password');
	});

	it('survives a restart between the submission and the direct message', async () => {
		await start();
		const { post } = await asked();
		app.slack.faults.add({ method: 'conversations.open', error: 'internal_error' });
		await handOver(post, 'ada', 'tess');
		await app.restart({});
		app.slack.faults.clear();
		const dm = await newestDm('tess', 'handed a question over to you');
		await app.pass(10_000);
		expect(dms('tess')).toHaveLength(1);
		await dm.press('Give back');
		await app.restart({});
		await app.until(() => dm.buttons().length === 0);
		await newestDm('ada', 'gave back the question');
	});
});
