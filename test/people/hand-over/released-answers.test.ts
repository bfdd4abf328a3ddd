import { describe, expect, headline, type InboxApp, inboxApp, openSession, type Posted, withApp } from '../../kit.ts';
import { tooComplex } from '../../support/too-complex.ts';
import { asked, dmOf, value } from '../press/harness.ts';

const OFFER = 'Open the question';
const FAILED = headline('conflicted', { lastError: 'first_failed' });

const it = withApp(inboxApp);

const offers = (app: InboxApp, id: string) =>
	dmOf(app, 'grace').filter((dm) => JSON.stringify(dm.blocks()).includes(id) && dm.buttons().includes(OFFER));
const offered = (app: InboxApp, id: string): Promise<Posted> =>
	app.until(
		() => offers(app, id).at(-1),
		() => `Grace was offered nothing, but told:\n${dmOf(app, 'grace').at(-1)?.text()}`,
	);
const home = (app: InboxApp, who = 'grace') => app.slack.as(who).home();

const says = (app: InboxApp, message: Posted, words: string) =>
	app.until(
		() => message.text().includes(words),
		() => message.text(),
	);
/** Opens Grace's Home, which says this. */
async function graceReads(app: InboxApp, words: string): Promise<void> {
	await app.openHome('grace');
	await app.homeSays(words, { who: 'grace' });
}

/** A question to which Ada's press is first and Grace's form second. */
async function lost(app: InboxApp) {
	const { id, index, post } = await asked(app);
	const form = await openSession(app, id, 'grace');
	await form.choose(0, 'TP 570');
	await app.choose(post, 'LH 1173');
	await form.submit();
	expect(form.text()).toContain(headline('conflicted'));
	await form.close();
	return { id, index, post };
}

/** Ada presses an option, and Slack shows that on no copy of the post: it keeps its buttons. */
async function pressUnseen(app: InboxApp, post: Posted, option: string): Promise<void> {
	app.freezePosts();
	await post.press(option);
	await app.pass(500);
	expect(post.buttons()).toContain(option);
}

/** The same, and Ada took her press back. */
async function released(app: InboxApp) {
	const question = await lost(app);
	await question.post.press('Undo');
	return { ...question, offer: await offered(app, question.id) };
}

/** What Grace's form of the question begins with, opened by *Open the question*. */
async function prefilled(app: InboxApp, offer: Posted) {
	await offer.press(OFFER);
	return app.slack.as('grace').waitForModal((modal) => modal.submitText() !== null);
}

describe('an answer that lost to one that was taken back', () => {
	it('is a draft of the question, which is open again, and nothing is sent by itself', async ({ app }) => {
		const { id, index, post, offer } = await released(app);
		expect(offer.text()).toContain('📝 Not sent: the first answer did not arrive either\n');
		// Each state on a line of its own, the last one said above.
		expect(offer.text()).toMatch(
			/\n🔀 Not sent: somebody else answered first · [^\n]+ UTC\n[^\n]+ UTC\nFor Order \d+ chairs/,
		);
		expect(offer.text()).toContain(
			'@ada answered before you. That answer was not delivered. Your text is a draft now, and nothing is sent by ' +
				'itself. Open the question fills it in where it fits.',
		);
		expect(offer.text()).toContain('> TP 570');
		expect(offer.buttons()).toEqual([OFFER]);
		await app.until(() => post.buttons().includes('TP 570'));
		await graceReads(app, '📝');
		expect(home(app)?.text()).toMatch(/📝 .* · TP 570 · /);
		const form = await openSession(app, id, 'grace');
		expect(form.value(0)).toBe('TP 570');
		await form.close();
		await app.pass(120_000);
		expect(app.service.log.puts(id)).toEqual([]);
		const again = await prefilled(app, offer);
		expect(again.value(0)).toBe('TP 570');
		await again.submit();
		await app.until(() => value(app, id, index) === 'TP 570');
		await app.homeSays(/Delivered/, { who: 'grace', without: ['Continue'] });
		expect(app.service.log.savedPuts(id)).toHaveLength(1);
	});

	it('hears of it where Slack was slow to say that the first was first', async ({ app }) => {
		const { id, post } = await asked(app);
		await pressUnseen(app, post, 'LH 1173');
		const release = app.slack.faults.hold('chat.postEphemeral');
		await app.seenBy('grace', post).press('TP 570');
		app.slack.faults.clear();
		await app.openHome();
		await home(app, 'ada')?.press('Undo');
		await app.pass(500);
		release();
		expect((await offered(app, id)).text()).toContain(FAILED);
	});
});

describe('an answer that lost to one that then failed', () => {
	it('is a draft when the first is refused, whose author is told whom to ask', async ({ app }) => {
		const { id, index } = await lost(app);
		app.service.faults.add(tooComplex(id));
		const offer = await offered(app, id);
		app.service.faults.clear();
		expect(offer.text()).toContain(FAILED);
		const told = await app.until(() => dmOf(app, 'ada').findLast((dm) => dm.text().includes('LH 1173')));
		await says(app, told, '@grace wanted to answer too: ask them.');
		expect(told.text()).not.toContain('TP 570');
		const form = await prefilled(app, offer);
		await form.submit();
		await app.until(() => value(app, id, index) === 'TP 570');
		expect(app.service.log.savedPuts(id)).toHaveLength(1);
	});

	it('stays unsent when the session was over before the first was sent', async ({ app }) => {
		const { id } = await lost(app);
		app.service.sessions.setStatus(id, 'stopped');
		const told = await app.until(() => dmOf(app, 'grace').find((dm) => JSON.stringify(dm.blocks()).includes(id)));
		expect(told.text()).toContain('🏁 Not sent, nor was the first answer: the session was over\n');
		expect(told.text()).toContain('because the session was over. Your text is below.');
		expect(told.text()).toContain('> TP 570');
		expect(told.buttons()).toEqual(['Open session']);
		expect(app.service.log.puts(id)).toEqual([]);
	});

	it('does not hear that the first was not sent when that may have arrived', async ({ app }) => {
		const { id } = await lost(app);
		app.service.faults.add({ kind: 'reset', method: 'PUT', sessionId: id, times: 1 });
		await app.until(() => app.service.log.puts(id).length === 1);
		app.service.sessions.setStatus(id, 'stopped');
		const offer = await offered(app, id);
		expect(offer.text()).toContain('⚠️ Not sent: the first answer may have arrived\n');
		expect(offer.text()).toContain('That answer may have arrived: look at the session first.');
		expect(offer.text()).not.toMatch(/not delivered|either/);
	});
});
