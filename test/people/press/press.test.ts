import { NOTE_LABEL } from '../../../src/slack/form/build.ts';
import {
	describe,
	expect,
	headline,
	openButtons,
	openSession,
	type WatchingApp,
	watchingApp,
	withApp,
} from '../../kit.ts';
import { asked, dmOf, UNDO_MS, value } from './harness.ts';

const it = withApp(() => watchingApp({ realRates: true }));

const putCount = (app: WatchingApp, id: string) => app.service.log.effectivePuts(id).length;
/** Waits until this answer was sent, once. */
async function isSent(app: WatchingApp, { id, index }: { id: string; index: number }, option: string): Promise<void> {
	await app.until(() => value(app, id, index) === option);
	expect(putCount(app, id)).toBe(1);
}

describe('a question with short options', () => {
	it.for(['works', 'refused', 'losesMetadata'] as const)(
		'is answered by one press, which its post shows until the agent went on; a replacement %s',
		async (replaces, { app }) => {
			app.slack.settings.replaceOriginal = replaces;
			const { id, index, post } = await asked(app);
			const before = app.onlyFor('ada', '#agents').length;
			expect(post.buttons()).toEqual(['LH 1173', 'TP 570', 'Other answer…', ...app.MENU]);
			expect(post.notification()).toMatch(
				/^An agent asks: Which flight should I book\? One of: LH 1173, TP 570 \(Order/,
			);
			await app.choose(post, 'LH 1173');
			expect(post.text()).toMatch(/^⏳ Sends at [\d:]+ UTC\n(?:> .*\n)+ada: LH 1173\n\[Undo\]$/);
			expect(app.onlyFor('ada', '#agents')).toHaveLength(before);
			await app.pass(UNDO_MS - 5_000);
			expect(app.service.log.puts(id)).toHaveLength(0);
			await app.until(() => value(app, id, index) === 'LH 1173');
			await app.until(() => post.text().includes('\nada: LH 1173 · continued'));
			// Two lines and the button beside them.
			expect(post.text().split('\n')).toHaveLength(3);
			expect(openButtons(post)).toEqual([]);
			expect(putCount(app, id)).toBe(1);
		},
	);

	it.for(['works', 'refused'] as const)(
		'takes a press back with Undo, and another press answers; a replacement %s',
		async (replaces, { app }) => {
			app.slack.settings.replaceOriginal = replaces;
			const { id, index, post } = await asked(app);
			await app.choose(post, 'TP 570');
			const told = await app.toldAfter(() => app.seenBy('grace', post).press('Undo'), 'grace');
			expect(told.text()).toBe('Only @ada can undo this.');
			await post.press('Undo');
			await app.until(() => post.buttons().includes('LH 1173'));
			await app.pass(UNDO_MS + 10_000);
			expect(app.service.log.puts(id)).toHaveLength(0);
			await post.press('LH 1173');
			await isSent(app, { id, index }, 'LH 1173');
		},
	);

	it('says that it is too late for Undo once the answer is sent', async ({ app }) => {
		const { id, index, post } = await asked(app);
		await app.choose(post, 'TP 570');
		const release = app.slack.faults.add({ method: 'chat.update', error: 'internal_error' });
		await app.until(() => value(app, id, index) === 'TP 570');
		const told = await app.toldAfter(() => post.press('Undo'));
		release();
		expect(told.text()).toContain('Too late to undo: TP 570');
		expect(value(app, id, index)).toBe('TP 570');
		expect(putCount(app, id)).toBe(1);
	});

	it('takes text alone in the form that *Other answer…* opens', async ({ app }) => {
		const { id, index, post } = await asked(app);
		await post.press('Other answer…');
		const form = await app.slack.as('ada').waitForModal((modal) => modal.submitText() !== null);
		expect(form.value(0)).toBe('None of these (write below)');
		await form.fill(NOTE_LABEL, 'By train');
		expect((await form.submit()).outcome).toBe('updated');
		await isSent(app, { id, index }, 'By train');
	});

	it('tells the second of two people who was first and what they chose', async ({ app }) => {
		const { id, index, post } = await asked(app);
		const graces = app.seenBy('grace', post);
		// The second press comes before the post shows the first one.
		app.freezePosts();
		await post.press('LH 1173');
		const told = await app.toldAfter(() => graces.press('TP 570'), 'grace');
		app.slack.faults.clear();
		const dmCount = dmOf(app, 'grace').length;
		expect(told.text()).toMatch(/^🔀 Order .*: @ada answered LH 1173 before you. Your choice, TP 570, was not sent/i);
		await isSent(app, { id, index }, 'LH 1173');
		await app.pass(20_000);
		expect(dmOf(app, 'grace')).toHaveLength(dmCount);
	});

	it('tells the second of two people in a direct message when the reply did not reach them', async ({ app }) => {
		const { id, index, post } = await asked(app);
		const graces = app.seenBy('grace', post);
		// The program may also be killed between the acknowledgement and the reply.
		app.freezePosts();
		await post.press('LH 1173');
		const before = dmOf(app, 'grace').length;
		app.slack.faults.add({ method: 'response_url', status: 500, times: 1 });
		for (const method of ['chat.postEphemeral', 'conversations.open']) {
			app.slack.faults.add({ method, error: 'internal_error', times: 1 });
		}
		await graces.press('TP 570');
		const receipt = await app.until(() => dmOf(app, 'grace')[before]);
		app.slack.faults.clear();
		expect(receipt.text()).toContain(headline('conflicted'));
		expect(receipt.text()).toContain('LH 1173');
		expect(receipt.text()).toContain('TP 570');
		await isSent(app, { id, index }, 'LH 1173');
	});

	/** Somebody's form says "TP 570", and no read of the session has been compared with that yet. */
	async function saidUncompared(app: WatchingApp, who: 'ada' | 'grace') {
		const question = await asked(app);
		const form = await openSession(app, question.id, who);
		await form.choose(0, 'TP 570');
		app.freezePosts();
		// As on a replica that has not read the session: nothing of it is in memory then, and no read follows.
		await app.restart();
		app.service.faults.add({ kind: 'error', sessionId: question.id });
		await form.submit();
		return question;
	}

	it('tells them what the form said also while nobody has compared that with the session', async ({ app }) => {
		const { id, index, post } = await saidUncompared(app, 'grace');
		const told = await app.toldAfter(() => post.press('LH 1173'));
		expect(told.text()).toMatch(/@grace answered TP 570 before you/);
		app.service.faults.clear();
		await isSent(app, { id, index }, 'TP 570');
	});

	it('says nothing to a person who presses what their form said, compared or not', async ({ app }) => {
		const { id, index, post } = await saidUncompared(app, 'ada');
		const before = app.onlyFor('ada', '#agents').length;
		const told = await app.toldAfter(async () => {
			await post.press('TP 570');
			await post.press('LH 1173');
		});
		expect(told.text()).toContain('You have already answered TP 570. Your second choice, LH 1173, was not sent.');
		expect(app.onlyFor('ada', '#agents')).toHaveLength(before + 1);
		app.service.faults.clear();
		await isSent(app, { id, index }, 'TP 570');
	});

	it.for([
		['', 'grace: TP 570 · continued'],
		['Window seat', 'grace: TP 570. Window seat · continued'],
	] as const)(
		'shows an option that was chosen in the form as a press shows it, with a note %j behind it',
		async ([note, line], { app }) => {
			const { id, post } = await asked(app);
			const form = await openSession(app, id, 'grace');
			await form.choose(0, 'TP 570');
			if (note !== '') await form.fill(1, note);
			await form.submit();
			await app.until(() => post.text().includes(line));
		},
	);

	it('sends once after a restart within the time for Undo, not before its end, and Undo still works', async ({
		app,
	}) => {
		const { id, index, post } = await asked(app);
		await app.choose(post, 'LH 1173');
		await app.restart();
		await isSent(app, { id, index }, 'LH 1173');

		const second = await asked(app);
		await app.choose(second.post, 'LH 1173');
		await app.restart();
		await second.post.press('Undo');
		await app.until(() => second.post.buttons().includes('LH 1173'));
		await app.pass(UNDO_MS + 10_000);
		expect(app.service.log.puts(second.id)).toHaveLength(0);
	});

	it('offers the options again when the service refuses the choice, and tells the person', async ({ app }) => {
		const { id, post } = await asked(app);
		app.service.sessions.setStatus(id, 'completed');
		await post.press('LH 1173');
		const receipt = await app.until(() => dmOf(app, 'ada').findLast((dm) => dm.text().includes(headline('ended'))));
		expect(receipt.text()).toContain('LH 1173');
		expect(app.service.log.puts(id)).toHaveLength(0);
	});

	it('makes at most four calls on the post and two on the card from a press until the agent went on', async ({
		app,
	}) => {
		const { post, id } = await asked(app);
		await app.pass(70_000);
		const from = app.now();
		await app.choose(post, 'LH 1173');
		await app.until(() => post.text().includes('· continued'));
		await app.cardSays(id, 'working');
		await app.pass(90_000);
		const sent = app.slack.traffic.all().filter(({ seq, direction }) => seq > from && direction !== 'delivery');
		const onCard = sent.filter(({ request }) => (request as { ts?: string }).ts === app.card(id)?.ts);
		const onPost = sent.filter(
			({ name, request }) => name === 'response_url' || (request as { ts?: string }).ts === post.ts,
		);
		expect(onPost[0]?.name).toBe('response_url');
		expect(onPost.length).toBeLessThanOrEqual(4);
		expect(onCard.length).toBeLessThanOrEqual(2);
	});
});
