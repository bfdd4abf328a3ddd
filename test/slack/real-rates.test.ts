import { describe, expect, headline, type TrafficEntry, watchingApp, withApp } from '../kit.ts';

/** More sessions, each with a step every few seconds, than a workspace's 50 updates a minute could show one by one. */
const SESSIONS = 12;
const STEP_EVERY_MS = 8_000;
const WATCHED_MS = 2 * 60_000;
/** How long Slack refuses receipts in one test. */
const REFUSED_MS = 45_000;

const it = withApp(() => watchingApp({ realRates: true }));

const refused = (entries: readonly TrafficEntry[]) => entries.filter(({ status }) => status === 429);

/** The most calls that lie within one minute of the clock. */
function mostInAMinute(entries: readonly TrafficEntry[]): number {
	return Math.max(0, ...entries.map(({ at }) => entries.filter((one) => one.at >= at && one.at < at + 60_000).length));
}

describe('with the rates of the real Slack', () => {
	it('answers a question without a refused call', async ({ app }) => {
		const from = app.now();
		const ada = app.slack.as('ada');
		const id = app.session();
		app.ask(id);
		await ada.command('#agents', `/session ${id}`);
		const form = await ada.waitForModal('Which colour?');
		await form.fill('Which colour?', 'blue');
		expect((await form.submit()).outcome).toBe('updated');
		await app.until(() => app.service.log.savedPuts(id).length === 1);
		await app.until(() => ada.modal()?.text().includes('blue'));
		expect(refused(app.slack.traffic.all().filter(({ seq }) => seq > from))).toEqual([]);
	});

	it('fills a modal when Slack accepts calls again', async ({ app }) => {
		const ada = app.slack.as('ada', 'refused window');
		const id = app.session();
		app.ask(id);
		const from = app.now();
		const startedAt = app.clock.now();
		app.slack.faults.rateLimit('views.update', { retryAfter: REFUSED_MS / 1_000 + 1, untilMs: startedAt + REFUSED_MS });
		await ada.command('#agents', `/session ${id}`);
		await ada.waitForModal('Looking at session');
		await app.until(() => ada.modal()?.text().includes('Which colour?'));
		expect(app.clock.now() - startedAt).toBeLessThan(REFUSED_MS + 10_000);
		const own = app.calls('views.update', from).filter(({ request }) => JSON.stringify(request).includes(id));
		expect(refused(own)).toHaveLength(1);
		expect(app.calls('chat.postEphemeral', from)).toEqual([]);
	});

	it('sends a receipt when Slack accepts calls again, and does not try before', async ({ app }) => {
		const ada = app.slack.as('ada', 'refused receipts');
		const id = app.session();
		app.ask(id);
		await ada.command('#agents', `/session ${id}`);
		const form = await ada.waitForModal('Which colour?');
		await form.fill('Which colour?', 'blue');
		const from = app.now();
		const submittedAt = app.clock.now();
		app.slack.faults.rateLimit('views.update', { retryAfter: REFUSED_MS / 1_000, untilMs: submittedAt + REFUSED_MS });
		expect((await form.submit()).outcome).toBe('updated');
		await app.until(() => app.service.log.savedPuts(id).length === 1);
		app.step(id, 'I order blue ones.');
		app.service.sessions.setStatus(id, 'active');
		await app.until(() => ada.modal()?.text().includes(headline('resumed')));
		expect(app.clock.now() - submittedAt).toBeLessThan(REFUSED_MS + 10_000);
		// At the delivery and with the first looks whether the agent went on: then Slack is left alone.
		expect(refused(app.calls('views.update', from)).length).toBeLessThanOrEqual(3);
		expect(ada.dm()).toEqual([]);
	});

	it('keeps the cards of a busy channel within the rate limits and up to date at the end', {
		timeout: 120_000,
	}, async ({ app }) => {
		const from = app.now();
		const ids = Array.from({ length: SESSIONS }, () => app.session());
		await app.command(`/session watch ${ids.join(' ')}`);
		await app.until(() => ids.every((id) => app.card(id)));
		let step = 0;
		for (const end = app.clock.now() + WATCHED_MS; app.clock.now() < end; ) {
			step += 1;
			for (const id of ids) app.step(id, `I look at offer ${step}.`);
			await app.pass(STEP_EVERY_MS);
		}
		// Card updates do not delay a person.
		const answer = await app.command('/session list');
		expect(answer.text()).toContain(`${SESSIONS} sessions`);
		for (const id of ids) {
			app.step(id, 'I close the shop.');
			app.service.sessions.setStatus(id, 'completed');
		}
		for (const id of ids) await app.cardSays(id, /Done|Finished|completed/i);
		const updates = app.calls('chat.update', from);
		// Refused calls count too: an app that goes on calling is no better than one that knows no limit.
		expect(mostInAMinute(updates)).toBeLessThanOrEqual(50);
		expect(refused(updates)).toEqual([]);
		expect(refused(app.calls('chat.postMessage', from))).toEqual([]);
	});
});
