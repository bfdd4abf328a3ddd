import { NOT_THERE } from '../../../src/slack/error-view.ts';
import { expect, FLIGHT, handOverApp, openSession, withApp } from '../../kit.ts';

/* Who had a question by hand-over when it was settled still gets the answers to what they press. */

const it = withApp(start);
type App = Awaited<ReturnType<typeof start>>;

/** With a question that was handed over to Tess, who is not in the channel. */
async function start() {
	const app = await handOverApp();
	return { ...app, ...(await app.handed()) };
}

/** Tess opens the form and chooses. */
async function formOfTess(app: App) {
	await app.dm.press('Other answer…');
	const form = await app.slack.as('tess').waitForModal('[Send answer]');
	await form.choose(0, 'TP 570');
	return form;
}
async function answerElsewhere(app: App) {
	app.service.sessions.answerAsPage(app.id, ['LH 1173']);
	await app.pass(20_000);
}
const toldTess = (app: App) =>
	[app.slack.as('tess').modal(), ...app.dms('tess')].map((one) => one?.text() ?? '').join('\n--\n');

/** Waits until `look` finds something; else says what Tess was told. */
const seen = <T>(app: App, look: () => T) => app.until(look, () => toldTess(app));

it('tells them who was first', async ({ app }) => {
	const form = await formOfTess(app);
	const other = await openSession(app, app.id, 'ada');
	await other.choose(0, 'LH 1173');
	await other.submit();
	await seen(app, () => app.dms('tess').some((dm) => !dm.buttons().includes('Other answer…')));
	await app.pass(10_000);
	expect((await form.submit()).errors ?? {}).toEqual({});
	await seen(app, () => form.text().includes('LH 1173'));
	expect(toldTess(app)).not.toContain(NOT_THERE);
	expect(app.service.log.puts(app.id)).toHaveLength(1);
});

it('tells them that their press came second, and opens the session from that receipt', async ({ app }) => {
	app.keepOld(app.dm);
	await answerElsewhere(app);
	await app.dm.press('TP 570');
	const receipt = await seen(app, () => app.dms('tess').find((one) => one.buttons().includes('Open session')));
	await receipt.press('Open session');
	await app.slack.as('tess').waitForModal('Book a flight');
	expect(toldTess(app)).not.toContain(NOT_THERE);
});

it('takes their answer after somebody ended the watch', async ({ app }) => {
	const form = await formOfTess(app);
	await app.command(`/session unwatch ${app.id}`);
	await seen(app, () => app.dms('tess').some((dm) => !dm.buttons().includes('Other answer…')));
	expect((await form.submit()).errors ?? {}).toEqual({});
	await seen(app, () => app.service.log.puts(app.id).length === 1);
});

it('does not show them what the agent asks next', async ({ app }) => {
	const form = await formOfTess(app);
	await answerElsewhere(app);
	app.ask(app.id, ['Which seat?']);
	await app.pass(20_000);
	await form.press('Refresh');
	await seen(app, () => toldTess(app).includes(NOT_THERE));
	expect(toldTess(app)).not.toContain('Which seat?');
});

it('does not take their press for what the agent asks again in the same words', async ({ app }) => {
	app.keepOld(app.dm);
	await answerElsewhere(app);
	app.ask(app.id, [FLIGHT], '');
	const { messages = [] } = structuredClone(app.service.sessions.get(app.id));
	app.service.sessions.patch(app.id, { messages: messages?.toSpliced(app.index, 1) ?? [] });
	// It counts as asked again once the agent has waited for a minute.
	await app.pass(90_000);
	await app.dm.press('TP 570');
	await seen(app, () => toldTess(app).includes(NOT_THERE));
	await app.pass(20_000);
	expect(app.service.log.puts(app.id)).toHaveLength(0);
});
