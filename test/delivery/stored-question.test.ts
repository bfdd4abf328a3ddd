import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { item } from '../../fake-session-service/builders.ts';
import type { ItemJson } from '../../fake-session-service/json.ts';
import type { Modal, Posted } from '../../fake-slack/index.ts';
import { HIDES, NOTICES } from '../../src/screens/form.ts';
import { answererApp } from '../people/answerers/harness.ts';
import { expectNothingWrong, SOME_REQUESTS } from '../sessions/harness.ts';
import { answerFields } from '../slack/support/open-session.ts';
import { said } from '../support/said.ts';
import { DRAFT_RESTORED, headline, whatHappened } from '../support/sentences.ts';

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

let app: Awaited<ReturnType<typeof answererApp>>;
beforeEach(async () => {
	app = await answererApp({ ...SOME_REQUESTS, SESSION_SERVICE_TIMEOUT_MS: '20000' });
});
afterEach(async () => {
	app.slack.faults.clear();
	app.service.faults.clear();
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

const value = (id: string, index: number) => app.service.sessions.values(id, index)[0];
const modalOf = (who = 'ada') => app.slack.as(who).modal();
const textOf = (who = 'ada') => modalOf(who)?.text() ?? 'no modal';
const says = (words: string, who = 'ada') =>
	app.until(
		() => textOf(who).includes(words),
		() => textOf(who),
	);

/** The message at this index asks these items now. */
function reworded(id: string, index: number, items: readonly ItemJson[]): void {
	const messages = app.service.sessions.get(id).messages ?? [];
	app.service.sessions.patch(id, { messages: messages.with(index, { ...messages[index], human_input: [...items] }) });
}

/** A question that a channel watches, and its post. */
async function asked(items: readonly ItemJson[] = [FLIGHT], content?: string) {
	const id = await app.watched({ name: 'Plan the trip' });
	const index = app.ask(id, items, content);
	const post = await app.threadSays(id, items[0]?.title ?? '');
	return { id, index, post };
}

async function goDown(): Promise<void> {
	await app.service.goDown();
	await app.pass(LONG_MS);
}

async function askedAndDown(...question: Parameters<typeof asked>) {
	const found = await asked(...question);
	await goDown();
	return found;
}

/** The form that opens by `act` from the store. */
async function opened(act: () => unknown, who = 'ada'): Promise<Modal> {
	await act();
	return app.until(
		() => {
			const modal = modalOf(who);
			return modal?.submitText() === 'Send answer' && modal.text().includes(STORED) && modal;
		},
		() => textOf(who),
	);
}

const press = (post: Pick<Posted, 'buttons' | 'press'>, label = /answer…$/i) =>
	post.press(post.buttons().find((one) => label.test(one)) ?? `${label}`);

describe('a question that is stored, while the service is down', () => {
	it('opens as a form that says how old it is, and its answer is delivered when the service is back', async () => {
		const { id, index, post } = await askedAndDown();
		const form = await opened(() => press(post));
		expect(form.text()).toContain(whatHappened('unavailable'));
		expect(form.text()).toContain('Steps, files and screenshot are not shown.');
		expect(form.text()).toMatch(/The question was last read 5 Jan 2026, \d\d:\d\d UTC$/m);
		expect(form.text()).toContain('Three are in stock.');
		expect(form.text()).toContain('Plan the trip');
		await form.choose(0, 'TP 570');
		expect((await form.submit()).outcome).toBe('updated');
		await says(headline('accepted', { lastError: 'unavailable' }));
		await app.service.comeBack();
		await app.until(() => value(id, index) === 'TP 570');
		expect(app.service.log.puts(id)).toHaveLength(1);
		await app.answered(id);
	});

	it('tells its author when the agent asks something else by then, and keeps the text', async () => {
		const { id, index, post } = await askedAndDown([COLOUR]);
		const form = await opened(() => press(post));
		await form.fill(0, 'Blue, as the carpet is');
		await form.submit();
		reworded(id, index, [item('Which size?')]);
		await app.service.comeBack();
		await says(headline('changed'));
		expect(textOf()).toContain('Blue, as the carpet is');
		expect(app.service.log.puts(id)).toEqual([]);
	});

	it.each<[string, (asked: { id: string; post: Posted }) => Promise<unknown>, who?: string]>([
		['/session with its id', ({ id }) => app.slack.as('ada').command('#agents', `/session ${id}`)],
		['Home', () => app.openHome().then(() => press(app.home()))],
		['a hand-over', () => press(app.dms('grace')[0] as Posted), 'grace'],
		[
			'"Use as answer"',
			async ({ post }) => {
				const message = await app.slack.as('ada').say('#agents', 'TP 570', { thread: post });
				await app.slack.as('ada').shortcut(message, 'use_as_answer');
			},
		],
	])('opens by %s', async (_, act, who = 'ada') => {
		const question = await asked();
		if (who === 'grace') await app.handOver(question.post, 'ada', 'grace');
		await app.until(() => who === 'ada' || app.dms('grace').length > 0);
		await goDown();
		const form = await opened(() => act(question), who);
		await form.choose(0, 'TP 570');
		await form.submit();
		await app.service.comeBack();
		await app.until(() => value(question.id, question.index) === 'TP 570');
	});

	it('opens by *Continue* at a draft, with its text', async () => {
		const { id, post } = await asked([COLOUR]);
		await app.slack.as('ada').command('#agents', `/session ${id}`);
		const live = await app.slack.as('ada').waitForModal('[Send answer]');
		await live.fill(0, 'Half of an answer');
		await live.close();
		await goDown();
		await app.openHome();
		const form = await opened(() => press(app.home(), /^Continue$/));
		expect(form.value(0)).toBe('Half of an answer');
		expect(form.text()).toMatch(DRAFT_RESTORED);
		expect(post.text()).toContain('Which colour?');
	});

	it('keeps what is typed as a draft, and in its fields when they change', async () => {
		const { post } = await askedAndDown([COLOUR, item('Which size?')]);
		const form = await opened(() => press(post));
		await form.fill(0, 'Blue');
		await form.press('Skip some questions');
		await app.until(() => form.buttons().includes('Answer all'), textOf);
		expect(form.text()).toContain(STORED);
		expect(form.value(0)).toBe('Blue');
		await form.close();
		expect((await opened(() => press(post))).value(0)).toBe('Blue');
	});

	it('asks in text what is masked, with no *Show*, and hides what looks secret', async () => {
		const { id, index, post } = await askedAndDown([
			item('Which key should I use?', `One of: ${KEY}, the other`),
			item('What is the password?'),
		]);
		const form = await opened(() => press(post));
		const [key, password] = answerFields(form);
		expect(key).toMatchObject({ kind: 'plain_text_input' });
		expect(form.text()).toContain(HIDES);
		expect(form.buttons()).not.toContain('Show');
		expect(form.text()).not.toContain(KEY);
		await form.fill(0, 'the other');
		await form.fill(1, 'hunter2-fake');
		expect(password).toMatchObject({ kind: 'plain_text_input' });
		await form.submit();
		await says(headline('accepted', { lastError: 'unavailable' }));
		expect(textOf()).not.toContain('hunter2-fake');
		await app.service.comeBack();
		await app.until(() => value(id, index) === 'the other');
		expect(app.service.sessions.values(id, index)).toEqual(['the other', 'hunter2-fake']);
		expect(post.text()).not.toContain('hunter2-fake');
	});

	it('shows it without fields to whom a list does not name', async () => {
		const { id } = await asked();
		await app.names(['grace'], 'grace');
		await goDown();
		expect(await app.may('ada', id)).toBe(false);
		expect(await app.may('grace', id)).toBe(true);
	});

	it('is not answered by somebody whom a list leaves out that is saved while the answer waits', async () => {
		const { id, index, post } = await askedAndDown([COLOUR]);
		const form = await opened(() => press(app.seenBy('cleo', post)), 'cleo');
		await form.fill(0, 'Blue');
		await form.submit();
		// An attempt to send it goes on, which found no list.
		await app.names(['ada', 'grace']);
		await app.service.comeBack();
		const isRefused = () => textOf('cleo').includes('may no longer answer');
		await app.until(
			() => isRefused() || value(id, index) !== '',
			() => textOf('cleo'),
		);
		expect(value(id, index)).toBe('');
		expect(textOf('cleo')).toContain('Blue');
	});

	it('says who has answered it meanwhile', async () => {
		const { post } = await askedAndDown();
		const graces = await opened(() => press(app.seenBy('grace', post)), 'grace');
		await graces.choose(0, 'LH 1173');
		await graces.submit();
		await app.until(
			() => textOf('grace').includes('saved'),
			() => textOf('grace'),
		);
		await app.slack.as('ada').command('#agents', `/session ${graces.text().match(/s1\w{6}/)?.[0] ?? ''}`);
		await says('🔀 Answered meanwhile by @grace');
	});
});

describe('what is not stored', () => {
	it('opens no form of a session that nobody watches', async () => {
		const id = app.session();
		app.ask(id);
		await app.service.goDown();
		await app.slack.as('ada').command('#agents', `/session ${id}`);
		await says(whatHappened('unavailable'));
		expect(modalOf()?.buttons()).toEqual(['Try again']);
	});

	it('opens no form of more items than are stored', async () => {
		const { post } = await askedAndDown(Array.from({ length: 31 }, (_, at) => item(`Question ${at + 1}?`)));
		await press(post);
		await says(whatHappened('unavailable'));
		expect(modalOf()?.submitText()).toBeNull();
	});
});

describe('a service that takes longer than people wait', () => {
	it('has the stored question open after 4 s, and what it says in its place, with the typed text', async () => {
		const { id, index, post } = await asked([COLOUR]);
		app.service.faults.add({ kind: 'slow', ms: 8_000, method: 'GET', sessionId: id });
		const form = await opened(() => press(post));
		expect(form.text()).toContain('has not responded yet');
		await form.fill(0, 'Blue');
		await app.until(() => !textOf().includes(STORED), textOf);
		expect(form.text()).toContain('I open the shop.');
		expect(form.value(0)).toBe('Blue');
		app.service.faults.clear();
		await form.submit();
		await app.until(() => value(id, index) === 'Blue');
	});

	it('shows the stored question still when the read fails at last', async () => {
		const { id, post } = await asked([COLOUR]);
		app.service.faults.add({ kind: 'hang', method: 'GET', sessionId: id });
		const form = await opened(() => press(post));
		await form.fill(0, 'Blue');
		await says(whatHappened('timed_out'));
		expect(form.text()).toContain(STORED);
		expect(form.value(0)).toBe('Blue');
	});
});
