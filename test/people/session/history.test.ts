import { historyWords, REMOVED_ANSWER } from '../../../src/screens/answer.ts';
import {
	asking,
	describe,
	expect,
	headline,
	line,
	openSession,
	said,
	startTimedApp,
	type TimedApp,
	withApp,
} from '../../kit.ts';

const it = withApp(startTimedApp);
/** Asks the next question of the session. */
function ask(app: TimedApp, id: string, title: string): void {
	if (!app.service.sessions.has(id)) app.service.sessions.put(id, { status: 'active', messages: [] });
	app.service.sessions.push(id, asking('', [title]));
	app.service.sessions.setStatus(id, 'humanInput');
}

async function answer(app: TimedApp, id: string, who: string, text: string): Promise<void> {
	const modal = await openSession(app, id, who);
	await modal.fill(0, text);
	expect((await modal.submit()).outcome).toBe('updated');
	await app.shows(headline('resumed'), who);
	await modal.close();
}

async function history(app: TimedApp, id: string, who = 'ada') {
	await app.slack.as(who).command('#agents', `/session history ${id}`);
	return app.slack.as(who).waitForModal((modal) => modal.title() === 'History');
}

describe('the history of a session', () => {
	it('lists who answered what and when, newest first, with secrets hidden', async ({ app }) => {
		ask(app, 'h1', 'Colour');
		await answer(app, 'h1', 'ada', 'blue');
		ask(app, 'h1', 'Password');
		await answer(app, 'h1', 'grace', 'hunter2-1618');
		const text = (await history(app, 'h1')).text();
		expect(text).toContain('2 answers to session h1, newest first.');
		expect(text.indexOf('@grace')).toBeLessThan(text.indexOf('@ada'));
		expect(text).toContain('Colour\n> blue');
		expect(text).toContain(`Password\n${REMOVED_ANSWER}`);
		// Nothing failed, so the stages tell nothing.
		expect(text.split(`${line('resumed')} · 5 Jan 2026, `)).toHaveLength(3);
		expect(text).not.toContain('💾 Saved');
		expect(await app.said()).not.toContain('hunter2-1618');
	});

	it('opens from the window, which keeps what is typed', async ({ app }) => {
		ask(app, 'h6', 'Colour');
		await answer(app, 'h6', 'grace', 'blue');
		ask(app, 'h6', 'Shade');
		const form = await openSession(app, 'h6');
		await form.fill(0, 'dark');
		await form.press('History');
		const modal = await app.slack.as('ada').waitForModal((shown) => shown.title() === 'History');
		expect(modal.text()).toContain('One answer to session h6');
		await modal.close();
		const again = await app.slack.as('ada').waitForModal((shown) => shown.submitText() === 'Send answer');
		expect(again.value(0)).toBe('dark');
	});

	it('says in a message when Slack does not open it', async ({ app }) => {
		ask(app, 'h7', 'Colour');
		const form = await openSession(app, 'h7', 'grace');
		app.slack.faults.add({ method: 'views.push', error: 'expired_trigger_id' });
		await form.press('History');
		const told = await app.slack.as('grace').waitForMessage('#agents', 'press History');
		expect(told.isEphemeral()).toBe(true);
	});

	it('says that nobody has answered yet, reads nothing from the service, and replies when the trigger has expired', async ({
		app,
	}) => {
		const reads = app.service.log.reads().length;
		expect((await history(app, 'h4')).text()).toContain(said(historyWords('h4', 0)));
		expect(app.service.log.reads()).toHaveLength(reads);
		app.slack.faults.add({ method: 'views.open', error: 'expired_trigger_id' });
		await app.slack.as('ada').command('#agents', '/session history h1');
		const told = await app.slack.as('ada').waitForMessage('#agents', (message) => message.isEphemeral());
		expect(told.text()).toMatch(/try again|Slack/i);
	});
});
