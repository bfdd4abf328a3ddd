import type { MessageJson } from '../../fake-session-service/json.ts';
import { asking, done, expect, openButtons, openSession, type WatchingApp, whatHappened, withApp } from '../kit.ts';
import {
	answered,
	asked,
	emptyNewest,
	FLIGHT,
	messagesOf,
	open,
	playedApp,
	postsOf,
	receipt,
	step,
	takeUnanswered,
} from './played-agent.ts';

const MINUTE = 60_000;
const LOST = 'not in the field any more';
const it = withApp(() => playedApp('20m'));

/** The agent keeps its first two messages, and has these after them. */
function keepsTwo(app: WatchingApp, id: string, status: string, ...after: MessageJson[]): void {
	const kept = messagesOf(app, id).slice(0, 2);
	app.service.sessions.patch(id, { status, messages: [...kept, ...after] });
}

/** Two equal questions: the first one is answered and taken, the second one open. */
async function askedTwice(app: WatchingApp, second: string): Promise<string> {
	const { id, post } = await asked(app);
	await answered(app, id, 'LH 1173');
	app.service.sessions.setStatus(id, 'active');
	step(app, id);
	await app.until(() => post.text().includes('· continued'));
	app.ask(id, [FLIGHT]);
	app.service.sessions.setStatus(id, second);
	await app.until(() => postsOf(app, id).find(({ ts }) => ts !== post.ts));
	return id;
}

it('does not ask again what an agent without `humanInput` took, whose later messages are cut away', async ({ app }) => {
	const { id } = await asked(app, 'active');
	step(app, id, 3);
	await app.pass(20_000);
	await answered(app, id, 'LH 1173');
	app.service.sessions.patch(id, { messages: messagesOf(app, id).slice(0, 3) });
	emptyNewest(app, id);
	await app.pass(MINUTE);
	step(app, id, 2);
	await app.pass(MINUTE);
	expect(open(app, id)).toEqual([]);
});

it.for([
	['was superseded', false],
	['was answered and taken', true],
] as const)('asks no question again that %s when the agent removes the next one', async ([, isAnswered], { app }) => {
	const { id } = await asked(app);
	if (isAnswered) {
		await answered(app, id, 'LH 1173');
		app.service.sessions.setStatus(id, 'active');
		emptyNewest(app, id);
		await app.pass(15_000);
	}
	app.ask(id, ['Which hotel?'], 'And the hotel?');
	await app.threadSays(id, 'Which hotel?');
	await answered(app, id, 'Ritz');
	await app.pass(5_000);
	app.service.sessions.patch(id, { messages: messagesOf(app, id).slice(0, -1) });
	await app.pass(6_000);
	app.service.sessions.setStatus(id, 'active');
	await app.pass(6_000);
	step(app, id);
	await app.pass(2 * MINUTE);
	expect(open(app, id)).toEqual([]);
	// What replaced it stands in its post.
	expect(postsOf(app, id)).toHaveLength(isAnswered ? 1 : 0);
});

it('tells the author of a lost answer whose agent wrote back a history without its newest steps', async ({ app }) => {
	const { id } = await asked(app);
	const before = messagesOf(app, id);
	step(app, id, 2);
	await app.pass(20_000);
	await answered(app, id, 'LH 1173');
	await app.pass(3_000);
	app.service.sessions.patch(id, { messages: before });
	await app.until(() => receipt(app, id)?.text().includes(LOST) && open(app, id)[0]?.text().includes(LOST));
});

it('gives nobody a form for what was answered a moment ago in a session that was over before', async ({ app }) => {
	const { id, post } = await asked(app);
	app.service.sessions.setStatus(id, 'completed');
	await app.until(() => openButtons(post)?.length === 0);
	await app.pass(30_000);
	app.service.sessions.setStatus(id, 'humanInput');
	await answered(app, id, 'LH 1173');
	await app.pass(2_500);
	emptyNewest(app, id);
	const form = await openSession(app, id, 'grace');
	expect(form.submitText()).toBeNull();
});

it('names no answer to another question at the same index', async ({ app }) => {
	const id = app.session();
	app.ask(id, [FLIGHT]);
	takeUnanswered(app, id);
	const form = await openSession(app, id);
	await form.fill(0, 'LH 1173');
	await form.submit();
	await app.until(() => form.text().includes('may have arrived'));
	await form.close();
	keepsTwo(app, id, 'humanInput', asking('Now the hotel.', ['Which hotel?']));
	const hers = await openSession(app, id, 'grace');
	expect(hers.text()).not.toContain('LH 1173');
});

it('asks what nobody was asked before, at a lower index and with a step after it', async ({ app }) => {
	const { id } = await asked(app, 'active');
	await answered(app, id, 'LH 1173');
	await app.pass(10_000);
	step(app, id, 5);
	app.ask(id, ['Which hotel?'], 'Now the hotel.');
	app.service.sessions.setStatus(id, 'active');
	await app.threadSays(id, 'Which hotel?');
	await answered(app, id, 'Ritz');
	step(app, id, 2);
	await app.pass(20_000);
	keepsTwo(app, id, 'active', asking('And a car.', ['Which car?']), done('I look at cars meanwhile.'));
	await app.until(() => open(app, id, 'Which car?').length === 1);
});

it.for(['humanInput', 'active'])(
	'keeps a question asked, in one post, that stands at the place of an equal one now: %s',
	async (status, { app }) => {
		const id = await askedTwice(app, status);
		keepsTwo(app, id, status, asking('Three are in stock.', [FLIGHT]));
		await app.pass(2 * MINUTE);
		expect(postsOf(app, id)).toHaveLength(2);
		expect(open(app, id)).toHaveLength(1);
	},
);

it('does not ask again what was taken from the place of an equal one', async ({ app }) => {
	const id = await askedTwice(app, 'humanInput');
	await answered(app, id, 'TP 570');
	await app.pass(3_000);
	keepsTwo(app, id, 'humanInput', asking('Three are in stock.', [FLIGHT]));
	await app.pass(12_000);
	app.service.sessions.setStatus(id, 'active');
	step(app, id);
	await app.pass(2 * MINUTE);
	expect(postsOf(app, id)).toHaveLength(2);
	expect(open(app, id)).toEqual([]);
});

it('asks nobody what was taken from a session that nobody watched, although it has another index now', async ({
	app,
}) => {
	const id = app.session();
	app.ask(id, [FLIGHT]);
	await answered(app, id, 'LH 1173');
	await app.pass(5_000);
	app.service.sessions.setStatus(id, 'active');
	emptyNewest(app, id);
	step(app, id, 2);
	await app.pass(20_000);
	app.service.sessions.patch(id, { messages: (app.service.sessions.get(id).messages ?? []).toSpliced(1, 1) });
	await app.watch(id);
	await app.pass(MINUTE);
	expect(open(app, id)).toEqual([]);
	await app.slack.as('grace').command('#agents', `/session ${id}`);
	const form = await app.slack.as('grace').waitForModal('I book it.');
	expect(form.submitText()).toBeNull();
});

it('waits for a minute of reads before it calls an answer lost that stood for long and that nobody watched', async ({
	app,
}) => {
	const id = app.session();
	app.ask(id, [FLIGHT]);
	await answered(app, id, 'LH 1173');
	await app.pass(3 * MINUTE);
	emptyNewest(app, id);
	const form = await openSession(app, id, 'grace');
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

it('closes a question quietly whose agent went on after a PUT of unknown outcome, and names the answer', async ({
	app,
}) => {
	const { id, post } = await asked(app);
	await app.pass(10_000);
	takeUnanswered(app, id);
	const form = await openSession(app, id);
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

it('says of a watched session that it was not found, and does not ask to check its id', async ({ app }) => {
	const { post } = await asked(app);
	app.service.faults.add({ kind: 'html', status: 404 });
	await app.pass(5_000);
	for (let count = 0; count < 6; count += 1) {
		await post.press('Answer…');
		const modal = await app.slack.as('ada').waitForModal(whatHappened('session_missing'));
		expect(modal.text()).not.toContain('Check the id');
		await modal.close();
	}
});
