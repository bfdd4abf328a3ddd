import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { askingSession } from '../../fake-session-service/builders.ts';
import { createManualClock } from '../../fake-slack/index.ts';
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
	expect(app.slack.violations()).toEqual([]);
});

let count = 0;
const dm = (id: string) => app.slack.as('ada').dm(id);
const textsIn = (id: string) => dm(id).map((message) => message.text());
const until = (condition: () => boolean) => passTime(app, clock, condition, { describe: () => textsIn('').join('\n') });
const pass = (ms: number, end = clock.now() + ms) => until(() => clock.now() >= end);
const says = (id: string, words: string) => until(() => textsIn(id).some((text) => text.includes(words)));
const UNAVAILABLE = headline('accepted', { lastError: 'unavailable' });

/** An answer of Ada's whose window is closed, while the service is away. */
async function sent(): Promise<string> {
	const id = `receipt-${++count}`;
	app.service.sessions.put(id, askingSession(['First']));
	const modal = await openSession(app, id);
	await modal.fill(0, 'Ada');
	await app.service.goDown();
	await modal.submit();
	await modal.close();
	return id;
}

/** The same, and a direct message says it. */
async function waiting(): Promise<string> {
	const id = await sent();
	await says(id, UNAVAILABLE);
	return id;
}

describe('the direct message about an answer', () => {
	it('is one, which tells the failure and then the delivery', async () => {
		const id = await waiting();
		const [first] = dm(id);
		await app.service.comeBack();
		await says(id, headline('resumed'));
		expect(dm(id).map(({ ts }) => ts)).toEqual([first?.ts]);
	});

	it('comes within half a minute where delivery takes long, and not before', async () => {
		const id = `receipt-${++count}`;
		app.service.sessions.put(id, askingSession(['First']));
		const modal = await openSession(app, id);
		await modal.fill(0, 'Ada');
		app.service.faults.add({ kind: 'hang', method: 'GET', sessionId: id });
		const sentAt = clock.now();
		await modal.submit();
		await modal.close();
		await until(() => dm(id).length > 0);
		expect(clock.now() - sentAt).toBeGreaterThanOrEqual(10_000);
		expect(clock.now() - sentAt).toBeLessThan(33_000);
	});

	it.each(['message_not_found', 'cant_update_message', 'edit_window_closed'])(
		'is replaced when there is news, since Slack says %s',
		async (error) => {
			const id = await waiting();
			const [first] = dm(id);
			app.slack.faults.add({ method: 'chat.update', error, when: ({ ts }) => ts === first?.ts });
			await app.service.comeBack();
			await says(id, headline('resumed'));
			await pass(60_000);
			expect(dm(id)).toHaveLength(2);
			expect(dm(id)[0]?.text()).toContain(UNAVAILABLE);
		},
	);

	it('is not replaced without news after its author has deleted it', async () => {
		const id = await waiting();
		dm(id)[0]?.remove();
		await pass(5 * 60_000);
		expect(dm(id)).toEqual([]);
		await app.service.comeBack();
		await says(id, headline('resumed'));
		expect(dm(id)).toHaveLength(1);
	});

	it('is neither repeated nor replaced while Slack fails', async () => {
		const id = await waiting();
		const [first] = dm(id);
		app.slack.faults.add({ method: 'chat.update', error: 'internal_error', times: 2 });
		await app.service.comeBack();
		await says(id, headline('resumed'));
		expect(dm(id).map(({ ts }) => ts)).toEqual([first?.ts]);
	});

	it('is found after a post of which Slack said nothing', async () => {
		app.slack.faults.add({ method: 'chat.postMessage', drop: true, afterEffect: true, times: 1 });
		const id = await waiting();
		await pass(60_000);
		expect(dm(id)).toHaveLength(1);
	});

	it.each(['channel_not_found', 'is_archived', 'not_in_channel'])(
		'comes although Slack has said %s once',
		async (error) => {
			const id = await sent();
			await pass(5_000);
			app.slack.faults.add({ method: 'chat.postMessage', error, times: 1 });
			app.service.sessions.setStatus(id, 'stopped');
			await app.service.comeBack();
			await says(id, headline('ended'));
		},
	);

	it('comes when Slack takes messages again after some minutes, with the news until then', async () => {
		const id = await sent();
		app.slack.faults.add({ method: 'chat.postMessage', error: 'messages_tab_disabled' });
		await pass(25_000);
		app.service.sessions.setStatus(id, 'stopped');
		await app.service.comeBack();
		await pass(5 * 60_000);
		app.slack.faults.clear();
		await says(id, headline('ended'));
	});

	it('shows a press of *Try again* at once', async () => {
		const id = await waiting();
		const [message] = dm(id);
		app.service.sessions.remove(id);
		await app.service.comeBack();
		// Another session can be read, so it is this one that is gone.
		for (let tries = 0; tries < 15 && message?.buttons().includes('Try again') !== true; tries += 1) {
			app.service.sessions.put('other', askingSession(['Other']));
			await (await openSession(app, 'other')).close(true);
			await pass(60_000);
		}
		app.service.sessions.put(id, askingSession(['First']));
		app.service.faults.add({ kind: 'hang', method: 'GET', sessionId: id });
		await pass(60_000);
		await message?.press('Try again');
		await until(() => message?.buttons().includes('Try again') === false);
	});
});

describe('the window of a receipt', () => {
	afterEach(async () => {
		for (const who of ['ada', 'grace']) await app.slack.as(who).modal()?.close(true);
	});

	const submittedCount = () => app.log.filter((line) => line.includes('"submitted"')).length;

	it('tells whoever closes the window while the answer is being sent that it failed', async () => {
		const ids = ['closing-1', 'closing-2', 'closing-3', 'closing-4'];
		for (const id of ids) {
			app.service.sessions.put(id, askingSession(['First']));
			const modal = await openSession(app, id);
			await modal.fill(0, 'Ada');
			app.service.sessions.setStatus(id, 'stopped');
			const before = submittedCount();
			const sending = modal.submit();
			await modal.close();
			await sending.catch(() => undefined);
			await until(() => submittedCount() > before);
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
		await until(() => hers.buttons().includes('Answer the new question'));
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
});
