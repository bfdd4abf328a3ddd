import type { AgentOutcome } from '../../src/domain/answer.ts';
import { askingSession, done, expect, headline, openSession, startTimedApp, type TimedApp, withApp } from '../kit.ts';

/* Nobody watches these sessions: only the answer knows what reads have shown. */

const it = withApp(() => startTimedApp({ service: { resumeAfterMs: 24 * 3_600_000 } }));
/** Ada answers, and the agent empties the field as soon as the service has it. */
async function answered(app: TimedApp, status: string) {
	const id = 'emptied';
	app.service.sessions.put(id, askingSession(['Name'], { status }));
	const modal = await openSession(app, id);
	await modal.fill(0, 'Ada');
	await modal.submit();
	await app.until(() => app.service.log.savedPuts(id).length === 1);
	const messages = structuredClone(app.service.sessions.get(id).messages ?? []);
	for (const item of messages.findLast((one) => one.human_input?.length)?.human_input ?? []) item.value = '';
	app.service.sessions.patch(id, { messages });
	return { id, modal };
}

const says = (agentOutcome: AgentOutcome | null) => headline('delivered', { agentOutcome });
const step = (app: TimedApp, id: string) => app.service.sessions.push(id, done('I go on.'));

/** What Grace sees when she opens the session. */
async function opened(app: TimedApp, id: string) {
	const grace = app.slack.as('grace');
	await grace.command('#agents', `/session ${id}`);
	const modal = await grace.waitForModal((one) => one.text().includes('step '));
	const found = { text: modal.text(), buttons: modal.buttons(), isForm: modal.submitText() !== null };
	await modal.close(true);
	return found;
}

it('continued once the agent writes a message: nobody is asked again', async ({ app }) => {
	const { id, modal } = await answered(app, 'humanInput');
	app.service.sessions.setStatus(id, 'active');
	await app.until(() => modal.text().includes(headline('delivered')));
	expect((await opened(app, id)).isForm).toBe(false);
	expect(modal.text()).not.toContain('continued');
	step(app, id);
	await app.shows(headline('resumed'));
	expect((await opened(app, id)).isForm).toBe(false);
});

it('shows no sign of an agent that never waited and writes nothing', async ({ app }) => {
	const { id, modal } = await answered(app, 'inactive');
	await app.shows(says('unseen'));
	const seen = await opened(app, id);
	expect(seen).toMatchObject({ isForm: false, buttons: expect.arrayContaining(['Answer again…']) });
	expect(seen.text).toContain('The field is empty now.');
	expect(modal.text()).not.toContain('continued');
});

it('is lost where the agent still waits after a minute: everybody can answer', async ({ app }) => {
	const { id, modal } = await answered(app, 'humanInput');
	await app.shows('Delivered');
	expect((await opened(app, id)).isForm).toBe(false);
	await app.shows(says('lost'));
	expect(modal.buttons()).toContain('Answer again');
	expect((await opened(app, id)).isForm).toBe(true);
	await modal.press('Answer again');
	const form = await app.slack.as('ada').waitForModal((one) => one.submitText() !== null);
	expect(form.fields()[0]?.value).toBe('Ada');
	await form.submit();
	await app.until(() => app.service.log.savedPuts(id).length === 2);
});
