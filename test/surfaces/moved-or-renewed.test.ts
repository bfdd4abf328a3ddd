import type { MessageJson } from '../../fake-session-service/json.ts';
import { SETTLED_WORDS } from '../../src/screens/question-post.ts';
import { asking, done, expect, openButtons, openSession, type WatchingApp, withApp } from '../kit.ts';
import {
	answered,
	asked,
	emptyNewest,
	FLIGHT,
	messagesOf,
	open,
	perhapsAnswered,
	playedApp,
	postsOf,
	receipt,
	step,
} from '../sessions/played-agent.ts';

const MINUTE = 60_000;
const LOST = 'not in the field any more';
const it = withApp(() => playedApp('20m'));

const setStatus = (app: WatchingApp, id: string, status: string) => app.service.sessions.setStatus(id, status);

/** The agent keeps its first message, and has these after it. */
function keepsFirst(app: WatchingApp, id: string, status: string, ...after: (MessageJson | undefined)[]): void {
	const kept = [messagesOf(app, id)[0], ...after].filter((message) => message !== undefined);
	app.service.sessions.patch(id, { status, messages: kept });
}

/** Messages around an answered question are cut away while its value stands. */
async function compactedBeside(app: WatchingApp, status: string) {
	const { id, post } = await asked(app, status);
	step(app, id, 3);
	await app.pass(20_000);
	await answered(app, id, 'LH 1173');
	await app.pass(6_000);
	keepsFirst(app, id, status, messagesOf(app, id)[2]);
	await app.pass(20_000);
	emptyNewest(app, id);
	return { id, post };
}

it('does not ask again what stood in a message that moved, and was then taken', async ({ app }) => {
	const { id, post } = await compactedBeside(app, 'active');
	step(app, id);
	await app.pass(2 * MINUTE);
	expect(open(app, id)).toEqual([]);
	expect(post.text()).toContain('ada answered');
});

it('names the author of what was lost after its message moved', async ({ app }) => {
	const { id } = await compactedBeside(app, 'humanInput');
	await app.until(() => open(app, id).length === 1);
	expect(open(app, id)[0]?.text()).toContain(`Asked again. ada's answer is ${LOST}`);
	await app.until(() => receipt(app, id)?.text().includes(LOST));
});

it('does not say that the agent took what an older, shorter history wrote over', async ({ app }) => {
	const { id, post } = await asked(app);
	step(app, id, 2);
	await app.pass(20_000);
	const [, , question] = messagesOf(app, id);
	await answered(app, id, 'LH 1173');
	await app.pass(3_000);
	keepsFirst(app, id, 'humanInput', question);
	await app.until(() => open(app, id).length === 1 && post.text().includes(LOST));
	expect([post.text(), ...post.editHistory()].join()).not.toContain('continued');
});

/** The session was over, runs again, and Ada answers while nobody watches. Then the field is emptied, and it is watched. */
async function answeredBetween(app: WatchingApp) {
	const { id, post } = await asked(app);
	setStatus(app, id, 'completed');
	await app.until(() => openButtons(post)?.length === 0);
	await app.pass(30_000);
	setStatus(app, id, 'humanInput');
	await answered(app, id, 'LH 1173');
	await app.pass(2_500);
	emptyNewest(app, id);
	await app.watch(id);
	return id;
}

it('does not ask what was answered and taken before somebody watched the session again', async ({ app }) => {
	const id = await answeredBetween(app);
	await app.pass(9_000);
	expect(open(app, id)).toEqual([]);
	setStatus(app, id, 'active');
	step(app, id);
	await app.pass(2 * MINUTE);
	expect(open(app, id)).toEqual([]);
	expect(
		postsOf(app, id)
			.map((post) => post.text())
			.join(),
	).not.toContain(SETTLED_WORDS.wentOn);
});

it('asks again only after the agent has waited for a minute, and names who answered while nobody watched', async ({
	app,
}) => {
	const id = await answeredBetween(app);
	await app.pass(40_000);
	expect(open(app, id)).toEqual([]);
	const post = await app.until(() => open(app, id)[0]);
	await app.seenBy('grace', post).press('Answer…');
	const form = await app.slack.as('grace').waitForModal(FLIGHT.title);
	expect(form.text()).toContain('@ada');
	expect(form.text()).toContain(LOST);
});

it('keeps a question whose agent waits again after an answer of unknown outcome, also when its status flickers', async ({
	app,
}) => {
	const { id, post } = await asked(app);
	await app.pass(10_000);
	await perhapsAnswered(app, id, 'LH 1173', post);
	setStatus(app, id, 'humanInput');
	await app.until(() => open(app, id).length === 1);
	await app.pass(10 * MINUTE);
	const form = await openSession(app, id, 'grace');
	expect(form.text()).not.toContain('Answered meanwhile');
	await form.close();
	setStatus(app, id, 'active');
	await app.pass(8_000);
	expect(open(app, id)).toHaveLength(1);
});

it('does not name an answer of unknown outcome when the same is asked anew', async ({ app }) => {
	const { id, post } = await asked(app);
	await app.pass(10_000);
	await perhapsAnswered(app, id, 'LH 1173', post);
	app.ask(id, ['Which hotel?'], 'And the hotel?');
	await app.threadSays(id, 'Which hotel?');
	await answered(app, id, 'Ritz');
	setStatus(app, id, 'active');
	step(app, id);
	await app.pass(2 * MINUTE);
	keepsFirst(app, id, 'humanInput', done('Booked all. Once more:'), asking('Now for Bob.', [FLIGHT]));
	await app.until(() => open(app, id).length === 1);
	await app.pass(3 * MINUTE);
	setStatus(app, id, 'active');
	step(app, id);
	await app.until(() => postsOf(app, id).at(-1)?.text().includes(SETTLED_WORDS.wentOn));
});

it('asks within seconds what is asked again under other words, although another question was answered just before', async ({
	app,
}) => {
	const id = await app.watched();
	step(app, id);
	app.ask(id, [FLIGHT]);
	await app.threadSays(id, FLIGHT.title);
	await answered(app, id, 'LH 1173');
	await app.pass(3_000);
	setStatus(app, id, 'active');
	emptyNewest(app, id);
	await app.pass(10_000);
	app.service.sessions.patch(id, {
		status: 'humanInput',
		messages: [...messagesOf(app, id).slice(0, 3), asking('Hotel.', ['Which hotel?'])],
	});
	await app.threadSays(id, 'Which hotel?');
	await answered(app, id, 'Ritz');
	await app.pass(3_000);
	setStatus(app, id, 'active');
	emptyNewest(app, id);
	await app.pass(6_000);
	const [, , , hotel] = messagesOf(app, id);
	keepsFirst(app, id, 'humanInput', done('I book it.'), hotel, asking('The way back.', [FLIGHT]));
	await app.pass(20_000);
	expect(open(app, id)).toHaveLength(1);
});
