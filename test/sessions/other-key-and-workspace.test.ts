import { manifestPath } from '../../sandbox/manifest-path.ts';
import {
	askingSession,
	createFakeSlack,
	DELIVERED,
	describe,
	expect,
	type FakeSlack,
	forCase,
	it,
	onTestFinished,
	openButtons,
	openSession,
	says,
	type WatchingApp,
	watchingApp,
} from '../kit.ts';
import { auditRows } from '../support/audit-rows.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Another company's Slack, in which the same app is installed. */
async function otherSlack(): Promise<FakeSlack> {
	const team = { id: 'T0ELSEWHERE', domain: 'elsewhere', name: 'Elsewhere' };
	const slack = await createFakeSlack({
		manifest: manifestPath,
		workspace: { team, people: [], userGroups: [], channels: [] },
	});
	onTestFinished(() => slack.close());
	return slack;
}

/**
 * Gives the program an answer whose author Slack does not let it tell, and two that the service does not take: `older`, a
 * minute ago, and `late`, just now.
 */
async function givePendingAnswers(app: WatchingApp): Promise<{ late: string; older: string }> {
	const [late, older, untold] = ['late', 'older', 'untold'];
	for (const id of [late, older, untold]) app.service.sessions.put(id, askingSession(['Name']));
	for (const id of [late, older]) app.service.faults.add({ kind: 'unauthorized', sessionId: id, method: 'PUT' });
	const olderForm = await openSession(app, older);
	await olderForm.fill(0, 'Ada');
	await olderForm.submit();
	await app.slack.as('ada').modal()?.close(true);
	const lateForm = await openSession(app, late);
	await lateForm.fill(0, 'Ada');
	const untoldForm = await openSession(app, untold, 'grace');
	await untoldForm.fill(0, 'Grace');
	app.slack.faults.add({ method: 'views.update', error: 'internal_error' });
	await untoldForm.submit();
	await app.until(() => app.service.log.savedPuts(untold).length === 1);
	await app.pass(MINUTE_MS);
	expect(says(app.slack.as('grace').modal()?.text() ?? '', DELIVERED)).toBe(false);
	await lateForm.submit();
	return { late, older };
}

const start = () => forCase(watchingApp({ transport: 'http' }));

it('leaves alone what is of another workspace, but delivers its answers, and goes on there with the right token', async () => {
	const app = await start();
	const watched = await app.watched();
	const asking = await app.watchedAsking();
	await app.threadSays(asking, 'Which colour?');
	const { late, older } = await givePendingAnswers(app);
	await app.stop();
	app.slack.faults.clear();
	app.service.faults.clear();
	app.service.sessions.answerAsPage(asking, ['Sand']);
	app.ask(watched, ['Which shape?']);

	const other = await otherSlack();
	await app.restart({ SLACK_API_URL: other.apiUrl });
	await app.until(() => app.service.log.savedPuts(late).length === 1);
	await app.pass(10 * MINUTE_MS);
	await app.stop();
	// Longer than a receipt is tried.
	await app.clock.advance(25 * HOUR_MS);
	await app.restart({ SLACK_API_URL: other.apiUrl });
	await app.pass(10 * MINUTE_MS);
	expect(other.traffic.all().map(({ name }) => name)).toEqual(['auth.test', 'auth.test']);
	// Only its author's Slack can tell whether they may still answer.
	expect(app.service.log.savedPuts(older)).toEqual([]);
	const warnings = () => app.log.filter((line) => line.includes('of another workspace'));
	expect(warnings()).toHaveLength(2);
	expect(warnings()[0]).toContain('"teamId":"T0ACME"');
	expect(warnings()[0]).toContain('SLACK_BOT_TOKEN');
	expect(auditRows(app.dataDir, 'unwatched')).toEqual([]);

	await app.restart({ SLACK_API_URL: app.slack.apiUrl });
	await app.threadSays(watched, 'Which shape?');
	await app.cardSays(asking, 'working');
	// It was tried for a day.
	const dm = await app.until(() =>
		app.slack
			.as('ada')
			.dm(older)
			.find((one) => one.buttons().includes('Try again')),
	);
	await dm.press('Try again');
	await app.until(() => app.service.log.savedPuts(older).length === 1);
	for (const who of ['ada', 'grace']) {
		await app.until(() => says(app.slack.as(who).modal()?.text() ?? '', DELIVERED));
	}
	expect(warnings()).toHaveLength(2);
});

it('calls nothing else of Slack before it knows its workspace, and reads and delivers meanwhile', async () => {
	const app = await start();
	const id = await app.watched();
	const { late } = await givePendingAnswers(app);
	await app.stop();
	app.slack.faults.clear();
	app.service.faults.clear();
	app.ask(id);
	const release = app.slack.faults.hold('auth.test');
	const from = app.now();
	const reads = app.service.log.reads(id).length;
	const restarted = app.restart();
	await expect
		.poll(async () => {
			await app.clock.advance(1_000);
			return app.service.log.reads(id).length > reads + 1 && app.service.log.savedPuts(late).length === 1;
		})
		.toBe(true);
	const called = app.slack.traffic.all().filter(({ seq }) => seq > from);
	expect(called.map(({ name }) => name)).toEqual(['auth.test']);
	release();
	await restarted;
	await app.threadSays(id, 'Which colour?');
});

const keyOf = (byte: number) => ({ ENCRYPTION_KEY: Buffer.alloc(32, byte).toString('base64') });
const [KEY, OTHER_KEY] = [keyOf(1), keyOf(2)];

describe('after the encryption key was changed by mistake', () => {
	it('a question that was answered meanwhile loses its buttons', async () => {
		const app = await forCase(watchingApp({ env: KEY }));
		const { id, post } = await app.askedPost();
		await app.pass(5_000);
		await app.restart(OTHER_KEY);
		await app.pass(30_000);
		app.service.sessions.answerAsPage(id, ['Sand']);
		await app.pass(120_000);
		await app.restart(KEY);
		await app.until(() => openButtons(post)?.length === 0);
	});

	it('a question that could not be read, in Slack and at the service, is posted', async () => {
		const app = await forCase(watchingApp({ env: KEY }));
		const id = await app.watched();
		app.slack.faults.rateLimit('chat.postMessage', { retryAfter: 20, times: 1 });
		const from = app.now();
		app.ask(id);
		await app.until(() => app.calls('chat.postMessage', from).length > 0);
		await app.pass(1_500);
		await app.stop();
		await app.service.goDown();
		await app.restart(OTHER_KEY);
		await app.pass(60_000);
		expect(app.thread(id)).toEqual([]);
		await app.restart(KEY);
		await app.service.comeBack();
		await app.threadSays(id, 'Which colour?');
		await app.pass(60_000);
		expect(app.thread(id)).toHaveLength(1);
	});
});
