import { CHANNELS_UNKNOWN, waitingCountWords } from '../../../src/screens/inbox.ts';
import { NOTE_LABEL } from '../../../src/slack/form/build.ts';
import { decodeMetadata } from '../../../src/slack/ids.ts';
import { placeWords } from '../../../src/slack/phrases.ts';
import {
	answering,
	DRAFT_RESTORED,
	describe,
	done,
	expect,
	FEWEST_REQUESTS,
	forCase,
	headline,
	type InboxApp,
	inboxApp,
	line,
	said,
	USUAL_REQUESTS,
	whatHappened,
	withApp,
} from '../../kit.ts';
import { tooComplex } from '../../support/too-complex.ts';

const start = (options: Parameters<typeof inboxApp>[0] = {}) =>
	forCase(inboxApp({ ...options, env: { ...FEWEST_REQUESTS, ...options.env } }));

const NOTHING = waitingCountWords(0, 0);

const it = withApp(() => inboxApp({ env: FEWEST_REQUESTS }));

describe('the Home tab', () => {
	it('says what to do while nothing is watched, and while nothing is asked', async ({ app }) => {
		expect(await app.openHome()).toMatch(new RegExp(`${NOTHING}[^]*/session watch and an id`));
		expect(app.textOf('ada')).toContain('No session is watched yet.');
		await app.watched();
		await app.homeSays('appear here by themselves', { without: ['No session is watched yet.'] });
		// Nothing is asked, so nobody's channels matter.
		expect(app.slack.traffic.calls('users.conversations').filter(({ request }) => 'user' in Object(request))).toEqual(
			[],
		);
	});

	it('shows the new name of a session while its question stays open', async ({ app }) => {
		const [id = ''] = await app.askedIn('#agents', ['Untitled']);
		await app.openHome();
		await app.homeSays('Untitled');
		app.service.sessions.patch(id, { name: 'Fly to Rome' });
		await app.homeSays('Fly to Rome', { without: ['Untitled'] });
	});

	it('shows what waits, oldest first, with the session, the question, the channel, how long and who is answering', {
		timeout: 180_000,
	}, async () => {
		const app = await start();
		await app.askedIn('#agents', ['Older chairs', 'Newer chairs']);
		await app.clock.advance(12 * 60_000);
		const text = await app.openHome();
		expect(text).toContain(waitingCountWords(2, 0));
		expect(text.indexOf('Older chairs')).toBeLessThan(text.indexOf('Newer chairs'));
		expect(text).toMatch(
			/> Which colour\?\n> Three are in stock\.\nOlder chairs · #agents · asked 10 min ago\n\[Answer…\]/,
		);
		await app.openHome('grace');
		await app.slack.as('grace').home()?.press('Answer…');
		await app.homeSays(answering('grace'));
		await app.clock.advance(3 * 60_000);
		await app.homeSays('asked 15 min ago');
	});

	it('follows questions without a press: asked, answered by somebody, answered outside, not watched any more', async () => {
		const app = await start();
		const first = await app.watched({ name: 'First' });
		const second = await app.watched({ name: 'Second' });
		const third = await app.watched({ name: 'Third' });
		await app.openHome();
		app.ask(first);
		await app.homeSays(waitingCountWords(1, 0));
		app.ask(second);
		app.ask(third);
		await app.homeSays(waitingCountWords(3, 0));

		await app.openHome('grace');
		await app.slack.as('grace').home()?.press('Answer…');
		await app.until(() => app.slack.as('grace').modal()?.text().includes('Which colour?'));
		await app.slack.as('grace').modal()?.fill(0, 'grey');
		await app.slack.as('grace').modal()?.submit();
		await app.homeSays(waitingCountWords(2, 0), { without: ['First'] });

		app.service.sessions.answerAsPage(second, ['red']);
		await app.homeSays(waitingCountWords(1, 0), { without: ['Second'] });
		await app.command(`/session unwatch ${third}`);
		await app.homeSays(NOTHING, { without: ['Third'] });
	});

	it('names what is open of a form, and the ids of sessions of the same name', async ({ app }) => {
		const items = [{ title: 'Your shoe size', value: '44' }, 'Which colour?', 'Which size?'];
		const ids = await app.askedIn('#agents', ['Chairs', 'Chairs', 'Lamps'], items);
		const text = await app.openHome();
		expect(text.match(/^> Which colour\? and 1 more\n> Three are in stock\.$/gm)).toHaveLength(3);
		expect(text).not.toContain('shoe');
		const [one = '', other = ''] = ids;
		for (const id of [one, other]) expect(text).toContain(`\nChairs · ${id} · #agents · `);
		expect(text).toContain('\nLamps · #agents · ');
	});

	it('opens the form of a question over itself, for the channel and the thread of the question', async ({ app }) => {
		const [id = ''] = await app.askedIn('#agents', ['Chairs']);
		await app.openHome();
		await app.slack.as('ada').home()?.press('Answer…');
		const form = await app.slack.as('ada').waitForModal('Which colour?');
		await form.fill(0, 'grey');
		const { origin } = decodeMetadata(String(form.view().payload.private_metadata)) ?? {};
		expect(origin).toMatchObject({ channelId: 'C0AGENTS', threadTs: expect.any(String) });
		app.service.sessions.answerAsPage(id, ['red']);
		await form.submit();
		await app.windowSays(headline('conflicted'));
		expect(app.textOf('ada')).toContain('Chairs');
	});

	it('answers in one press, takes that back, and shows the question again', async () => {
		const app = await start({ env: { UNDO_SECONDS: '20' } });
		await app.askedIn('#agents', ['Chairs'], [{ title: 'Which colour?', description: 'One of: red, green' }]);
		await app.openHome();
		await app.slack.as('ada').home()?.press('green');
		await app.homeSays('sends in a moment', { without: [waitingCountWords(1, 0)] });
		expect(app.textOf('ada')).toContain('Chairs · Which colour? · You: green · sends in a moment\n[Undo]');
		await app.slack.as('ada').home()?.press('Undo');
		await app.homeSays(waitingCountWords(1, 0), { without: ['sends in a moment'] });
		await app.slack.as('ada').home()?.press('green');
		await app.homeSays(line('resumed'), { without: [waitingCountWords(1, 0)] });
		expect(app.service.log.effectivePuts().length).toBe(1);
	});

	it('shows answers that need a decision with their buttons, then the last answers, and no secret', async ({ app }) => {
		const ada = app.slack.as('ada');
		await app.askedIn('#agents', ['Locked'], [{ title: 'Your password' }]);
		await app.openHome();
		await ada.home()?.press('Answer…');
		const secret = await ada.waitForModal('Your password');
		await secret.fill(0, 'hunter2-s3cret');
		await secret.submit();
		await app.homeSays('Your password · You: (hidden)');
		await app.homeSays(line('resumed'));

		const [chairs = ''] = await app.askedIn('#agents', ['Chairs']);
		await app.homeSays(waitingCountWords(1, 0));
		await ada.home()?.press('Answer…');
		const form = await ada.waitForModal('Which colour?');
		await form.fill(0, 'grey');
		app.service.faults.add(tooComplex(chairs));
		await form.submit();
		await app.homeSays(line('refused'));
		expect(app.textOf('ada')).toContain('Which colour? · You: grey');
		expect(app.textOf('ada').match(/grey/g)).toHaveLength(1);
		expect(JSON.stringify(app.home().blocks())).toContain('"accessibility_label":"Try again: Chairs"');
		await form.close().catch(() => undefined);
		app.service.faults.clear();
		await ada.home()?.press('Try again');
		await app.homeSays(new RegExp(`You: grey[^\n]*${line('resumed')}`), { without: [line('refused')] });

		// A choice that came second is one of the last answers.
		const [lost = ''] = await app.askedIn('#agents', ['Lamps', 'Tables']);
		await app.homeSays(waitingCountWords(2, 0));
		await ada.home()?.press('Answer…');
		const late = await ada.waitForModal('Which colour?');
		await late.fill(0, 'blue');
		app.service.sessions.answerAsPage(lost, ['red']);
		await late.submit();
		const text = await app.homeSays(line('conflicted'));
		expect(text.indexOf(line('conflicted'))).toBeGreaterThan(text.indexOf('Your last answers'));
		await late.close().catch(() => undefined);
		const published = app.slack.traffic.calls('views.publish').map(({ request }) => JSON.stringify(request));
		expect(published.join()).not.toContain('hunter2');
	});
});

describe('a choice that came second', () => {
	it('is one line below the last answers for each option, however often it was pressed, and asks for no decision', async ({
		app,
	}) => {
		const items = [{ title: 'Which colour?', description: 'One of: Graphite, Sand, Red' }];
		const [id = ''] = await app.askedIn('#agents', ['Chairs'], items);
		const post = await app.threadSays(id, 'Which colour?');
		app.freezePosts();
		await app.seenBy('grace', post).press('Sand');
		await app.pass(50);
		await app.toldAfter(() => post.press('Graphite'));
		for (const who of ['ada', 'grace']) {
			await app.pass(50);
			await app.seenBy(who, post).press(who === 'ada' ? 'Graphite' : 'Sand');
		}
		await app.pass(50);
		await app.toldAfter(() => post.press('Red'));
		await app.pass(5_000);
		await app.openHome();
		const text = await app.homeSays('@grace was first: Sand · You: Red');
		expect(text).toContain('@grace was first: Sand · You: Graphite');
		expect(text.match(/Graphite/g)).toHaveLength(1);
		expect(text.indexOf('@grace was first')).toBeGreaterThan(text.indexOf('Your last answers'));
		expect(app.home().buttons()).toEqual([]);
		await app.openHome('grace');
		expect((await app.homeSays('Sand', { who: 'grace' })).match(/Sand/g)).toHaveLength(1);
	});

	it('is not told as the second one where it may have arrived before the other', async () => {
		const app = await start({ env: { UNDO_SECONDS: '0' } });
		const items = [{ title: 'Which colour?', description: 'One of: Graphite, Sand' }];
		const [id = ''] = await app.askedIn('#agents', ['Chairs'], items);
		const post = await app.threadSays(id, 'Which colour?');
		app.service.faults.add({ kind: 'error', method: 'PUT', sessionId: id, times: 1 });
		await post.press('Graphite');
		await app.until(() => app.service.log.puts(id)[0]?.status === 500);
		app.service.sessions.answerAsPage(id, ['Sand']);
		await app.openHome();
		await app.homeSays(line('conflicted', { putStartedAt: 1 }), { without: ['was first'] });
		await app.home().press('Dismiss');
		await app.until(() => !app.textOf('ada').includes(line('conflicted', { putStartedAt: 1 })));
	});
});

describe('a draft of a question that is over', () => {
	const TYPED = 'half a *thought*,\nand <more> & `code`';

	async function drafted() {
		const app = await start();
		const [id = ''] = await app.askedIn('#agents', ['Chairs'], ['Which colour would you like?']);
		await app.openHome();
		await app.home().press('Answer…');
		const form = await app.slack.as('ada').waitForModal('Which colour would');
		await form.fill(0, TYPED);
		await app.pass(2_000);
		await form.close();
		await app.homeSays('half a');
		return { app, id };
	}

	it('says so, gives the text back in a window, and goes with *Discard*', async () => {
		const { app, id } = await drafted();
		app.service.sessions.answerAsPage(id, ['red']);
		await app.homeSays('no longer asked');
		expect(app.textOf('ada')).toContain('📝 Chairs · half a *thought*, and <more> & `code` · no longer asked · ');
		expect(app.home().buttons()).toEqual(['Copy text', 'Discard']);
		await app.home().press('Copy text');
		const copy = await app.slack.as('ada').waitForModal('half a');
		expect(copy.title()).toBe('Your text');
		expect(JSON.stringify(copy.blocks())).toContain(JSON.stringify(TYPED));
		await copy.close();
		// The buttons of a draft are its author's alone.
		await app.openHome('grace');
		expect(app.textOf('grace')).not.toContain('half a');
		await app.home().press('Discard');
		await app.homeSays(NOTHING, { without: ['half a', 'Drafts'] });
	});

	it('gives a long text back whole, in parts that are not too long for Slack', async ({ app }) => {
		const [id = ''] = await app.askedIn('#agents', ['Chairs'], ['Why?', 'What else?']);
		await app.openHome();
		await app.home().press('Answer…');
		const form = await app.slack.as('ada').waitForModal('Why?');
		const texts = ['half a 🪑 thought, '.repeat(150), 'and the rest, '.repeat(200)].map((text) => text.trim());
		for (const [field, text] of texts.entries()) await form.fill(field, text);
		await app.pass(2_000);
		await form.close();
		app.service.sessions.answerAsPage(id, ['red', 'blue']);
		await app.homeSays('no longer asked');
		await app.home().press('Copy text');
		const copy = await app.slack.as('ada').waitForModal('half a');
		const found = JSON.stringify(copy.blocks()).matchAll(/"type":"text","text":("[^"]*")/g);
		const parts = Array.from(found, ([, part = '']): string => JSON.parse(part));
		expect(parts.join('')).toBe(texts.join('\n\n'));
		expect(Math.max(...parts.map((part) => part.length))).toBeLessThanOrEqual(3_000);
	});

	it('is continued where the same is asked in another message', async () => {
		const { app, id } = await drafted();
		const messages = structuredClone(app.service.sessions.get(id).messages ?? []);
		app.service.sessions.patch(id, { messages: messages.toSpliced(-1, 0, done('I look once more.')) });
		const reads = app.service.log.reads(id).length;
		await app.until(() => app.service.log.reads(id).length > reads + 1);
		await app.openHome();
		await app.homeSays('half a', { without: ['no longer asked'] });
		await app.home().press('Continue');
		const form = await app.slack.as('ada').waitForModal(DRAFT_RESTORED);
		expect(form.value(0)).toBe(TYPED);
		expect(form.text()).not.toContain('was not sent');
		await form.submit();
		await app.until(() => app.service.sessions.values(id, 3)[0] === TYPED);
		await app.homeSays(line('resumed'), { without: ['Drafts'] });
	});

	const OPTIONS = [{ title: 'Which colour?', description: 'One of: Graphite, Sand' }];

	/** Ada has typed a note in the form of a question with options, and closed it. */
	async function draftedBesideOptions() {
		const app = await start();
		const [id = ''] = await app.askedIn('#agents', ['Chairs'], OPTIONS);
		const post = await app.threadSays(id, 'Which colour?');
		await post.press('Other answer…');
		const form = await app.slack.as('ada').waitForModal(NOTE_LABEL);
		await form.fill(NOTE_LABEL, 'half a thought');
		await app.pass(2_000);
		await form.close();
		return { app, id, post };
	}

	it('is not told to be unsent to its author who has pressed an option', async () => {
		const { app, id, post } = await draftedBesideOptions();
		app.freezePosts();
		await post.press('Sand');
		await app.until(() => app.service.sessions.values(id, 2)[0] === 'Sand');
		await app.pass(5_000);
		await post.press('Other answer…');
		const modal = await app.slack.as('ada').waitForModal('Chairs');
		await app.until(() => !modal.text().includes('Looking at'));
		expect(modal.text()).not.toContain('was not sent');
		expect(modal.submitText()).toBeNull();
	});

	it('is there again when its author has taken an answer back', async () => {
		const { app, id, post } = await draftedBesideOptions();
		await app.choose(post, 'Sand');
		await post.press('Undo');
		await app.until(() => post.buttons().includes('Sand'));
		app.service.sessions.answerAsPage(id, ['Graphite']);
		await app.openHome();
		await app.homeSays(/half a thought[^\n]*no longer asked/);
	});

	it('does not come back for a later question in the same words', async () => {
		const { app, id, post } = await draftedBesideOptions();
		app.freezePosts();
		app.service.sessions.answerAsPage(id, ['Sand']);
		await app.openHome();
		await app.homeSays('no longer asked');
		app.step(id, 'I look once more.');
		await app.pass(5_000);
		app.ask(id, OPTIONS, 'Now for the tables.');
		await app.homeSays('Now for the tables.');
		expect(app.textOf('ada')).toMatch(/half a thought[^\n]*no longer asked/);
		expect(app.home().buttons()).not.toContain('Continue');
		// The post of the question that it was typed for.
		await post.press('Other answer…');
		const form = await app.slack.as('ada').waitForModal(NOTE_LABEL);
		expect(form.text()).toContain('Your draft was not sent:\n> half a thought');
		expect(form.value(NOTE_LABEL)).toBeNull();
	});

	it('is closed still when nobody watches its session any more', async () => {
		const { app, id } = await drafted();
		app.service.sessions.setStatus(id, 'completed');
		await app.homeSays('no longer asked');
		await app.until(() => app.ends(id).length > 0);
		await app.command(`/session unwatch ${id}`);
		await app.openHome();
		expect(await app.homeSays('half a')).toContain('no longer asked');
		expect(app.home().buttons()).toEqual(['Copy text', 'Discard']);
	});

	it.each(['completed', 'failed'])(
		'is shown by *Continue* in a session that is %s, of which nobody knew',
		async (status) => {
			const { app, id } = await drafted();
			await app.command(`/session unwatch ${id}`);
			app.service.sessions.setStatus(id, status);
			await app.openHome();
			expect(await app.homeSays('half a')).not.toContain('no longer asked');
			await app.home().press('Continue');
			const modal = await app.slack.as('ada').waitForModal('Your draft was not sent:');
			expect(modal.text()).toContain('> half a *thought*,\n> and <more> & `code`');
			expect(modal.submitText()).toBeNull();
		},
	);
});

describe('who sees what in the Home tab', () => {
	it('shows questions of the channels that the person is in, also private ones, each once', async ({ app }) => {
		const [, both = ''] = await app.askedIn('#agents', ['Public', 'In both']);
		await app.askedIn('#secret', ['Private']);
		await app.watch(both, { channel: '#secret' });
		const ofAda = await app.openHome();
		expect(ofAda).toContain(waitingCountWords(3, 0));
		expect(ofAda.match(/In both/g)).toHaveLength(1);
		expect(ofAda).toContain('#secret');
		const ofGrace = await app.openHome('grace');
		expect(ofGrace).toContain(waitingCountWords(2, 0));
		expect(ofGrace).not.toContain('Private');
		expect(ofGrace).not.toContain('secret');
	});

	it('forgets a channel that the person leaves, and shows one that they join, at once', async ({ app }) => {
		await app.askedIn('#secret', ['Private']);
		expect(await app.openHome('grace')).toContain(NOTHING);
		await app.slack.invite('#secret', 'grace');
		await app.homeSays('Private', { who: 'grace' });
		await app.slack.remove('#secret', 'grace');
		await app.homeSays(NOTHING, { who: 'grace', without: ['Private'] });
	});

	it('asks Slack for channels again after five minutes if it heard of no change', async ({ app }) => {
		await app.askedIn('#secret', ['Private']);
		app.slack.settings.events = app.slack.settings.events.filter((name) => !name.startsWith('member_'));
		await app.slack.invite('#secret', 'grace');
		expect(await app.openHome('grace')).toContain('Private');
		await app.slack.remove('#secret', 'grace');
		await app.pass(60_000);
		expect(await app.openHome('grace')).toContain('Private');
		await app.pass(5 * 60_000);
		expect(await app.openHome('grace')).toContain(NOTHING);
	});

	it('shows questions of the direct message with the app to that person alone', async ({ app }) => {
		const id = app.session({ name: 'My own' });
		await app.slack.as('ada').command('dm', `/session watch ${id}`);
		await app.until(() => app.card(id, 'dm'));
		await app.pass(3_000);
		app.ask(id);
		await app.openHome();
		await app.homeSays(`My own · ${said(placeWords('D'))} · asked`);
		expect(await app.openHome('grace')).toContain(NOTHING);
	});

	it('shows nothing from channels while Slack does not tell them, and asks again by itself', async ({ app }) => {
		await app.askedIn('#agents', ['Chairs']);
		const fault = { method: 'users.conversations', error: 'internal_error' };
		app.slack.faults.add({ ...fault, when: (args) => args.user !== undefined });
		const text = await app.openHome();
		expect(text).toContain(
			'Slack did not tell which channels you are in, so questions from channels are missing here.',
		);
		expect(text).not.toContain('Chairs');
		app.slack.faults.clear();
		await app.homeSays(waitingCountWords(1, 0), { without: [CHANNELS_UNKNOWN] });
	});

	it('shows guests and refused channels nothing but a reason, and follows nothing for them', async () => {
		const app = await start({ env: { ALLOWED_CHANNELS: 'C0AGENTS' } });
		await app.askedIn('#agents', ['Chairs']);
		expect(await app.openHome('gus')).toContain(whatHappened('guest'));
		expect(app.textOf('gus')).not.toContain('Chairs');
		expect(app.home('gus').buttons()).toEqual([]);
		const published = app.publishedTo('gus');
		await app.askedIn('#agents', ['More chairs']);
		expect(app.publishedTo('gus')).toBe(published);
		expect(await app.openHome()).toContain(waitingCountWords(2, 0));
		await app.restart({ ALLOWED_CHANNELS: 'C0SECRET' });
		expect(await app.openHome()).toContain(NOTHING);
	});
});

const updates = (app: InboxApp, viewId: string) =>
	app.slack.traffic.calls('views.update').filter(({ request }) => (request as { view_id?: string }).view_id === viewId);

async function openWindow(app: InboxApp, who = 'ada') {
	await app.slack.as(who).command('#agents', '/session inbox');
	await app.windowSays(/question.*for you|No question/, { who });
	const modal = app.slack.as(who).modal();
	if (modal === null) throw new Error('there is no window');
	return modal;
}

describe('/session inbox', () => {
	it('opens the form on top, for the channel of the question, and has the newest state under it', async ({ app }) => {
		const [id = ''] = await app.askedIn('#agents', ['Chairs', 'Tables']);
		const inbox = await openWindow(app);
		await inbox.press('Answer…', 0);
		const form = await app.slack
			.as('ada')
			.waitForModal((modal) => modal.id !== inbox.id && modal.text().includes('Which colour?'));
		await form.fill(0, 'grey');
		await form.submit();
		await app.until(() => app.service.log.effectivePuts(id).length === 1);
		await app.slack.as('ada').modal()?.close();
		await app.windowSays(waitingCountWords(1, 0), { without: ['Chairs · #agents'] });
		expect(app.slack.as('ada').modal()?.id).toBe(inbox.id);
	});

	it('pages through 21 questions, ten at a time, misses none, and shows the last page that is left', async () => {
		const app = await start({ env: USUAL_REQUESTS });
		const names = Array.from({ length: 21 }, (_, index) => `Order ${String(index).padStart(2, '0')}`);
		const ids = await app.askedIn('#agents', names);
		const inbox = await openWindow(app);
		const namesShown = () => [...inbox.text().matchAll(/^(Order \d\d) · /gm)].map(([, name]) => name);
		expect(inbox.text()).toContain(waitingCountWords(21, 0));
		expect(inbox.text()).toContain('Questions 1 to 10 of 21');
		const pages = [namesShown()];
		await inbox.press('Next 10');
		await app.windowSays('Questions 11 to 20 of 21');
		pages.push(namesShown());
		await inbox.press('Next 1');
		await app.windowSays('Question 21 of 21');
		pages.push(namesShown());
		expect(pages.map((page) => page.length)).toEqual([10, 10, 1]);
		expect(new Set(pages.flat())).toEqual(new Set(names));
		expect(inbox.buttons().filter((label) => label.startsWith('Next'))).toEqual([]);
		await inbox.press('Previous 10');
		await app.windowSays('Questions 11 to 20 of 21');
		expect(namesShown()).toEqual(pages[1]);

		await inbox.press('Next 1');
		await app.windowSays('Question 21 of 21');
		app.service.sessions.answerAsPage(ids[names.indexOf(namesShown()[0] ?? '')] ?? '', ['red']);
		await app.windowSays(waitingCountWords(20, 0));
		expect(namesShown()).toEqual(pages[1]);
		expect(inbox.buttons().filter((label) => /Next|Previous/.test(label))).toEqual(['Previous 10']);
	});

	it('updates no window that was closed', async ({ app }) => {
		const id = await app.watched();
		const inbox = await openWindow(app);
		await app.pass(1_000);
		const before = updates(app, inbox.id).length;
		await inbox.close();
		app.ask(id);
		await app.pass(30_000);
		expect(updates(app, inbox.id)).toHaveLength(before);
	});

	it('says what to do when the trigger is lost', async ({ app }) => {
		app.slack.faults.add({ method: 'views.open', error: 'expired_trigger_id' });
		const told = await app.command('/session inbox');
		expect(told.text()).toContain('Open the Home tab of this app');
	});
});
