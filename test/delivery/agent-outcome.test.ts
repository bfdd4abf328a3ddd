import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { askingSession, done } from '../../fake-session-service/builders.ts';
import type { Modal } from '../../fake-slack/index.ts';
import type { AgentOutcome } from '../../src/domain/answer.ts';
import { receiptExplanation } from '../../src/screens/receipt.ts';
import { answerOf } from '../slack/support/answers.ts';
import { type App, openSession } from '../slack/support/open-session.ts';
import { startTimedApp } from '../slack/support/timed-app.ts';
import { said } from '../support/said.ts';
import { headline } from '../support/sentences.ts';

let timed: Awaited<ReturnType<typeof startTimedApp>>;
let app: App;
beforeAll(async () => {
	timed = await startTimedApp({ service: { resumeAfterMs: 3_600_000 } });
	app = timed.app;
});
afterAll(() => timed[Symbol.asyncDispose]());
afterEach(async () => {
	app.service.faults.clear();
	app.slack.faults.clear();
	delete app.service.hooks.onSaved;
	await ada().modal()?.close(true);
	expect(app.slack.violations()).toEqual([]);
});

const ada = () => app.slack.as('ada');
const dms = (id: string) => ada().dm(id);
const told = (id: string, words: string) =>
	timed.until(
		() => dms(id).some((message) => message.text().includes(words)),
		() => `no direct message says "${words}"`,
	);

let count = 0;
function ask(): string {
	const id = `asks-${++count}`;
	app.service.sessions.put(id, askingSession(['Name']));
	return id;
}

/** Ada's answer. `meanwhile`: before she sends it. */
async function submit(id: string, meanwhile = () => {}): Promise<Modal> {
	const modal = await openSession(app, id);
	await modal.fill(0, 'Ada');
	meanwhile();
	expect((await modal.submit()).outcome).toBe('updated');
	return modal;
}

/** Slack keeps a view when its client is reloaded: updates succeed, and nobody sees them. */
async function reloadAfterDelivery(id: string): Promise<void> {
	await submit(id);
	await timed.shows(headline('delivered'));
	ada().reload();
	await timed.clock.advance(8_000);
}

/** Resolves when the confirmation checks have ended. */
async function passLooks(): Promise<void> {
	const end = timed.clock.now() + 650_000;
	await timed.until(() => timed.clock.now() > end);
}

function overwrite(id: string): void {
	for (const item of app.service.sessions.get(id).messages?.[1]?.human_input ?? []) item.value = 'Somebody else';
	app.service.sessions.patch(id, {});
}

const BAD_ENDS: readonly (readonly [agentOutcome: AgentOutcome, end: (id: string) => void])[] = [
	['failed', (id) => app.service.sessions.setStatus(id, 'failed')],
	['stopped', (id) => app.service.sessions.setStatus(id, 'stopped')],
	['overwritten', overwrite],
];

const REPORTED = headline('delivered', { startFailed: true });

/** An answer that the service saves with status 500, because it cannot start the agent's machine. */
async function answerSavedWith500(id: string): Promise<Modal> {
	app.service.sessions.put(id, askingSession(['Name'], { podStatus: 'stopped' }));
	const modal = await openSession(app, id);
	await modal.fill(0, 'Ada');
	await modal.submit();
	await timed.shows(REPORTED);
	return modal;
}

it('says that the agent may not have been started, and whom to ask, and does not send again by itself', async () => {
	const modal = await answerSavedWith500('start');
	const reported = answerOf({ state: 'delivered', startFailed: true });
	expect(modal.text()).toContain(said(receiptExplanation(reported, { adminContact: null, now: 0 })));
	expect(modal.buttons()).toContain('Open session');
	await passLooks();
	expect(app.service.log.savedPuts('start')).toHaveLength(1);
});

it('says so no longer once the agent has continued', async () => {
	await answerSavedWith500('start-late');
	app.service.sessions.push('start-late', done('On it.'));
	app.service.sessions.setStatus('start-late', 'active');
	await timed.shows(headline('resumed'));
});

it('sends the author a direct message when the modal is closed', async () => {
	app.service.sessions.put('start-dm', askingSession(['Name'], { podStatus: 'stopped' }));
	await (await submit('start-dm')).close();
	await told('start-dm', REPORTED);
});

describe('the modal says how the session went on', () => {
	it.each(['failed', 'stopped', 'completed'] as const)('shows that the session has %s', async (status) => {
		const id = ask();
		app.service.hooks.onSaved = () => app.service.sessions.setStatus(id, status);
		await submit(id);
		await timed.shows(headline('delivered', { agentOutcome: status }));
		expect(app.service.log.effectivePuts(id)).toHaveLength(1);
	});

	it('shows no sign of the agent after two minutes', async () => {
		const id = ask();
		app.service.hooks.onSaved = () => app.service.sessions.setStatus(id, 'inactive');
		await submit(id);
		await timed.shows(headline('delivered'));
		app.service.sessions.setStatus(id, 'humanInput');
		await timed.shows(headline('delivered', { agentOutcome: 'unseen' }));
	});
});

describe('a person whose client was reloaded after Send', () => {
	it.each(BAD_ENDS)(
		'tells a person with a reloaded client in one direct message: arrived, %s',
		async (agentOutcome, end) => {
			const id = ask();
			await reloadAfterDelivery(id);
			end(id);
			await told(id, headline('delivered', { agentOutcome }));
			await passLooks();
			expect(dms(id)).toHaveLength(1);
		},
	);

	it('tells a person with a reloaded client in one direct message that the answer was not sent', async () => {
		const id = ask();
		await submit(id, () => app.service.faults.add({ kind: 'unauthorized', sessionId: id }));
		await timed.shows(headline('accepted', { lastError: 'unauthorized' }));
		ada().reload();
		app.service.sessions.answerAsPage(id, ['Grace']);
		await timed.clock.advance(8_000);
		app.service.faults.clear();
		await told(id, headline('conflicted'));
		expect(dms(id)).toHaveLength(1);
		expect(dms(id)[0]?.text()).toContain('> Ada');
	});

	it('tells a person with a reloaded client in one direct message that the agent may be stopped', async () => {
		const id = ask();
		app.service.faults.add({ kind: 'error', method: 'PUT', sessionId: id, saves: true, times: 1 });
		await submit(id);
		await timed.shows(headline('delivered', { startFailed: true }));
		ada().reload();
		expect(dms(id)).toEqual([]);
		await told(id, headline('delivered', { startFailed: true }));
		await passLooks();
		expect(dms(id)).toHaveLength(1);
		expect(dms(id)[0]?.buttons()).toEqual(['Open session']);
	});

	it('tells a person with a reloaded client when Slack accepts the message', async () => {
		const id = ask();
		await reloadAfterDelivery(id);
		app.slack.faults.add({ method: 'chat.postMessage', status: 503, times: 1 });
		app.service.sessions.setStatus(id, 'failed');
		await told(id, headline('delivered', { agentOutcome: 'failed' }));
		await passLooks();
		expect(dms(id)).toHaveLength(1);
	});

	it('sends no direct message to a reloaded client when the delivery succeeds', async () => {
		const id = ask();
		await reloadAfterDelivery(id);
		app.service.sessions.push(id, { role: 'assistant', content: 'On I go.', human_input: [] });
		app.service.sessions.setStatus(id, 'active');
		await passLooks();
		expect(dms(id)).toEqual([]);
	});
});

describe('a person who looks at the window', () => {
	it.each(BAD_ENDS)(
		'sends no direct message when the open modal says within seconds: arrived, %s',
		async (agentOutcome, end) => {
			const id = ask();
			app.service.hooks.onSaved = () => end(id);
			await submit(id);
			await timed.shows(headline('delivered', { agentOutcome }));
			await passLooks();
			expect(dms(id)).toEqual([]);
		},
	);
});
