import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { asking, done } from '../../fake-session-service/builders.ts';
import type { MessageJson } from '../../fake-session-service/json.ts';
import { SETTLED_WORDS } from '../../src/screens/question-post.ts';
import type { WatchingApp } from '../sessions/harness.ts';
import { emptyNewest, FLIGHT, flightsOf, leavePlayed, playedApp } from '../sessions/played-agent.ts';
import { openSession } from '../slack/support/open-session.ts';
import { openButtons } from '../support/sentences.ts';

const MINUTE = 60_000;
const LOST = 'not in the field any more';
let app: WatchingApp;
beforeAll(async () => {
	app = await playedApp('20m');
});
afterAll(() => app[Symbol.asyncDispose]());
afterEach(() => leavePlayed(app));

const { messagesOf, postsOf, open, receipt, step, asked, answered, perhapsAnswered } = flightsOf(() => app);
const empty = (id: string) => emptyNewest(app, id);
const setStatus = (id: string, status: string) => app.service.sessions.setStatus(id, status);

/** The agent keeps its first message, and has these after it. */
function keepsFirst(id: string, status: string, ...after: (MessageJson | undefined)[]): void {
	const kept = [messagesOf(id)[0], ...after].filter((message) => message !== undefined);
	app.service.sessions.patch(id, { status, messages: kept });
}

/** Messages around an answered question are cut away while its value stands. */
async function compactedBeside(status: string) {
	const { id, post } = await asked(status);
	step(id, 3);
	await app.pass(20_000);
	await answered(id, 'LH 1173');
	await app.pass(6_000);
	keepsFirst(id, status, messagesOf(id)[2]);
	await app.pass(20_000);
	empty(id);
	return { id, post };
}

it('does not ask again what stood in a message that moved, and was then taken', async () => {
	const { id, post } = await compactedBeside('active');
	step(id);
	await app.pass(2 * MINUTE);
	expect(open(id)).toEqual([]);
	expect(post.text()).toContain('ada answered');
});

it('names the author of what was lost after its message moved', async () => {
	const { id } = await compactedBeside('humanInput');
	await app.until(() => open(id).length === 1);
	expect(open(id)[0]?.text()).toContain(`Asked again. ada's answer is ${LOST}`);
	await app.until(() => receipt(id)?.text().includes(LOST));
});

it('does not say that the agent took what an older, shorter history wrote over', async () => {
	const { id, post } = await asked();
	step(id, 2);
	await app.pass(20_000);
	const [, , question] = messagesOf(id);
	await answered(id, 'LH 1173');
	await app.pass(3_000);
	keepsFirst(id, 'humanInput', question);
	await app.until(() => open(id).length === 1 && post.text().includes(LOST));
	expect([post.text(), ...post.editHistory()].join()).not.toContain('continued');
});

/** The session was over, runs again, and Ada answers while nobody watches. Then the field is emptied, and it is watched. */
async function answeredBetween() {
	const { id, post } = await asked();
	setStatus(id, 'completed');
	await app.until(() => openButtons(post)?.length === 0);
	await app.pass(30_000);
	setStatus(id, 'humanInput');
	await answered(id, 'LH 1173');
	await app.pass(2_500);
	empty(id);
	await app.watch(id);
	return id;
}

it('does not ask what was answered and taken before somebody watched the session again', async () => {
	const id = await answeredBetween();
	await app.pass(9_000);
	expect(open(id)).toEqual([]);
	setStatus(id, 'active');
	step(id);
	await app.pass(2 * MINUTE);
	expect(open(id)).toEqual([]);
	expect(
		postsOf(id)
			.map((post) => post.text())
			.join(),
	).not.toContain(SETTLED_WORDS.wentOn);
});

it('asks again only after the agent has waited for a minute, and names who answered while nobody watched', async () => {
	const id = await answeredBetween();
	await app.pass(40_000);
	expect(open(id)).toEqual([]);
	const post = await app.until(() => open(id)[0]);
	await app.seenBy('grace', post).press('Answer…');
	const form = await app.slack.as('grace').waitForModal(FLIGHT.title);
	expect(form.text()).toContain('@ada');
	expect(form.text()).toContain(LOST);
});

it('keeps a question whose agent waits again after an answer of unknown outcome, also when its status flickers', async () => {
	const { id, post } = await asked();
	await app.pass(10_000);
	await perhapsAnswered(id, 'LH 1173', post);
	setStatus(id, 'humanInput');
	await app.until(() => open(id).length === 1);
	await app.pass(10 * MINUTE);
	const form = await openSession(app.app, id, 'grace');
	expect(form.text()).not.toContain('Answered meanwhile');
	await form.close();
	setStatus(id, 'active');
	await app.pass(8_000);
	expect(open(id)).toHaveLength(1);
});

it('does not name an answer of unknown outcome when the same is asked anew', async () => {
	const { id, post } = await asked();
	await app.pass(10_000);
	await perhapsAnswered(id, 'LH 1173', post);
	app.ask(id, ['Which hotel?'], 'And the hotel?');
	await app.threadSays(id, 'Which hotel?');
	await answered(id, 'Ritz');
	setStatus(id, 'active');
	step(id);
	await app.pass(2 * MINUTE);
	keepsFirst(id, 'humanInput', done('Booked all. Once more:'), asking('Now for Bob.', [FLIGHT]));
	await app.until(() => open(id).length === 1);
	await app.pass(3 * MINUTE);
	setStatus(id, 'active');
	step(id);
	await app.until(() => postsOf(id).at(-1)?.text().includes(SETTLED_WORDS.wentOn));
});

it('asks within seconds what is asked again under other words, although another question was answered just before', async () => {
	const id = await app.watched();
	step(id);
	app.ask(id, [FLIGHT]);
	await app.threadSays(id, FLIGHT.title);
	await answered(id, 'LH 1173');
	await app.pass(3_000);
	setStatus(id, 'active');
	empty(id);
	await app.pass(10_000);
	app.service.sessions.patch(id, {
		status: 'humanInput',
		messages: [...messagesOf(id).slice(0, 3), asking('Hotel.', ['Which hotel?'])],
	});
	await app.threadSays(id, 'Which hotel?');
	await answered(id, 'Ritz');
	await app.pass(3_000);
	setStatus(id, 'active');
	empty(id);
	await app.pass(6_000);
	const [, , , hotel] = messagesOf(id);
	keepsFirst(id, 'humanInput', done('I book it.'), hotel, asking('The way back.', [FLIGHT]));
	await app.pass(20_000);
	expect(open(id)).toHaveLength(1);
});
