import { type AnswererApp, answererApp, answering, expect, forCase, it, REMINDER, WAIT } from '../../kit.ts';

/* Cleo could answer until the channel named Ada and Grace: what becomes of all that she had by then. */

const WHOM_TO_ASK = 'Only ada and grace may answer.';
/** Also in a direct message, which is no channel of the session. */
const WHOM_TO_ASK_ANYWHERE = /Only ada and grace (?:\(named in #agents\) )?may answer(?:\.| · named in #agents)/;

async function start(env: Record<string, string> = {}, ...items: Parameters<AnswererApp['asked']>) {
	const app = await forCase(answererApp(env));
	const question = await app.asked(...items);
	// The program knows a moment later than Slack where the post stands.
	await app.pass(1_000);
	return { app, ...question };
}

const cleo = (app: AnswererApp) => app.slack.as('cleo');
const puts = (app: AnswererApp, id: string) => app.service.log.effectivePuts(id);
const nameOthers = (app: AnswererApp) => app.names(['ada', 'grace']);
const readByCleo = (app: AnswererApp) =>
	[cleo(app).modal(), ...cleo(app).dm(), ...app.onlyFor('cleo', '#agents')].map((one) => one?.text()).join('\n--\n');
/** Waits until Cleo reads this in a window, a direct message or a message only for her. */
const cleoReads = (app: AnswererApp, words: RegExp) =>
	app.until(
		() => words.test(readByCleo(app)),
		() => readByCleo(app),
	);

it('an answer from before the list is not sent by a program that starts while Slack is away', async () => {
	const { app, id, post } = await start({ UNDO_SECONDS: '25' });
	const other = await app.asked();
	await app.press(post, 'cleo', 'TP 570');
	await app.press(other.post, 'ada', 'TP 570');
	await app.until(() => [post, other.post].every((one) => one.buttons().includes('Undo')));
	await nameOthers(app);
	await app.stop();
	const release = app.slack.faults.hold('auth.test');
	const restarted = app.restart();
	await expect
		.poll(async () => {
			await app.clock.advance(1_000);
			return app.service.log.effectivePuts(other.id).length;
		})
		.toBe(1);
	expect(puts(app, id)).toEqual([]);
	release();
	await restarted;
	await cleoReads(app, /may answer\./);
	expect(puts(app, id)).toEqual([]);
});

it('a form that is open already is refused at Send answer: the text stays, and is there again once she may answer', async () => {
	const { app, id, post } = await start({}, undefined, ['Which seat?']);
	await app.press(post, 'cleo', 'Answer…');
	const modal = await cleo(app).waitForModal('[Send answer]');
	await modal.fill(0, 'by the window');
	await app.until(() => post.text().includes(answering('cleo')));
	await nameOthers(app);
	const { errors } = await modal.submit();
	expect(Object.values(errors ?? {}).join()).toContain(WHOM_TO_ASK);
	expect(modal.value(0)).toBe('by the window');
	await modal.close();
	await app.pass(5_000);
	expect(puts(app, id)).toEqual([]);
	await app.names(['ada', 'cleo']);
	await app.press(post, 'cleo', 'Answer…');
	expect((await cleo(app).waitForModal('[Send answer]')).value(0)).toBe('by the window');
});

it('buttons from before the list of a direct message that handed the question to her answer nothing, and Give back works', async () => {
	const { app, id, post } = await start();
	await app.handOver(post, 'ada', 'cleo');
	const dm = await app.handedTo('cleo');
	app.keepOld(dm);
	await nameOthers(app);
	await dm.press('TP 570');
	await cleoReads(app, WHOM_TO_ASK_ANYWHERE);
	await dm.press('Other answer…');
	const modal = await cleo(app).waitForModal(WHOM_TO_ASK);
	expect([modal.fields(), modal.submitText()]).toEqual([[], null]);
	await modal.close(true);
	await dm.press('Hand over');
	await app.pass(3_000);
	expect(cleo(app).modal()?.text() ?? '').not.toContain('Hand over to');
	expect(puts(app, id)).toEqual([]);
	await dm.press('Give back');
	await app.givenBackTo('ada');
});

it('buttons from before the list are gone from a direct message that handed the question to her, and Ada can hand it over again', async () => {
	const { app, id, post } = await start();
	await app.handOver(post, 'ada', 'cleo');
	const dm = await app.handedTo('cleo');
	await nameOthers(app);
	await app.until(() => !dm.buttons().includes('TP 570'));
	await app.handOver(post, 'ada', 'grace');
	await (await app.handedTo('grace')).press('LH 1173');
	await app.until(() => puts(app, id).length === 1);
});

it('buttons from before the list of a reminder and of a digest open the window without fields', async () => {
	const { app } = await start({ REMIND_AFTER: '40s' });
	const reminder = await app.until(() => app.inChannel().find((one) => REMINDER.test(one.text())));
	await nameOthers(app);
	await app.until(() => reminder.text().includes(WHOM_TO_ASK));
	await app.press(reminder, 'cleo', 'Answer');
	expect((await cleo(app).waitForModal(WHOM_TO_ASK)).fields()).toEqual([]);
	await cleo(app).modal()?.close(true);
	const [one, other] = [await app.watched({ name: 'One' }), await app.watched({ name: 'Two' })];
	app.ask(one);
	app.ask(other);
	const digest = await app.until(() => app.inChannel().find((message) => message.text().includes(WAIT)));
	await app.press(digest, 'cleo', 'Answer');
	expect((await cleo(app).waitForModal(WHOM_TO_ASK)).fields()).toEqual([]);
});

it('an answer is not sent at the end of Undo: she is told, and the question is open for others', async () => {
	const { app, id, post } = await start({ UNDO_SECONDS: '20' });
	await app.press(post, 'cleo', 'TP 570');
	await app.until(() => post.buttons().includes('Undo'));
	await nameOthers(app);
	await app.pass(25_000);
	await cleoReads(app, /may answer\./);
	expect(puts(app, id)).toEqual([]);
	await app.until(() => post.buttons().includes('LH 1173'));
	await app.press(post, 'grace', 'LH 1173');
	await app.until(() => puts(app, id).length === 1);
	expect(JSON.stringify(puts(app, id))).toContain('LH 1173');
});
