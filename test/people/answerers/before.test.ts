import { afterEach, describe, expect, it } from 'vitest';
import { expectNothingWrong } from '../../sessions/harness.ts';
import { answering, REMINDER, WAIT } from '../../support/sentences.ts';
import { tooComplex } from '../../support/too-complex.ts';
import { type AnswererApp, answererApp } from './harness.ts';

/* Cleo could answer until the channel named Ada and Grace: what becomes of all that she had by then. */

const WHOM_TO_ASK = 'Only ada and grace may answer.';
/** Also in a direct message, which is no channel of the session. */
const WHOM_TO_ASK_ANYWHERE = /Only ada and grace (?:\(named in #agents\) )?may answer(?:\.| · named in #agents)/;

let app: AnswererApp;
let id: string;
let post: Awaited<ReturnType<AnswererApp['asked']>>['post'];

async function start(env: Record<string, string> = {}, ...items: Parameters<AnswererApp['asked']>) {
	app = await answererApp(env);
	({ id, post } = await app.asked(...items));
	// The program knows a moment later than Slack where the post stands.
	await app.pass(1_000);
}
afterEach(async () => {
	app.slack.faults.clear();
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

const cleo = () => app.slack.as('cleo');
const puts = () => app.service.log.effectivePuts(id);
const nameOthers = () => app.names(['ada', 'grace']);
const readBy = (who: string) =>
	[app.slack.as(who).modal(), ...app.slack.as(who).dm(), ...app.onlyFor(who, '#agents')]
		.map((one) => one?.text() ?? '')
		.join('\n--\n');
/** Waits until Cleo reads this in a window, a direct message or a message only for her. */
const cleoReads = (words: string | RegExp) =>
	app.until(
		() => (typeof words === 'string' ? readBy('cleo').includes(words) : words.test(readBy('cleo'))),
		() => readBy('cleo'),
	);

async function form() {
	await app.press(post, 'cleo', 'Other answer…');
	return cleo().waitForModal('[Send answer]');
}

it('an answer from before the list is not sent by a program that starts while Slack is away', async () => {
	await start({ UNDO_SECONDS: '25' });
	const other = await app.asked();
	await app.press(post, 'cleo', 'TP 570');
	await app.press(other.post, 'ada', 'TP 570');
	await app.until(() => [post, other.post].every((one) => one.buttons().includes('Undo')));
	await nameOthers();
	await app.stop();
	const release = app.slack.faults.hold('auth.test');
	const restarted = app.restart();
	await expect
		.poll(async () => {
			await app.clock.advance(1_000);
			return app.service.log.effectivePuts(other.id).length;
		})
		.toBe(1);
	expect(puts()).toEqual([]);
	release();
	await restarted;
	await cleoReads(/may answer\./);
	expect(puts()).toEqual([]);
});

describe('a form that is open already', () => {
	it('is refused at Send answer: the text stays, and is there again once she may answer', async () => {
		await start({}, undefined, ['Which seat?']);
		await app.press(post, 'cleo', 'Answer…');
		const modal = await cleo().waitForModal('[Send answer]');
		await modal.fill(0, 'by the window');
		await app.until(() => post.text().includes(answering('cleo')));
		await nameOthers();
		const { errors } = await modal.submit();
		expect(Object.values(errors ?? {}).join()).toContain(WHOM_TO_ASK);
		expect(modal.value(0)).toBe('by the window');
		await modal.close();
		await app.pass(5_000);
		expect(puts()).toEqual([]);
		await app.names(['ada', 'cleo']);
		await app.press(post, 'cleo', 'Answer…');
		expect((await cleo().waitForModal('[Send answer]')).value(0)).toBe('by the window');
	});

	it('stores nothing that is typed, and shows nobody as answering', async () => {
		await start({}, undefined, ['Which seat?']);
		await app.press(post, 'cleo', 'Answer…');
		const modal = await cleo().waitForModal('[Send answer]');
		await nameOthers();
		// Her claim from before ends.
		await app.until(
			() => !post.text().includes(answering('cleo')),
			() => post.text(),
			20 * 60_000,
		);
		await modal.fill(0, 'typed-too-late');
		await app.pass(10_000);
		expect(post.text()).not.toContain(answering('cleo'));
		await app.slack.as('cleo').openApp('home');
		await app.pass(3_000);
		expect(app.textOf('cleo')).not.toContain('typed-too-late');
	});
});

describe('buttons from before the list', () => {
	it('of an old copy of Home answer nothing', async () => {
		await start();
		await app.openHome('cleo');
		const old = await app.until(() => app.home('cleo').buttons().includes('LH 1173') && app.home('cleo'));
		app.slack.faults.add({ method: 'views.publish', error: 'internal_error' });
		await nameOthers();
		await old.press('LH 1173');
		await cleoReads(WHOM_TO_ASK_ANYWHERE);
		await cleo().modal()?.close(true);
		await old.press('Other answer…');
		const modal = await cleo().waitForModal(WHOM_TO_ASK);
		expect([modal.fields(), modal.submitText()]).toEqual([[], null]);
		await app.pass(5_000);
		expect(puts()).toEqual([]);
	});

	it('of a direct message that handed the question to her answer nothing, and Give back works', async () => {
		await start();
		await app.handOver(post, 'ada', 'cleo');
		const dm = await app.handedTo('cleo');
		app.keepOld(dm);
		await nameOthers();
		await dm.press('TP 570');
		await cleoReads(WHOM_TO_ASK_ANYWHERE);
		await dm.press('Other answer…');
		const modal = await cleo().waitForModal(WHOM_TO_ASK);
		expect([modal.fields(), modal.submitText()]).toEqual([[], null]);
		await modal.close(true);
		await dm.press('Hand over');
		await app.pass(3_000);
		expect(cleo().modal()?.text() ?? '').not.toContain('Hand over to');
		expect(puts()).toEqual([]);
		await dm.press('Give back');
		await app.givenBackTo('ada');
	});

	it('are gone from a direct message that handed the question to her, and Ada can hand it over again', async () => {
		await start();
		await app.handOver(post, 'ada', 'cleo');
		const dm = await app.handedTo('cleo');
		await nameOthers();
		await app.until(
			() => !dm.buttons().includes('TP 570'),
			() => dm.text(),
		);
		await app.handOver(post, 'ada', 'grace');
		await (await app.handedTo('grace')).press('LH 1173');
		await app.until(() => puts().length === 1);
	});

	it('of a reminder and of a digest open the window without fields', async () => {
		await start({ REMIND_AFTER: '40s' });
		const reminder = await app.until(() => app.inChannel().find((one) => REMINDER.test(one.text())));
		await nameOthers();
		await app.until(() => reminder.text().includes(WHOM_TO_ASK));
		await app.press(reminder, 'cleo', 'Answer');
		expect((await cleo().waitForModal(WHOM_TO_ASK)).fields()).toEqual([]);
		await cleo().modal()?.close(true);
		const [one, other] = [await app.watched({ name: 'One' }), await app.watched({ name: 'Two' })];
		app.ask(one);
		app.ask(other);
		const digest = await app.until(() => app.inChannel().find((message) => message.text().includes(WAIT)));
		await app.press(digest, 'cleo', 'Answer');
		expect((await cleo().waitForModal(WHOM_TO_ASK)).fields()).toEqual([]);
	});

	it('of an offer to send a reply send nothing', async () => {
		await start({ THREAD_REPLIES: 'on' });
		app.slack.settings.events.push('message.channels', 'message.groups');
		await cleo().say('#agents', 'TP 570', { thread: post });
		const offer = await app.until(() => app.onlyFor('cleo', '#agents').find((one) => one.buttons().includes('Send')));
		await nameOthers();
		await offer.press('Send');
		await cleoReads(WHOM_TO_ASK_ANYWHERE);
		await app.pass(5_000);
		expect(puts()).toEqual([]);
	});

	it('Try again does nothing', async () => {
		await start();
		const modal = await form();
		await modal.choose(0, 'TP 570');
		app.service.faults.add(tooComplex(id));
		await modal.submit();
		await app.until(
			() => modal.buttons().includes('Try again'),
			() => readBy('cleo'),
		);
		app.service.faults.clear();
		await nameOthers();
		await modal.press('Try again');
		await cleoReads(WHOM_TO_ASK_ANYWHERE);
		await app.pass(20_000);
		expect(puts()).toEqual([]);
	});
});

describe('an answer that is not sent yet', () => {
	/** Cleo is told, the post too, and Grace answers. */
	async function isRefused(): Promise<void> {
		await cleoReads(/may answer\./);
		expect(puts()).toEqual([]);
		await app.until(
			() => post.buttons().includes('LH 1173'),
			() => post.text(),
		);
		await app.press(post, 'grace', 'LH 1173');
		await app.until(() => puts().length === 1);
		expect(JSON.stringify(puts())).toContain('LH 1173');
	}

	it('is not sent at the end of Undo: she is told, and the question is open for others', async () => {
		await start({ UNDO_SECONDS: '20' });
		await app.press(post, 'cleo', 'TP 570');
		await app.until(() => post.buttons().includes('Undo'));
		await nameOthers();
		await app.pass(25_000);
		await isRefused();
	});

	it('is not sent when the service comes back', async () => {
		await start();
		const modal = await form();
		await modal.choose(0, 'TP 570');
		app.service.faults.add({ kind: 'unauthorized', sessionId: id });
		await modal.submit();
		await app.pass(10_000);
		await nameOthers();
		app.service.faults.clear();
		await isRefused();
	});

	it('can be undone by its author', async () => {
		await start({ UNDO_SECONDS: '60' });
		await app.press(post, 'cleo', 'TP 570');
		await app.until(() => post.buttons().includes('Undo'));
		await nameOthers();
		await app.press(post, 'cleo', 'Undo');
		await app.until(
			() => post.buttons().includes('LH 1173'),
			() => post.text(),
		);
		expect(readBy('cleo')).not.toMatch(WHOM_TO_ASK_ANYWHERE);
		await app.pass(90_000);
		expect(puts()).toEqual([]);
	});
});
