import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Modal } from '../../../fake-slack/index.ts';
import { askingSession } from '../../../sandbox/session-service/builders.ts';
import { itemsOf } from '../../../sandbox/session-service/log.ts';
import { startApp } from '../../support/app.ts';
import { type App, openSession } from '../support/open-session.ts';

let app: App;
beforeAll(async () => {
	app = await startApp({ service: { resumeAfterMs: 600_000 } });
});
afterAll(async () => {
	await app[Symbol.asyncDispose]();
});

const REPORTED = 'the session service reported a failure. The agent may not have been started';

/** An answer that the service saves with status 500, because it could not start the agent's machine. */
async function answerSavedWith500(id: string, title = 'Name', value = 'Ada'): Promise<Modal> {
	app.service.sessions.put(id, askingSession([title]));
	app.service.faults.add({ kind: 'error', method: 'PUT', sessionId: id, saves: true, times: 1 });
	const modal = await openSession(app, id);
	await modal.fill(0, value);
	await modal.submit();
	return app.slack.as('ada').waitForModal(REPORTED, 10_000);
}

it.each([
	['plain', 'Name', 'Ada'],
	['secret', 'Password', 'hunter2hunter2'],
])(
	'sends a %s answer again at its author’s request when it arrived without starting the agent',
	async (kind, title, value) => {
		const id = `start-${kind}`;
		const modal = await answerSavedWith500(id, title, value);
		expect(modal.buttons()).toContain('Send again');
		expect(app.service.log.savedPuts(id)).toHaveLength(1);

		await modal.press('Send again');
		const after = await app.slack
			.as('ada')
			.waitForModal('Your answer was delivered. Waiting for the agent to go on', 10_000);
		expect(after.buttons()).not.toContain('Send again');
		const puts = app.service.log.savedPuts(id);
		expect(puts).toHaveLength(2);
		expect(puts.map((put) => itemsOf(put).map((item) => item.value))).toEqual([[value], [value]]);
		await after.close();
	},
);

it('tells a second failure and does not send again by itself', async () => {
	const modal = await answerSavedWith500('start-twice');
	app.service.faults.add({ kind: 'error', method: 'PUT', sessionId: 'start-twice', saves: true, times: 1 });
	await modal.press('Send again');
	await app.slack.as('ada').waitForModal('It is being sent again', 10_000);
	const after = await app.slack
		.as('ada')
		.waitForModal((one) => one.text().includes(REPORTED) && one.buttons().includes('Send again'), 10_000);
	expect(app.service.log.savedPuts('start-twice')).toHaveLength(2);
	await after.close();
});

it('does not send again when the agent has written something since', async () => {
	const modal = await answerSavedWith500('start-late');
	app.service.sessions.push('start-late', { role: 'assistant', content: 'On it.' });
	await modal.press('Send again');
	const after = await app.slack.as('ada').waitForModal(/Nothing was sent|the agent went on/, 10_000);
	expect(app.service.log.savedPuts('start-late')).toHaveLength(1);
	await after.close();
});

it('sends the author a direct message when the modal is closed', async () => {
	app.service.sessions.put('start-dm', askingSession(['Name']));
	app.service.faults.add({ kind: 'error', method: 'PUT', sessionId: 'start-dm', saves: true, times: 1 });
	const modal = await openSession(app, 'start-dm');
	await modal.fill(0, 'Ada');
	await modal.submit();
	await modal.close();
	await app.slack.as('ada').waitForMessage('dm', /reported a failure.*start-dm/s, 10_000);
});
