import { asksWords, OUTSIDE, SETTLED_WORDS } from '../../../src/screens/question-post.ts';
import { leftOutWords, unwatchedAllWords, watchCountWords } from '../../../src/screens/watch.ts';
import {
	asking,
	type DiscoveringApp,
	describe,
	discoveringApp,
	expect,
	FEWEST_REQUESTS,
	forCase,
	openButtons,
	REMINDER,
	SERVICE_DOWN,
	said,
	USUAL_REQUESTS,
	whatHappened,
	withApp,
} from '../../kit.ts';

const MINUTE = 60_000;

const begin = (options: Parameters<typeof discoveringApp>[0] = {}) =>
	discoveringApp({ ...options, env: { ...FEWEST_REQUESTS, ...options.env } });
const start = (options: Parameters<typeof begin>[0] = {}) => forCase(begin(options));
const it = withApp(begin);

describe('/session watch all', () => {
	it('brings a raised hand into the channel as one post, which says who answered', async ({ app }) => {
		expect((await app.watchAll()).text()).toContain('from now on');
		const begun = await app.saysInChannel('turned on questions from all sessions');
		expect(begun.text()).toContain('ada');
		const id = app.waiting();
		const post = await app.postOf(id);
		expect(post.text()).toContain('Order new chairs');
		expect(post.buttons()).toEqual(['red', 'green', 'Other answer…', ...app.MENU]);
		await post.press('green');
		await app.until(() => app.service.log.puts(id).length === 1);
		app.service.sessions.setStatus(id, 'active');
		app.step(id, 'I order green ones.');
		await app.until(() => post.text().includes('\nada: green · continued'));
		expect(openButtons(post)).toEqual([]);
		await app.pass(MINUTE);
		expect(app.raised()).toHaveLength(1);
		expect(post.thread()).toEqual([]);
		expect((await app.command('/session list')).text()).toContain('Nothing asks here now.');
	});

	it('posts at once what the agent asks next after an answer in Handraise, also without a list', async () => {
		const app = await start({ env: USUAL_REQUESTS });
		const { id, post: first } = await app.raisedHand();
		await first.press('green');
		await app.until(() => app.service.log.puts(id).length === 1);
		app.service.list.mode = 'off';
		app.service.sessions.setStatus(id, 'active');
		await app.until(() => openButtons(first)?.length === 0);
		const askedAt = app.clock.now();
		app.ask(id, ['Which size?']);
		const second = await app.until(() => app.asked(id)[1]);
		expect(second.text()).toContain('Which size?');
		expect(app.clock.now() - askedAt).toBeLessThanOrEqual(5_000);
		app.answerElsewhere(id, app.service.sessions.askingIndex(id));
		await app.until(() => second.text().includes(OUTSIDE));
		await app.pass(MINUTE);
		expect(app.asked(id)).toHaveLength(2);
		expect((await app.command('/session list')).text()).toContain('Nothing asks here now.');
	});

	it('posts a question that replaces an open one after a minute beside it, and reminds of the newest', async () => {
		const app = await start({ env: { REMIND_AFTER: '2m' } });
		const { id, post: first } = await app.raisedHand();
		await app.pass(MINUTE + 5_000);
		app.service.sessions.push(id, asking('Another thing.', ['Which size?']));
		const second = await app.until(() => app.asked(id)[1]);
		await app.until(() => openButtons(first)?.length === 0);
		const reminder = await app.threadSays(id, REMINDER);
		expect(reminder.text()).toContain('Which size?');
		expect(JSON.stringify(reminder.blocks())).toContain(`p${second.ts.replace('.', '')}|Go to question>`);
		expect([...first.thread(), ...second.thread()]).toEqual([]);
	});

	it.each([false, true])(
		'reminds of its question after somebody watches it (questions in threads: %s)',
		async (inThread) => {
			const app = await start({ env: { REMIND_AFTER: '5m' } });
			await app.setPosts({ questionsInThread: inThread });
			const { id } = await app.raisedHand();
			await app.pass(MINUTE);
			await app.command(`/session watch ${id}`);
			await app.pass(20 * MINUTE);
			expect(app.slack.state.messages.filter(({ text }) => REMINDER.test(String(text)))).toHaveLength(1);
		},
	);

	it('says on its notice that it goes on when the list is back, and that it is paused when it is away again', async () => {
		const app = await start();
		await app.watchAll();
		app.service.list.mode = 'off';
		const notice = await app.saysInChannel('watch all is paused');
		app.service.list.mode = 'on';
		// It is looked for every five minutes.
		await app.pass(MINUTE);
		const post = await app.postOf(app.waiting());
		await app.until(() => notice.text().includes('new questions come here again'));
		expect(notice.text()).not.toContain('is paused');
		await app.pass(MINUTE);
		app.service.list.mode = 'off';
		await app.until(() => notice.text().includes('watch all is paused'));
		await app.restart();
		app.service.list.mode = 'on';
		await app.until(() => notice.text().includes('new questions come here again'));
		expect(app.raised().map(({ ts }) => ts)).toEqual([notice.ts, post.ts].toSorted());
	});

	it('keeps away a question that somebody stopped, also when the list was away, and brings the next one', async () => {
		const app = await start();
		const { id, post } = await app.raisedHand();
		await app.command(`/session unwatch ${id}`);
		await app.until(() => post.buttons().join() === 'Watch again');
		expect(post.text()).toContain(SETTLED_WORDS.unwatched);
		app.service.list.mode = 'off';
		await app.saysInChannel(said(leftOutWords({ kind: 'discoveryPaused', why: 'noList' }, null)));
		app.service.list.mode = 'on';
		await app.until(async () => !(await app.command('/session list')).text().includes('is paused'));
		app.service.sessions.setStatus(id, 'active');
		await app.pass(15_000);
		app.service.sessions.setStatus(id, 'humanInput');
		await app.pass(MINUTE);
		expect(app.asked(id)).toHaveLength(1);
		app.service.sessions.push(id, asking('Else.', ['Which size?']));
		await app.until(() => app.asked(id)[1]);
		expect(app.asked(id)[1]?.text()).toContain(said(asksWords('Order new chairs')));
	});

	it('finds the list again after an outage in which nothing could be read', async ({ app }) => {
		const { id } = await app.raisedHand();
		await app.service.goDown();
		await app.saysInChannel(SERVICE_DOWN);
		app.service.sessions.remove(id);
		await app.pass(2 * MINUTE);
		const next = app.waiting('Order a desk');
		await app.service.comeBack();
		await app.postOf(next);
	});

	it('believes the read, not the list: a session that asks nothing is posted when it asks', async ({ app }) => {
		await app.watchAll();
		const id = app.session({ status: 'humanInput' });
		await app.until(() => app.service.log.reads(id).length === 1);
		await app.pass(2 * MINUTE);
		expect(app.raised()).toEqual([]);
		app.ask(id);
		await app.postOf(id);
	});

	it('settles the post when the session ends or is gone', async ({ app }) => {
		await app.watchAll();
		const [stopped, deleted] = [app.waiting(), app.waiting('Order lamps')];
		const posts = [await app.postOf(stopped), await app.postOf(deleted)];
		app.service.sessions.setStatus(stopped, 'stopped');
		app.service.sessions.remove(deleted);
		await app.until(() => openButtons(posts[0])?.length === 0);
		expect(posts[0]?.text()).toContain('The session was stopped');
		await app.pass(9 * MINUTE);
		// The service may not find it for a while.
		expect(posts[1]?.buttons()).toContain('red');
		await app.until(() => openButtons(posts[1])?.length === 0);
		expect(app.raised()).toHaveLength(2);
	});

	it('shows questions as the channel wants its posts; without a card they stand in the channel', async ({ app }) => {
		await app.setPosts({ discreet: true, buttons: false, questionsInThread: true });
		expect((await app.watchAll()).text()).toContain('from now on');
		expect((await app.watchAll()).text()).toContain('come into this channel already');
		const post = await app.postOf(app.waiting());
		expect(post.threadTs()).toBeNull();
		expect(post.buttons()).not.toContain('red');
		expect(app.slack.state.messages.find(({ ts }) => ts === post.ts)?.text).not.toContain('Which colour?');
		expect((await app.command('/session watch all --thread-only')).text()).toContain('nothing was done');
	});

	it('lists with /session watch the sessions that wait and are not watched there, to choose one', async ({ app }) => {
		expect((await app.command('/session watch')).text()).toContain('No other session asks now.');
		for (let number = 1; number <= 12; number += 1) app.waiting(`Order ${number}`);
		await app.pass(MINUTE);
		const shown = await app.command('/session watch');
		expect(shown.buttons()).toEqual(Array(10).fill('Watch'));
		expect(shown.text()).toContain('and 2 more sessions');
		expect(shown.text()).not.toContain('red');
		const [newest = ''] = shown.text().match(/Order \d+/) ?? [];
		await app.toldAfter(() => shown.press('Watch'));
		const asked = await app.saysInChannel(`${newest} asks`);
		expect(asked.buttons()).toContain('red');
		const again = await app.command('/session watch');
		expect(again.text()).toContain('and 1 more');
		expect(again.text()).not.toContain(`${newest} · `);
		expect((await app.command('/session watch', 'ada', '#general')).text()).toContain(whatHappened('watch_not_member'));
	});

	it('lists sessions of the same name with their ids', async ({ app }) => {
		const ids = ['Order chairs', 'Order chairs', 'Order lamps'].map((name) => app.waiting(name));
		await app.pass(MINUTE);
		const shown = await app.command('/session watch');
		const [one = '', other = '', lamps = ''] = ids;
		for (const id of [one, other]) {
			expect(shown.text()).toMatch(new RegExp(`^✋ Order chairs · ${id} · just now$`, 'm'));
			expect(JSON.stringify(shown.blocks())).toContain(`"accessibility_label":"Watch: session ${id}"`);
		}
		expect(shown.text()).toMatch(/^✋ Order lamps · just now$/m);
		expect(shown.text()).not.toContain(lamps);
	});

	it('ends with /session unwatch all, and is listed with who began it until then', async ({ app }) => {
		const { post } = await app.raisedHand();
		const listed = (await app.command('/session list', 'grace')).text();
		expect(listed).toContain(said(watchCountWords(1, true)));
		expect(listed).toMatch(/The questions of all sessions come into this channel: watch all by @ada/);
		const told = (await app.unwatchAll('#agents', 'grace')).text();
		expect(told).toBe(unwatchedAllWords(1, true));
		await app.until(() => post.buttons().join() === 'Watch again');
		const ended = await app.saysInChannel('turned off questions from all sessions');
		expect(ended.text()).toContain('grace');
		const another = app.waiting('Another');
		await app.pass(MINUTE);
		expect(app.asked(another)).toEqual([]);
		expect((await app.command('/session list')).text()).not.toContain('all sessions');
		expect((await app.unwatchAll()).text()).toContain(unwatchedAllWords(0, false));
	});
});

describe('a channel in which Slack refuses posts for good', () => {
	const refusePosts = (app: DiscoveringApp) =>
		app.slack.faults.add({
			method: 'chat.postMessage',
			error: 'restricted_action',
			when: ({ channel }) => channel === 'C0AGENTS',
		});
	const told = (app: DiscoveringApp) => app.slack.as('ada').dm('Slack refused');

	it('is told so in the reply to the command', async ({ app }) => {
		refusePosts(app);
		const id = app.waiting();
		expect((await app.watchAll()).text()).toMatch(
			/^⚠️ Slack refuses what Handraise posts here \(restricted_action\).* let apps post here\.$/,
		);
		const dm = await app.until(() => told(app)[0]);
		expect(dm.text()).not.toContain(id);
		expect(dm.text()).not.toContain('/session watch');
	});

	it('gets new questions by itself when they are not refused any more', async ({ app }) => {
		expect((await app.watchAll()).text()).toContain('from now on');
		await app.saysInChannel('turned on questions from all sessions');
		const lift = refusePosts(app);
		app.waiting();
		const dm = await app.until(() => told(app)[0]);
		expect(dm.text()).toContain('New questions of all sessions come there then.');
		lift();
		await app.postOf(app.waiting('Order new lamps'));
	});
});

describe('/session watch all is refused in words', () => {
	it('when Handraise does not discover sessions', async () => {
		const app = await start({ env: { DISCOVER_SESSIONS: 'false', ADMIN_CONTACT: 'the help desk' } });
		const told = (await app.watchAll()).text();
		expect(told).toContain('DISCOVER_SESSIONS');
		expect(told).toContain('the help desk');
		app.waiting();
		await app.pass(MINUTE);
		expect(app.raised()).toEqual([]);
	});

	it('when the service has no list', async () => {
		const app = await start({ service: { list: { mode: 'off' } } });
		await app.pass(5 * MINUTE);
		expect((await app.watchAll()).text()).toContain('cannot get the list of sessions');
	});

	it('but not for one unlucky look at the start', async () => {
		const app = await start({ service: { list: { mode: 'off' } } });
		await app.pass(3_000);
		app.service.list.mode = 'on';
		expect((await app.watchAll()).text()).not.toContain('cannot get the list of sessions');
		const id = app.waiting();
		await app.until(() => app.inChannel('#agents').some((post) => JSON.stringify(post.blocks()).includes(id)));
	});

	it.each([
		{ what: 'where the bot is not a member', channel: '#general', code: 'watch_not_member' },
		{ what: 'in a shared channel', channel: '#shared', code: 'watch_external' },
		{ what: 'by a guest', channel: '#agents', code: 'guest', who: 'gus' },
	])('$what', async ({ channel, code, who = 'ada' }) => {
		const app = await start();
		expect((await app.command('/session watch all', who, channel)).text()).toContain(whatHappened(code));
		app.waiting();
		await app.pass(MINUTE);
		expect(app.inChannel(channel)).toEqual([]);
	});
});
