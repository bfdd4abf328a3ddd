import { waitingCountWords } from '../../../src/screens/inbox.ts';
import { OUTSIDE, SETTLED_WORDS } from '../../../src/screens/question-post.ts';
import { placeWords } from '../../../src/slack/phrases.ts';
import {
	ASKS,
	answeredBy,
	asking,
	describe,
	expect,
	FLIGHT,
	forCase,
	GAVE_BACK,
	HANDED_OVER,
	HANDED_TO_YOU,
	type HandOverApp,
	handedOver,
	handOverApp,
	it,
	openButtons,
	REMINDER,
	said,
	YOU_HAVE_IT,
} from '../../kit.ts';
import { auditRows } from '../../support/audit-rows.ts';

/** With a question. */
const start = async (env: Record<string, string> = {}, items: Parameters<HandOverApp['asked']>[1] = [FLIGHT]) => {
	const app = await forCase(handOverApp(env));
	return { app, ...(await app.asked(undefined, items)) };
};
/** With a question that Ada handed over. */
const startHanded = async (env: Record<string, string> = {}, to = 'tess') => {
	const app = await forCase(handOverApp(env));
	return { app, ...(await app.handed(to)) };
};

describe('Hand over', () => {
	it('shows a question that the person had snoozed', async () => {
		const { app, post } = await start();
		await app.openHome('grace');
		await app.slack.as('grace').home()?.press('Snooze for 1 h');
		await app.homeSays(waitingCountWords(0, 1), { who: 'grace' });
		await app.handOver(post, 'ada', 'grace');
		await app.homeSays(HANDED_TO_YOU, { who: 'grace' });
	});

	it('names the session of a secret question in its window, and for whoever hears its buttons', async () => {
		const { app, post } = await start({}, [{ title: 'What is the password?', description: '' }]);
		expect(JSON.stringify(post.blocks())).toContain('"accessibility_label":"Answer…: Book a flight"');
		await post.press('Hand over');
		const modal = await app.slack.as('ada').waitForModal('Hand over to');
		expect(modal.text()).toContain('✋ Book a flight asks\nHand over to\n');
	});

	it('says how many more fields a form has, and its session’s name as it is', async () => {
		const app = await forCase(handOverApp());
		const id = await app.watched({ name: '🔒 Handraise security” asks…' });
		app.ask(id, [FLIGHT, { title: 'Which seat?', description: '' }], '');
		const post = await app.until(() => app.thread(id).findLast((one) => one.buttons().includes('Hand over')));
		expect(JSON.stringify(post.blocks())).toMatch(
			/"accessibility_label":"Answer…: Which flight\? and 1 more, 🔒 Handraise security” asks…"/u,
		);
	});

	it('gives a question with its buttons to somebody who is not in the channel, and shows everywhere who has it', async () => {
		const { app, id, index, post } = await start({ ALLOWED_CHANNELS: 'C0AGENTS' });
		await app.openHome('tess');
		await app.openHome('grace');
		const note = 'You know *them*, <!channel>';
		const { modal, outcome } = await app.handOver(post, 'ada', 'tess', note);
		expect(outcome).toBe('updated');
		expect(modal.text()).toContain('You handed the question over to @tess');
		const dm = await app.newestDm('tess', '@ada handed a question over to you.');
		expect(dm.notification()).toContain('An agent asks: Which flight? One of: LH 1173, TP 570 (Book a flight)');
		expect(dm.text()).toMatch(/handed a question over to you\.\n> You know \*them\*, <!channel>/);
		expect(dm.buttons()).toEqual(['LH 1173', 'TP 570', 'Other answer…', 'Give back', 'Hand over']);
		await app.saysIn(post, '\ntess has it (from ada)');
		await app.homeSays('You have it (from ada)', { who: 'tess' });
		await app.homeSays('tess has it (from ada)', { who: 'grace' });
		expect(JSON.stringify(app.slack.state.messages.filter(({ channel }) => channel === post.channel))).not.toContain(
			'You know',
		);
		await dm.press('TP 570');
		await app.until(() => app.service.log.effectivePuts(id).length === 1);
		expect(app.service.sessions.values(id, index)).toEqual(['TP 570']);
		await app.until(() => answeredBy('tess', 'TP 570').test(dm.text()));
		expect(openButtons(dm)).toEqual([]);
		expect(dm.text()).not.toContain('You know');
		await app.homeSays(waitingCountWords(0, 0), { who: 'tess', without: [HANDED_TO_YOU] });
		expect(app.dms('tess')).toHaveLength(1);
	});

	it('puts a question first in the inbox of its holder, and last in those of others', async () => {
		const { app } = await start();
		const { post } = await app.asked(undefined, [{ title: 'Which hotel?' }]);
		await app.asked(undefined, [{ title: 'Which seat?' }]);
		await app.handOver(post, 'ada', 'grace');
		const order = async (who: string, has: string) => {
			await app.openHome(who);
			const text = await app.homeSays(has, { who });
			return ['Which flight?', 'Which hotel?', 'Which seat?'].toSorted((a, b) => text.indexOf(a) - text.indexOf(b));
		};
		expect(await order('grace', 'You have it')).toEqual(['Which hotel?', 'Which flight?', 'Which seat?']);
		expect(await order('ada', 'grace has it')).toEqual(['Which flight?', 'Which seat?', 'Which hotel?']);
	});

	it('is given back with one press, of which whoever handed it over hears', async () => {
		const { app, id, post, dm } = await startHanded();
		await app.saysIn(post, handedOver('ada', 'tess'));
		expect(dm.text()).toContain('Give back, in the menu, tells @ada that you do not take it.');
		await dm.press('Give back');
		await app.until(() => openButtons(dm)?.length === 0);
		expect(dm.text()).toContain('🔹 Book a flight asked: Which flight?\n');
		expect(dm.text()).toContain(SETTLED_WORDS.givenBack);
		const told = await app.newestDm('ada', '@tess gave back the question that you handed over.');
		expect(told.text()).toContain('Which flight?');
		expect(told.buttons()).toEqual(['LH 1173', 'TP 570', 'Other answer…', 'Hand over']);
		await app.until(() => !post.text().includes(HANDED_OVER));
		expect(post.buttons()).toEqual(['LH 1173', 'TP 570', 'Other answer…', ...app.MENU]);
		expect(app.card(id)?.text()).not.toContain(HANDED_OVER);
	});

	describe('that was given back', () => {
		/** Tess gave a question back; `told` is the message to Ada about that. */
		async function givenBack(env: Record<string, string> = {}) {
			const { app, ...question } = await startHanded(env);
			await question.dm.press('Give back');
			return { app, ...question, told: await app.givenBackTo('ada') };
		}
		const BUTTONS = ['LH 1173', 'TP 570', 'Other answer…', 'Hand over'];

		it('shows a choice in the message about it while it can be taken back, and who answered, without buttons', async () => {
			const { app, id, post, told } = await givenBack({ UNDO_SECONDS: '30' });
			expect(told.buttons()).toEqual(BUTTONS);
			await app.choose(post, 'LH 1173');
			await app.saysIn(told, '\nada: LH 1173\n[Undo]');
			expect(told.buttons()).toEqual(['Undo']);
			await post.press('Undo');
			await app.saysIn(told, GAVE_BACK);
			expect(told.buttons()).toEqual(BUTTONS);
			app.service.sessions.answerAsPage(id, ['TP 570']);
			await app.saysIn(told, OUTSIDE);
			expect(openButtons(told)).toEqual([]);
			expect(told.text()).not.toContain(GAVE_BACK);
		});

		it('says in the message about it that it was handed over again, or is not watched any more', async () => {
			const { app, id, post, told } = await givenBack();
			await app.handOver(post, 'ada', 'bob');
			await app.saysIn(told, SETTLED_WORDS.handedOn);
			expect(openButtons(told)).toEqual([]);
			await (await app.handedTo('bob')).press('Give back');
			const second = await app.until(() => app.dms('ada').find((dm) => dm.text().includes(GAVE_BACK)));
			await app.command(`/session unwatch ${id}`);
			await app.saysIn(second, SETTLED_WORDS.unwatched);
			expect(openButtons(second)).toEqual([]);
		});
	});

	it('is given back in the inbox, by whoever has it', async () => {
		const { app, post } = await startHanded();
		await app.openHome('tess');
		await app.slack.as('tess').home()?.press('Give back');
		await app.homeSays(waitingCountWords(0, 0), { who: 'tess' });
		await app.givenBackTo('ada');
		await app.until(() => !post.text().includes(HANDED_OVER));
	});

	it('settles the direct message when somebody else answers, and its old buttons say who did', async () => {
		const { app, id, post, dm } = await startHanded();
		app.slack.faults.add({ method: 'chat.update', error: 'internal_error' });
		// Later than what the message shows was read.
		await app.pass(1_000);
		await app.press(post, 'grace', 'LH 1173');
		await app.until(() => app.service.log.effectivePuts(id).length === 1);
		const before = app.dms('tess').length;
		await dm.press('TP 570');
		await app.until(() => app.dms('tess').length > before);
		expect(app.dms('tess').at(-1)?.text()).toContain('answered LH 1173 before you');
		app.slack.faults.clear();
		await app.until(() => openButtons(dm)?.length === 0);
		expect(dm.text()).toMatch(answeredBy('grace', 'LH 1173'));
	});

	it('shows a choice in the direct message while it can be taken back, and the buttons again after that', async () => {
		const { app, id, post, dm } = await startHanded({ UNDO_SECONDS: '30' });
		await app.choose(post, 'LH 1173');
		await app.until(() => dm.buttons().join() === 'Undo');
		expect(dm.text()).toContain('\nada: LH 1173\n[Undo]');
		await app.press(dm, 'tess', 'Undo');
		await app.newestDm('tess', 'Only @ada can undo this.');
		await post.press('Undo');
		await app.until(() => dm.buttons().includes('LH 1173'));
		expect(dm.text()).toContain(YOU_HAVE_IT);
		expect(app.service.log.puts(id)).toEqual([]);
	});

	it('settles the direct message when the agent changes the question', async () => {
		const { app, id, index, dm } = await startHanded();
		const messages = structuredClone(app.service.sessions.get(id).messages ?? []);
		messages[index] = asking('', ['Which hotel?']);
		app.service.sessions.patch(id, { messages });
		await app.until(() => openButtons(dm)?.length === 0);
		expect(dm.text()).toContain(SETTLED_WORDS.changed);
		const next = await app.threadSays(id, 'Which hotel?');
		await app.pass(2_000);
		expect(next.text()).not.toContain(HANDED_OVER);
	});

	it('asks in posts and reminders only for those items that are open still', async () => {
		const { app, id, index, post: whole } = await start({ REMIND_AFTER: '60s' }, ['Which colour?', 'Which size?']);
		const messages = structuredClone(app.service.sessions.get(id).messages ?? []);
		Object.assign(messages[index]?.human_input?.[0] ?? {}, { value: 'red' });
		app.service.sessions.patch(id, { messages });
		const isAgain = ({ ts, buttons }: ReturnType<HandOverApp['thread']>[number]) =>
			ts !== whole.ts && buttons().includes('Hand over');
		const post = await app.until(() => app.thread(id).find(isAgain));
		const reminder = await app.threadSays(id, REMINDER);
		await app.handOver(post, 'ada', 'grace');
		await app.saysIn(reminder, 'has it');
		expect(reminder.text()).toContain('Which size?');
		expect(reminder.text()).not.toContain('Which colour?');
		for (const words of ['\n> Which size?\n', '\nWhich colour?\n> red', 'Still open: 1 question.'])
			expect(post.text()).toContain(words);
		expect(post.text().match(/Which colour/g)).toHaveLength(1);
	});

	it('mentions nobody in the posts of a watch that begins later', async () => {
		const { app, id, post } = await startHanded({}, 'grace');
		await app.saysIn(post, handedOver('ada', 'grace'));
		await app.watch(id, { channel: '#secret' });
		const other = await app.until(() =>
			app.thread(id, '#secret').findLast((one) => one.buttons().includes('Hand over')),
		);
		expect(other.text()).toContain(HANDED_OVER);
		const posts = [...app.thread(id, '#secret'), ...app.inChannel('#secret')];
		expect(posts.flatMap((one) => one.rung())).toEqual([]);
	});

	it('says in whose direct messages a question was asked', async () => {
		const { app } = await start();
		const id = app.session({ name: 'My own' });
		await app.slack.as('ada').command('dm', `/session watch ${id}`);
		await app.newestDm('ada', 'My own');
		await app.pass(3_000);
		app.ask(id, [FLIGHT], '');
		const post = await app.until(() => app.dms('ada').findLast((one) => one.buttons().includes('Hand over')));
		await app.handOver(post, 'ada', 'grace');
		const dm = await app.handedTo('grace');
		const place = 'the direct messages of @ada with Handraise';
		expect(dm.text()).toContain(`Asked in ${place}.`);
		await app.openHome('grace');
		await app.homeSays(place, { who: 'grace' });
		await app.handOver(dm, 'grace', 'ada');
		const back = await app.handedTo('ada');
		expect(back.text()).toContain(`Asked in ${said(placeWords('D'))}.`);
	});

	it('shows in its window which question it is about, unless that may not be told, and is recorded with ids', async () => {
		const { app, id, post } = await start();
		await app.handOver(post, 'ada', 'tess');
		const opened = JSON.stringify(app.slack.traffic.calls('views.open').at(-1)?.request);
		for (const told of ['✋ ', 'Book a flight', 'Which flight? One of: LH 1173, TP 570'])
			expect(opened).toContain(`"text":"${told}"`);
		const dm = await app.handedTo('tess');
		await dm.press('Give back');
		await app.givenBackTo('ada');
		const place = { session: id, channel: 'C0AGENTS' };
		const tess = app.slack.as('tess').user;
		expect(auditRows(app.dataDir, 'handedOver')).toMatchObject([{ ...place, actor: 'U0ADA', about: tess }]);
		expect(auditRows(app.dataDir, 'givenBack')).toMatchObject([{ ...place, actor: tess, about: 'U0ADA' }]);
		expect(app.log.join()).not.toContain('flight');
		const discreet = await app.asked({ discreet: true });
		await app.press(discreet.post, 'ada', 'Hand over');
		await app.windowSays('Hand over to', { without: ['Which flight'] });
	});

	it('tells neither the question of a discreet channel nor a secret in the notification', async () => {
		const { app } = await start();
		const discreet = await app.asked({ discreet: true });
		await app.handOver(discreet.post, 'ada', 'tess');
		const dm = await app.newestDm('tess', 'Which flight?');
		expect(dm.notification()).toMatch(new RegExp(`${YOU_HAVE_IT} ${ASKS}$`));
		const secret = await app.asked({}, [{ title: 'Which password should I use?' }]);
		await app.handOver(secret.post, 'ada', 'cleo');
		const other = await app.newestDm('cleo', 'Which password');
		expect(other.notification()).not.toContain('password');
	});
});
