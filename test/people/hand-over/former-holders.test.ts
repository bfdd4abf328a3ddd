import { afterEach, beforeEach, expect, it } from 'vitest';
import { NOT_THERE } from '../../../src/slack/error-view.ts';
import { expectNothingWrong } from '../../sessions/harness.ts';
import { openSession } from '../../slack/support/open-session.ts';
import { FLIGHT, type HandOverApp, handOverApp } from './harness.ts';

/* Who had a question by hand-over when it was settled still gets the answers to what they press. */

let app: HandOverApp;
/** Handed over to Tess, who is not in the channel. */
let asked: Awaited<ReturnType<typeof app.handed>>;

beforeEach(async () => {
	app = await handOverApp();
	asked = await app.handed();
});
afterEach(async () => {
	app.slack.faults.clear();
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

/** Tess opens the form and chooses. */
async function formOfTess() {
	await asked.dm.press('Other answer…');
	const form = await app.slack.as('tess').waitForModal('[Send answer]');
	await form.choose(0, 'TP 570');
	return form;
}
async function answerElsewhere() {
	app.service.sessions.answerAsPage(asked.id, ['LH 1173']);
	await app.pass(20_000);
}
const toldTess = () =>
	[app.slack.as('tess').modal(), ...app.dms('tess')].map((one) => one?.text() ?? '').join('\n--\n');

it('tells them who was first', async () => {
	const form = await formOfTess();
	const other = await openSession(app.app, asked.id, 'ada');
	await other.choose(0, 'LH 1173');
	await other.submit();
	await app.until(() => app.dms('tess').some((dm) => !dm.buttons().includes('Other answer…')), toldTess);
	await app.pass(10_000);
	expect((await form.submit()).errors ?? {}).toEqual({});
	await app.until(() => form.text().includes('LH 1173'), toldTess);
	expect(toldTess()).not.toContain(NOT_THERE);
	expect(app.service.log.puts(asked.id)).toHaveLength(1);
});

it('tells them that their press came second, and opens the session from that receipt', async () => {
	app.keepOld(asked.dm);
	await answerElsewhere();
	await asked.dm.press('TP 570');
	const receipt = await app.until(
		() => app.dms('tess').find((one) => one.buttons().includes('Open session')),
		toldTess,
	);
	await receipt.press('Open session');
	await app.slack.as('tess').waitForModal('Book a flight');
	expect(toldTess()).not.toContain(NOT_THERE);
});

it('takes their answer after somebody ended the watch', async () => {
	const form = await formOfTess();
	await app.command(`/session unwatch ${asked.id}`);
	await app.until(() => app.dms('tess').some((dm) => !dm.buttons().includes('Other answer…')), toldTess);
	expect((await form.submit()).errors ?? {}).toEqual({});
	await app.until(() => app.service.log.puts(asked.id).length === 1, toldTess);
});

it('does not show them what the agent asks next', async () => {
	const form = await formOfTess();
	await answerElsewhere();
	app.ask(asked.id, ['Which seat?']);
	await app.pass(20_000);
	await form.press('Refresh');
	await app.until(() => toldTess().includes(NOT_THERE), toldTess);
	expect(toldTess()).not.toContain('Which seat?');
});

it('does not take their press for what the agent asks again in the same words', async () => {
	app.keepOld(asked.dm);
	await answerElsewhere();
	app.ask(asked.id, [FLIGHT], '');
	const { messages = [] } = structuredClone(app.service.sessions.get(asked.id));
	app.service.sessions.patch(asked.id, { messages: messages?.toSpliced(asked.index, 1) ?? [] });
	// It counts as asked again once the agent has waited for a minute.
	await app.pass(90_000);
	await asked.dm.press('TP 570');
	await app.until(() => toldTess().includes(NOT_THERE), toldTess);
	await app.pass(20_000);
	expect(app.service.log.puts(asked.id)).toHaveLength(0);
});

it('does not count who gave the question back before it was settled', async () => {
	const form = await formOfTess();
	await asked.dm.press('Give back');
	await app.givenBackTo('ada');
	await answerElsewhere();
	expect(Object.values((await form.submit()).errors ?? {}).join()).toContain(NOT_THERE);
});

it('does not count who handed it on', async () => {
	app.keepOld(asked.dm);
	await asked.dm.press('Hand over');
	const chooser = await app.slack.as('tess').waitForModal('Hand over to');
	await chooser.choose('Hand over to', 'bob');
	await chooser.submit();
	await app.handedTo('bob');
	await answerElsewhere();
	await asked.dm.press('TP 570');
	await app.until(() => toldTess().includes(NOT_THERE), toldTess);
});
