import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Posted } from '../../../fake-slack/index.ts';
import { item } from '../../../sandbox/session-service/builders.ts';
import { openSession } from '../../slack/support/open-session.ts';
import { headline, line, openButtons } from '../../support/sentences.ts';
import { tooComplex } from '../../support/too-complex.ts';
import { type InboxApp, inboxApp } from '../inbox/harness.ts';
import { expectNothingWrong } from '../watch/harness.ts';

const FLIGHT = item('Which flight should I book?', 'One of: LH 1173, TP 570');
const OFFER = 'Send mine';

let app: InboxApp;
beforeAll(async () => {
	app = await inboxApp();
});
afterAll(() => app[Symbol.asyncDispose]());
afterEach(async () => {
	app.slack.faults.clear();
	app.service.faults.clear();
	for (const who of ['ada', 'grace']) await app.slack.as(who).modal()?.close(true);
	expectNothingWrong(app);
	await app.command('/session unwatch all');
});

const dmsOf = (who: string) => app.slack.as(who).messages('dm');
const offers = (id: string) =>
	dmsOf('grace').filter((dm) => JSON.stringify(dm.blocks()).includes(id) && dm.buttons().includes(OFFER));
const offered = (id: string): Promise<Posted> =>
	app.until(
		() => offers(id).at(-1),
		() => `Grace was offered nothing, but told:\n${dmsOf('grace').at(-1)?.text()}`,
	);
const value = (id: string, index: number) => app.service.sessions.values(id, index)[0];
const home = (who = 'grace') => app.slack.as(who).home();

const says = (message: Posted, words: string) =>
	app.until(
		() => message.text().includes(words),
		() => message.text(),
	);
/** Opens Grace's Home, which says this. */
async function graceReads(words: string): Promise<void> {
	await app.openHome('grace');
	await app.homeSays(words, { who: 'grace' });
}

async function asked() {
	const id = await app.watched();
	const index = app.ask(id, [FLIGHT], '');
	return { id, index, post: await app.threadSays(id, 'Which flight') };
}

/** A question to which Ada's press is first and Grace's form second. */
async function lost() {
	const { id, index, post } = await asked();
	const form = await openSession(app.app, id, 'grace');
	await form.choose(0, 'TP 570');
	await app.choose(post, 'LH 1173');
	await form.submit();
	expect(form.text()).toContain(headline('conflicted'));
	await form.close();
	return { id, index, post };
}

/** Ada presses an option, and Slack shows that on no copy of the post: it keeps its buttons. */
async function pressUnseen(post: Posted, option: string): Promise<void> {
	app.freezePosts();
	await post.press(option);
	await app.pass(500);
	expect(post.buttons()).toContain(option);
}

/** The same, and Ada took her press back. */
async function released() {
	const question = await lost();
	await question.post.press('Undo');
	return { ...question, offer: await offered(question.id) };
}

describe('an answer that lost to one that was taken back', () => {
	it('leaves no draft when its author discards it', async () => {
		const { offer } = await released();
		await graceReads('📝');
		await offer.press('Discard answer');
		await app.homeSays(line('withdrawn'), { who: 'grace', without: ['📝'] });
	});

	it('leaves no draft when its author sends it', async () => {
		const { id, index, offer } = await released();
		await graceReads('📝');
		app.service.faults.add({ kind: 'error', status: 503, method: 'PUT' });
		await offer.press(OFFER);
		await app.homeSays(/⏳ (?:Sending|Not delivered yet|Sent, checking)/, { who: 'grace', without: ['📝'] });
		app.service.faults.clear();
		await app.until(() => value(id, index) === 'TP 570');
	});

	it.each([
		[OFFER, () => headline('accepted')],
		['Discard answer', () => headline('withdrawn')],
	])('says what became of it after %s when Slack does not take the update of the offer', async (button, words) => {
		const { id, offer } = await released();
		app.service.faults.add({ kind: 'error', status: 503, sessionId: id, method: 'PUT' });
		app.slack.faults.add({ method: 'chat.update', error: 'internal_error' });
		const told = await app.toldAfter(() => offer.press(button), 'grace', 'dm');
		expect(told.text()).toContain(words());
	});

	it('leaves the offer in the direct message when it is discarded in the inbox', async () => {
		const { offer } = await released();
		await graceReads(line('waiting', { lastError: 'first_withdrawn' }));
		await home()?.press('Discard answer');
		await says(offer, headline('withdrawn'));
		expect(openButtons(offer)).toEqual([]);
	});

	it('leaves the offer in the direct message when it is sent from the inbox and loses again', async () => {
		const { id, post, offer } = await released();
		await app.until(() => post.buttons().includes('LH 1173'));
		await graceReads(line('waiting', { lastError: 'first_withdrawn' }));
		// Home and the message stay as they are until Grace has pressed.
		for (const method of ['views.publish', 'chat.update']) app.slack.faults.add({ method, error: 'internal_error' });
		await app.choose(post, 'LH 1173');
		await home()?.press(OFFER);
		await app.pass(2_000);
		app.slack.faults.clear();
		await says(offer, headline('conflicted'));
		expect(offer.buttons()).not.toContain(OFFER);
		await post.press('Undo');
		expect((await offered(id)).text()).toContain(headline('waiting', { lastError: 'first_withdrawn' }));
		await app.pass(20_000);
		expect(app.service.log.puts(id)).toEqual([]);
	});

	it('is offered once to a person who pressed three times', async () => {
		const { id, post } = await asked();
		await pressUnseen(post, 'LH 1173');
		const graces = app.seenBy('grace', post);
		await app.toldAfter(() => graces.press('LH 1173'), 'grace');
		await app.pass(50);
		// She heard that already.
		await graces.press('LH 1173');
		await app.pass(50);
		await app.toldAfter(() => graces.press('TP 570'), 'grace');
		await app.pass(50);
		app.slack.faults.clear();
		await app.openHome();
		await home('ada')?.press('Undo');
		const offer = await offered(id);
		await app.pass(60_000);
		expect(offer.text()).toContain('TP 570');
		expect(offers(id)).toHaveLength(1);
	});

	it('says nothing untrue when its author continues the draft and sends that', async () => {
		const { id, index, offer } = await released();
		await graceReads('📝');
		await home()?.press('Continue');
		const grace = app.slack.as('grace');
		const form = await grace.waitForModal((modal) => modal.text().includes('Sending this one replaces it'));
		expect(form.text()).toContain('📝 Your answer was not sent. Sending this one replaces it · ');
		expect(form.text()).not.toContain(line('waiting'));
		await form.submit();
		await app.until(() => value(id, index) === 'TP 570');
		const instead = '🔀 Not sent: a later answer of the same person counts';
		await says(offer, `*${instead}*`);
		const [first, waits, ...others] = offer
			.text()
			.split('\n')
			.filter((words) => /^(?:🔀|⚠️)/u.test(words));
		expect(first).toContain(line('conflicted'));
		expect(waits).toMatch(/^⚠️ Not delivered ·/);
		// Of the last state, the headline has said what.
		expect(others).toEqual([]);
		await app.homeSays(instead, { who: 'grace' });
	});

	it('is told in the inbox as its author’s own when their first answer was first', async () => {
		const { id, index, post } = await asked();
		await pressUnseen(post, 'LH 1173');
		// The inbox tells of the newest failed answer to a question, and of the others in one line each.
		await app.pass(50);
		await app.toldAfter(() => post.press('TP 570'));
		await app.pass(50);
		// The same option once more is no second choice.
		await post.press('LH 1173');
		await app.until(() => value(id, index) === 'LH 1173');
		await app.openHome();
		const text = await app.homeSays('TP 570');
		expect(text).toContain('Not sent: the same person had already answered');
		expect(text).not.toContain('somebody else');
	});
});

describe('an answer that lost to one that then failed', () => {
	it('is offered to its author when the first is refused', async () => {
		const { id, index } = await lost();
		app.service.faults.add(tooComplex(id));
		const offer = await offered(id);
		app.service.faults.clear();
		expect(offer.text()).toContain('*⚠️ Not sent: the first answer was not delivered · your decision*');
		expect(offer.text()).toContain('@ada answered before you. The question is open again. Your text is kept.');
		await offer.press(OFFER);
		await app.until(() => value(id, index) === 'TP 570');
		expect(app.service.log.savedPuts(id)).toHaveLength(1);
	});

	it('is offered to its author when the session was over before the first was sent', async () => {
		const { id } = await lost();
		app.service.sessions.setStatus(id, 'stopped');
		const offer = await offered(id);
		expect(offer.text()).toContain(
			'*⚠️ Not sent: the first answer was not delivered because the session was over · your decision*',
		);
		expect(app.service.log.puts(id)).toEqual([]);
	});

	it('does not hear that the first was not sent when that may have arrived', async () => {
		const { id } = await lost();
		app.service.faults.add({ kind: 'reset', method: 'PUT', sessionId: id, times: 1 });
		await app.until(() => app.service.log.puts(id).length === 1);
		app.service.sessions.setStatus(id, 'stopped');
		const offer = await offered(id);
		expect(offer.text()).toContain('*⚠️ Not sent: the first answer may have arrived · your decision*');
		expect(offer.text()).toContain('Look at the session before you send yours.');
		expect(offer.text()).not.toMatch(/first answer was not|is open again|that back/);
	});
});
