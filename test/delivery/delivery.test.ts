import { setTimeout as delay } from 'node:timers/promises';
import { itemsOf } from '../../fake-session-service/log.ts';
import type { AgentOutcome } from '../../src/domain/answer.ts';
import {
	askingSession,
	callSlack,
	DELIVERED,
	describe,
	expect,
	headline,
	line,
	type Modal,
	openSession,
	startTimedApp,
	type TimedApp,
	whatHappened,
	withApp,
} from '../kit.ts';
import { tooComplex } from '../support/too-complex.ts';

const it = withApp(startTimedApp);
/** Creates a session whose agent asks two items and continues after the answer. */
function ask(app: TimedApp): string {
	app.service.sessions.put('asks', askingSession(['First', 'Second']));
	return 'asks';
}

async function fill(modal: Modal, ...texts: string[]): Promise<void> {
	for (const [field, text] of texts.entries()) await modal.fill(field, text);
}

/** Opens the form, fills it in and presses Submit; resolves to the modal after that. `meanwhile`: before Submit. */
async function submit(app: TimedApp, id: string, meanwhile: () => unknown = () => undefined): Promise<Modal> {
	const modal = await openSession(app, id);
	await fill(modal, 'Ada', 'Grace');
	await meanwhile();
	const result = await modal.submit();
	expect(result).toMatchObject({ outcome: 'updated', trouble: null });
	return modal;
}

const effective = (app: TimedApp, id: string) => app.service.log.effectivePuts(id);

describe('an answer is delivered once', () => {
	it('shows saved, delivered and resumed in the modal, each with its time', async ({ app }) => {
		const id = ask(app);
		const { release } = app.holdPuts();
		const modal = await submit(app, id);
		expect(modal.text()).toContain(headline('accepted'));
		expect(modal.submitText()).toBeNull();
		release();
		await app.shows(headline('delivered'));
		expect(modal.text()).toMatch(/\n\d+ \w+ 2026, \d\d:\d\d UTC Session/);
		expect(modal.text()).not.toContain(line('resumed'));
		await app.shows(headline('resumed'));
		expect(modal.text()).toMatch(/\n\d+ \w+ 2026, \d\d:\d\d UTC Session/);
		expect(app.service.log.puts(id)).toHaveLength(1);
		expect(app.slack.as('ada').dm()).toEqual([]);
	});

	it('sends items of others back exactly as the service has them', async ({ app }) => {
		const id = ask(app);
		const items = JSON.parse(
			`[{"title":"First","description":"","value":2},{"title":"Second","description":null,"value":""},
			{"title":{"en":"Third","__proto__":1},"description":["a"],"value":null},
			{"title":7,"description":false,"value":{"cm":5,"of":[1.5,true,null]}},{"title":"Left","description":"","value":true}]`,
		);
		app.service.sessions.patch(id, {
			messages: [{ role: 'user' }, { role: 'assistant', content: 'I ask.', human_input: items }],
		});
		const modal = await openSession(app, id);
		expect(modal.text()).toContain('First\n> 2');
		await fill(modal, 'Ada', 'Grace');
		await modal.submit();
		await app.shows(DELIVERED);
		const put = effective(app, id)[0];
		expect(put === undefined ? '' : JSON.stringify(itemsOf(put))).toBe(
			JSON.stringify(items)
				.replace('"description":null,"value":""', '"description":null,"value":"Ada"')
				.replace('"description":["a"],"value":null', '"description":["a"],"value":"Grace"'),
		);
	});

	it('finishes the PUT under way when the program stops, and does not repeat it', async ({ app }) => {
		const id = ask(app);
		const { arrived, release } = app.holdPuts();
		await submit(app, id);
		await arrived;
		const restarted = app.restart();
		await app.slack.changes.until(
			() => app.slack.sockets.count() === 0,
			() => 'The sockets are open.',
		);
		// Long enough for whatever would cut the PUT.
		for (let turn = 0; turn < 50; turn++) await delay(1);
		release();
		await restarted;
		await app.shows(headline('resumed'));
		expect(app.service.log.puts(id)).toHaveLength(1);
		expect(app.service.log.puts(id)[0]?.clientGone).toBe(false);
	});
});

describe('a closed modal', () => {
	const overwrite = (app: TimedApp, id: string) => {
		for (const item of app.service.sessions.get(id).messages?.[1]?.human_input ?? []) item.value = 'Somebody else';
		app.service.sessions.setStatus(id, 'humanInput');
	};
	/** Submits and closes the modal during the PUT; the session gets `status` after it. */
	async function closeAndDeliver(app: TimedApp, id: string, goOn: () => void): Promise<void> {
		const { release } = app.holdPuts();
		app.service.hooks.onSaved = goOn;
		await (await submit(app, id)).close();
		release();
		await app.until(() => effective(app, id).length > 0);
	}

	it.for([
		['one direct message', 'the session failed', 'failed'],
		['one direct message', 'somebody overwrote it', 'overwritten'],
		['no direct message', 'the session goes on', 'active'],
		['no direct message', 'the session completed', 'completed'],
	] as const)("sends %s to a closed modal's author when %s after the delivery", async ([what, , outcome], { app }) => {
		const id = ask(app);
		await closeAndDeliver(app, id, () =>
			outcome === 'overwritten' ? overwrite(app, id) : app.service.sessions.setStatus(id, outcome),
		);
		// The confirmation checks have ended by then.
		await app.pass(700_000);
		const told = what === 'one direct message' ? [line('delivered', { agentOutcome: outcome as AgentOutcome })] : [];
		expect(
			app.slack
				.as('ada')
				.dm(id)
				.map((message) => message.notification()),
		).toEqual(told.map((words) => expect.stringContaining(words)));
	});

	it('sends another direct message with news when the first was deleted', async ({ app }) => {
		const id = ask(app);
		await (await submit(app, id, () => app.service.goDown())).close();
		const dms = () => app.slack.as('ada').dm(id);
		const says = (words: string) => app.until(() => dms().some((message) => message.text().includes(words)));
		await says(headline('accepted', { lastError: 'unavailable' }));
		const { channel, ts } = dms()[0] ?? {};
		await callSlack(app.slack, 'chat.delete', { channel, ts });
		await app.service.comeBack();
		await says(headline('resumed'));
		expect(dms()).toHaveLength(1);
		expect(app.service.log.puts(id)).toHaveLength(1);
	});
});

describe('an answer that is refused for good', () => {
	it('keeps its text, and is sent again after a restart', async ({ app }) => {
		const id = ask(app);
		const modal = await submit(app, id, () => app.service.faults.add(tooComplex(id)));
		await app.shows(headline('refused'));
		expect(modal.text()).toContain(whatHappened('body_too_complex'));
		expect(modal.text()).toContain('> Ada');
		expect(modal.text()).toContain('> Grace');
		await app.restart();
		app.service.faults.clear();
		expect(await modal.press('Try again')).toBe(true);
		await app.shows(headline('resumed'));
		expect(effective(app, id)).toHaveLength(1);
	});

	it('shows once, where its author presses Try again, that somebody else has answered since', async ({ app }) => {
		const id = ask(app);
		const modal = await submit(app, id, () => app.service.faults.add(tooComplex(id)));
		await app.shows(headline('refused'));
		app.service.faults.clear();
		const grace = await openSession(app, id, 'grace');
		await fill(grace, 'Barbara', 'Mary');
		await grace.submit();
		await app.shows(headline('resumed'), 'grace');
		await modal.press('Try again');
		await app.shows(/Not sent: somebody else answered first/);
		const from = app.slack.traffic.all().length;
		await app.pass(60_000);
		expect(app.slack.traffic.all().slice(from)).toEqual([]);
		expect(app.slack.as('ada').dm(id)).toEqual([]);
	});

	it('tells a refused answer in a direct message with the same button when the modal is closed', async ({ app }) => {
		const id = ask(app);
		function breakReads(): void {
			app.service.faults.add({ kind: 'late', ms: 1_000, method: 'GET', sessionId: id });
			app.service.faults.add(tooComplex(id));
		}
		await (await submit(app, id, breakReads)).close();
		const ada = app.slack.as('ada');
		const dm = () => ada.dm(id)[0];
		await app.until(() => dm() !== undefined);
		expect(dm()?.text()).toContain(headline('refused'));
		expect(dm()?.text()).toContain('> Grace');
		app.service.faults.clear();
		await dm()?.press('Try again');
		await app.until(() => dm()?.text().includes(headline('resumed')) ?? false);
		expect(effective(app, id)).toHaveLength(1);
		expect(ada.dm(id)).toHaveLength(1);
	});

	it('asks for a secret again after it was wiped', async ({ app }) => {
		const id = app.service.sessions.start('code', 'code');
		const modal = await openSession(app, id);
		await modal.fill(0, '314159');
		app.service.faults.add(tooComplex(id));
		await modal.submit();
		await app.shows(headline('refused'));
		expect(modal.text()).not.toContain('314159');
		app.service.faults.clear();
		await modal.press('Try again');
		await app.shows('One-time code');
		const again = await app.slack.as('ada').waitForModal((now) => now.submitText() !== null);
		expect(again.value(0)).toBeNull();
		await again.fill(0, '271828');
		expect((await again.submit()).outcome).toBe('updated');
		await app.shows(DELIVERED);
		expect(effective(app, id).map(itemsOf)[0]?.[0]?.value).toBe('271828');
		expect(await app.said()).not.toMatch(/314159|271828/);
	});
});

it('does not send an answer that its author gave up', async ({ app }) => {
	const id = ask(app);
	app.service.faults.add({ kind: 'unauthorized', sessionId: id, method: 'PUT' });
	const modal = await submit(app, id);
	await app.shows(whatHappened('unauthorized'));
	await modal.press('Discard answer');
	await app.shows(headline('withdrawn'));
	app.service.faults.clear();
	const puts = app.service.log.puts(id).length;
	await app.pass(30_000);
	expect(app.service.log.puts(id)).toHaveLength(puts);
	expect(effective(app, id)).toEqual([]);
});
