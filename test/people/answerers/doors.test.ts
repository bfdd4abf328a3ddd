import { type AnswererApp, answererApp, answering, describe, expect, forCase, it } from '../../kit.ts';

/* Cleo is in the channel and is not named there: what happens at each door that she tries. */

const WHOM_TO_ASK = 'Only ada and grace may answer.';

/** Ada and Grace are named before the session is watched. */
async function named(...options: Parameters<typeof answererApp>) {
	const app = await forCase(answererApp(...options));
	await app.names(['ada', 'grace']);
	const question = await app.asked();
	// The program knows a moment later than Slack where the post stands.
	await app.pass(1_000);
	return { app, ...question };
}

const cleo = (app: AnswererApp) => app.slack.as('cleo');
const puts = (app: AnswererApp, id: string) => app.service.log.puts(id);
/** All that Cleo reads in #agents and its threads that only she sees. */
const toldCleo = (app: AnswererApp) => app.onlyFor('cleo', '#agents').map((one) => one.text());
const offers = (app: AnswererApp) => app.onlyFor('cleo', '#agents').filter((one) => one.buttons().includes('Send'));

/** The window has the question and whom to ask, and nothing to answer with; nobody reads that she answers. */
async function readsOnly(app: AnswererApp, id: string) {
	const modal = await cleo(app).waitForModal(WHOM_TO_ASK);
	expect(modal.text()).toContain('Which flight?');
	expect([modal.fields(), modal.submitText()]).toEqual([[], null]);
	await app.pass(3_000);
	for (const post of app.thread(id)) expect(post.text()).not.toContain(answering('cleo'));
	expect(puts(app, id)).toEqual([]);
	return modal;
}

describe('somebody whom the channel does not name', () => {
	it('stops nothing from the list of watches, nor by an offer to end all that was made before', async () => {
		const { app, id } = await named();
		const list = await app.command('/session unwatch', 'cleo');
		expect(list.buttons()).toContain('Stop watching');
		await list.press('Stop watching');
		await app.refused('cleo', 'Only ada and grace may stop watching here.');
		expect((await app.command('/session list')).text()).toContain('This channel watches one session.');
		const offer = await app.command('/session unwatch all', 'grace');
		await app.names(['ada']);
		await offer.press('End all');
		await app.refused('grace', 'Only ada may stop watching here.');
		expect((await app.command('/session list')).text()).toContain('This channel watches one session.');
		expect(app.card(id) ?? app.thread(id)[0]).toBeDefined();
	});

	it('opens a window without fields: by the post, the command and the card', async () => {
		const { app, id, post } = await named();
		await app.press(post, 'cleo', 'Other answer…');
		await (await readsOnly(app, id)).close(true);
		await cleo(app).command('#agents', `/session ${id}`);
		const modal = await readsOnly(app, id);
		await modal.press('Refresh');
		await app.pass(2_000);
		await (await readsOnly(app, id)).close(true);
		const card = app.card(id);
		if (card === undefined) throw new Error('no card');
		await app.press(card, 'cleo', 'Open session');
		await readsOnly(app, id);
	});

	it('mentions the app in the thread and reads whom to ask', async () => {
		const { app, id, post } = await named();
		await cleo(app).mention('#agents', 'TP 570 please', { thread: post });
		await app.until(
			() => toldCleo(app).some((text) => text.includes(WHOM_TO_ASK)),
			() => toldCleo(app).join('\n--\n'),
		);
		expect(offers(app)).toEqual([]);
		expect(puts(app, id)).toEqual([]);
	});

	it('uses a message as the answer and gets the window without fields', async () => {
		const { app, id, post } = await named();
		const message = await cleo(app).say('#agents', 'TP 570 please', { thread: post });
		await cleo(app).shortcut(message, 'use_as_answer');
		await readsOnly(app, id);
	});

	it('cannot hand the question over, and nobody can hand it to them', async () => {
		const { app, id, post } = await named();
		await app.press(post, 'cleo', 'Hand over');
		await app.refused('cleo', WHOM_TO_ASK);
		expect(cleo(app).modal()).toBeNull();
		const { errors, modal } = await app.handOver(post, 'ada', 'cleo');
		expect(Object.values(errors ?? {}).join()).toContain('is not among the people who may answer here');
		await modal.close();
		await app.handOver(post, 'ada', 'grace');
		await app.handedTo('grace');
		expect(puts(app, id)).toEqual([]);
	});
});
