import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Modal } from '../../../fake-slack/index.ts';
import { askingSession } from '../../../sandbox/session-service/builders.ts';
import type { AgentOutcome } from '../../../src/questions/answer.ts';
import { type App, openSession } from '../../slack/support/open-session.ts';
import { startTimedApp } from '../../slack/support/timed-app.ts';
import { headline } from '../../support/sentences.ts';

/** Slack keeps a view when its client is reloaded: updates succeed, and nobody sees them. */

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

async function submit(id: string): Promise<Modal> {
	const modal = await openSession(app, id);
	await modal.fill(0, 'Ada');
	expect((await modal.submit()).outcome).toBe('updated');
	return modal;
}

async function deliver(id: string): Promise<void> {
	await submit(id);
	await timed.shows(headline('delivered'));
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

describe('a person whose client was reloaded after Send', () => {
	it.each(BAD_ENDS)(
		'tells a person with a reloaded client in one direct message: arrived, %s',
		async (agentOutcome, end) => {
			const id = ask();
			await deliver(id);
			ada().reload();
			await timed.clock.advance(8_000);
			end(id);
			await told(id, headline('delivered', { agentOutcome }));
			await passLooks();
			expect(dms(id)).toHaveLength(1);
		},
	);

	it('tells a person with a reloaded client in one direct message that the answer was not sent', async () => {
		const id = ask();
		const form = await openSession(app, id);
		await form.fill(0, 'Ada');
		app.service.faults.add({ kind: 'unauthorized', sessionId: id });
		await form.submit();
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
		expect(dms(id)[0]?.buttons()).toContain('Send again');
	});

	it('tells a person with a reloaded client when Slack accepts the message', async () => {
		const id = ask();
		await deliver(id);
		ada().reload();
		await timed.clock.advance(8_000);
		const fault = { method: 'chat.postMessage', status: 503, times: 1 };
		app.slack.faults.add(fault);
		app.service.sessions.setStatus(id, 'failed');
		await told(id, headline('delivered', { agentOutcome: 'failed' }));
		await passLooks();
		expect(dms(id)).toHaveLength(1);
	});

	it('sends no direct message to a reloaded client when the delivery succeeds', async () => {
		const id = ask();
		await deliver(id);
		ada().reload();
		await timed.clock.advance(8_000);
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
			delete app.service.hooks.onSaved;
			await passLooks();
			expect(dms(id)).toEqual([]);
		},
	);
});
