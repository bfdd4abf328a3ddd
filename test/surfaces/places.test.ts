import { othersAskWords, QUESTIONS_HIDDEN, waitingCountWords } from '../../src/screens/inbox.ts';
import { SETTLED_WORDS } from '../../src/screens/question-post.ts';
import { leftOutWords } from '../../src/screens/watch.ts';
import {
	answeredBy,
	asking,
	type DiscoveringApp,
	describe,
	discoveringApp,
	expect,
	FEWEST_REQUESTS,
	forCase,
	it,
	item,
	openButtons,
	said,
} from '../kit.ts';

/** Which questions have the places of a full channel: an account collects sessions that wait until somebody ends them. */

const MINUTE = 60_000;

/** `count` sessions waited before the program was started; the channel has three places. */
async function start(count: number, env: Record<string, string> = {}, channel = 3) {
	const app = await forCase(
		discoveringApp({
			env: { REMIND_AFTER: 'off', ...env },
			limits: { watches: { channel } },
			prepare: async ({ service }) => {
				for (let index = 0; index < count; index += 1) {
					const messages = [asking('Three are in stock.', [item('Which colour?', 'One of: red, green')])];
					service.sessions.put(`old-${index}`, { status: 'humanInput', name: `Old ${index}`, messages });
				}
			},
		}),
	);
	await app.watchAll();
	await app.until(() => openOnes(app).length === 3);
	return app;
}

const openOnes = (app: DiscoveringApp, channel?: string) =>
	app.inChannel(channel).filter((post) => openButtons(post)?.length !== 0);
const gaveWay = (app: DiscoveringApp) => app.inChannel().filter((post) => post.text().includes(SETTLED_WORDS.gaveWay));
const idIn = (text = '') => `old-${/Old (\d+)/.exec(text)?.[1]}`;
const isOpen = (app: DiscoveringApp, name: string) => openOnes(app).some((post) => post.text().includes(name));
/** The agent of a session goes on and asks something else. */
const asksAgain = (app: DiscoveringApp, id: string) =>
	app.ask(id, [{ title: 'Which size now?', description: 'One of: big, small' }]);

describe('a channel that is full of old questions', () => {
	it('gets a new one at once, in the place of the one with the oldest news, whose post says so, and none for what asks nothing', async () => {
		const app = await start(6);
		for (let index = 0; index < 5; index += 1) app.session({ name: `Dead ${index}`, status: 'humanInput' });
		const before = openOnes(app).map(({ ts }) => ts);
		const post = await app.postOf(app.waiting('New chairs'));
		expect(post.buttons()).toContain('red');
		const [oldest] = await app.until(() => gaveWay(app).length === 1 && gaveWay(app));
		expect(before).toContain(oldest?.ts);
		expect(openButtons(oldest)).toEqual([]);
		await app.pass(2 * MINUTE);
		expect(openOnes(app).map(({ ts }) => ts)).toEqual([...before.filter((ts) => ts !== oldest?.ts), post.ts]);
		expect(app.raised().filter((one) => one.text().includes('Old'))).toHaveLength(3);
		expect(gaveWay(app)).toHaveLength(1);
	});

	it('follows the newest when more begin than it has places, and none comes twice', async () => {
		const app = await start(4);
		const ids = Array.from({ length: 5 }, (_, index) => app.waiting(`New ${index}`));
		for (const id of ids) await app.postOf(id);
		await app.pass(3 * MINUTE);
		expect(openOnes(app)).toHaveLength(3);
		expect(openOnes(app).every((post) => post.text().includes('New'))).toBe(true);
		expect(ids.map((id) => app.asked(id).length)).toEqual([1, 1, 1, 1, 1]);
	});

	it('gets a new one also when its first reads fail, or find nothing yet', async () => {
		const app = await start(6);
		const failing = app.waiting('New chairs');
		app.service.faults.add({ kind: 'error', sessionId: failing, times: 3 });
		const early = app.session({ name: 'New lamps', status: 'humanInput' });
		await app.until(() => app.service.log.reads(early).length > 0);
		await app.pass(1_000);
		app.ask(early);
		await app.until(() => app.asked(failing).length === 1 && app.asked(early).length === 1);
		await app.until(() => gaveWay(app).length === 2);
		await app.pass(2 * MINUTE);
		expect(openOnes(app)).toHaveLength(3);
	});

	it('is told once how new ones come, and gets the longest waiting when there is room', async () => {
		const app = await start(4);
		const full = said(leftOutWords({ kind: 'discoveryFull', limit: 'channel', most: 3 }, null));
		await app.saysInChannel(full);
		expect((await app.command('/session list')).text()).toContain(full);
		const waits = ['Old 0', 'Old 1', 'Old 2', 'Old 3'].find((name) => !isOpen(app, name)) ?? 'none';
		app.answerElsewhere(idIn(openOnes(app)[0]?.text()), 0);
		await app.until(() => isOpen(app, waits));
		await app.pass(MINUTE);
		expect((await app.command('/session list')).text()).not.toContain('and that is the limit');
		expect(app.inChannel().filter((post) => post.text().includes('and that is the limit'))).toHaveLength(1);
	});

	it('keeps what people chose to watch', async () => {
		const app = await forCase(discoveringApp({ env: { REMIND_AFTER: 'off' }, limits: { watches: { channel: 2 } } }));
		const ids = [app.session(), app.session()];
		await app.command(`/session watch ${ids.join(' ')}`);
		await app.watchAll();
		app.waiting('New chairs');
		await app.saysInChannel('and that is the limit');
		await app.until(() => ids.every((id) => app.card(id) !== undefined));
		expect(ids.map((id) => app.card(id)?.text().includes(SETTLED_WORDS.unwatched))).toEqual([false, false]);
		expect(gaveWay(app)).toEqual([]);
	});
});

it('knows after a restart which sessions are old, and that those that began meanwhile are new', async () => {
	const app = await start(6);
	await app.stop();
	const id = app.waiting('New chairs');
	await app.restart();
	await app.postOf(id);
	await app.until(() => gaveWay(app).length === 1);
	await app.pass(MINUTE);
	expect(gaveWay(app)).toHaveLength(1);
});

describe('the inbox', () => {
	const home = (app: DiscoveringApp, who = 'ada') => app.slack.as(who).home();
	const text = (app: DiscoveringApp) => home(app)?.text() ?? '';

	it('shows new ones first and the old ones as one line, with pages', async () => {
		const app = await start(14);
		await app.slack.as('ada').openApp('home');
		await app.until(() => text(app).includes('14 sessions have asked for a day'));
		expect(text(app)).toContain(waitingCountWords(0, 0, 14));
		await app.postOf(app.waiting('New chairs'));
		await app.until(() => text(app).includes('New chairs'));
		expect(text(app)).toContain('14 sessions have asked for a day');
		expect(text(app)).not.toMatch(/Old \d/);
		expect(text(app)).not.toContain(othersAskWords(0));
		await home(app)?.press('Show');
		await app.until(() => /Old \d/.test(text(app)));
		const first = text(app).match(/Old \d+/g) ?? [];
		expect(text(app)).not.toMatch(/asked just now|asked \d+ (?:s|min)/);
		expect(text(app)).toContain('Sessions 1 to 10 of 14');
		expect(text(app)).toContain(said(QUESTIONS_HIDDEN));
		await home(app)?.press('Next 4');
		await app.until(() => (text(app).match(/Old \d+/g) ?? []).length === 4);
		// It stands there once the page is about to be followed no more.
		await app.until(() => home(app)?.buttons().includes('Refresh'), undefined, 60 * MINUTE);
		await home(app)?.press('Refresh');
		await app.until(() => home(app)?.buttons().includes('Refresh') === false);
		expect(text(app)).toContain('Sessions 11 to 14 of 14');
		expect(home(app)?.buttons()).toContain('Hide');
		expect(new Set([...first, ...(text(app).match(/Old \d+/g) ?? [])]).size).toBe(14);
		await home(app)?.press('Previous 10');
		await app.until(() => (text(app).match(/Old \d+/g) ?? []).length === 10);
		await home(app)?.press('Answer');
		await app.until(() => app.slack.as('ada').modal()?.text().includes('Which colour?'));
		await app.slack.as('ada').modal()?.close();
		await home(app)?.press('Hide');
		await app.until(() => text(app).includes('New chairs') && !/Old \d/.test(text(app)));
	});

	it('folds a session that has waited for a day, and not what people watch', async () => {
		const app = await start(10);
		const watched = app.session({ name: 'Lamps' });
		await app.command(`/session watch ${watched}`, 'ada', '#secret');
		app.ask(watched);
		const id = app.waiting('New chairs');
		await app.postOf(id);
		await app.stop();
		await app.clock.advance(24 * 60 * MINUTE);
		await app.restart();
		await app.slack.as('ada').openApp('home');
		await app.until(() => text(app).includes('11 sessions have asked for a day'));
		expect(text(app)).not.toContain('New chairs');
		expect(text(app)).toContain('Lamps');
	});

	it('says of a session that it is no longer followed in a channel, until it is again', async () => {
		const app = await start(3);
		await app.slack.as('ada').openApp('home');
		const id = app.waiting('New chairs');
		await app.postOf(id);
		const [oldest] = await app.until(() => gaveWay(app).length === 1 && gaveWay(app));
		const name = /Old \d/.exec(oldest?.text() ?? '')?.[0] ?? 'none';
		const line = () =>
			text(app)
				.split('\n')
				.find((one) => one.includes(name)) ?? '';
		await app.until(() => line().includes('no longer followed in a channel'));
		app.answerElsewhere(id);
		await app.until(() => isOpen(app, name));
		await app.until(() => !text(app).includes('no longer followed'));
	});
});

/** The first two reads of a session that begins to wait fail. */
async function waitingUnread(app: DiscoveringApp, name = 'New chairs'): Promise<string> {
	const id = app.waiting(name);
	app.service.faults.add({ kind: 'error', sessionId: id, times: 2 });
	await app.until(() => app.service.log.reads(id).length > 0);
	return id;
}

describe('a session that asks again within ten minutes finds a place in a full channel', () => {
	it.each([
		['its question was answered elsewhere', async (app: DiscoveringApp, id: string) => app.answerElsewhere(id, 0)],
		[
			'a press',
			async (app: DiscoveringApp, id: string) => {
				await openOnes(app)[0]?.press('red');
				await app.until(() => app.service.log.savedPuts(id).length === 1);
				app.service.sessions.setStatus(id, 'active');
			},
		],
	])('after %s', async (_, answer) => {
		const app = await start(6);
		const id = idIn(openOnes(app)[0]?.text());
		const name = app.service.sessions.get(id)?.name ?? '';
		await answer(app, id);
		await app.until(() => openOnes(app).length === 3 && !isOpen(app, name));
		await app.pass(30_000);
		asksAgain(app, id);
		await app.until(() => isOpen(app, 'Which size now?'));
	});
});

it('brings nothing again when the list is empty for hours and the old sessions come back', async () => {
	const app = await start(6, FEWEST_REQUESTS);
	await app.pass(MINUTE);
	const before = app.inChannel().length;
	for (let index = 0; index < 6; index += 1) app.service.list.hidden.add(`old-${index}`);
	await app.pass(31 * MINUTE);
	app.service.list.hidden.clear();
	await app.pass(3 * MINUTE);
	expect(gaveWay(app)).toEqual([]);
	expect(app.inChannel()).toHaveLength(before);
}, 60_000);

describe('a question beyond the limit', () => {
	it('takes no place when one became free before it stood', async () => {
		const app = await start(3);
		const id = await waitingUnread(app);
		app.answerElsewhere(idIn(openOnes(app)[0]?.text()), 0);
		await app.until(() => app.asked(id).length === 1);
		await app.pass(MINUTE);
		expect(openOnes(app)).toHaveLength(3);
		expect(gaveWay(app)).toEqual([]);
	});

	it('takes one also when the program is started again before it stood', async () => {
		const app = await start(3);
		for (const name of ['New chairs', 'New lamps']) {
			const id = await waitingUnread(app, name);
			await app.restart();
			await app.until(() => app.asked(id).length === 1);
		}
		await app.until(() => openOnes(app).length === 3);
		expect(isOpen(app, 'New chairs') && isOpen(app, 'New lamps')).toBe(true);
	});

	it('takes the place of the one with the oldest news in another channel when the limit of all channels is reached', async () => {
		const app = await start(3, { MAX_WATCHES: '3' }, 100);
		await app.watchAll('#secret');
		await app.pass(20_000);
		const id = app.waiting('New chairs');
		await app.postOf(id, '#secret');
		await app.until(() => openOnes(app).length + openOnes(app, '#secret').length === 3);
	});
});

it('says who answered on a post that gave way before it showed that', async () => {
	const app = await start(3);
	const posts = openOnes(app);
	app.freezePosts();
	await app.postOf(app.waiting('New chairs'));
	await app.pass(20_000);
	for (const post of posts) {
		await post.press('red');
		await app.pass(1_000);
	}
	expect((await app.command('/session list')).text().match(/Old \d/g)).toHaveLength(2);
	app.slack.faults.clear();
	for (const post of posts) await app.until(() => answeredBy('ada', 'red').test(post.text()));
	for (const post of posts) expect(post.text()).not.toContain(SETTLED_WORDS.gaveWay);
	const saved = posts.map((post) => app.service.log.savedPuts(idIn(post.text())).length);
	expect(saved).toEqual([1, 1, 1]);
});
