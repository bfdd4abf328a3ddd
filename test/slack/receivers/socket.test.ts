import { HIDES_ANSWERS } from '../../../src/slack/form/build.ts';
import { type App, DELIVERED, describe, expect, openSession, startApp, withApp } from '../../kit.ts';

const it = withApp(startApp);
it.beforeEach(async ({ app }) => {
	await app.slack.connected(2);
});
const opened = (app: App) => app.slack.traffic.calls('apps.connections.open').length;
const ready = async (app: App) => (await fetch(`${app.url}/readyz`)).text();

describe('Socket Mode', () => {
	it('handles commands over two connections in turn', async ({ app }) => {
		expect(app.slack.sockets.count()).toBe(2);
		for (let turn = 0; turn < 2; turn++) await (await openSession(app, 'choices')).close();
	});

	it('loses no command while a connection is refreshed', async ({ app }) => {
		for (let round = 0; round < 2; round++) {
			const before = opened(app);
			app.slack.sockets.disconnect('refresh_requested');
			// Slack is closing it and it is not replaced yet: the other connection serves.
			await (await openSession(app, 'choices')).close();
			await app.slack.connected(2);
			expect(opened(app)).toBe(before + 1);
		}
	});

	it('loses no command when a connection is cut without notice', async ({ app }) => {
		for (let round = 0; round < 2; round++) {
			app.slack.sockets.drop('oldest');
			await (await openSession(app, 'choices')).close();
			await app.slack.connected(2);
		}
	});

	it('reconnects when all connections are cut, and is not ready meanwhile', async ({ app }) => {
		const release = app.slack.faults.hold('apps.connections.open');
		app.slack.sockets.drop('all');
		await app.slack.changes.until(
			() => app.slack.traffic.calls('apps.connections.open').filter((call) => call.doneAt === null).length === 2,
			() => 'Nothing asks for a new connection.',
		);
		expect(await ready(app)).toBe('no connection to Slack\n');
		release();
		await app.slack.connected(2);
		await openSession(app, 'choices');
		expect(await ready(app)).toBe('ready\n');
	});

	it.for([
		['answers 500', { status: 500 }],
		['limits the rate', { status: 429, retryAfter: 1 }],
		['cuts the line', { drop: true }],
		['refuses the token for a moment', { error: 'invalid_auth' }],
	] as const)('continues when Slack %s at a reconnect', async ([, fault], { app }) => {
		const unhandled: unknown[] = [];
		const note = (error: unknown) => void unhandled.push(error);
		process.on('unhandledRejection', note);
		app.slack.faults.add({ method: 'apps.connections.open', ...fault, times: 2 });
		app.slack.sockets.drop('all');
		await app.slack.changes.until(
			() => app.slack.sockets.count() === 2,
			() => 'It did not come back.',
		);
		process.off('unhandledRejection', note);
		expect(unhandled).toEqual([]);
		await openSession(app, 'choices');
	});

	it('handles an envelope that comes twice once', async ({ app }) => {
		const modal = await openSession(app, 'three');
		// Of this window alone: another that opens slowly has one more, which says so.
		const updateCount = () =>
			app.slack.traffic.calls('views.update').filter(({ request }) => request.view_id === modal.id).length;
		const before = updateCount();
		app.slack.faults.duplicateNext('block_actions');
		await modal.press(HIDES_ANSWERS);
		await app.slack.as('ada').waitForModal(HIDES_ANSWERS);
		await (await openSession(app, 'choices')).close();
		expect(updateCount() - before).toBe(1);
	});

	it('keeps an answer whose acknowledgement was lost with all connections', async ({ app }) => {
		const modal = await openSession(app, 'yesno');
		await modal.choose(0, 'Yes');
		const submitted = modal.submit();
		app.slack.sockets.disconnect('refresh_requested', 'all');
		expect(['updated', 'trouble']).toContain((await submitted).outcome);
		await app.slack.as('ada').waitForModal(DELIVERED);
		expect(app.service.log.savedPuts('yesno')).toHaveLength(1);
	});

	it('opens a modal while Slack limits messages', async ({ app }) => {
		app.slack.faults.rateLimit('chat.postMessage', { retryAfter: 30 });
		await app.slack.as('ada').say('dm', 'hello');
		await app.slack.changes.until(
			() => app.slack.traffic.calls('chat.postMessage').length > 0,
			() => 'Nothing was posted.',
		);
		expect((await openSession(app, 'choices')).submitText()).toBe('Send answer');
	});
});

describe('stopping', () => {
	it('stops in the middle of a reconnect without an unhandled rejection or a new connection', async () => {
		const unhandled: unknown[] = [];
		const note = (error: unknown) => void unhandled.push(error);
		process.on('unhandledRejection', note);
		const own = await startApp();
		const release = own.slack.faults.hold('apps.connections.open');
		own.slack.sockets.drop('all');
		await own.slack.changes.until(
			() => own.slack.traffic.calls('apps.connections.open').some((call) => call.doneAt === null),
			() => 'Nothing asks for a new connection.',
		);
		const stopped = own.stop();
		release();
		await stopped;
		await own.slack.changes.until(
			() => own.slack.sockets.count() === 0,
			() => 'A connection is open after the end.',
		);
		await own[Symbol.asyncDispose]();
		process.off('unhandledRejection', note);
		expect(unhandled).toEqual([]);
	});
});
