import { itemsOf } from '../../fake-session-service/log.ts';
import { looksSecretAt } from '../../src/domain/secrecy.ts';
import { REMOVED_ANSWER } from '../../src/screens/answer.ts';
import { WHICH_QUESTION } from '../../src/screens/form.ts';
import { OUTSIDE } from '../../src/screens/question-post.ts';
import { chosenTextHelp } from '../../src/screens/thread-reply.ts';
import { HIDES_ANSWER, HIDES_ANSWERS } from '../../src/slack/form/build.ts';
import {
	ASKS,
	answeredBy,
	answeredMeanwhile,
	describe,
	expect,
	forCase,
	it,
	item,
	keepSecret,
	type Modal,
	openButtons,
	openSession,
	type WatchingApp,
	watchingApp,
	withApp,
} from '../kit.ts';
import { damage, open } from '../store/support.ts';

/** The box of a lone item has no label. */
const ONE = 'form.secret';
const HIDE = HIDES_ANSWER;
const TAKEN = JSON.stringify(chosenTextHelp('secret'));
/** Resolves when a person's newest modal has these words; time passes meanwhile. */
function windowSays(app: WatchingApp, who: string, words: string): Promise<Modal> {
	return app.until(
		() => {
			const modal = app.slack.as(who).modal();
			return modal?.text().includes(words) === true && modal;
		},
		() => `${who} was to see "${words}" and sees:\n${app.slack.as(who).modal()?.text()}`,
	);
}
/** Closes a form and resolves once the program has kept what may be kept of it. */
const close = (app: WatchingApp, modal: Modal) => app.handled('close handraise.session', () => modal.close());
/** Resolves when the form was shown anew after `act`. */
async function shownAnew(app: WatchingApp, modal: Modal, act: () => Promise<unknown>): Promise<void> {
	const { hash } = modal.view();
	await act();
	await app.slack.changes.until(
		() => modal.view().hash !== hash,
		() => `the form stayed as it was:\n${modal.text()}`,
	);
}
const KEY = Buffer.alloc(32, 7).toString('base64');

describe('an answer whose box is ticked', () => {
	const it = withApp(() => watchingApp({ env }));
	const env = { ENCRYPTION_KEY: KEY };

	/** Everything in the database, decrypted with its key. */
	async function stored(app: WatchingApp): Promise<string> {
		await app.stop();
		const store = await open({ dataDir: app.dataDir, encryptionKey: KEY });
		const texts: string[] = [];
		const service = app.service.url;
		for (const { sessionId: id } of await store.db.read.selectFrom('answers').select('sessionId').execute()) {
			const { answers } = await store.answers.history(
				{ service, sessionId: id, teamId: app.slack.state.team.id },
				{ offset: 0, limit: 50 },
			);
			texts.push(JSON.stringify(answers));
		}
		for (const { formId: id } of await store.db.read.selectFrom('drafts').select('formId').execute()) {
			texts.push(JSON.stringify(await store.drafts.get(id)));
		}
		const watches = await store.db.read.selectFrom('watches').selectAll().execute();
		for (const watch of watches) {
			const posts = await store.watches.find(
				{ teamId: watch.teamId, channelId: watch.channelId },
				{ service, sessionId: watch.sessionId },
			);
			texts.push(JSON.stringify(posts));
		}
		for (const { ts } of await store.db.read.selectFrom('posts').select('ts').execute()) {
			const { teamId, channelId } = watches[0] ?? { teamId: '', channelId: '' };
			texts.push(JSON.stringify(await store.watches.findByPost({ teamId, channelId }, ts ?? '')));
		}
		await store.close();
		await app.restart();
		return texts.join('\n');
	}

	const form = (app: WatchingApp, id: string, who = 'ada') => openSession(app, id, who);
	const typed = (app: WatchingApp, modal: Modal, field: number, text: string) =>
		app.handled('form.field', () => modal.fill(field, text));
	/** Of several, with the box that it shows. */
	const tick = (app: WatchingApp, modal: Modal, ...items: string[]) =>
		app.handled(items.length === 0 ? 'form.keep_secret' : 'form.secret', () => keepSecret(modal, app.until, ...items));

	it('hides a ticked answer in channel, receipt, history and other modals, and removes it from the database', async ({
		app,
	}) => {
		const id = await app.watched();
		const index = app.ask(id, ['Which door?']);
		const question = await app.threadSays(id, 'Which door?');
		const modal = await form(app, id);
		await typed(app, modal, 0, 'behind-the-ivy-77');
		await tick(app, modal);
		expect((await modal.submit()).outcome).toBe('updated');
		expect((await app.answered(id)).text()).toMatch(answeredBy('ada'));
		await app.until(() => openButtons(question)?.length === 0);
		const receipt = await windowSays(app, 'ada', REMOVED_ANSWER);
		await receipt.close();
		await app.slack.as('grace').command('#agents', `/session history ${id}`);
		expect((await windowSays(app, 'grace', 'One answer')).text()).toContain(REMOVED_ANSWER);
		await app.slack.as('grace').modal()?.close();
		expect(app.service.log.effectivePuts(id).map(itemsOf)[0]?.[0]?.value).toBe('behind-the-ivy-77');
		// Another channel that begins to watch reads the session with the value in it.
		app.step(id, 'I go on.');
		await app.watch(id, { channel: '#secret' });
		const again = app.ask(id, ['Which door?', 'And when?']);
		expect(again).toBeGreaterThan(index);
		await app.threadSays(id, 'And when?');
		const other = await form(app, id, 'grace');
		expect(other.text()).not.toContain('ivy');
		expect(await app.said()).not.toContain('behind-the-ivy-77');
		expect(await stored(app)).not.toContain('behind-the-ivy-77');
	});

	it('removes the drafts of a ticked item, also those of earlier forms, and keeps the other texts', async ({ app }) => {
		const id = await app.watchedAsking(['Which door?', 'Remarks']);
		const first = await form(app, id);
		await typed(app, first, 0, 'draft-of-the-door-1');
		await close(app, first);
		const modal = await form(app, id);
		expect(modal.value(0)).toBe('draft-of-the-door-1');
		await typed(app, modal, 0, 'draft-of-the-door-2');
		await typed(app, modal, 1, 'knock twice');
		await tick(app, modal, '1. Which door?');
		expect(await stored(app)).not.toContain('draft-of-the-door');
		await typed(app, modal, 1, 'knock thrice');
		await close(app, modal);
		const again = await form(app, id);
		expect([again.value(0), again.value(1), again.value(HIDES_ANSWERS)]).toEqual([
			null,
			'knock thrice',
			['1. Which door?'],
		]);
		expect(await stored(app)).not.toContain('draft-of-the-door');
	});

	it('removes the saved message of the thread from which a ticked answer came', async ({ app }) => {
		const { id } = await app.askedPost(['Remarks', 'Which door?']);
		const thread = app.card(id);
		if (thread === undefined) throw new Error('there is no card');
		const ada = app.slack.as('ada');
		const offer = await app.toldAfter(() => ada.mention('#agents', 'behind-the-shed-99', { thread }));
		await offer.press('Use as answer');
		const chooser = await ada.waitForModal(WHICH_QUESTION);
		await chooser.choose(0, '2. Which door?');
		const modal = await ada.waitForModal((shown) => shown.submitText() !== null);
		expect(modal.value(1)).toBe('behind-the-shed-99');
		await tick(app, modal, '2. Which door?');
		await modal.close(true);
		expect(await stored(app)).not.toContain('behind-the-shed-99');
	});

	it('hides outside answers after one of ours was secret', async ({ app }) => {
		const id = await app.watchedAsking(['Which door?']);
		const [mine, hers] = [await form(app, id), await form(app, id, 'grace')];
		await mine.fill(0, 'secret-of-ours-1');
		await keepSecret(mine, app.until);
		app.service.sessions.answerAsPage(id, ['secret-of-theirs-2']);
		expect((await mine.submit()).outcome).toBe('updated');
		await windowSays(app, 'ada', 'in the dashboard');
		const told = await windowSays(app, 'ada', '(hidden)');
		expect(told.text()).not.toContain('secret-of-theirs-2');
		await hers.press('Refresh');
		const notice = await windowSays(app, 'grace', answeredMeanwhile(null));
		expect(notice.text()).toContain('\n(hidden)');
		expect(notice.text()).not.toContain('secret-of-theirs-2');
	});
});

describe('the box', () => {
	const it = withApp(watchingApp);

	it('keeps a guessed tick when Slack sends an untouched box as empty', async ({ app }) => {
		const { id } = await app.askedPost(['One-time code']);
		const modal = await openSession(app, id);
		expect(modal.value(ONE)).toEqual([HIDE]);
		await modal.fill(0, '271828');
		expect((await modal.submit()).outcome).toBe('updated');
		expect((await app.answered(id)).text()).toMatch(answeredBy('ada'));
		expect(await app.said()).not.toContain('271828');
	});

	it('treats a guessed secret as an ordinary answer after the box is unticked', async ({ app }) => {
		const { id } = await app.askedPost(['Password policy, the token limit and the PIN of the badge']);
		const modal = await openSession(app, id);
		expect(modal.value(ONE)).toEqual([HIDE]);
		await modal.fill(0, 'There is none');
		await shownAnew(app, modal, () => modal.choose(ONE, []));
		expect([modal.value(0), modal.value(ONE)]).toEqual(['There is none', []]);
		expect((await modal.submit()).outcome).toBe('updated');
		await app.threadSays(id, answeredBy('ada', 'There is none'));
		await windowSays(app, 'ada', '> There is none');
	});

	it('guesses again for later values after the box was unticked', async ({ app }) => {
		const id = await app.watched();
		const index = app.ask(id, ['Password']);
		await app.threadSays(id, 'Password');
		const modal = await openSession(app, id);
		await modal.fill(0, 'There is none');
		await shownAnew(app, modal, () => modal.choose(ONE, []));
		await modal.submit();
		await app.threadSays(id, answeredBy('ada', 'There is none'));
		await app.until(() => app.thread(id).every((post) => openButtons(post)?.length === 0));
		// The agent takes the answer and asks the same again; then an outside answer comes.
		const messages = structuredClone(app.service.sessions.get(id).messages ?? []);
		const asked = messages[index]?.human_input?.[0];
		if (asked != null) asked.value = '';
		app.service.sessions.patch(id, { status: 'humanInput', messages });
		await app.until(() => app.thread(id).some((post) => post.buttons().includes('Answer…')));
		app.service.sessions.answerAsPage(id, ['Tr0ub4dor&3']);
		await app.threadSays(id, new RegExp(`${OUTSIDE}$`, 'm'));
		expect(await app.said()).not.toContain('Tr0ub4dor&3');
	});

	it('ticks the box when a person types a wiped answer again', async ({ app }) => {
		const id = await app.watchedAsking(['Which door?']);
		const modal = await openSession(app, id);
		await modal.fill(0, 'once-and-again-9');
		await keepSecret(modal, app.until);
		app.service.sessions.setStatus(id, 'completed');
		expect((await modal.submit()).outcome).toBe('updated');
		await windowSays(app, 'ada', 'Type them again.');
		app.service.sessions.setStatus(id, 'humanInput');
		await modal.close();
		const again = await openSession(app, id, 'grace');
		expect([again.value(0), again.value(ONE)]).toEqual([null, [HIDE]]);
	});

	it('keeps tick and text when the form is shown again in every way', async ({ app }) => {
		const { id } = await app.askedPost(['How many guests?', 'Your e-mail address']);
		const modal = await openSession(app, id);
		// Before it is typed: the form is shown anew with the box.
		await keepSecret(modal, app.until);
		await modal.fill(0, '4711004711');
		await modal.fill(1, 'ada@example.com');
		await modal.choose(HIDES_ANSWERS, ['1. How many guests?']);
		for (const button of ['Type freely', 'Refresh', 'Suggested fields', 'Skip some questions', 'Refresh']) {
			await shownAnew(app, modal, () => modal.press(button));
			expect([modal.value(0), modal.value(1), modal.value(HIDES_ANSWERS)], button).toEqual([
				'4711004711',
				'ada@example.com',
				['1. How many guests?'],
			]);
		}
		expect((await modal.submit()).outcome).toBe('updated');
		expect((await app.answered(id)).text()).toMatch(answeredBy('ada'));
		expect(await app.said()).not.toContain('4711004711');
	});

	const ada = (app: WatchingApp) => app.slack.as('ada');

	/** A watched session whose agent asks in the text above its item; its post stands. */
	async function askedAbove(app: WatchingApp, text: string) {
		const id = await app.watched();
		app.ask(id, ['Answer'], text);
		const { ts } = await app.threadSays(id, text.slice(-20));
		return { id, notification: app.slack.state.messages.find((message) => message.ts === ts)?.text };
	}

	describe('a secret that only the text above the items asks for', () => {
		it.for([
			['The shop wants me to log in. Please give me the password of the account.', 'Answer', true],
			['The bank has sent a code by SMS. What is it?', 'Answer', true],
			['Please enter the PIN of the card.', 'Answer', true],
			['Ich bin fast fertig. Es fehlt nur noch die TAN.', 'Answer', true],
			['I cannot file the form. SSN is mandatory.', 'Answer', true],
			['I reset the password; which colour?', 'Answer', false],
			['Please enter the password. Shall I go on?', 'Shall I go on?', false],
			['Please enter the password and the colour.', 'Colour', false],
		] as const)('is guessed from "%s" above "%s": %s', ([context, title, isSecret]) => {
			const items = [title, ...(title === 'Colour' ? ['Password'] : [])].map((one) => ({
				title: one,
				description: '',
			}));
			expect(looksSecretAt({ context, items }, 0)).toBe(isSecret);
		});

		it('is ticked, not kept as a draft, not shown and wiped', async ({ app }) => {
			const value = '551903-one';
			const { id, notification } = await askedAbove(app, 'The bank just sent you an SMS. Let me know what it says.');
			expect(notification).toBe(ASKS);
			const first = await openSession(app, id);
			expect(first.value(ONE)).toEqual([HIDE]);
			await first.fill(0, `${value}-draft`);
			await close(app, first);
			const modal = await openSession(app, id);
			expect(modal.value(0)).toBeNull();
			await modal.fill(0, value);
			expect((await modal.submit()).outcome).toBe('updated');
			expect((await app.answered(id)).text()).toMatch(answeredBy('ada'));
			await app.until(() => ada(app).modal()?.text().includes(REMOVED_ANSWER));
			await ada(app).modal()?.close(true);
			await app.slack.as('grace').command('#agents', `/session history ${id}`);
			await app.until(() => app.slack.as('grace').modal()?.text().includes(REMOVED_ANSWER));
			expect(await app.said()).not.toContain(value);
			expect(app.log.join('\n')).not.toContain(value);
		});

		it('is not taken from a message of the thread', async ({ app }) => {
			const { id } = await askedAbove(app, 'I need the API key of the weather service.');
			const thread = app.card(id);
			if (thread === undefined) throw new Error('there is no card');
			const refused = await app.toldAfter(() => ada(app).mention('#agents', 'wx-90210-secretly', { thread }));
			expect(openButtons(refused)).toEqual([]);
			expect(TAKEN).toContain(refused.text().slice(0, 40));
			const message = await ada(app).say('#agents', 'wx-90210-secretly', { thread });
			await ada(app).shortcut(message, 'use_as_answer');
			const form = await ada(app).waitForModal((modal) => modal.submitText() !== null);
			expect([form.value(0), form.value(ONE)]).toEqual([null, [HIDE]]);
			expect(form.text()).toContain('password or code');
		});

		it('is hidden when it was answered outside of Slack', async ({ app }) => {
			const { id } = await askedAbove(app, 'Please send me the password for the shop.');
			app.service.sessions.answerAsPage(id, ['swordfish']);
			await app.threadSays(id, new RegExp(`${OUTSIDE}$`, 'm'));
			const modal = await openSession(app, id, 'grace');
			expect(modal.text()).not.toContain('swordfish');
			expect(await app.said()).not.toContain('swordfish');
		});
	});

	it('keeps the draft where a text above the items only mentions a secret', async ({ app }) => {
		const { id, notification } = await askedAbove(app, 'The password is set; which colour?');
		expect(notification).not.toBe(ASKS);
		const first = await openSession(app, id);
		await first.fill(0, 'sand');
		await close(app, first);
		expect((await openSession(app, id)).value(0)).toBe('sand');
	});
});

it.each(['submission', 'secretPositions'] as const)(
	'a ticked answer stays hidden when "%s" of its row is damaged',
	async (column) => {
		const app = await forCase(watchingApp({ env: { ENCRYPTION_KEY: KEY }, mayFail: true }));
		const id = await app.watched();
		const index = app.ask(id, ['Which door?']);
		const modal = await openSession(app, id);
		await modal.fill(0, 'behindthemill');
		await keepSecret(modal, app.until);
		expect((await modal.submit()).outcome).toBe('updated');
		await windowSays(app, 'ada', REMOVED_ANSWER);
		await app.stop();
		const store = await open({ dataDir: app.dataDir, encryptionKey: KEY });
		const answers = await store.db.read.selectFrom('answers').selectAll().where('sessionId', '=', id).execute();
		for (const answer of answers) await damage(store, answer.id, column);
		await store.close();
		await app.restart();
		const messages = structuredClone(app.service.sessions.get(id).messages ?? []);
		messages[index]?.human_input?.push(item('And when?'));
		app.service.sessions.patch(id, { status: 'humanInput', messages });
		await app.threadSays(id, 'And when?');
		expect((await openSession(app, id, 'grace')).text()).toContain('(hidden)');
		expect(await app.said()).not.toContain('behindthemill');
	},
);

it('applies SHOW_ANSWERS=never to answers that an earlier process stored', async () => {
	const app = await forCase(watchingApp({ env: { SHOW_ANSWERS: 'always' } }));
	const { id, post } = await app.askedPost(['Remarks']);
	app.slack.faults.add({ method: 'chat.update', error: 'internal_error' });
	const from = app.now();
	app.service.sessions.answerAsPage(id, ['Plaintextofmine']);
	await app.until(() => app.calls('chat.update', from).some(({ request }) => request.ts === post.ts));
	await app.stop();
	app.slack.faults.clear();
	await app.restart({ SHOW_ANSWERS: 'never' });
	await app.threadSays(id, OUTSIDE);
	expect(app.thread(id).some((post) => post.text().includes('Plaintextofmine'))).toBe(false);
});

it.each([
	['auto', ': Sand; (hidden); (hidden)'],
	['always', ': Sand; see https://shop.example/a?b; (hidden)'],
	['never', ''],
] as const)('SHOW_ANSWERS=%s shows a channel of an answer from the dashboard "%s"', async (mode, seen) => {
	const app = await forCase(watchingApp({ env: { SHOW_ANSWERS: mode } }));
	const { id, post } = await app.askedPost([item('Colour?', 'One of: Sand, Forest'), 'Remarks', 'Password']);
	app.service.sessions.answerAsPage(id, ['Sand', 'see https://shop.example/a?b', 'hunter2']);
	await app.until(() => post.text().includes(OUTSIDE));
	expect(post.text().split('\n').slice(1, 2)).toEqual([`${OUTSIDE}${seen}`]);
	await app.pass(5_000);
	expect(await app.said()).not.toContain('hunter2');
	if (mode !== 'always') expect(await app.said()).not.toContain('shop.example/a');
});
