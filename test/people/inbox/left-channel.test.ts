import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Modal } from '../../../fake-slack/index.ts';
import { NOT_THERE } from '../../../src/slack/error-view.ts';
import { expectNothingWrong } from '../../sessions/harness.ts';
import { openSession } from '../../slack/support/open-session.ts';
import { FLIGHT, handOverApp } from '../hand-over/harness.ts';

let app: Awaited<ReturnType<typeof handOverApp>>;
let id: string;
let post: Awaited<ReturnType<typeof askedInSecret>>;

/** A question in a private channel, of which bob sees a copy in Home. */
async function askedInSecret() {
	await app.slack.invite('#secret', 'bob');
	[id = ''] = await app.askedIn('#secret', ['Book a flight'], [FLIGHT]);
	const posted = await app.until(() =>
		app.thread(id, '#secret').findLast((one) => one.buttons().includes('Hand over')),
	);
	await app.openHome('bob');
	await app.homeSays('Which flight?', { who: 'bob' });
	return posted;
}

beforeEach(async () => {
	app = await handOverApp();
	post = await askedInSecret();
});
afterEach(async () => {
	app.slack.faults.clear();
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

/** Bob is removed, and his Home keeps the copy that it shows. */
async function removed(): Promise<void> {
	app.slack.faults.add({ method: 'views.publish', error: 'internal_error' });
	await app.slack.remove('#secret', 'bob');
}

const toldToBob = () =>
	[app.slack.as('bob').modal(), ...app.dms('bob')].map((message) => message?.text() ?? '').join('\n');
/** Refusals in direct messages, and in a window over a form: an error in the form itself is none of these. */
function timesRefused(): number {
	const window = app.slack.as('bob').modal();
	const texts = [...(window?.submitText() === null ? [window] : []), ...app.dms('bob')].map((one) => one.text());
	return texts.filter((text) => text.includes(NOT_THERE)).length;
}
/** Resolves when Bob was refused something. */
const refused = () => app.until(() => timesRefused() > 0, toldToBob);
/** Does what is refused to Bob, and closes the window that tells him. */
async function expectRefused(act: () => Promise<unknown> | undefined): Promise<void> {
	const before = timesRefused();
	await act();
	await app.until(() => timesRefused() > before, toldToBob);
	const window = app.slack.as('bob').modal();
	if (window?.submitText() === null) await window.close();
}
const errorsOf = async (form: Modal) => Object.values((await form.submit()).errors ?? {}).join();

/** Bob's form, opened from Home. */
async function formOfBob() {
	await app.slack.as('bob').home()?.press('Other answer…');
	return app.slack.as('bob').waitForModal((modal) => modal.submitText() !== null);
}

/** Bob opens the session in the channel and chooses. */
async function windowOfBob() {
	const form = await openSession(app.app, id, 'bob', '#secret');
	await form.choose(0, 'TP 570');
	return form;
}

it('refuses every button in an old copy of Home to somebody who was removed', async () => {
	await removed();
	for (const label of ['TP 570', 'Other answer…', 'Hand over']) {
		await expectRefused(() => app.slack.as('bob').home()?.press(label));
		expect(app.slack.as('bob').modal()).toBeNull();
	}
	await app.pass(15_000);
	expect(app.service.log.puts(id)).toEqual([]);
});

it('refuses the window of Hand over, which was open before', async () => {
	await app.slack.as('bob').home()?.press('Hand over');
	const modal = await app.slack.as('bob').waitForModal('Hand over to');
	await removed();
	await modal.choose('Hand over to', 'tess');
	expect(await errorsOf(modal)).toContain(NOT_THERE);
	await app.pass(15_000);
	expect(app.dms('tess')).toEqual([]);
});

it('refuses somebody who gave the question back, in an old copy of the direct message', async () => {
	await app.handOver(post, 'ada', 'tess');
	const dm = await app.handedTo('tess');
	app.keepOld(dm);
	await dm.press('Give back');
	await app.givenBackTo('ada');
	await dm.press('TP 570');
	await app.until(() => app.dms('tess').some((one) => one.text().includes(NOT_THERE)));
	expect(app.service.log.puts(id)).toEqual([]);
});

describe('a window that was opened from a copy', () => {
	/** The agent asks something else. */
	function askAnother(): void {
		app.service.sessions.answerAsPage(id, ['TP 570']);
		app.step(id, 'Booked');
		app.ask(id, ['Which hotel?'], '');
	}

	it('sends no answer of somebody who was removed, and shows them nothing new', async () => {
		const form = await formOfBob();
		await removed();
		await form.choose(0, 'TP 570');
		expect(await errorsOf(form)).toContain(NOT_THERE);
		await app.pass(15_000);
		expect(app.service.log.puts(id)).toEqual([]);
		askAnother();
		await app.until(() => app.thread(id, '#secret').some((one) => one.text().includes('Which hotel?')));
		await expectRefused(() => form.press('Refresh'));
		expect(toldToBob()).not.toContain('Which hotel');
	});

	it('is refused to somebody who gave the question back', async () => {
		await app.handOver(post, 'ada', 'tess');
		const dm = await app.handedTo('tess');
		await dm.press('Other answer…');
		const form = await app.slack.as('tess').waitForModal((modal) => modal.submitText() !== null);
		await dm.press('Give back');
		await app.givenBackTo('ada');
		await form.choose(0, 'TP 570');
		expect(await errorsOf(form)).toContain(NOT_THERE);
		askAnother();
		await form.press('Refresh');
		const tess = app.slack.as('tess');
		await app.until(() => tess.modal()?.text().includes(NOT_THERE));
	});
});

describe('a window that was opened in the private channel itself', () => {
	it('takes nothing of somebody who was removed, and keeps what they chose', async () => {
		const form = await windowOfBob();
		await removed();
		for (const label of ['Refresh', 'Type freely']) {
			await expectRefused(() => form.press(label));
			expect(form.value(0)).toBe('TP 570');
		}
		expect((await app.command('/session list', 'ada', '#secret')).text()).toContain('Book a flight');
		expect(await errorsOf(form)).toContain(NOT_THERE);
		await app.pass(15_000);
		expect(app.service.log.puts(id)).toEqual([]);
		expect(form.value(0)).toBe('TP 570');
		await app.slack.invite('#secret', 'bob');
		await form.submit();
		await app.until(() => app.service.log.puts(id).length === 1);
	});

	it('keeps the choice when Slack does not tell who is there', async () => {
		const form = await windowOfBob();
		app.slack.faults.add({ method: 'users.conversations', error: 'internal_error' });
		await app.slack.remove('#secret', 'bob');
		expect(await errorsOf(form)).toContain('could not check');
		expect(form.value(0)).toBe('TP 570');
		await app.pass(15_000);
		expect(app.service.log.puts(id)).toEqual([]);
	});

	it('keeps the choice when Slack does not answer whether the channel is private', async () => {
		const form = await windowOfBob();
		const release = app.slack.faults.hold('conversations.info');
		const submitted = form.submit();
		await app.until(() => app.calls('conversations.info').some(({ doneAt }) => doneAt === null));
		await app.clock.advance(1_000);
		const { errors } = await submitted;
		release();
		expect(Object.values(errors ?? {}).join()).toContain('could not check');
		expect(form.value(0)).toBe('TP 570');
	});

	it.each(['in the channel', 'from Home'])('opens nothing from the receipt of a form opened %s', async (where) => {
		app.service.sessions.patch(id, { podStatus: 'stopped' });
		const form = await (where === 'from Home' ? formOfBob() : windowOfBob());
		await form.choose(0, 'TP 570');
		await form.submit();
		await app.until(() => form.buttons().includes('Open session'));
		await removed();
		await form.press('Open session');
		await refused();
		await app.pass(5_000);
		expect(app.service.log.puts(id)).toHaveLength(1);
	});
});

describe('a public channel', () => {
	it('asks Slack for nobody who sends a form or presses in it', async () => {
		const { id: own } = await app.asked();
		const from = app.now();
		const form = await openSession(app.app, own, 'cleo');
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

	it('is asked about on the receipt of a form that was opened from a copy', async () => {
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

it('asks Slack once more before it refuses somebody of whose joining no event came yet', async () => {
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

it('asks Slack once in five seconds while it does not tell the channels', async () => {
	await app.restart({}, { personReads: { burst: 20, perMinute: 20 } });
	app.slack.faults.add({ method: 'users.conversations', error: 'internal_error' });
	const from = app.now();
	for (let press = 0; press < 20; press++) await app.slack.as('bob').home()?.press('Hand over');
	await app.until(() => app.log.filter((line) => line.includes('could_not_check')).length >= 20);
	// The clock stands still; an inbox may ask too.
	expect(app.calls('users.conversations', from).length).toBeLessThanOrEqual(3);
});

it('lets whoever was removed take their own answer back', async () => {
	await app.restart({ UNDO_SECONDS: '30' });
	await app.slack.as('bob').home()?.press('TP 570');
	await app.homeSays('Undo', { who: 'bob' });
	await removed();
	await app.slack.as('bob').home()?.press('Undo');
	await app.pass(40_000);
	expect(app.service.log.puts(id)).toEqual([]);
});

it('says that it could not check when Slack does not tell the channels', async () => {
	await app.restart();
	app.slack.faults.add({ method: 'users.conversations', error: 'internal_error' });
	await app.slack.as('bob').home()?.press('TP 570');
	await app.until(() => toldToBob().includes('could not check'), toldToBob);
	expect(app.service.log.puts(id)).toEqual([]);
});
