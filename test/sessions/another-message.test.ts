import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { asking, done } from '../../fake-session-service/builders.ts';
import type { MessageJson } from '../../fake-session-service/json.ts';
import { openSession } from '../slack/support/open-session.ts';
import { openButtons, whatHappened } from '../support/sentences.ts';
import type { WatchingApp } from './harness.ts';
import { emptyNewest, FLIGHT, flightsOf, leavePlayed, playedApp, takeUnanswered } from './played-agent.ts';

const MINUTE = 60_000;
const LOST = 'not in the field any more';
let app: WatchingApp;
beforeAll(async () => {
	app = await playedApp('20m');
});
afterAll(() => app[Symbol.asyncDispose]());
afterEach(() => leavePlayed(app));

const empty = (id: string) => emptyNewest(app, id);
const { messagesOf, postsOf, open, receipt, step, asked, answered } = flightsOf(() => app);

/** The agent keeps its first two messages, and has these after them. */
function keepsTwo(id: string, status: string, ...after: MessageJson[]): void {
	const kept = messagesOf(id).slice(0, 2);
	app.service.sessions.patch(id, { status, messages: [...kept, ...after] });
}

/** Two equal questions: the first one is answered and taken, the second one open. */
async function askedTwice(second: string): Promise<string> {
	const { id, post } = await asked();
	await answered(id, 'LH 1173');
	app.service.sessions.setStatus(id, 'active');
	step(id);
	await app.until(() => post.text().includes('· continued'));
	app.ask(id, [FLIGHT]);
	app.service.sessions.setStatus(id, second);
	await app.until(() => postsOf(id).find(({ ts }) => ts !== post.ts));
	return id;
}

it('does not ask again what an agent without `humanInput` took, whose later messages are cut away', async () => {
	const { id } = await asked('active');
	step(id, 3);
	await app.pass(20_000);
	await answered(id, 'LH 1173');
	app.service.sessions.patch(id, { messages: messagesOf(id).slice(0, 3) });
	empty(id);
	await app.pass(MINUTE);
	step(id, 2);
	await app.pass(MINUTE);
	expect(open(id)).toEqual([]);
});

it.each([
	['was superseded', false],
	['was answered and taken', true],
])('asks no question again that %s when the agent removes the next one', async (_, isAnswered) => {
	const { id } = await asked();
	if (isAnswered) {
		await answered(id, 'LH 1173');
		app.service.sessions.setStatus(id, 'active');
		empty(id);
		await app.pass(15_000);
	}
	app.ask(id, ['Which hotel?'], 'And the hotel?');
	await app.threadSays(id, 'Which hotel?');
	await answered(id, 'Ritz');
	await app.pass(5_000);
	app.service.sessions.patch(id, { messages: messagesOf(id).slice(0, -1) });
	await app.pass(6_000);
	app.service.sessions.setStatus(id, 'active');
	await app.pass(6_000);
	step(id);
	await app.pass(2 * MINUTE);
	expect(open(id)).toEqual([]);
	// What replaced it stands in its post.
	expect(postsOf(id)).toHaveLength(isAnswered ? 1 : 0);
});

it('tells the author of a lost answer whose agent wrote back a history without its newest steps', async () => {
	const { id } = await asked();
	const before = messagesOf(id);
	step(id, 2);
	await app.pass(20_000);
	await answered(id, 'LH 1173');
	await app.pass(3_000);
	app.service.sessions.patch(id, { messages: before });
	await app.until(() => receipt(id)?.text().includes(LOST) && open(id)[0]?.text().includes(LOST));
});

it('gives nobody a form for what was answered a moment ago in a session that was over before', async () => {
	const { id, post } = await asked();
	app.service.sessions.setStatus(id, 'completed');
	await app.until(() => openButtons(post)?.length === 0);
	await app.pass(30_000);
	app.service.sessions.setStatus(id, 'humanInput');
	await answered(id, 'LH 1173');
	await app.pass(2_500);
	empty(id);
	const form = await openSession(app.app, id, 'grace');
	expect(form.submitText()).toBeNull();
});

it('names no answer to another question at the same index', async () => {
	const id = app.session();
	app.ask(id, [FLIGHT]);
	takeUnanswered(app, id);
	const form = await openSession(app.app, id);
	await form.fill(0, 'LH 1173');
	await form.submit();
	await app.until(() => form.text().includes('may have arrived'));
	await form.close();
	keepsTwo(id, 'humanInput', asking('Now the hotel.', ['Which hotel?']));
	const hers = await openSession(app.app, id, 'grace');
	expect(hers.text()).not.toContain('LH 1173');
});

it('asks what nobody was asked before, at a lower index and with a step after it', async () => {
	const { id } = await asked('active');
	await answered(id, 'LH 1173');
	await app.pass(10_000);
	step(id, 5);
	app.ask(id, ['Which hotel?'], 'Now the hotel.');
	app.service.sessions.setStatus(id, 'active');
	await app.threadSays(id, 'Which hotel?');
	await answered(id, 'Ritz');
	step(id, 2);
	await app.pass(20_000);
	keepsTwo(id, 'active', asking('And a car.', ['Which car?']), done('I look at cars meanwhile.'));
	await app.until(() => open(id, 'Which car?').length === 1);
});

it.each(['humanInput', 'active'])(
	'keeps a question asked, in one post, that stands at the place of an equal one now: %s',
	async (status) => {
		const id = await askedTwice(status);
		keepsTwo(id, status, asking('Three are in stock.', [FLIGHT]));
		await app.pass(2 * MINUTE);
		expect(postsOf(id)).toHaveLength(2);
		expect(open(id)).toHaveLength(1);
	},
);

it('does not ask again what was taken from the place of an equal one', async () => {
	const id = await askedTwice('humanInput');
	await answered(id, 'TP 570');
	await app.pass(3_000);
	keepsTwo(id, 'humanInput', asking('Three are in stock.', [FLIGHT]));
	await app.pass(12_000);
	app.service.sessions.setStatus(id, 'active');
	step(id);
	await app.pass(2 * MINUTE);
	expect(postsOf(id)).toHaveLength(2);
	expect(open(id)).toEqual([]);
});

it('asks nobody what was taken from a session that nobody watched, although it has another index now', async () => {
	const id = app.session();
	app.ask(id, [FLIGHT]);
	await answered(id, 'LH 1173');
	await app.pass(5_000);
	app.service.sessions.setStatus(id, 'active');
	empty(id);
	step(id, 2);
	await app.pass(20_000);
	app.service.sessions.patch(id, { messages: (app.service.sessions.get(id).messages ?? []).toSpliced(1, 1) });
	await app.watch(id);
	await app.pass(MINUTE);
	expect(open(id)).toEqual([]);
	await app.slack.as('grace').command('#agents', `/session ${id}`);
	const form = await app.slack.as('grace').waitForModal('I book it.');
	expect(form.submitText()).toBeNull();
});

it('waits for a minute of reads before it calls an answer lost that stood for long and that nobody watched', async () => {
	const id = app.session();
	app.ask(id, [FLIGHT]);
	await answered(id, 'LH 1173');
	await app.pass(3 * MINUTE);
	empty(id);
	const form = await openSession(app.app, id, 'grace');
	expect(form.submitText()).toBeNull();
	await app.pass(MINUTE);
	await form.press('Refresh');
	await app.slack.as('grace').waitForModal('not in the field any more');
	expect(form.submitText()).not.toBeNull();
	await form.close();
	await app.watch(id);
	app.service.sessions.setStatus(id, 'active');
	await app.pass(2 * MINUTE);
	expect(app.service.log.savedPuts(id)).toHaveLength(1);
});

it('closes a question quietly whose agent went on after a PUT of unknown outcome, and names the answer', async () => {
	const { id, post } = await asked();
	await app.pass(10_000);
	takeUnanswered(app, id);
	const form = await openSession(app.app, id);
	await form.fill(0, 'LH 1173');
	await form.submit();
	await app.until(() => post.text().includes("ada's answer may have arrived"));
	expect(post.buttons()).toEqual(['Answer again…']);
	await form.close();
	await app.seenBy('grace', post).press('Answer again…');
	const hers = await app.slack.as('grace').waitForModal("@ada's answer may have arrived");
	await hers.close();
	expect(app.service.log.savedPuts(id)).toHaveLength(1);
});

it('says of a watched session that it was not found, and does not ask to check its id', async () => {
	const { post } = await asked();
	app.service.faults.add({ kind: 'html', status: 404 });
	await app.pass(5_000);
	for (let count = 0; count < 6; count += 1) {
		await post.press('Answer…');
		const modal = await app.slack.as('ada').waitForModal(whatHappened('session_missing'));
		expect(modal.text()).not.toContain('Check the id');
		await modal.close();
	}
});
