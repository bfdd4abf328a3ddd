import {
	askingSession,
	DELIVERED,
	expect,
	headline,
	type Modal,
	openSession,
	startTimedApp,
	type TimedApp,
	whatHappened,
	withApp,
} from '../kit.ts';

/*
 * What the public implementation of the service does beyond its interface document: it has one sentence for every PUT that
 * fails, saved or not.
 */

const it = withApp(startTimedApp);
const CHECKING = headline('delivering', { lastError: 'unavailable' });

/** Ada answers a question of this session. `meanwhile`: while the service has loaded the session and not saved it yet. */
async function answered(app: TimedApp, id: string, meanwhile: () => unknown): Promise<Modal> {
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

const putByAnother = (app: TimedApp, id: string, value: string) =>
	fetch(`${app.service.url}/v1/sessions/${id}/update-human-input`, {
		method: 'PUT',
		headers: { 'x-api-key': app.service.apiKey, 'content-type': 'application/json' },
		body: JSON.stringify({
			sessionId: id,
			messageIndex: 1,
			humanInputResponse: [{ title: 'Colour', description: '', value }],
		}),
	});

it.for([
	['page', (app: TimedApp, id: string) => app.service.sessions.answerAsPage(id, ['green'])],
	['program', (app: TimedApp, id: string) => putByAnother(app, id, 'green')],
] as const)(
	'puts nothing over an answer that another %s gave at the same moment, and says what is known',
	async ([who, meanwhile], { app }) => {
		const id = `overlap-${who}`;
		const modal = await answered(app, id, () => meanwhile(app, id));
		await app.shows(CHECKING);
		expect(modal.text()).toContain(whatHappened('unavailable'));
		await app.shows(headline('conflicted', { putStartedAt: 1 }));
		for (const value of ['> green', '> blue']) expect(modal.text()).toContain(value);
		expect(app.service.sessions.values(id, 1)).toEqual(['green']);
		expect(app.service.log.savedPuts(id).filter(({ status }) => status !== 200)).toEqual([]);
	},
);

it('sends an answer again when the service did not save it and saved nothing else in its place', async ({ app }) => {
	const id = 'overlap-empty';
	await answered(app, id, () => putByAnother(app, id, ''));
	await app.shows(CHECKING);
	await app.shows(DELIVERED);
	expect(app.service.sessions.values(id, 1)).toEqual(['blue']);
});
