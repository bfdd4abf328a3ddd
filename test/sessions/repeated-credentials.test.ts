import { MASK } from '../../src/domain/masking.ts';
import {
	expect,
	FEWEST_REQUESTS,
	forCase,
	headline,
	type InboxApp,
	inboxApp,
	item,
	openSession,
	withApp,
} from '../kit.ts';

const PASSWORD = 'Xq7-fake-9';
const NAMED = `The login failed. The new password is: ${PASSWORD}`;
const TYPED = `Try ${PASSWORD} once more, in capital letters`;
const READ = `Try ${MASK} once more, in capital letters`;

const it = withApp(() => inboxApp({ env: { ...FEWEST_REQUESTS, SHOW_ANSWERS: 'always' } }));

/** What everybody but Ada has got from Slack since `from`, and what stands in the channel. */
function shownToOthers(app: InboxApp): string {
	const posts = [...app.inChannel(), ...app.slack.as('grace').messages('#agents')];
	const windows = [app.slack.as('grace').modal()?.view(), app.slack.as('grace').home()?.view()];
	return JSON.stringify([posts.map((post) => [post.text(), post.blocks()]), windows]);
}

async function historyOf(app: InboxApp, id: string) {
	await app.slack.as('grace').modal()?.close(true);
	await app.slack.as('grace').command('#agents', `/session history ${id}`);
	return app.slack.as('grace').waitForModal('newest first');
}

async function asked(app: InboxApp, named = NAMED) {
	const id = await app.watched();
	const index = app.ask(id, [item('What now?')], named);
	await app.threadSays(id, 'What now?');
	return { id, index };
}

it('stands masked in the channel, in the history and in the window of the second person; the agent gets it whole', async ({
	app,
}) => {
	const { id, index } = await asked(app);
	const [adas, graces] = [await openSession(app, id), await openSession(app, id, 'grace')];
	await adas.fill(0, TYPED);
	await adas.submit();
	await app.until(() => app.service.sessions.values(id, index)[0] === TYPED);
	await graces.fill(0, 'Stop');
	await graces.submit();
	await app.until(() => graces.text().includes('Nothing was overwritten'));
	expect(graces.text()).toContain(READ);
	await app.until(() => app.inChannel().some((post) => post.text().includes('once more, in capital')));
	expect(shownToOthers(app)).toContain(READ);
	const history = await historyOf(app, id);
	expect(history.text()).toContain(READ);
	expect(shownToOthers(app)).not.toContain(PASSWORD);
	// Its author may copy it.
	expect(adas.text()).toContain(TYPED);
});

it('stands masked before it is delivered, and in the thread where its author posts it', async ({ app }) => {
	const { id } = await asked(app);
	const [adas, graces] = [await openSession(app, id), await openSession(app, id, 'grace')];
	app.service.faults.add({ kind: 'unauthorized', sessionId: id, method: 'PUT' });
	await adas.fill(0, TYPED);
	await adas.submit();
	await graces.fill(0, 'Stop');
	await graces.submit();
	await app.until(() => graces.text().includes('Nothing was overwritten'));
	expect(graces.text()).toContain(READ);
	await graces.close();
	const again = await openSession(app, id, 'grace');
	expect(again.text()).toContain(READ);
	expect((await historyOf(app, id)).text()).toContain(READ);
	await adas.close();
	app.service.sessions.setStatus(id, 'stopped');
	app.service.faults.clear();
	await app.pass(120_000);
	await app.until(() =>
		app.slack
			.as('ada')
			.messages('dm')
			.some((dm) => dm.text().includes(headline('ended'))),
	);
	expect(shownToOthers(app)).not.toContain(PASSWORD);
});

it('is masked when the agent names it only afterwards', async ({ app }) => {
	const { id, index } = await asked(app, 'Hm.');
	const adas = await openSession(app, id);
	await adas.fill(0, TYPED);
	await adas.submit();
	await app.until(() => app.service.sessions.values(id, index)[0] === TYPED);
	app.step(id, NAMED);
	await app.until(() => app.inChannel().some((post) => post.text().includes('· continued')));
	expect((await historyOf(app, id)).text()).toContain(READ);
});

it('is hidden from others while nobody has compared it with the session', async ({ app }) => {
	const { id, index } = await asked(app);
	const adas = await openSession(app, id);
	await adas.fill(0, TYPED);
	// Nothing of the session is in memory then.
	await app.restart();
	app.service.faults.add({ kind: 'error', sessionId: id });
	await adas.submit();
	expect((await historyOf(app, id)).text()).toContain('(hidden)');
	expect(shownToOthers(app)).not.toContain(PASSWORD);
	app.service.faults.clear();
	await app.until(() => app.service.sessions.values(id, index)[0] === TYPED);
	await app.pass(5_000);
	expect((await historyOf(app, id)).text()).toContain(READ);
});

it('is hidden where a message from another channel stands, while nobody has compared it with the session', async () => {
	const env = { ...FEWEST_REQUESTS, SHOW_ANSWERS: 'always' };
	const app = await forCase(inboxApp({ env }));
	const id = await app.watched();
	app.step(id, NAMED);
	const index = app.ask(id, [item('What now?')], 'Hm.');
	await app.threadSays(id, 'What now?');
	await app.watch(id, { channel: '#secret' });
	const there = () => app.thread(id, '#secret').map((post) => post.text());
	await app.until(() => there().some((text) => text.includes('What now?')));
	const thread = await app.threadSays(id, 'What now?');
	// Nothing of the session is in memory then.
	await app.restart();
	app.service.faults.add({ kind: 'error', sessionId: id });
	const offer = await app.toldAfter(() => app.slack.as('ada').mention('#agents', TYPED, { thread }), 'ada');
	await offer.press('Send');
	await app.until(
		() => there().some((text) => text.includes('\nada answered')),
		() => there().join('\n--\n'),
	);
	await app.pass(20_000);
	expect(there().join()).not.toContain(PASSWORD);
	app.service.faults.clear();
	await app.until(() => app.service.sessions.values(id, index)[0] === TYPED);
	await app.until(() => there().some((text) => text.includes(READ)));
});
