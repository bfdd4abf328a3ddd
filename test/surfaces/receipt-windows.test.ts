import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import { askingSession } from '../../sandbox/session-service/builders.ts';
import { type App, openSession } from '../slack/support/open-session.ts';
import { startApp } from '../support/app.ts';
import { passTime, watchRequests } from '../support/pass-time.ts';
import { headline } from '../support/sentences.ts';

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
	app.slack.faults.clear();
	await app.service.comeBack();
	for (const who of ['ada', 'grace']) await app.slack.as(who).modal()?.close(true);
});
const until = (condition: () => boolean, say = () => '') => passTime(app, clock, condition, { describe: say });
const pass = (ms: number, end = clock.now() + ms) => until(() => clock.now() >= end);
const textsIn = (id: string) =>
	app.slack
		.as('ada')
		.dm(id)
		.map((message) => message.text());

it('tells whoever closes the window while the answer is being sent that it failed', async () => {
	const ids = ['closing-1', 'closing-2', 'closing-3', 'closing-4'];
	for (const id of ids) {
		app.service.sessions.put(id, askingSession(['First']));
		const modal = await openSession(app, id);
		await modal.fill(0, 'Ada');
		app.service.sessions.setStatus(id, 'stopped');
		const sending = modal.submit();
		await modal.close();
		await sending.catch(() => undefined);
		await until(() => app.log.filter((line) => line.includes('"submitted"')).length > ids.indexOf(id));
		await pass(5_000);
	}
	await pass(60_000);
	const heard = ids.map((id) => textsIn(id).some((text) => text.includes(headline('ended'))));
	expect(heard).toEqual([true, true, true, true]);
});

it('says what is known of the first answer until there is news', async () => {
	const id = 'note-1';
	app.service.sessions.put(id, askingSession(['First']));
	const hers = await openSession(app, id);
	await hers.fill(0, 'Ada');
	const other = await openSession(app, id, 'grace');
	await other.fill(0, 'Grace');
	app.service.faults.add({ kind: 'error', status: 503, sessionId: id });
	await hers.submit();
	await pass(30_000);
	await other.submit();
	const says = 'yours becomes a draft, and you are told';
	expect(other.text()).toContain(says);
	await pass(15_000);
	expect(other.text()).toContain(says);
});

/** Ada's receipt, which says that the agent asks another question now. */
async function changed(id: string) {
	app.service.sessions.put(id, askingSession(['First']));
	const hers = await openSession(app, id);
	await hers.fill(0, 'Ada');
	app.service.sessions.put(id, askingSession(['Second']));
	await hers.submit();
	await until(
		() => hers.buttons().includes('Answer the new question'),
		() => hers.text(),
	);
	// Since then it would say that sending takes long, if it went on.
	await pass(35_000);
	return hers;
}

it('leaves a form alone of which Slack said nothing', async () => {
	const id = 'pressed-2';
	const hers = await changed(id);
	app.slack.faults.add({ method: 'views.update', drop: true, afterEffect: true, times: 2 });
	await hers.press('Answer the new question');
	await pass(3_000);
	expect(hers.submitText()).not.toBeNull();
	await hers.fill(0, 'What she types');
	await openSession(app, id, 'grace');
	await pass(5_000);
	expect(hers.submitText()).not.toBeNull();
});

it('opens the new question at a press although another person closes the form meanwhile', async () => {
	const id = 'pressed-1';
	app.service.sessions.put(id, askingSession(['First']));
	const other = await openSession(app, id, 'grace');
	const hers = await changed(id);
	app.service.faults.add({ kind: 'slow', ms: 1_500, method: 'GET', sessionId: id });
	const pressing = hers.press('Answer the new question');
	await pass(300);
	await other.close();
	await pass(6_000);
	await pressing;
	expect(hers.text()).toContain('Second');
	expect(hers.submitText()).not.toBeNull();
});
