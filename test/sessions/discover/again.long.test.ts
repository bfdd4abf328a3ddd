import { SETTLED_WORDS } from '../../../src/screens/question-post.ts';
import {
	asking,
	type DiscoveringApp,
	describe,
	discoveringApp,
	ended,
	expect,
	FEWEST_REQUESTS,
	forCase,
	openButtons,
	type Posted,
	SERVICE_DOWN,
	withApp,
} from '../../kit.ts';

const MINUTE = 60_000;
const WATCH_AGAIN = 'Watch again';

const begin = (env: Record<string, string> = {}, channel = 200) =>
	discoveringApp({ env: { REMIND_AFTER: 'off', ...env }, limits: { watches: { channel } } });
const start = (...how: Parameters<typeof begin>) => forCase(begin(...how));
const it = withApp(begin);

const postsOf = (app: DiscoveringApp, name: string): Posted[] =>
	app.inChannel().filter((post) => post.text().includes(`${name}`));
/** Posts whose question can be answered. */
const openPostsOf = (app: DiscoveringApp, name: string) =>
	postsOf(app, name).filter((post) => post.buttons().some((label) => label !== WATCH_AGAIN));
const postOf = (app: DiscoveringApp, name: string) => app.until(() => postsOf(app, name)[0]);

describe('/session watch all after /session unwatch all', () => {
	it('brings what still waits again, also what the channel never saw', async ({ app }) => {
		const names = Array.from({ length: 6 }, (_, index) => `Chair ${index}`);
		for (const name of names) app.waiting(name);
		await app.pass(12_000);
		await app.command('/session watch all');
		await postOf(app, 'Chair 0');
		await app.unwatchAll();
		await app.pass(10_000);
		expect(names.flatMap((name) => openPostsOf(app, name))).toEqual([]);
		await app.command('/session watch all', 'grace');
		await app.pass(MINUTE);
		expect(names.map((name) => openPostsOf(app, name).length)).toEqual(names.map(() => 1));
		const all = names.flatMap((name) => postsOf(app, name));
		expect(all.filter((post) => post.buttons().includes(WATCH_AGAIN)).map((post) => post.text())).toEqual([]);
	});
});

it('a channel that begins later gets at once what another one has stopped', async ({ app }) => {
	await app.command('/session watch all');
	const id = app.waiting('Chairs');
	await postOf(app, 'Chairs');
	await app.command(`/session unwatch ${id}`);
	await app.until(() => openPostsOf(app, 'Chairs').length === 0);
	await app.pass(5 * MINUTE);
	await app.command('/session watch all', 'ada', '#secret');
	await app.pass(15_000);
	const there = app.inChannel('#secret').filter((post) => post.text().includes('Chairs'));
	expect(there.map((post) => post.buttons().includes('red'))).toEqual([true]);
});

it('a direct message is not told who began, and anybody is told when sessions cannot be listed', async ({ app }) => {
	await app.pass(12_000);
	app.service.list.mode = 'off';
	await app.pass(15_000);
	const told = await app.command('/session watch all', 'ada', 'dm');
	expect(told.text()).toContain('from now on. ⏳ The list of sessions cannot be got at the moment');
	app.service.list.mode = 'on';
	app.waiting('Chairs');
	await app.until(() => app.inChannel('dm').find((post) => post.text().includes('Chairs')));
	expect(app.inChannel('dm').filter((post) => post.text().includes('has typed'))).toEqual([]);
});

describe('/session unwatch before the first read', () => {
	const SLOW = { SESSION_SERVICE_TIMEOUT_MS: '15000' };

	it('of a discovered question does not bring it, and brings what is asked next', async () => {
		const app = await start(SLOW);
		await app.command('/session watch all');
		await app.pass(12_000);
		const id = app.waiting('Chairs');
		app.service.faults.add({ kind: 'slow', ms: 8_000, sessionId: id, method: 'GET' });
		await app.until(() => app.service.log.reads(id).length > 0);
		await app.command(`/session unwatch ${id}`);
		app.service.faults.clear();
		await app.pass(5 * MINUTE);
		expect(postsOf(app, 'Chairs')).toEqual([]);
		app.service.sessions.push(id, asking('Or rather:', ['Which size?']));
		await app.until(() => openPostsOf(app, 'Chairs').length > 0);
		expect(openPostsOf(app, 'Chairs')[0]?.text()).toContain('Which size?');
	}, 60_000);

	it('of a session that somebody watched does not bring what they saw', async () => {
		const app = await start(SLOW);
		await app.command('/session watch all');
		await app.pass(12_000);
		const id = app.session({ name: 'Chairs' });
		app.service.list.hidden.add(id);
		app.ask(id, ['Which colour?']);
		await app.command(`/session watch ${id}`);
		await app.command(`/session unwatch ${id}`);
		app.service.list.hidden.clear();
		await app.pass(5 * MINUTE);
		const shown = postsOf(app, 'Chairs').map((post) => post.text());
		expect(shown).toEqual([expect.stringContaining(SETTLED_WORDS.unwatched)]);
	}, 60_000);
});

describe('posts that are on their way', () => {
	it.each(['/session unwatch all', '/session unwatch ID'])('are settled after %s', async (command) => {
		const app = await start();
		await app.command('/session watch all');
		await app.pass(5_000);
		const release = app.slack.faults.hold('chat.postMessage', (args) => JSON.stringify(args).includes('Which colour?'));
		const id = app.waiting('Chairs');
		const isHeld = () => app.calls('chat.postMessage').some(({ doneAt }) => doneAt === null);
		await app.until(isHeld);
		await (command.endsWith('all') ? app.unwatchAll() : app.command(command.replace('ID', id)));
		release();
		await app.until(() => postsOf(app, 'Chairs').length === 1);
		await app.until(() => openPostsOf(app, 'Chairs').length === 0);
		await app.pass(MINUTE);
		expect(postsOf(app, 'Chairs')).toHaveLength(1);
	});

	it.each(['readable', 'unreadable'])(
		'do not come after the question was answered, history %s',
		async (history) => {
			const app = await start();
			if (history === 'unreadable') {
				const isHistory = (scope: string) => scope === 'channels:history' || scope === 'groups:history';
				app.slack.settings.scopes = app.slack.settings.scopes.filter((scope) => !isHistory(scope));
			}
			await app.command('/session watch all');
			await app.pass(5_000);
			const lift = app.slack.faults.add({ method: 'chat.postMessage', status: 503 });
			const id = app.waiting('Chairs');
			await app.pass(MINUTE);
			app.service.sessions.answerAsPage(id, ['red'], 2);
			app.service.sessions.setStatus(id, 'active');
			await app.pass(9 * MINUTE);
			lift();
			await app.pass(8 * MINUTE);
			expect(postsOf(app, 'Chairs')).toEqual([]);
		},
		60_000,
	);
});

const pauseNotices = (app: DiscoveringApp) => app.inChannel().filter((post) => post.text().includes('is paused'));

describe('listed sessions that ask nothing', () => {
	it('do not keep watched sessions from being read', async () => {
		const app = await start({ SESSION_SERVICE_RPM: '100' }, 100);
		const ids = Array.from({ length: 4 }, () => app.session());
		await app.command(`/session watch ${ids.join(' ')}`);
		await app.pass(MINUTE);
		const count = () => ids.reduce((sum, id) => sum + app.service.log.reads(id).length, 0);
		const before = count();
		await app.pass(3 * MINUTE);
		const usual = count() - before;
		for (let number = 0; number < 60; number += 1) app.session({ name: `Dead ${number}`, status: 'humanInput' });
		await app.watchAll();
		await app.pass(3 * MINUTE);
		const then = count();
		await app.pass(3 * MINUTE);
		// 4 of 64 sessions get more than a quarter of what they got alone. In one minute the phases of reads decide.
		expect(count() - then).toBeGreaterThan(usual / 4);
	}, 60_000);

	it('do not keep their places when they cannot be read', async () => {
		const app = await start({}, 1);
		const odd = app.session({ name: 'Odd', status: 'humanInput' });
		app.service.faults.add({ kind: 'error', sessionId: odd });
		await app.watchAll();
		await app.pass(20_000);
		const id = app.waiting('Real');
		await app.until(() => app.asked(id)[0]);
		expect(app.inChannel().filter((post) => post.text().includes(SERVICE_DOWN))).toEqual([]);
	});
});

describe('what ends or pauses it', () => {
	it('ends where the bot was removed, and tells who began it', async ({ app }) => {
		await app.raisedHand();
		await app.slack.remove('#agents', 'handraise');
		const dm = await app.until(() => app.slack.as('ada').dm().at(-1));
		expect(dm.text()).toContain('The watch of all sessions in');
		expect(dm.text()).toContain('use /session watch all to start again');
		expect(dm.text()).toContain(ended('botRemoved').replace('/session watch', '/session watch all'));
		app.waiting('Another');
		await app.pass(MINUTE);
		expect(app.slack.as('ada').dm()).toHaveLength(1);
	});

	it('pauses when the list disappears, not for a moment, and says so once a day, and goes on when it is back', async () => {
		const app = await start(FEWEST_REQUESTS);
		const { post } = await app.raisedHand();
		app.service.list.mode = 'off';
		await app.pass(30_000);
		app.service.list.mode = 'on';
		await app.postOf(app.waiting('Soon after'));
		expect(pauseNotices(app)).toEqual([]);
		app.service.list.mode = 'off';
		await app.saysInChannel('watch all is paused');
		expect((await app.command('/session list')).text()).toContain('watch all is paused');
		expect(post.buttons()).toContain('red');
		const other = app.waiting('Lamps');
		await app.pass(2 * MINUTE);
		expect(app.raised()).toHaveLength(3);
		app.service.list.mode = 'on';
		await app.postOf(other);
		expect((await app.command('/session list')).text()).not.toContain('is paused');
		app.service.list.mode = 'off';
		await app.pass(7 * MINUTE);
		expect((await app.command('/session list')).text()).toContain('is paused');
		expect(pauseNotices(app)).toHaveLength(1);
	});

	it('tells the channel once a day that discovering is switched off', async ({ app }) => {
		const { id, post } = await app.raisedHand();
		await app.restart({ DISCOVER_SESSIONS: 'false' });
		await app.saysInChannel('DISCOVER_SESSIONS');
		await app.pass(5_000);
		await app.restart({ DISCOVER_SESSIONS: 'false' });
		app.waiting('Lamps');
		await app.pass(MINUTE);
		expect(app.raised()).toHaveLength(2);
		app.answerElsewhere(id);
		await app.until(() => openButtons(post)?.length === 0);
		expect(pauseNotices(app)).toHaveLength(1);
		await app.restart({ DISCOVER_SESSIONS: 'true' });
		await app.until(() => app.inChannel().some((one) => one.text().includes('Lamps')));
	});
});
