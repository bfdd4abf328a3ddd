import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { askingSession } from '../../fake-session-service/builders.ts';
import type { Modal } from '../../fake-slack/index.ts';
import { type App, openSession } from '../slack/support/open-session.ts';
import { startTimedApp } from '../slack/support/timed-app.ts';
import { DELIVERED, headline, whatHappened } from '../support/sentences.ts';

/*
 * What the public implementation of the service does beyond its interface document: it has one sentence for every PUT that
 * fails, saved or not, and a redirect to its front page instead of a 401.
 */

let timed: Awaited<ReturnType<typeof startTimedApp>>;
let app: App;
beforeAll(async () => {
	timed = await startTimedApp();
	app = timed.app;
});
afterAll(() => timed[Symbol.asyncDispose]());
afterEach(async () => {
	app.service.faults.clear();
	delete app.service.hooks.onLoaded;
	await app.slack.as('ada').modal()?.close(true);
	expect(app.slack.violations()).toEqual([]);
});

const CHECKING = headline('delivering', { lastError: 'unavailable' });

/** Ada answers a question of this session. `meanwhile`: while the service has loaded the session and not saved it yet. */
async function answered(id: string, meanwhile: () => unknown): Promise<Modal> {
	app.service.sessions.put(id, askingSession(['Colour']));
	const modal = await openSession(app, id);
	await modal.fill(0, 'blue');
	app.service.hooks.onLoaded = async () => {
		delete app.service.hooks.onLoaded;
		await meanwhile();
	};
	await modal.submit();
	return modal;
}

const putByAnother = (id: string, value: string) =>
	fetch(`${app.service.url}/v1/sessions/${id}/update-human-input`, {
		method: 'PUT',
		headers: { 'x-api-key': app.service.apiKey, 'content-type': 'application/json' },
		body: JSON.stringify({
			sessionId: id,
			messageIndex: 1,
			humanInputResponse: [{ title: 'Colour', description: '', value }],
		}),
	});

it.each([
	['page', (id: string) => app.service.sessions.answerAsPage(id, ['green'])],
	['program', (id: string) => putByAnother(id, 'green')],
])(
	'puts nothing over an answer that another %s gave at the same moment, and says what is known',
	async (who, meanwhile) => {
		const id = `overlap-${who}`;
		const modal = await answered(id, () => meanwhile(id));
		await timed.shows(CHECKING);
		expect(modal.text()).toContain(whatHappened('unavailable'));
		await timed.shows(headline('conflicted', { putStartedAt: 1 }));
		for (const value of ['> green', '> blue']) expect(modal.text()).toContain(value);
		expect(app.service.sessions.values(id, 1)).toEqual(['green']);
		expect(app.service.log.savedPuts(id).filter(({ status }) => status !== 200)).toEqual([]);
	},
);

it('sends an answer again when the service did not save it and saved nothing else in its place', async () => {
	const id = 'overlap-empty';
	await answered(id, () => putByAnother(id, ''));
	await timed.shows(CHECKING);
	await timed.shows(DELIVERED);
	expect(app.service.sessions.values(id, 1)).toEqual(['blue']);
});

it('keeps an answer while the service redirects to its front page, and sends it afterwards', async () => {
	const id = 'redirects';
	app.service.sessions.put(id, askingSession(['Colour']));
	const modal = await openSession(app, id);
	await modal.fill(0, 'blue');
	app.service.faults.add({ kind: 'redirect', location: '/' });
	await modal.submit();
	await timed.shows(headline('accepted', { lastError: 'redirected' }));
	expect(modal.text()).toContain(whatHappened('redirected'));
	const since = timed.clock.now();
	await timed.until(() => timed.clock.now() - since > 60_000);
	expect(modal.text()).toContain(headline('accepted', { lastError: 'redirected' }));
	app.service.faults.clear();
	await timed.shows(DELIVERED);
	expect(app.service.log.savedPuts(id)).toHaveLength(1);
	expect(app.service.log.list({ kind: 'other' })).toEqual([]);
});
