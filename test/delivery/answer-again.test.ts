import { NOTICES } from '../../src/screens/form-notices.ts';
import { statusWords } from '../../src/slack/phrases.ts';
import {
	answeredBy,
	describe,
	done,
	expect,
	headline,
	type InboxApp,
	inboxApp,
	type Modal,
	openSession,
	said,
	withApp,
} from '../kit.ts';
import { emptyNewest } from '../sessions/played-agent.ts';

const AGAIN = 'Answer again…';

const it = withApp(() => inboxApp({ service: { resumeAfterMs: 24 * 3_600_000 } }));
const FLIGHT = [{ title: 'Which flight?', description: 'One of: LH 1173, TP 570', value: '' }];
const puts = (app: InboxApp, id: string) => app.service.log.savedPuts(id).length;
const step = (app: InboxApp, id: string) => app.service.sessions.push(id, done('I go on.'));

/** A watched session that asks, and Ada's answer has arrived. */
async function answered(app: InboxApp) {
	const id = await app.watchedAsking(FLIGHT);
	const post = await app.threadSays(id, 'Which flight?');
	await post.press('LH 1173');
	await app.until(() => puts(app, id) === 1);
	await app.until(() => answeredBy('ada', 'LH 1173').test(post.text()));
	return { id, post };
}

/** The agent takes the answer out of its field, works, and says so. */
async function continued(app: InboxApp) {
	const question = await answered(app);
	const { id, post } = question;
	app.service.sessions.setStatus(id, 'active');
	emptyNewest(app, id);
	step(app, id);
	await app.until(() => post.text().includes('· continued'));
	return question;
}

/** The form that a press opens for this person. */
async function formOf(app: InboxApp, who: string, press: () => Promise<unknown>): Promise<Modal> {
	await press();
	return app.slack.as(who).waitForModal((modal) => modal.submitText() !== null);
}

/** What a window without a form says. */
async function refusalTo(app: InboxApp, who: string, press: () => Promise<unknown>, words: string): Promise<Modal> {
	await press();
	const modal = await app.slack.as(who).waitForModal((one) => one.text().includes(words));
	expect(modal.submitText()).toBeNull();
	return modal;
}

const LOST = 'Asked again.';
const ANOTHER = said(NOTICES.questionChanged(false));
const ADA_ANSWERED = 'The field is empty now. @ada answered:\n> LH 1173';

describe('Answer again… opens the form of the newest question', () => {
	it('from the post, after the agent has continued, and the answer arrives', async ({ app }) => {
		const { id, post } = await continued(app);
		const form = await formOf(app, 'grace', () => app.seenBy('grace', post).press(AGAIN));
		expect(form.text()).toContain(ADA_ANSWERED);
		expect(form.value(0)).not.toBe('LH 1173');
		await form.choose(0, 'TP 570');
		await form.submit();
		await app.until(() => puts(app, id) === 2);
		expect(app.service.sessions.values(id, 2)).toEqual(['TP 570']);
		await app.until(() => form.text().includes(headline('delivered')));
		await app.until(() => answeredBy('grace', 'TP 570').test(post.text()));
	});

	it('from the window of the session, which says that the field is empty', async ({ app }) => {
		const { id } = await answered(app);
		app.service.sessions.setStatus(id, 'active');
		emptyNewest(app, id);
		const modal = await openSession(app, id, 'grace');
		expect(modal.text()).toContain('Delivered. The field is empty now.');
		expect(modal.submitText()).toBeNull();
		const form = await formOf(app, 'grace', () => modal.press(AGAIN));
		expect(form.text()).toContain(ADA_ANSWERED);
		await form.choose(0, 'TP 570');
		// Its steps and a restart leave it as it is.
		await app.handled('session.refresh', () => form.press('Refresh'));
		await app.restart();
		expect(form.value(0)).toBe('TP 570');
		await form.submit();
		await app.until(() => puts(app, id) === 2);
	});

	it('from Home, where the last answers stand', async ({ app }) => {
		const { id } = await continued(app);
		await app.openHome();
		await app.homeSays('continued');
		const home = app.home();
		const form = await formOf(app, 'ada', () => home.press(AGAIN));
		expect(form.text()).toContain(ADA_ANSWERED);
		await form.choose(0, 'LH 1173');
		await form.submit();
		await app.until(() => puts(app, id) === 2);
	});

	it('without the news of an answer before that is not in the field any more', async ({ app }) => {
		const { id, post } = await answered(app);
		emptyNewest(app, id);
		const again = await app.threadSays(id, LOST);
		await app.seenBy('grace', again).press('TP 570');
		await app.until(() => puts(app, id) === 2);
		await app.until(() => answeredBy('grace', 'TP 570').test(again.text()));
		emptyNewest(app, id);
		const form = await formOf(app, 'ada', () => post.press(AGAIN));
		expect(form.text()).toContain('The field is empty now. @grace answered:\n> TP 570');
		expect(form.text()).not.toContain(LOST);
	});

	it('and says so where the agent asks another question than the post or the last answer', async ({ app }) => {
		const { id, post } = await continued(app);
		const same = await formOf(app, 'grace', () => app.seenBy('grace', post).press(AGAIN));
		expect(same.text()).not.toContain(ANOTHER);
		await same.close(true);
		app.ask(id, ['Which hotel?']);
		await app.threadSays(id, 'Which hotel?');
		const form = await formOf(app, 'grace', () => app.seenBy('grace', post).press(AGAIN));
		expect(form.text()).toContain(ANOTHER);
		expect(form.text()).toContain('Which hotel?');
		await app.handled('session.refresh', () => form.press('Refresh'));
		expect(form.text()).not.toContain(ANOTHER);
		await form.close(true);
		await app.openHome();
		await app.homeSays('continued');
		const own = await formOf(app, 'ada', () => app.home().press(AGAIN));
		expect(own.text()).toContain(ANOTHER);
	});

	it('when the agent has continued without an answer', async ({ app }) => {
		const id = await app.watchedAsking(FLIGHT);
		const post = await app.threadSays(id, 'Which flight?');
		await app.until(() => app.service.log.reads(id).length > 2);
		app.service.sessions.setStatus(id, 'active');
		step(app, id);
		await app.until(() => post.text().includes('The agent continued without an answer'));
		const form = await formOf(app, 'grace', () => app.seenBy('grace', post).press('Answer anyway'));
		await form.choose(0, 'TP 570');
		await form.submit();
		await app.until(() => puts(app, id) === 1);
		await app.until(() => answeredBy('grace', 'TP 570').test(post.text()));
	});

	it('when it was answered in the dashboard, and the field is empty', async ({ app }) => {
		const id = await app.watchedAsking(FLIGHT);
		const post = await app.threadSays(id, 'Which flight?');
		app.service.sessions.answerAsPage(id, ['TP 570']);
		await app.until(() => post.text().includes('Answered in the dashboard'));
		app.service.sessions.setStatus(id, 'active');
		emptyNewest(app, id);
		const form = await formOf(app, 'ada', () => post.press(AGAIN));
		expect(form.text()).toContain('The field is empty now. It was answered in the dashboard.');
	});
});

describe('Answer again… opens no form', () => {
	it('where an answer stands, and shows that', async ({ app }) => {
		const { post } = await answered(app);
		await refusalTo(app, 'grace', () => app.seenBy('grace', post).press(AGAIN), 'so nothing can be sent:\n> LH 1173');
	});

	it('where an answer stands to another question than the post shows, and says that', async ({ app }) => {
		const { id, post } = await continued(app);
		app.ask(id, ['Which hotel?']);
		await app.threadSays(id, 'Which hotel?');
		app.service.sessions.answerAsPage(id, ['Ritz']);
		const words = 'The agent has asked another question since. It is answered, so nothing can be sent:\n> Ritz';
		await refusalTo(app, 'grace', () => app.seenBy('grace', post).press(AGAIN), words);
	});

	it('once the session is over', async ({ app }) => {
		const { id, post } = await continued(app);
		app.service.sessions.setStatus(id, 'stopped');
		const { meaning } = statusWords('stopped');
		await refusalTo(app, 'ada', () => post.press(AGAIN), meaning);
	});

	it('while an answer is on its way, and names who gave it', async ({ app }) => {
		const { id, post } = await continued(app);
		const own = await formOf(app, 'ada', () => post.press(AGAIN));
		app.service.faults.add({ kind: 'unauthorized', method: 'PUT', sessionId: id });
		await own.choose(0, 'TP 570');
		await own.submit();
		await app.until(() => own.text().includes(headline('accepted', { lastError: 'unauthorized' })));
		await own.close(true);
		await refusalTo(app, 'ada', () => post.press(AGAIN), 'Your answer is being sent.');
		const words = "@ada's answer is being sent. You can answer again once it is delivered.";
		await refusalTo(app, 'grace', () => app.seenBy('grace', post).press(AGAIN), words);
		app.service.faults.clear();
		await app.until(() => puts(app, id) === 2);
	});
});

it('says soon after two minutes that there is no sign of the agent, also where a channel watches', async ({ app }) => {
	const { post } = await answered(app);
	await app.pass(140_000);
	await app.until(() => post.text().includes('no sign of the agent yet'), undefined, 5_000);
});

describe('an answer given with Answer again…', () => {
	it('is not put over another one that came first, in Slack or in the dashboard', async ({ app }) => {
		const { id, post } = await continued(app);
		const grace = await formOf(app, 'grace', () => app.seenBy('grace', post).press(AGAIN));
		const ada = await formOf(app, 'ada', () => post.press(AGAIN));
		await ada.choose(0, 'LH 1173');
		await ada.submit();
		await app.until(() => puts(app, id) === 2);
		emptyNewest(app, id);
		await grace.choose(0, 'TP 570');
		await grace.submit();
		await app.until(() => grace.text().includes(headline('conflicted')));
		await grace.close(true);

		const again = await formOf(app, 'grace', () => app.seenBy('grace', post).press(AGAIN));
		app.service.sessions.answerAsPage(id, ['By train']);
		await again.choose(0, 'TP 570');
		await again.submit();
		await app.until(() => again.text().includes(headline('conflicted')));
		expect(again.text()).toContain('> By train');
		expect(app.service.sessions.values(id, 2)).toEqual(['By train']);
		expect(puts(app, id)).toBe(2);
	});
});
