import type { MessageJson } from '../../fake-session-service/json.ts';
import { OUTSIDE, SETTLED_WORDS } from '../../src/screens/question-post.ts';
import {
	asking,
	describe,
	done,
	expect,
	line,
	openButtons,
	openSession,
	type WatchingApp,
	whatHappened,
	withApp,
} from '../kit.ts';
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
} from './played-agent.ts';

/* What is asked, taken and gone on where watches begin and end, and where messages move and are cut away. */

const MINUTE = 60_000;
const LOST = 'not in the field any more';
const it = withApp(() => playedApp('20m'));

const setStatus = (app: WatchingApp, id: string, status: string) => app.service.sessions.setStatus(id, status);
const tellsLost = (app: WatchingApp, id: string) =>
	app.slack
		.as('ada')
		.dm(line('delivered', { agentOutcome: 'lost' }))
		.filter((dm) => JSON.stringify(dm.blocks()).includes(id));

/** The agent keeps its first two messages, and has these after them. */
function keepsTwo(app: WatchingApp, id: string, status: string, ...after: MessageJson[]): void {
	const kept = messagesOf(app, id).slice(0, 2);
	app.service.sessions.patch(id, { status, messages: [...kept, ...after] });
}

/** Two equal questions: the first one is answered and taken, the second one open. */
async function askedTwice(app: WatchingApp, second: string): Promise<string> {
	const { id, post } = await asked(app);
	await answered(app, id, 'LH 1173');
	setStatus(app, id, 'active');
	step(app, id);
	await app.until(() => post.text().includes('· continued'));
	app.ask(id, [FLIGHT]);
	setStatus(app, id, second);
	await app.until(() => postsOf(app, id).find(({ ts }) => ts !== post.ts));
	return id;
}

it('names no answer to another question at the same index', async ({ app }) => {
	const id = app.session();
	app.ask(id, [FLIGHT]);
	await perhapsAnswered(app, id, 'LH 1173');
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
	setStatus(app, id, 'active');
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
	setStatus(app, id, 'active');
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
	setStatus(app, id, 'active');
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

it('closes a question quietly whose agent went on after a PUT of unknown outcome, and names the answer', async ({
	app,
}) => {
	const { id, post } = await asked(app);
	await app.pass(10_000);
	await perhapsAnswered(app, id, 'LH 1173', post);
	expect(post.text()).toContain("ada's answer may have arrived");
	expect(post.buttons()).toEqual(['Answer again…']);
	await app.seenBy('grace', post).press('Answer again…');
	const hers = await app.slack.as('grace').waitForModal("@ada's answer may have arrived");
	await hers.close();
	await app.pass(2 * MINUTE);
	expect([post.text(), ...post.editHistory()].join()).not.toContain(SETTLED_WORDS.wentOn);
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

describe('an answer that is lost', () => {
	it('is told to its author who was told that nothing shows, and is over for them once somebody answers again', async ({
		app,
	}) => {
		const { id, post } = await asked(app);
		await answered(app, id, 'LH 1173');
		await app.pass(11 * MINUTE);
		emptyNewest(app, id);
		await app.until(() => postsOf(app, id).some(({ ts }) => ts !== post.ts));
		await app.until(() => tellsLost(app, id).length === 1);
		const [told] = tellsLost(app, id);
		expect(told?.buttons()).toEqual(['Answer again']);
		await told?.press('Answer again');
		const form = await app.slack.as('ada').waitForModal(LOST);
		expect(form.text()).not.toContain('meanwhile');
		await form.close();
		const hers = await openSession(app, id, 'grace');
		expect(hers.text()).toContain(`Asked again. @ada's answer is ${LOST}.\n> LH 1173`);
		await hers.close();
		await answered(app, id, 'TP 570', 'grace');
		await app.until(() => told?.text().includes('answered again since') === true);
		expect(openButtons(told)).toEqual([]);
		setStatus(app, id, 'completed');
		await app.pass(MINUTE);
		// Of two answers to its question.
		expect(post.text()).toContain(LOST);
	});

	it('is the reason of a question that is asked again, also when it came from the dashboard', async ({ app }) => {
		const { id, post } = await asked(app);
		app.service.sessions.answerAsPage(id, ['LH 1173']);
		await app.until(() => post.text().includes(OUTSIDE));
		emptyNewest(app, id);
		const again = await app.until(() => postsOf(app, id).find(({ ts }) => ts !== post.ts));
		const words = `The answer from the dashboard is ${LOST}`;
		expect(again.text()).toContain(words);
		expect((await openSession(app, id, 'grace')).text()).toContain(words);
	});

	it('shows nobody a value that channels do not see', async ({ app }) => {
		const { id, post } = await asked(app);
		await answered(app, id, 'KX7-9942-QQ31-0815');
		emptyNewest(app, id);
		const again = await app.until(() => postsOf(app, id).find(({ ts }) => ts !== post.ts));
		expect(again.text()).toContain(LOST);
		for (const shown of app.thread(id)) expect(shown.text()).not.toContain('KX7-9942');
	});
});

it.for([
	['began to watch meanwhile', '#secret'],
	['stopped watching and watches again', '#agents'],
] as const)('asks for an agent that went on and waits again in a channel that %s', async ([, channel], { app }) => {
	const { id, post } = await asked(app);
	await app.pass(5_000);
	setStatus(app, id, 'active');
	step(app, id);
	await app.until(() => post.text().includes(SETTLED_WORDS.wentOn));
	if (channel === '#agents') await app.command(`/session unwatch ${id}`);
	await app.watch(id, { channel });
	await app.pass(10_000);
	setStatus(app, id, 'humanInput');
	await app.pass(60_000);
	expect(app.thread(id, channel).filter((one) => one.buttons().includes('Answer…'))).toHaveLength(1);
});

/** The agent keeps its first message, and has these after it. */
function keepsFirst(app: WatchingApp, id: string, status: string, ...after: (MessageJson | undefined)[]): void {
	const kept = [messagesOf(app, id)[0], ...after].filter((message) => message !== undefined);
	app.service.sessions.patch(id, { status, messages: kept });
}

it('names the author of what was lost after its message moved', async ({ app }) => {
	const { id } = await asked(app);
	step(app, id, 3);
	await app.pass(20_000);
	await answered(app, id, 'LH 1173');
	await app.pass(6_000);
	// What stands around it is cut away while its value is there.
	keepsFirst(app, id, 'humanInput', messagesOf(app, id)[2]);
	await app.pass(20_000);
	emptyNewest(app, id);
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
	for (const post of postsOf(app, id)) expect(post.text()).not.toContain(SETTLED_WORDS.wentOn);
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
