import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { askingSession, done } from '../../fake-session-service/builders.ts';
import type { AgentOutcome } from '../../src/domain/answer.ts';
import { type App, openSession } from '../slack/support/open-session.ts';
import { startTimedApp } from '../slack/support/timed-app.ts';
import { headline } from '../support/sentences.ts';

/* Nobody watches these sessions: only the answer knows what reads have shown. */

let timed: Awaited<ReturnType<typeof startTimedApp>>;
let app: App;
beforeAll(async () => {
	timed = await startTimedApp({ service: { resumeAfterMs: 24 * 3_600_000 } });
	app = timed.app;
});
afterAll(() => timed[Symbol.asyncDispose]());
afterEach(async () => {
	for (const who of ['ada', 'grace']) await app.slack.as(who).modal()?.close(true);
	expect(app.slack.violations()).toEqual([]);
});

let count = 0;
/** Ada answers, and the agent empties the field as soon as the service has it. */
async function answered(status: string) {
	const id = `emptied-${++count}`;
	app.service.sessions.put(id, askingSession(['Name'], { status }));
	const modal = await openSession(app, id);
	await modal.fill(0, 'Ada');
	await modal.submit();
	await timed.until(() => app.service.log.savedPuts(id).length === 1);
	const messages = structuredClone(app.service.sessions.get(id).messages ?? []);
	for (const item of messages.findLast((one) => one.human_input?.length)?.human_input ?? []) item.value = '';
	app.service.sessions.patch(id, { messages });
	return { id, modal };
}

const says = (agentOutcome: AgentOutcome | null) => headline('delivered', { agentOutcome });
const step = (id: string) => app.service.sessions.push(id, done('I go on.'));

/** What Grace sees when she opens the session. */
async function opened(id: string) {
	const grace = app.slack.as('grace');
	await grace.command('#agents', `/session ${id}`);
	const modal = await grace.waitForModal((one) => one.text().includes('step '));
	const found = { text: modal.text(), buttons: modal.buttons(), isForm: modal.submitText() !== null };
	await modal.close(true);
	return found;
}

it('continued once the agent writes a message: nobody is asked again', async () => {
	const { id, modal } = await answered('humanInput');
	app.service.sessions.setStatus(id, 'active');
	await timed.until(() => modal.text().includes(headline('delivered')));
	expect((await opened(id)).isForm).toBe(false);
	expect(modal.text()).not.toContain('continued');
	step(id);
	await timed.shows(headline('resumed'));
	expect((await opened(id)).isForm).toBe(false);
});

it('shows no sign of an agent that never waited and writes nothing', async () => {
	const { id, modal } = await answered('inactive');
	await timed.shows(says('unseen'));
	const seen = await opened(id);
	expect(seen).toMatchObject({ isForm: false, buttons: expect.arrayContaining(['Answer again…']) });
	expect(seen.text).toContain('The field is empty now.');
	expect(modal.text()).not.toContain('continued');
});

it('is lost where the agent still waits after a minute: everybody can answer', async () => {
	const { id, modal } = await answered('humanInput');
	await timed.shows('Delivered');
	expect((await opened(id)).isForm).toBe(false);
	await timed.shows(says('lost'));
	expect(modal.buttons()).toContain('Answer again');
	expect((await opened(id)).isForm).toBe(true);
	await modal.press('Answer again');
	const form = await app.slack.as('ada').waitForModal((one) => one.submitText() !== null);
	expect(form.fields()[0]?.value).toBe('Ada');
	await form.submit();
	await timed.until(() => app.service.log.savedPuts(id).length === 2);
});
