import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Modal } from '../../../fake-slack/index.ts';
import { askingSession } from '../../../sandbox/session-service/builders.ts';
import { itemsOf } from '../../../sandbox/session-service/log.ts';
import { receiptExplanation } from '../../../src/features/answer/receipt-view.ts';
import { answerOf } from '../../slack/support/answers.ts';
import { type App, openSession } from '../../slack/support/open-session.ts';
import { startTimedApp } from '../../slack/support/timed-app.ts';
import { headline, whatHappened } from '../../support/sentences.ts';

let timed: Awaited<ReturnType<typeof startTimedApp>>;
let app: App;
beforeAll(async () => {
	timed = await startTimedApp({ service: { resumeAfterMs: 3_600_000 } });
	app = timed.app;
});
afterAll(() => timed[Symbol.asyncDispose]());

const REPORTED = headline('delivered', { startFailed: true });

/** An answer that the service saves with status 500, because it cannot start the agent's machine. */
async function answerSavedWith500(id: string, title = 'Name', value = 'Ada'): Promise<Modal> {
	app.service.sessions.put(id, askingSession([title], { podStatus: 'stopped' }));
	const modal = await openSession(app, id);
	await modal.fill(0, value);
	await modal.submit();
	await timed.shows(REPORTED);
	return modal;
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

		// Somebody has started the machine.
		app.service.sessions.patch(id, { podStatus: 'running' });
		await modal.press('Send again');
		await timed.shows(headline('delivered'));
		expect(modal.buttons()).not.toContain('Send again');
		const puts = app.service.log.savedPuts(id);
		expect(puts).toHaveLength(2);
		expect(puts.map((put) => itemsOf(put).map((item) => item.value))).toEqual([[value], [value]]);
		await modal.close();
	},
);

it('says that the service reported the failure again, and does not send again by itself', async () => {
	const modal = await answerSavedWith500('start-twice');
	expect(modal.text()).not.toContain(whatHappened('still_not_started'));
	const again = answerOf({ state: 'delivered', startFailed: true, restartAskedAt: 1 });
	await modal.press('Send again');
	await timed.shows(receiptExplanation(again, { adminContact: null, now: 0 }));
	await timed.until(() => modal.text().includes(REPORTED) && modal.buttons().includes('Send again'));
	expect(modal.text()).toContain(whatHappened('still_not_started'));
	expect(app.service.log.savedPuts('start-twice')).toHaveLength(2);
	await modal.close();
});

it.each([
	['written something since', (id: string) => app.service.sessions.push(id, { role: 'assistant', content: 'On it.' })],
	[
		'replaced the text above the question since',
		(id: string) => {
			const messages = structuredClone(app.service.sessions.get(id).messages ?? []);
			for (const message of messages.slice(-1)) if (message) message.content = 'May I delete it?';
			app.service.sessions.patch(id, { messages });
		},
	],
])('does not send again when the agent has %s', async (what, act) => {
	const id = `start-late-${what.length}`;
	const modal = await answerSavedWith500(id);
	act(id);
	await modal.press('Send again');
	await timed.until(() =>
		[whatHappened('nothing_to_start'), headline('resumed')].some((words) => modal.text().includes(words)),
	);
	expect(app.service.log.savedPuts(id)).toHaveLength(1);
	await modal.close();
});

it('sends the author a direct message when the modal is closed', async () => {
	app.service.sessions.put('start-dm', askingSession(['Name'], { podStatus: 'stopped' }));
	const modal = await openSession(app, 'start-dm');
	await modal.fill(0, 'Ada');
	await modal.submit();
	await modal.close();
	const dms = () => app.slack.as('ada').dm();
	await timed.until(() => dms().some((dm) => dm.text().includes(REPORTED) && dm.text().includes('start-dm')));
});

describe('the modal says how the session went on', () => {
	async function answered(id: string, status: Parameters<typeof app.service.sessions.setStatus>[1]): Promise<Modal> {
		app.service.sessions.put(id, askingSession(['Name']));
		app.service.hooks.onSaved = () => app.service.sessions.setStatus(id, status);
		const modal = await openSession(app, id);
		await modal.fill(0, 'Ada');
		await modal.submit();
		return modal;
	}

	it.each(['failed', 'stopped', 'completed', 'paused'] as const)('shows that the session has %s', async (status) => {
		const modal = await answered(`then-${status}`, status);
		await timed.shows(headline('delivered', { agentOutcome: status }));
		delete app.service.hooks.onSaved;
		expect(app.service.log.effectivePuts(`then-${status}`)).toHaveLength(1);
		await modal.close();
	});

	it('shows that the agent has not moved for ten minutes', async () => {
		const modal = await answered('unseen', 'inactive');
		await timed.shows(headline('delivered'));
		app.service.sessions.setStatus('unseen', 'humanInput');
		await timed.shows(headline('delivered', { agentOutcome: 'unseen' }));
		delete app.service.hooks.onSaved;
		await modal.close();
	});
});
