import { afterAll, beforeAll, expect, it } from 'vitest';
import { askingSession } from '../../fake-session-service/builders.ts';
import type { Modal } from '../../fake-slack/index.ts';
import { type Clock, systemClock } from '../../src/kernel/basics.ts';
import { type App, openSession } from '../slack/support/open-session.ts';
import { startApp } from '../support/app.ts';
import { DELIVERED, headline, line } from '../support/sentences.ts';

const HOUR = 3_600_000;
const LOST = line('delivered', { agentOutcome: 'lost' });

/** The machine's clock, which can be set. */
let shift = 0;
const clock: Clock = { now: () => Date.now() + shift, uptime: () => performance.now(), sleep: systemClock.sleep };
function setClock(by: number): void {
	shift = by;
}

let app: App;
beforeAll(async () => {
	app = await startApp({ clock, service: { resumeAfterMs: 600_000 }, env: { UNDO_SECONDS: '0' } });
});
afterAll(() => app[Symbol.asyncDispose]());

const grace = () => app.slack.as('grace');
const until = (isThere: () => boolean, what: string) => app.slack.changes.until(isThere, () => what);

/** The agent empties the field and waits: nothing in the session shows that there was an answer. */
function takeAndEmpty(id: string): void {
	const { sessions } = app.service;
	const messages = structuredClone(sessions.get(id).messages ?? []);
	for (const item of messages.flatMap(({ human_input: items }) => items ?? [])) item.value = '';
	sessions.patch(id, { status: 'humanInput', messages });
}

/** The service produces its next reading, but the response takes until `now` to arrive. */
function holdNextRead() {
	const arriving = Promise.withResolvers<void>();
	const workedOut = Promise.withResolvers<void>();
	app.service.hooks.onWorkedOut = async (entry) => {
		if (entry.kind !== 'read') return;
		delete app.service.hooks.onWorkedOut;
		workedOut.resolve();
		await arriving.promise;
	};
	return { workedOut: workedOut.promise, now: arriving.resolve };
}

/** The agent waits beside the empty field for more than a minute, and Ada is told that her answer is gone. */
async function asksAgain(by: number): Promise<void> {
	const ada = app.slack.as('ada');
	const told = () => ada.dm().filter((dm) => dm.text().includes(LOST)).length;
	const before = told();
	// Two checks have to find it empty, more than a minute apart. On a slow machine the first one came before it was emptied.
	for (let shifted = by; told() === before && shifted < by + 15 * 80_000; ) {
		shifted += 80_000;
		setClock(shifted);
		await app.slack.changes
			.until(
				() => told() > before,
				() => '',
				3_000,
			)
			.catch(() => undefined);
	}
	expect(told(), 'Ada was not told that her answer is gone').toBeGreaterThan(before);
}

async function filled(id: string, who: string, text: string): Promise<Modal> {
	const form = await openSession(app, id, who);
	await form.fill(0, text);
	return form;
}

it.each([
	['stands still', 0],
	['is set back by an hour', -HOUR],
	['is set forward by an hour', HOUR],
])(
	'sends no second answer over the first, whose form was read before it, when the clock %s meanwhile',
	async (_, by) => {
		setClock(0);
		const id = `form${Math.abs(by)}${Math.sign(by) + 1}`;
		app.service.sessions.put(id, askingSession(['Name']));
		const [first, second] = [await filled(id, 'ada', 'From Ada'), await filled(id, 'grace', 'From Grace')];
		setClock(by);
		await first.submit();
		await (await app.slack.as('ada').waitForModal(DELIVERED, 10_000)).close();
		takeAndEmpty(id);
		await second.submit();
		const told = await grace().waitForModal(headline('conflicted'), 10_000);
		expect(told.text()).toMatch(/@ada>? answered/);
		expect(app.service.log.savedPuts(id)).toHaveLength(1);
		await told.close();
		// Whoever opens the question when it is asked again knows of the first answer.
		await asksAgain(by);
		const again = await filled(id, 'grace', 'From Grace');
		await again.submit();
		await (await grace().waitForModal(DELIVERED, 10_000)).close();
		expect(app.service.log.savedPuts(id)).toHaveLength(2);
	},
);

it('sends no second press over the first when the clock is set back meanwhile', async () => {
	setClock(0);
	app.service.sessions.put('press', askingSession(['Which colour? One of: Sand, Forest']));
	await app.slack.as('ada').command('#agents', '/session watch press');
	const posts = (who: string) => app.slack.as(who).messages('#agents');
	const asked = (who: string) => posts(who).find((message) => message.buttons().includes('Sand'));
	await until(() => asked('grace') !== undefined, 'the question was not posted');
	const [ofAda, ofGrace] = [asked('ada'), asked('grace')];
	app.slack.faults.add({ method: 'chat.update', error: 'internal_error' });
	app.slack.faults.add({
		method: 'response_url',
		status: 500,
		when: ({ replace_original: replaces }) => replaces === true,
	});
	setClock(-HOUR);
	await ofAda?.press('Sand');
	await until(() => app.service.log.savedPuts('press').length === 1, 'the first press was not sent');
	takeAndEmpty('press');
	await ofGrace?.press('Forest');
	const words = '@ada answered Sand before you.';
	const told = () =>
		app.slack
			.as('grace')
			.messages('#agents', { all: true })
			.some((message) => message.text().includes(words));
	await until(told, 'the second person was not told');
	expect(app.service.log.savedPuts('press')).toHaveLength(1);
	app.slack.faults.clear();
});

it.each([
	['stands still', 0],
	['is set back by an hour', -HOUR],
])(
	'sends no second answer over the first, which arrived during the read of the form, when the clock %s',
	async (_, by) => {
		const id = `late${Math.abs(by)}`;
		app.service.sessions.put(id, askingSession(['Name']));
		setClock(0);
		const first = await filled(id, 'ada', 'From Ada');
		const arrive = holdNextRead();
		const opening = openSession(app, id, 'grace');
		await arrive.workedOut;
		setClock(by);
		await first.submit();
		await app.slack.as('ada').waitForModal(DELIVERED, 10_000);
		arrive.now();
		const second = await opening;
		takeAndEmpty(id);
		await second.fill(0, 'From Grace');
		await second.submit();
		const told = await grace().waitForModal(headline('conflicted'), 10_000);
		expect(told.text()).toMatch(/@ada>? answered/);
		expect(told.text()).not.toContain('outside');
		expect(app.service.log.savedPuts(id)).toHaveLength(1);
	},
);
