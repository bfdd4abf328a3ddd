import type { ItemJson } from '../../../fake-session-service/json.ts';
import { REMOVED_ANSWER, TEXT_REMOVED } from '../../../src/screens/answer.ts';
import {
	asking,
	describe,
	expect,
	FEWEST_REQUESTS,
	item,
	openSession,
	type Posted,
	type WatchingApp,
	watchingApp,
	whatHappened,
	withApp,
} from '../../kit.ts';
import { auditRows } from '../../support/audit-rows.ts';

/* What was approved stays readable: *Show question* on the settled post and in *History*. */

const DAY = 24 * 3_600_000;
const FLIGHT = item('Which flight should I book?', 'One of: LH 1173, TP 570');
const SAID = 'LH 1173 leaves at 06:05 for 129 €.\nTP 570 leaves at `08:40`.';

/** A watched session that asks, and the question's post. */
async function asked(app: WatchingApp, items: readonly ItemJson[] = [FLIGHT], content = SAID) {
	const id = await app.watched({ name: 'Book a flight' });
	const index = app.ask(id, items, content);
	const post = await app.threadSays(id, items[0]?.title ?? '');
	return { id, index, post };
}

/** The same, answered with one press. */
async function answered(app: WatchingApp) {
	const question = await asked(app);
	await question.post.press('LH 1173');
	await app.answered(question.id);
	await app.until(() => question.post.text().includes('continued'));
	return question;
}

/** Presses *Show question*; resolves to the window. */
async function shown(app: WatchingApp, post: Posted, who = 'grace') {
	await app.seenBy(who, post).press('Show question');
	return app.until(() => {
		const modal = app.slack.as(who).modal();
		return modal?.title() === 'Question' && modal;
	});
}

const it = withApp(() => watchingApp({ env: { ...FEWEST_REQUESTS, UNDO_SECONDS: '0' } }));

describe('Show question', () => {
	it('opens what was answered, as it was then, whatever the agent has written since', async ({ app }) => {
		const { id, index, post } = await answered(app);
		const messages = structuredClone(app.service.sessions.get(id).messages ?? []);
		const other = asking('May I delete everything?', [item('Shall I?', 'Everything.')]);
		app.service.sessions.patch(id, { messages: messages.toSpliced(index, 1, other) });
		await app.pass(60_000);
		const modal = await shown(app, post);
		expect(modal.text().split('\n')).toEqual([
			'Question',
			'✋ Book a flight asked',
			'> LH 1173 leaves at 06:05 for 129 €.',
			'> TP 570 leaves at 08:40.',
			'> Which flight should I book?',
			'> One of: LH 1173, TP 570',
			'@ada answered:',
			'> LH 1173',
			expect.stringMatching(/^✅ Delivered · continued · \d/),
			'[Close]',
		]);
		expect(modal.submitText()).toBeNull();
		const opened = () => auditRows(app.dataDir, 'opened').filter(({ about }) => about === 'question');
		await app.until(() => opened().length > 0);
		expect(opened()).toMatchObject([{ actor: 'U0GRACE', session: id, channel: 'C0AGENTS' }]);
	});

	it('shows all items of a form, and their answers', async ({ app }) => {
		const items = [item('First?', 'The one in front'), item('Second?'), item('Third?')];
		const { id, post } = await asked(app, items);
		const form = await openSession(app, id);
		for (const [at, text] of ['one', 'two', 'three'].entries()) await form.fill(at, text);
		await form.submit();
		await app.answered(id);
		const text = (await shown(app, post)).text();
		for (const part of [
			'> First?\n> The one in front\n> Second?\n> Third?\n',
			'First?\n> one\nSecond?\n> two\nThird?\n> three',
		])
			expect(text).toContain(part);
	});

	it('opens on *History*, which stays below it', async ({ app }) => {
		const { id } = await answered(app);
		const grace = app.slack.as('grace');
		await grace.command('#agents', `/session history ${id}`);
		const history = await grace.waitForModal((modal) => modal.title() === 'History');
		await history.press('Show question');
		const modal = await grace.waitForModal((one) => one.title() === 'Question');
		expect(modal.text()).toContain('> LH 1173 leaves at 06:05 for 129 €.');
		await modal.close();
		await grace.waitForModal((one) => one.title() === 'History');
	});

	it('is there for an answer of which no response came, once a read has found it', async ({ app }) => {
		const { id, post } = await asked(app);
		app.service.faults.add({ kind: 'reset', method: 'PUT', saves: true, times: 1 });
		await post.press('LH 1173');
		await app.answered(id);
		expect((await shown(app, post)).text()).toContain('> Which flight should I book?\n> One of: LH 1173, TP 570');
	});

	it('never shows a secret, neither one that was asked for nor one that the agent wrote', async ({ app }) => {
		const { id, post } = await asked(app, [item('Your password')], 'I have tried the password hunter2-first already.');
		const form = await openSession(app, id);
		await form.fill(0, 'hunter2-second');
		await form.submit();
		await app.answered(id);
		const text = (await shown(app, post)).text();
		expect(text).toContain('> I have tried the password •••• already.\n> Your password\n');
		expect(text).toContain(`answered:\n${REMOVED_ANSWER}`);
		expect(text).not.toContain('hunter2');
		expect(await app.said()).not.toContain('hunter2-second');
	});

	it('says so when the texts were removed', async ({ app }) => {
		const { id, post } = await answered(app);
		app.freezePosts();
		await app.stop();
		await app.clock.advance(3 * DAY);
		await app.restart({ RETENTION_DAYS: '2' });
		await app.pass(60_000);
		const text = (await shown(app, post)).text();
		expect(text).toContain(TEXT_REMOVED);
		expect(text).not.toMatch(/LH 1173|Which flight/);
		await app.slack.as('grace').modal()?.close(true);
		await app.slack.as('grace').command('#agents', `/session history ${id}`);
		const history = await app.slack.as('grace').waitForModal((modal) => modal.title() === 'History');
		expect(history.text()).toContain(TEXT_REMOVED);
		expect(history.buttons()).not.toContain('Show question');
	});

	it('is refused to a guest, and says what to do when Slack opens no window', async ({ app }) => {
		const { post } = await answered(app);
		const told = await app.toldAfter(() => app.seenBy('gus', post).press('Show question'), 'gus');
		expect(told.text()).toContain(whatHappened('guest'));
		expect(app.slack.as('gus').modal()).toBeNull();
		app.slack.faults.add({ method: 'views.open', error: 'expired_trigger_id' });
		const late = await app.toldAfter(() => post.press('Show question'));
		expect(late.text()).toContain('Please press Show question again.');
	});
});
