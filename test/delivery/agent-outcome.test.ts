import type { AgentOutcome } from '../../src/domain/answer.ts';
import { receiptExplanation } from '../../src/screens/receipt.ts';
import {
	askingSession,
	describe,
	done,
	expect,
	headline,
	type Modal,
	openSession,
	said,
	startTimedApp,
	type TimedApp,
	withApp,
} from '../kit.ts';
import { answerOf } from '../slack/support/answers.ts';

const it = withApp(() => startTimedApp({ service: { resumeAfterMs: 3_600_000 } }));
const ada = (app: TimedApp) => app.slack.as('ada');
const dms = (app: TimedApp, id: string) => ada(app).dm(id);
const told = (app: TimedApp, id: string, words: string) =>
	app.until(
		() => dms(app, id).some((message) => message.text().includes(words)),
		() => `no direct message says "${words}"`,
	);

function ask(app: TimedApp): string {
	app.service.sessions.put('asks', askingSession(['Name']));
	return 'asks';
}

/** Ada's answer. `meanwhile`: before she sends it. */
async function submit(app: TimedApp, id: string, meanwhile = () => {}): Promise<Modal> {
	const modal = await openSession(app, id);
	await modal.fill(0, 'Ada');
	meanwhile();
	expect((await modal.submit()).outcome).toBe('updated');
	return modal;
}

/** Slack keeps a view when its client is reloaded: updates succeed, and nobody sees them. */
async function reloadAfterDelivery(app: TimedApp, id: string): Promise<void> {
	await submit(app, id);
	await app.shows(headline('delivered'));
	ada(app).reload();
	await app.clock.advance(8_000);
}

/** The confirmation checks have ended by then. */
const LOOKS_MS = 650_000;

function overwrite(app: TimedApp, id: string): void {
	for (const item of app.service.sessions.get(id).messages?.[1]?.human_input ?? []) item.value = 'Somebody else';
	app.service.sessions.patch(id, {});
}

const BAD_ENDS: readonly (readonly [AgentOutcome, end: (app: TimedApp, id: string) => void])[] = [
	['failed', (app, id) => app.service.sessions.setStatus(id, 'failed')],
	['stopped', (app, id) => app.service.sessions.setStatus(id, 'stopped')],
	['overwritten', overwrite],
];

const REPORTED = headline('delivered', { startFailed: true });

/** An answer that the service saves with status 500, because it cannot start the agent's machine. */
async function answerSavedWith500(app: TimedApp, id: string): Promise<Modal> {
	app.service.sessions.put(id, askingSession(['Name'], { podStatus: 'stopped' }));
	const modal = await openSession(app, id);
	await modal.fill(0, 'Ada');
	await modal.submit();
	await app.shows(REPORTED);
	return modal;
}

it('says that the agent may not have been started, and whom to ask, and does not send again by itself', async ({
	app,
}) => {
	const modal = await answerSavedWith500(app, 'start');
	const reported = answerOf({ state: 'delivered', startFailed: true });
	expect(modal.text()).toContain(said(receiptExplanation(reported, { adminContact: null, now: 0 })));
	expect(modal.buttons()).toContain('Open session');
	await app.pass(LOOKS_MS);
	expect(app.service.log.savedPuts('start')).toHaveLength(1);
});

it('says so no longer once the agent has continued', async ({ app }) => {
	await answerSavedWith500(app, 'start-late');
	app.service.sessions.push('start-late', done('On it.'));
	app.service.sessions.setStatus('start-late', 'active');
	await app.shows(headline('resumed'));
});

describe('the modal says how the session went on', () => {
	it('shows that the session has completed', async ({ app }) => {
		const id = ask(app);
		app.service.hooks.onSaved = () => app.service.sessions.setStatus(id, 'completed');
		await submit(app, id);
		await app.shows(headline('delivered', { agentOutcome: 'completed' }));
		expect(app.service.log.effectivePuts(id)).toHaveLength(1);
	});

	it('shows no sign of the agent after two minutes', async ({ app }) => {
		const id = ask(app);
		app.service.hooks.onSaved = () => app.service.sessions.setStatus(id, 'inactive');
		await submit(app, id);
		await app.shows(headline('delivered'));
		app.service.sessions.setStatus(id, 'humanInput');
		await app.shows(headline('delivered', { agentOutcome: 'unseen' }));
	});
});

describe('a person whose client was reloaded after Send', () => {
	it.for(BAD_ENDS)(
		'tells a person with a reloaded client in one direct message: arrived, %s',
		async ([agentOutcome, end], { app }) => {
			const id = ask(app);
			await reloadAfterDelivery(app, id);
			end(app, id);
			await told(app, id, headline('delivered', { agentOutcome }));
			await app.pass(LOOKS_MS);
			expect(dms(app, id)).toHaveLength(1);
		},
	);

	it('tells a person with a reloaded client in one direct message that the answer was not sent', async ({ app }) => {
		const id = ask(app);
		await submit(app, id, () => app.service.faults.add({ kind: 'unauthorized', sessionId: id }));
		await app.shows(headline('accepted', { lastError: 'unauthorized' }));
		ada(app).reload();
		app.service.sessions.answerAsPage(id, ['Grace']);
		await app.clock.advance(8_000);
		app.service.faults.clear();
		await told(app, id, headline('conflicted'));
		expect(dms(app, id)).toHaveLength(1);
		expect(dms(app, id)[0]?.text()).toContain('> Ada');
	});

	it('tells a person with a reloaded client in one direct message that the agent may be stopped', async ({ app }) => {
		const id = ask(app);
		app.service.faults.add({ kind: 'error', method: 'PUT', sessionId: id, saves: true, times: 1 });
		await submit(app, id);
		await app.shows(headline('delivered', { startFailed: true }));
		ada(app).reload();
		expect(dms(app, id)).toEqual([]);
		await told(app, id, headline('delivered', { startFailed: true }));
		await app.pass(LOOKS_MS);
		expect(dms(app, id)).toHaveLength(1);
		expect(dms(app, id)[0]?.buttons()).toEqual(['Open session']);
	});
});

describe('a person who looks at the window', () => {
	it.for(BAD_ENDS)(
		'sends no direct message when the open modal says within seconds: arrived, %s',
		async ([agentOutcome, end], { app }) => {
			const id = ask(app);
			app.service.hooks.onSaved = () => end(app, id);
			await submit(app, id);
			await app.shows(headline('delivered', { agentOutcome }));
			await app.pass(LOOKS_MS);
			expect(dms(app, id)).toEqual([]);
		},
	);
});
