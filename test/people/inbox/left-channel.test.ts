import { NOT_THERE } from '../../../src/slack/error-view.ts';
import { describe, expect, FLIGHT, handOverApp, type Modal, openSession, withApp } from '../../kit.ts';

const it = withApp(start);
type App = Awaited<ReturnType<typeof start>>;

/** With a question in a private channel, of which bob sees a copy in Home. */
async function start() {
	const app = await handOverApp();
	await app.slack.invite('#secret', 'bob');
	const [id = ''] = await app.askedIn('#secret', ['Book a flight'], [FLIGHT]);
	const post = await app.until(() => app.thread(id, '#secret').findLast((one) => one.buttons().includes('Hand over')));
	await app.openHome('bob');
	await app.homeSays('Which flight?', { who: 'bob' });
	return { ...app, id, post };
}

/** Bob is removed, and his Home keeps the copy that it shows. */
async function removed(app: App): Promise<void> {
	app.slack.faults.add({ method: 'views.publish', error: 'internal_error' });
	await app.slack.remove('#secret', 'bob');
}

const toldToBob = (app: App) =>
	[app.slack.as('bob').modal(), ...app.dms('bob')].map((message) => message?.text() ?? '').join('\n');
const errorsOf = async (form: Modal) => Object.values((await form.submit()).errors ?? {}).join();

/** Bob's form, opened from Home. */
async function formOfBob(app: App) {
	await app.slack.as('bob').home()?.press('Other answer…');
	return app.slack.as('bob').waitForModal((modal) => modal.submitText() !== null);
}

/** Bob opens the session in the channel and chooses. */
async function windowOfBob(app: App) {
	const form = await openSession(app, app.id, 'bob', '#secret');
	await form.choose(0, 'TP 570');
	return form;
}

it('refuses the window of Hand over, which was open before', async ({ app }) => {
	await app.slack.as('bob').home()?.press('Hand over');
	const modal = await app.slack.as('bob').waitForModal('Hand over to');
	await removed(app);
	await modal.choose('Hand over to', 'tess');
	expect(await errorsOf(modal)).toContain(NOT_THERE);
	await app.pass(15_000);
	expect(app.dms('tess')).toEqual([]);
});

it('refuses somebody who gave the question back, in an old copy of the direct message', async ({ app }) => {
	await app.handOver(app.post, 'ada', 'tess');
	const dm = await app.handedTo('tess');
	app.keepOld(dm);
	await dm.press('Give back');
	await app.givenBackTo('ada');
	await dm.press('TP 570');
	await app.until(() => app.dms('tess').some((one) => one.text().includes(NOT_THERE)));
	expect(app.service.log.puts(app.id)).toEqual([]);
});

describe('a window that was opened from a copy', () => {
	/** The agent asks something else. */
	function askAnother(app: App): void {
		app.service.sessions.answerAsPage(app.id, ['TP 570']);
		app.step(app.id, 'Booked');
		app.ask(app.id, ['Which hotel?'], '');
	}

	it('sends no answer of somebody who was removed, and shows them nothing new', async ({ app }) => {
		const form = await formOfBob(app);
		await removed(app);
		await form.choose(0, 'TP 570');
		expect(await errorsOf(form)).toContain(NOT_THERE);
		await app.pass(15_000);
		expect(app.service.log.puts(app.id)).toEqual([]);
		askAnother(app);
		await app.until(() => app.thread(app.id, '#secret').some((one) => one.text().includes('Which hotel?')));
		await form.press('Refresh');
		await app.slack.as('bob').waitForModal((modal) => modal.submitText() === null && modal.text().includes(NOT_THERE));
		expect(toldToBob(app)).not.toContain('Which hotel');
	});

	it('is refused to somebody who gave the question back', async ({ app }) => {
		await app.handOver(app.post, 'ada', 'tess');
		const dm = await app.handedTo('tess');
		await dm.press('Other answer…');
		const form = await app.slack.as('tess').waitForModal((modal) => modal.submitText() !== null);
		await dm.press('Give back');
		await app.givenBackTo('ada');
		await form.choose(0, 'TP 570');
		expect(await errorsOf(form)).toContain(NOT_THERE);
		askAnother(app);
		await form.press('Refresh');
		const tess = app.slack.as('tess');
		await app.until(() => tess.modal()?.text().includes(NOT_THERE));
	});
});

describe('a window that was opened in the private channel itself', () => {
	it('keeps the choice when Slack does not tell who is there', async ({ app }) => {
		const form = await windowOfBob(app);
		app.slack.faults.add({ method: 'users.conversations', error: 'internal_error' });
		await app.slack.remove('#secret', 'bob');
		expect(await errorsOf(form)).toContain('could not check');
		expect(form.value(0)).toBe('TP 570');
		await app.pass(15_000);
		expect(app.service.log.puts(app.id)).toEqual([]);
	});

	it('keeps the choice when Slack does not answer whether the channel is private', async ({ app }) => {
		const form = await windowOfBob(app);
		const release = app.slack.faults.hold('conversations.info');
		const submitted = form.submit();
		await app.until(() => app.calls('conversations.info').some(({ doneAt }) => doneAt === null));
		await app.clock.advance(1_000);
		const { errors } = await submitted;
		release();
		expect(Object.values(errors ?? {}).join()).toContain('could not check');
		expect(form.value(0)).toBe('TP 570');
	});
});

describe('a public channel', () => {
	it('asks Slack for nobody who sends a form or presses in it', async ({ app }) => {
		const { id: own } = await app.asked();
		const from = app.now();
		const form = await openSession(app, own, 'cleo');
		await form.press('Refresh');
		await form.choose(0, 'TP 570');
		await form.submit();
		await app.until(() => app.service.log.puts(own).length === 1);
		const { user } = app.slack.as('cleo');
		const asked = app
			.calls('users.conversations', from)
			.filter(({ request }) => (request as { user?: string }).user === user);
		expect(asked).toEqual([]);
		expect(app.calls('conversations.info', from)).toHaveLength(1);
	});

	it('is asked about on the receipt of a form that was opened from a copy', async ({ app }) => {
		const { id: own } = await app.asked();
		await app.openHome('cleo');
		await app.homeSays('Which flight?', { who: 'cleo' });
		await app.slack.as('cleo').home()?.press('Other answer…');
		const form = await app.slack.as('cleo').waitForModal('[Send answer]');
		await form.choose(0, 'TP 570');
		app.service.sessions.answerAsPage(own, ['LH 1173']);
		await form.submit();
		await app.until(() => form.buttons().includes('Open session'));
		await app.slack.remove('#agents', 'cleo');
		await form.press('Open session');
		await app.until(() => app.slack.as('cleo').modal()?.text().includes(NOT_THERE));
	});
});

it('asks Slack once more before it refuses somebody of whose joining no event came yet', async ({ app }) => {
	const { post: posted } = await app.asked();
	await app.openHome('tess');
	const tess = app.slack.as('tess').user;
	const agents = app.slack.state.channels.find(({ name }) => name === 'agents');
	agents?.members.push(tess);
	await app.press(posted, 'tess', 'Hand over');
	const modal = await app.slack.as('tess').waitForModal('Hand over to');
	await modal.choose('Hand over to', 'bob');
	expect((await modal.submit()).errors ?? {}).toEqual({});
});

it('asks Slack once in five seconds while it does not tell the channels', async ({ app }) => {
	await app.restart({}, { personReads: { burst: 20, perMinute: 20 } });
	app.slack.faults.add({ method: 'users.conversations', error: 'internal_error' });
	const from = app.now();
	for (let press = 0; press < 20; press++) await app.slack.as('bob').home()?.press('Hand over');
	await app.until(() => app.log.filter((line) => line.includes('could_not_check')).length >= 20);
	// The clock stands still; an inbox may ask too.
	expect(app.calls('users.conversations', from).length).toBeLessThanOrEqual(3);
});

it('lets whoever was removed take their own answer back', async ({ app }) => {
	await app.restart({ UNDO_SECONDS: '30' });
	await app.slack.as('bob').home()?.press('TP 570');
	await app.homeSays('Undo', { who: 'bob' });
	await removed(app);
	await app.slack.as('bob').home()?.press('Undo');
	await app.pass(40_000);
	expect(app.service.log.puts(app.id)).toEqual([]);
});
