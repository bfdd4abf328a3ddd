import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { askingSession } from '../../fake-session-service/builders.ts';
import type { Fault } from '../../fake-session-service/faults.ts';
import { itemsOf } from '../../fake-session-service/log.ts';
import { callSlack, createManualClock, type Modal } from '../../fake-slack/index.ts';
import type { AgentOutcome } from '../../src/domain/answer.ts';
import { errorWords } from '../../src/slack/error-view.ts';
import { type App, openSession } from '../slack/support/open-session.ts';
import { startApp } from '../support/app.ts';
import { passTime, watchRequests } from '../support/pass-time.ts';
import { said } from '../support/said.ts';
import { DELIVERED, headline, line, says, whatHappened } from '../support/sentences.ts';
import { tooComplex } from '../support/too-complex.ts';

const clock = createManualClock();
const unwatch = watchRequests();
let app: App;
beforeAll(async () => {
	app = await startApp({ clock, service: { clock } });
});
afterAll(async () => {
	await app[Symbol.asyncDispose]();
	unwatch();
});
afterEach(async () => {
	app.service.faults.clear();
	await app.service.comeBack();
	for (const who of ['ada', 'grace']) await app.slack.as(who).modal()?.close(true);
	expect(app.slack.violations()).toEqual([]);
	expect(app.service.log.processEnders()).toEqual([]);
});

let count = 0;
/** Creates a session whose agent asks three items and continues after the answer. */
function ask(): string {
	const id = `ask-${++count}`;
	app.service.sessions.put(id, askingSession(['First', 'Second']));
	return id;
}

async function fill(modal: Modal, ...texts: string[]): Promise<void> {
	for (const [field, text] of texts.entries()) await modal.fill(field, text);
}

/** Opens the form, fills it in and presses Submit; resolves to the modal after that. `meanwhile`: before Submit. */
async function submit(id: string, meanwhile: () => unknown = () => undefined): Promise<Modal> {
	const modal = await openSession(app, id);
	await fill(modal, 'Ada', 'Grace');
	await meanwhile();
	const result = await modal.submit();
	expect(result).toMatchObject({ outcome: 'updated', trouble: null });
	return modal;
}

const textOf = (who: string) => app.slack.as(who).modal()?.text() ?? 'no modal';
const newestDm = () => app.slack.as('ada').dm().at(-1)?.text() ?? 'no direct message';
const until = (condition: () => boolean) => passTime(app, clock, condition, { describe: newestDm });
const shows = (words: string | RegExp, who = 'ada') =>
	passTime(app, clock, () => says(textOf(who), words), {
		describe: () => `${who} waited for "${words}" in:\n${textOf(who)}`,
		limitMs: 3_600_000,
	});
/** Stops and starts the program, and moves its clock meanwhile. */
async function restart(whileStopping = async () => {}): Promise<void> {
	let isBack = false;
	const restarted = app.restart().then(() => {
		isBack = true;
	});
	const other = whileStopping();
	await until(() => isBack);
	await Promise.all([restarted, other]);
}
/** Holds every PUT until the returned function is called. */
function holdPuts(): () => void {
	const { promise, resolve } = Promise.withResolvers<void>();
	app.service.hooks.onRequest = (entry) => (entry.kind === 'answer' ? promise : undefined);
	return () => {
		delete app.service.hooks.onRequest;
		resolve();
	};
}
const effective = (id: string) => app.service.log.effectivePuts(id);

describe('an answer is delivered once', () => {
	it('shows saved, delivered and resumed in the modal, each with its time', async () => {
		const id = ask();
		const release = holdPuts();
		const modal = await submit(id);
		expect(modal.text()).toContain(headline('accepted'));
		expect(modal.submitText()).toBeNull();
		release();
		await shows(headline('delivered'));
		expect(modal.text()).toMatch(/\n\d+ \w+ 2026, \d\d:\d\d UTC Session/);
		expect(modal.text()).not.toContain(line('resumed'));
		await shows(headline('resumed'));
		expect(modal.text()).toMatch(/\n\d+ \w+ 2026, \d\d:\d\d UTC Session/);
		expect(app.service.log.puts(id)).toHaveLength(1);
		expect(app.slack.as('ada').dm()).toEqual([]);
	});

	// `service-faults.test.ts` has all faults, without Slack.
	it.each<[string, Fault, number]>([
		['500 without saving', { kind: 'error' }, 2],
		['a reset after saving', { kind: 'reset', saves: true }, 1],
	])('delivers once when the service responds to the PUT with %s', async (_, fault, puts) => {
		const id = ask();
		app.service.faults.add({ ...fault, method: 'PUT', sessionId: id, times: 1 });
		await submit(id);
		await shows(headline('resumed'));
		expect(effective(id)).toHaveLength(1);
		expect(app.service.log.puts(id)).toHaveLength(puts);
		const put = effective(id)[0];
		expect(put?.messageIndex).toBe(1);
		expect(put === undefined ? [] : itemsOf(put)).toEqual([
			{ title: 'First', description: '', value: 'Ada' },
			{ title: 'Second', description: '', value: 'Grace' },
		]);
	});

	it('does not repeat before the time that a 429 names', async () => {
		const id = ask();
		app.service.faults.add({ kind: 'rate-limited', retryAfterSeconds: 90, method: 'PUT', sessionId: id, times: 1 });
		await submit(id);
		await shows(whatHappened('rate_limited'));
		expect(textOf('ada')).toContain(said(errorWords('rate_limited', { kept: 'answer', adminContact: null }).text));
		await shows(headline('resumed'));
		const [first, second] = app.service.log.puts(id);
		expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(90_000);
	});

	it('sends items of others back exactly as the service has them', async () => {
		const id = ask();
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
		await shows(DELIVERED);
		const put = effective(id)[0];
		expect(put === undefined ? '' : JSON.stringify(itemsOf(put))).toBe(
			JSON.stringify(items)
				.replace('"description":null,"value":""', '"description":null,"value":"Ada"')
				.replace('"description":["a"],"value":null', '"description":["a"],"value":"Grace"'),
		);
	});

	it('delivers once when Slack sends the submission twice', async () => {
		const id = ask();
		app.slack.faults.duplicateNext('view_submission');
		await submit(id);
		await shows(headline('resumed'));
		expect(app.service.log.puts(id)).toHaveLength(1);
	});

	it('delivers after the service comes back, with a receipt in a direct message', async () => {
		const id = ask();
		const modal = await submit(id, () => app.service.goDown());
		await shows(said(errorWords('unavailable', { kept: 'answer', adminContact: null }).text));
		await modal.close();
		const ada = app.slack.as('ada');
		const dm = (words: string) =>
			ada.dm().filter((message) => message.text().includes(words) && message.text().includes(id));
		await until(() => dm(headline('accepted', { lastError: 'unavailable' })).length > 0);
		await app.service.comeBack();
		await until(() => dm(headline('resumed')).length > 0);
		expect(dm('')).toHaveLength(1);
		expect(dm('')[0]?.text()).toContain('> Ada');
		expect(effective(id)).toHaveLength(1);
	});

	it('finishes the PUT under way when the program stops, and does not repeat it', async () => {
		const id = ask();
		const arrived = Promise.withResolvers<void>();
		const answer = Promise.withResolvers<void>();
		app.service.hooks.onRequest = (entry) => {
			if (entry.kind !== 'answer') return undefined;
			arrived.resolve();
			return answer.promise;
		};
		await submit(id);
		await arrived.promise;
		await restart(async () => {
			await app.slack.changes.until(
				() => app.slack.sockets.count() === 0,
				() => 'The sockets are open.',
			);
			// Long enough for whatever would cut the PUT.
			for (let turn = 0; turn < 50; turn++) await delay(1);
			answer.resolve();
		});
		delete app.service.hooks.onRequest;
		await shows(headline('resumed'));
		expect(app.service.log.puts(id)).toHaveLength(1);
		expect(app.service.log.puts(id)[0]?.clientGone).toBe(false);
	});

	it('delivers after a restart when the program stopped before the PUT', async () => {
		const id = ask();
		await submit(id, () => app.service.faults.add({ kind: 'unauthorized', method: 'GET', sessionId: id }));
		await shows(headline('accepted', { lastError: 'unauthorized' }));
		await restart();
		app.service.faults.clear();
		await shows(headline('resumed'));
		expect(app.service.log.puts(id)).toHaveLength(1);
	});
});

describe('a closed modal', () => {
	const dm = (id: string) => app.slack.as('ada').dm(id);
	const overwrite = (id: string) => {
		for (const item of app.service.sessions.get(id).messages?.[1]?.human_input ?? []) item.value = 'Somebody else';
		app.service.sessions.setStatus(id, 'humanInput');
	};
	/** Submits and closes the modal during the PUT; the session gets `status` after it. */
	async function closeAndDeliver(id: string, goOn: () => void): Promise<void> {
		const release = holdPuts();
		app.service.hooks.onSaved = goOn;
		await (await submit(id)).close();
		release();
		await until(() => effective(id).length > 0);
	}
	/** Resolves when the confirmation checks have ended. */
	async function passLooks(): Promise<void> {
		const end = clock.now() + 700_000;
		await passTime(app, clock, () => clock.now() > end, { describe: () => '', limitMs: 800_000 });
		delete app.service.hooks.onSaved;
	}

	it.each([
		['one direct message', 'the session failed', 'failed'],
		['one direct message', 'the session was stopped', 'stopped'],
		['one direct message', 'somebody overwrote it', 'overwritten'],
		['no direct message', 'the session goes on', 'active'],
		['no direct message', 'the session completed', 'completed'],
		['no direct message', 'the session was paused', 'paused'],
		['no direct message', 'the session is inactive', 'inactive'],
	] as const)("sends %s to a closed modal's author when %s after the delivery", async (what, _, outcome) => {
		const id = ask();
		await closeAndDeliver(id, () =>
			outcome === 'overwritten' ? overwrite(id) : app.service.sessions.setStatus(id, outcome),
		);
		await passLooks();
		const told = what === 'one direct message' ? [line('delivered', { agentOutcome: outcome as AgentOutcome })] : [];
		expect(dm(id).map((message) => message.notification())).toEqual(
			told.map((words) => expect.stringContaining(words)),
		);
	});

	it('sends another direct message with news when the first was deleted', async () => {
		const id = ask();
		await (await submit(id, () => app.service.goDown())).close();
		const says = (words: string) => until(() => dm(id).some((message) => message.text().includes(words)));
		await says(headline('accepted', { lastError: 'unavailable' }));
		const { channel, ts } = dm(id)[0] ?? {};
		await callSlack(app.slack, 'chat.delete', { channel, ts });
		await app.service.comeBack();
		await says(headline('resumed'));
		expect(dm(id)).toHaveLength(1);
		expect(app.service.log.puts(id)).toHaveLength(1);
	});
});

describe('an answer that is refused for good', () => {
	it('keeps its text, and is sent again after a restart', async () => {
		const id = ask();
		const modal = await submit(id, () => app.service.faults.add(tooComplex(id)));
		await shows(headline('refused'));
		expect(modal.text()).toContain(whatHappened('body_too_complex'));
		expect(modal.text()).toContain('> Ada');
		expect(modal.text()).toContain('> Grace');
		await restart();
		app.service.faults.clear();
		expect(await modal.press('Try again')).toBe(true);
		await shows(headline('resumed'));
		expect(effective(id)).toHaveLength(1);
	});

	it('shows once, where its author presses Try again, that somebody else has answered since', async () => {
		const id = ask();
		const modal = await submit(id, () => app.service.faults.add(tooComplex(id)));
		await shows(headline('refused'));
		app.service.faults.clear();
		const grace = await openSession(app, id, 'grace');
		await fill(grace, 'Barbara', 'Mary');
		await grace.submit();
		await shows(headline('resumed'), 'grace');
		await modal.press('Try again');
		await shows(/Not sent: somebody else answered first/);
		const from = app.slack.traffic.all().length;
		const start = clock.now();
		await until(() => clock.now() > start + 60_000);
		expect(app.slack.traffic.all().slice(from)).toEqual([]);
		expect(app.slack.as('ada').dm(id)).toEqual([]);
	});

	it('tells a refused answer in a direct message with the same button when the modal is closed', async () => {
		const id = ask();
		function breakReads(): void {
			app.service.faults.add({ kind: 'late', ms: 1_000, method: 'GET', sessionId: id });
			app.service.faults.add(tooComplex(id));
		}
		await (await submit(id, breakReads)).close();
		const ada = app.slack.as('ada');
		const dm = () => ada.dm(id)[0];
		await until(() => dm() !== undefined);
		expect(dm()?.text()).toContain(headline('refused'));
		expect(dm()?.text()).toContain('> Grace');
		app.service.faults.clear();
		await dm()?.press('Try again');
		await until(() => dm()?.text().includes(headline('resumed')) ?? false);
		expect(effective(id)).toHaveLength(1);
		expect(ada.dm(id)).toHaveLength(1);
	});

	it('asks for a secret again after it was wiped', async () => {
		const id = app.service.sessions.start('code', `code-${++count}`);
		const modal = await openSession(app, id);
		await modal.fill(0, '314159');
		app.service.faults.add(tooComplex(id));
		await modal.submit();
		await shows(headline('refused'));
		expect(modal.text()).not.toContain('314159');
		app.service.faults.clear();
		await modal.press('Try again');
		await shows('One-time code');
		const again = await app.slack.as('ada').waitForModal((now) => now.submitText() !== null);
		expect(again.value(0)).toBeNull();
		await again.fill(0, '271828');
		expect((await again.submit()).outcome).toBe('updated');
		await shows(DELIVERED);
		expect(effective(id).map(itemsOf)[0]?.[0]?.value).toBe('271828');
		expect(await app.said()).not.toMatch(/314159|271828/);
	});
});

it('does not send an answer that its author gave up', async () => {
	const id = ask();
	app.service.faults.add({ kind: 'unauthorized', sessionId: id, method: 'PUT' });
	const modal = await submit(id);
	await shows(whatHappened('unauthorized'));
	await modal.press('Discard answer');
	await shows(headline('withdrawn'));
	app.service.faults.clear();
	const puts = app.service.log.puts(id).length;
	const start = clock.now();
	await until(() => clock.now() > start + 30_000);
	expect(app.service.log.puts(id)).toHaveLength(puts);
	expect(effective(id)).toEqual([]);
});
