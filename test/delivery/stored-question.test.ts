import type { ItemJson } from '../../fake-session-service/json.ts';
import { HIDES } from '../../src/screens/form.ts';
import { NOTICES } from '../../src/screens/form-notices.ts';
import {
	type AnswererApp,
	answererApp,
	answerFields,
	DRAFT_RESTORED,
	describe,
	expect,
	headline,
	item,
	type Modal,
	type Posted,
	said,
	whatHappened,
	withApp,
} from '../kit.ts';

const FLIGHT = item('Which flight should I book?', 'One of: LH 1173, TP 570');
const COLOUR = item('Which colour?');
const MINUTE_MS = 60_000;
/** Readings are in memory for ten minutes: what opens after that has only the store. */
const LONG_MS = 15 * MINUTE_MS;
/** The notice of a form from the store, between its reason and its date. */
const STORED = said(NOTICES.stored('', 1))
	.replace(/1 Jan.*$/, '')
	.replace(/^\S+\s+/, '')
	.trim();
/** One of no service. */
const KEY = `ghp_${'aB3dE5gH7j'.repeat(3)}fake12`;

const it = withApp(() => answererApp({ SESSION_SERVICE_TIMEOUT_MS: '20000' }));

const value = (app: AnswererApp, id: string, index: number) => app.service.sessions.values(id, index)[0];
const modalOf = (app: AnswererApp, who = 'ada') => app.slack.as(who).modal();
const textOf = (app: AnswererApp, who = 'ada') => modalOf(app, who)?.text() ?? 'no modal';
const says = (app: AnswererApp, words: string, who = 'ada') =>
	app.until(
		() => textOf(app, who).includes(words),
		() => textOf(app, who),
	);

/** The message at this index asks these items now. */
function reworded(app: AnswererApp, id: string, index: number, items: readonly ItemJson[]): void {
	const messages = app.service.sessions.get(id).messages ?? [];
	app.service.sessions.patch(id, { messages: messages.with(index, { ...messages[index], human_input: [...items] }) });
}

/** A question that a channel watches, and its post. */
async function asked(app: AnswererApp, items: readonly ItemJson[] = [FLIGHT]) {
	const id = await app.watched({ name: 'Plan the trip' });
	const index = app.ask(id, items);
	const post = await app.threadSays(id, items[0]?.title ?? '');
	return { id, index, post };
}

async function goDown(app: AnswererApp): Promise<void> {
	await app.service.goDown();
	await app.pass(LONG_MS);
}

async function askedAndDown(...question: Parameters<typeof asked>) {
	const [app] = question;
	const found = await asked(...question);
	await goDown(app);
	return found;
}

/** The form that opens by `act` from the store. */
async function opened(app: AnswererApp, act: () => unknown, who = 'ada'): Promise<Modal> {
	await act();
	return app.until(
		() => {
			const modal = modalOf(app, who);
			return modal?.submitText() === 'Send answer' && modal.text().includes(STORED) && modal;
		},
		() => textOf(app, who),
	);
}

const press = (post: Pick<Posted, 'buttons' | 'press'>, label = /answer…$/i) =>
	post.press(post.buttons().find((one) => label.test(one)) ?? `${label}`);

describe('a question that is stored, while the service is down', () => {
	it('opens as a form that says how old it is, and its answer is delivered when the service is back', async ({
		app,
	}) => {
		const { id, index, post } = await askedAndDown(app);
		const form = await opened(app, () => press(post));
		expect(form.text()).toContain(whatHappened('unavailable'));
		expect(form.text()).toContain('Steps, files and screenshot are not shown.');
		expect(form.text()).toMatch(/The question was last read 5 Jan 2026, \d\d:\d\d UTC$/m);
		expect(form.text()).toContain('Three are in stock.');
		expect(form.text()).toContain('Plan the trip');
		await form.choose(0, 'TP 570');
		expect((await form.submit()).outcome).toBe('updated');
		await says(app, headline('accepted', { lastError: 'unavailable' }));
		await app.service.comeBack();
		await app.until(() => value(app, id, index) === 'TP 570');
		expect(app.service.log.puts(id)).toHaveLength(1);
		await app.answered(id);
	});

	it('tells its author when the agent asks something else by then, and keeps the text', async ({ app }) => {
		const { id, index, post } = await askedAndDown(app, [COLOUR]);
		const form = await opened(app, () => press(post));
		await form.fill(0, 'Blue, as the carpet is');
		await form.submit();
		reworded(app, id, index, [item('Which size?')]);
		await app.service.comeBack();
		await says(app, headline('changed'));
		expect(textOf(app)).toContain('Blue, as the carpet is');
		expect(app.service.log.puts(id)).toEqual([]);
	});

	it.for<[string, (app: AnswererApp, asked: { id: string; post: Posted }) => Promise<unknown>, who?: string]>([
		['/session with its id', (app, { id }) => app.slack.as('ada').command('#agents', `/session ${id}`)],
		['Home', (app) => app.openHome().then(() => press(app.home()))],
		['a hand-over', (app) => press(app.dms('grace')[0] as Posted), 'grace'],
		[
			'"Use as answer"',
			async (app, { post }) => {
				const message = await app.slack.as('ada').say('#agents', 'TP 570', { thread: post });
				await app.slack.as('ada').shortcut(message, 'use_as_answer');
			},
		],
	])('opens by %s', async ([, act, who = 'ada'], { app }) => {
		const question = await asked(app);
		if (who === 'grace') await app.handOver(question.post, 'ada', 'grace');
		await app.until(() => who === 'ada' || app.dms('grace').length > 0);
		await goDown(app);
		const form = await opened(app, () => act(app, question), who);
		await form.choose(0, 'TP 570');
		await form.submit();
		await app.service.comeBack();
		await app.until(() => value(app, question.id, question.index) === 'TP 570');
	});

	it('opens by *Continue* at a draft, with its text', async ({ app }) => {
		const { id, post } = await asked(app, [COLOUR]);
		await app.slack.as('ada').command('#agents', `/session ${id}`);
		const live = await app.slack.as('ada').waitForModal('[Send answer]');
		await live.fill(0, 'Half of an answer');
		await live.close();
		await goDown(app);
		await app.openHome();
		const form = await opened(app, () => press(app.home(), /^Continue$/));
		expect(form.value(0)).toBe('Half of an answer');
		expect(form.text()).toMatch(DRAFT_RESTORED);
		expect(post.text()).toContain('Which colour?');
	});

	it('keeps what is typed as a draft, and in its fields when they change', async ({ app }) => {
		const { post } = await askedAndDown(app, [COLOUR, item('Which size?')]);
		const form = await opened(app, () => press(post));
		await form.fill(0, 'Blue');
		await form.press('Skip some questions');
		await app.until(
			() => form.buttons().includes('Answer all'),
			() => textOf(app),
		);
		expect(form.text()).toContain(STORED);
		expect(form.value(0)).toBe('Blue');
		await form.close();
		expect((await opened(app, () => press(post))).value(0)).toBe('Blue');
	});

	it('asks in text what is masked, with no *Show*, and hides what looks secret', async ({ app }) => {
		const { id, index, post } = await askedAndDown(app, [
			item('Which key should I use?', `One of: ${KEY}, the other`),
			item('What is the password?'),
		]);
		const form = await opened(app, () => press(post));
		const [key, password] = answerFields(form);
		expect(key).toMatchObject({ kind: 'plain_text_input' });
		expect(form.text()).toContain(HIDES);
		expect(form.buttons()).not.toContain('Show');
		expect(form.text()).not.toContain(KEY);
		await form.fill(0, 'the other');
		await form.fill(1, 'hunter2-fake');
		expect(password).toMatchObject({ kind: 'plain_text_input' });
		await form.submit();
		await says(app, headline('accepted', { lastError: 'unavailable' }));
		expect(textOf(app)).not.toContain('hunter2-fake');
		await app.service.comeBack();
		await app.until(() => value(app, id, index) === 'the other');
		expect(app.service.sessions.values(id, index)).toEqual(['the other', 'hunter2-fake']);
		expect(post.text()).not.toContain('hunter2-fake');
	});

	it('shows it without fields to whom a list does not name', async ({ app }) => {
		const { id } = await asked(app);
		await app.names(['grace'], 'grace');
		await goDown(app);
		expect(await app.may('ada', id)).toBe(false);
		expect(await app.may('grace', id)).toBe(true);
	});

	it('is not answered by somebody whom a list leaves out that is saved while the answer waits', async ({ app }) => {
		const { id, index, post } = await askedAndDown(app, [COLOUR]);
		const form = await opened(app, () => press(app.seenBy('cleo', post)), 'cleo');
		await form.fill(0, 'Blue');
		await form.submit();
		// An attempt to send it goes on, which found no list.
		await app.names(['ada', 'grace']);
		await app.service.comeBack();
		const isRefused = () => textOf(app, 'cleo').includes('may no longer answer');
		await app.until(
			() => isRefused() || value(app, id, index) !== '',
			() => textOf(app, 'cleo'),
		);
		expect(value(app, id, index)).toBe('');
		expect(textOf(app, 'cleo')).toContain('Blue');
	});

	it('says who has answered it meanwhile', async ({ app }) => {
		const { post } = await askedAndDown(app);
		const graces = await opened(app, () => press(app.seenBy('grace', post)), 'grace');
		await graces.choose(0, 'LH 1173');
		await graces.submit();
		await app.until(
			() => textOf(app, 'grace').includes('saved'),
			() => textOf(app, 'grace'),
		);
		await app.slack.as('ada').command('#agents', `/session ${graces.text().match(/s1\w{6}/)?.[0] ?? ''}`);
		await says(app, '🔀 Answered meanwhile by @grace');
	});
});

describe('what is not stored', () => {
	it('opens no form of a session that nobody watches', async ({ app }) => {
		const id = app.session();
		app.ask(id);
		await app.service.goDown();
		await app.slack.as('ada').command('#agents', `/session ${id}`);
		await says(app, whatHappened('unavailable'));
		expect(modalOf(app)?.buttons()).toEqual(['Try again']);
	});

	it('opens no form of more items than are stored', async ({ app }) => {
		const { post } = await askedAndDown(
			app,
			Array.from({ length: 31 }, (_, at) => item(`Question ${at + 1}?`)),
		);
		await press(post);
		await says(app, whatHappened('unavailable'));
		expect(modalOf(app)?.submitText()).toBeNull();
	});
});

describe('a service that takes longer than people wait', () => {
	it('has the stored question open after 4 s, and what it says in its place, with the typed text', async ({ app }) => {
		const { id, index, post } = await asked(app, [COLOUR]);
		app.service.faults.add({ kind: 'slow', ms: 8_000, method: 'GET', sessionId: id });
		const form = await opened(app, () => press(post));
		expect(form.text()).toContain('has not responded yet');
		await form.fill(0, 'Blue');
		await app.until(
			() => !textOf(app).includes(STORED),
			() => textOf(app),
		);
		expect(form.text()).toContain('I open the shop.');
		expect(form.value(0)).toBe('Blue');
		app.service.faults.clear();
		await form.submit();
		await app.until(() => value(app, id, index) === 'Blue');
	});

	it('shows the stored question still when the read fails at last', async ({ app }) => {
		const { id, post } = await asked(app, [COLOUR]);
		app.service.faults.add({ kind: 'hang', method: 'GET', sessionId: id });
		const form = await opened(app, () => press(post));
		await form.fill(0, 'Blue');
		await says(app, whatHappened('timed_out'));
		expect(form.text()).toContain(STORED);
		expect(form.value(0)).toBe('Blue');
	});
});
