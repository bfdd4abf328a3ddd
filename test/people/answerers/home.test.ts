import { unwatchedAllWords, WATCHES_KEPT } from '../../../src/screens/watch.ts';
import { type AnswererApp, answererApp, describe, ENDED_ALL, expect, forCase, ONLY, withApp } from '../../kit.ts';

/* What Home shows to people whom a list names, and does not; and watching all sessions with a list. */

const MINUTE = 60_000;
const FLIGHT = 'Book a flight';
const OWN = '#secret';

const start = (...options: Parameters<typeof answererApp>) => forCase(answererApp(...options));

const shows = (app: AnswererApp, who: string) => app.homeSays(FLIGHT, { who });
const showsNot = (app: AnswererApp, who: string) =>
	app.until(
		() => !app.textOf(who).includes(FLIGHT),
		() => app.textOf(who),
	);

/** Ada and the crew, of which Cleo is, may answer. */
async function namesCrew(app: AnswererApp) {
	const crew = { id: 'S0CREW', handle: 'crew', name: 'Crew', users: ['U0CLEO'] };
	app.slack.state.userGroups.push(crew);
	await app.names(['ada'], 'ada', '#agents', ['Crew (@crew)']);
	return crew;
}

/** Cleo types an answer to this session, and closes the form. */
async function drafted(app: AnswererApp, id: string): Promise<void> {
	await app.slack.as('cleo').command('#agents', `/session ${id}`);
	const form = await app.slack.as('cleo').waitForModal('[Send answer]');
	await form.fill(1, 'half a thought');
	await app.pass(2_000);
	await form.close();
}

const it = withApp(answererApp);

describe('Home', () => {
	it('shows a question to whom the list names now, without being opened again', async ({ app }) => {
		await app.asked();
		for (const who of ['cleo', 'grace']) await app.openHome(who);
		await Promise.all([shows(app, 'cleo'), shows(app, 'grace')]);
		await app.names(['ada', 'grace']);
		await showsNot(app, 'cleo');
		expect(app.textOf('grace')).toContain(FLIGHT);
		await app.names(['ada', 'cleo']);
		await Promise.all([shows(app, 'cleo'), showsNot(app, 'grace')]);
		await app.names([], 'cleo');
		await shows(app, 'grace');
	});

	it('shows a question to a user group, and no more once somebody has left it', async ({ app }) => {
		const crew = await namesCrew(app);
		await app.asked();
		await app.openHome('cleo');
		await app.openHome('bob');
		await shows(app, 'cleo');
		expect(app.textOf('bob')).not.toContain(FLIGHT);
		crew.users = ['U0BOB'];
		await app.pass(5 * MINUTE);
		await app.openHome('bob');
		await shows(app, 'bob');
		await app.openHome('cleo');
		await showsNot(app, 'cleo');
	});

	it('says that it does not know while Slack tells nothing of a group, and shows the question later', async () => {
		const app = await start();
		await namesCrew(app);
		await app.pass(5 * MINUTE);
		const lift = app.slack.faults.add({ method: 'usergroups.users.list', error: 'internal_error' });
		await app.asked();
		await app.openHome('cleo');
		expect(app.textOf('cleo')).not.toContain(FLIGHT);
		lift();
		await shows(app, 'cleo');
	});

	it('forgets a question when a watch makes somebody else’s list decide', async ({ app }) => {
		await app.slack.invite(OWN, 'grace');
		await app.names(['grace'], 'grace', OWN);
		const { id, post } = await app.asked();
		await app.openHome('cleo');
		await shows(app, 'cleo');
		await app.command(`/session watch ${id}`, 'grace', OWN);
		await showsNot(app, 'cleo');
		await app.until(() => post.text().includes(ONLY('grace', OWN)));
	});

	it('keeps the text of somebody whom the list does not name any more, to copy it, until it names them again', async () => {
		const app = await start();
		const { id } = await app.asked();
		await drafted(app, id);
		await app.openHome('cleo');
		await app.homeSays('half a thought', { who: 'cleo' });
		await app.names(['ada', 'grace']);
		await app.homeSays('you may not answer it any more', { who: 'cleo' });
		expect(app.home('cleo').buttons()).not.toContain('Continue');
		await app.home('cleo').press('Copy text');
		const copied = await app.slack.as('cleo').waitForModal('half a thought');
		await copied.close();
		await app.names(['ada', 'cleo']);
		await app.until(() => app.home('cleo').buttons().includes('Continue'));
	});

	it('offers to continue a draft while Slack tells nothing of the group of its author', async ({ app }) => {
		await namesCrew(app);
		const { id } = await app.asked();
		await drafted(app, id);
		app.slack.faults.add({ method: 'usergroups.users.list', error: 'internal_error' });
		await app.pass(6 * MINUTE);
		await app.openHome('cleo');
		await app.homeSays('half a thought', { who: 'cleo' });
		expect(app.home('cleo').buttons()).toContain('Continue');
	});

	it('offers no question as the next one that its person may not answer', async ({ app }) => {
		await app.names(['ada', 'grace']);
		await app.asked();
		await app.slack.invite(OWN, 'cleo');
		const [id = ''] = await app.askedIn(OWN, ['Order chairs'], ['Which colour?']);
		await app.slack.as('cleo').command(OWN, `/session ${id}`);
		const modal = await app.slack.as('cleo').waitForModal('[Send answer]');
		await modal.fill(0, 'red');
		await modal.submit();
		await app.until(() => app.service.log.effectivePuts(id).length === 1);
		await app.pass(5_000);
		expect(modal.buttons()).not.toContain('Next question');
	});
});

describe('a channel that watches all sessions', () => {
	const discovering = (env: Record<string, string> = {}) =>
		start({ DISCOVER_SESSIONS: 'true', ...env }, { service: { list: { mode: 'on' } } });
	function waiting(app: AnswererApp): string {
		const id = app.session({ name: FLIGHT });
		app.ask(id, [{ title: 'Which flight?', description: 'One of: LH 1173, TP 570' }]);
		return id;
	}
	const postIn = (app: AnswererApp, channel = '#agents', who = 'ada') =>
		app.until(() => app.inChannel(channel, who).find((one) => one.buttons().includes('LH 1173')));

	it('with a list: only people whom it names answer', async () => {
		const app = await discovering();
		await app.names(['ada', 'grace']);
		await app.command('/session watch all');
		const id = waiting(app);
		const post = await postIn(app);
		await app.press(post, 'cleo', 'LH 1173');
		await app.refused('cleo', 'Only ada and grace may answer.');
		await app.openHome('cleo');
		await app.pass(5_000);
		expect(app.home('cleo').buttons()).not.toContain('LH 1173');
		await app.press(post, 'grace', 'LH 1173');
		await app.until(() => app.service.log.effectivePuts(id).length === 1);
	});

	it('with a list: Home does not say that anybody may answer what only its people may', async () => {
		const app = await discovering();
		await app.names(['ada', 'grace']);
		await app.asked();
		const other = app.session({ name: 'Order chairs' });
		app.ask(other, ['Which colour?']);
		await app.openHome('cleo');
		await app.homeSays('Order chairs', { who: 'cleo' });
		expect(app.textOf('cleo')).not.toContain(FLIGHT);
	});

	it('is kept with *No*, and ended with *End all*, which says what that means', async () => {
		const app = await discovering();
		await app.command('/session watch all');
		await app.watched();
		const offer = await app.command('/session unwatch all');
		expect(offer.text()).toBe(
			'👋 End 1 watch here? And the questions of all sessions do not come here any more.\n[End all] [No]',
		);
		await offer.press('No');
		await app.until(() => offer.text() === WATCHES_KEPT);
		const list = (await app.command('/session unwatch')).text();
		expect(list).toContain('This channel watches one session.');
		expect(list).toContain('The questions of all sessions come into this channel: watch all by @ada');
		waiting(app);
		await postIn(app);
		const told = await app.unwatchAll();
		expect(told.text()).toBe(unwatchedAllWords(2, true));
		await app.until(() => app.inChannel().every((one) => !one.buttons().includes('LH 1173')));
		await app.until(() => app.inChannel().some((one) => one.text().includes(ENDED_ALL)));
	});

	it('opens nothing by a list of others, which somebody made after a named person turned it on', async () => {
		const app = await discovering();
		await app.slack.invite(OWN, 'cleo');
		await app.command('/session watch all', 'ada', OWN);
		await app.names(['cleo'], 'cleo', OWN);
		await app.names(['ada', 'grace']);
		const id = app.session({ name: FLIGHT });
		await app.watch(id, { who: 'grace' });
		app.ask(id, [{ title: 'Which flight?', description: 'One of: LH 1173, TP 570' }]);
		const post = await postIn(app, OWN, 'cleo');
		expect(await app.may('cleo', id, OWN)).toBe(false);
		expect(post.text()).toContain(ONLY('ada and grace', '#agents'));
	});
});

describe('stopping to watch', () => {
	it('is for everybody in another channel without a list, also of the same session', async ({ app }) => {
		await app.slack.invite(OWN, 'cleo');
		await app.names(['ada', 'grace']);
		const { id } = await app.asked();
		await app.command(`/session watch ${id}`, 'cleo', OWN);
		expect((await app.command(`/session unwatch ${id}`, 'cleo', OWN)).text()).not.toContain('may stop watching');
		expect((await app.command('/session list', 'cleo', OWN)).text()).not.toContain(FLIGHT);
		expect((await app.command('/session list')).text()).toContain(FLIGHT);
	});
});
