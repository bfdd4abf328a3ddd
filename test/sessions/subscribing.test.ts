import { SETTLED_WORDS } from '../../src/screens/question-post.ts';
import { unwatchedAllWords, unwatchedWords, WATCHES_KEPT } from '../../src/screens/watch.ts';
import {
	describe,
	ended,
	expect,
	forCase,
	openSession,
	said,
	WATCHING,
	type WatchingApp,
	watchingApp,
	whatHappened,
	withApp,
} from '../kit.ts';

const it = withApp(() => watchingApp({ realRates: true }));

/** That this session is not watched here any more. */
const unwatched = ({ service }: WatchingApp, id: string) =>
	said(unwatchedWords(id, service.sessions.get(id).name ?? ''));

describe('/session watch', () => {
	it('posts one card in the channel and replies only to the person', async ({ app }) => {
		const id = app.session({ name: 'Order new chairs' });
		const told = await app.command(`/session watch ${id}`);
		expect(told.text()).toBe('👀 Watching Order new chairs here.');
		expect(told.text()).not.toContain('Many sessions');
		const card = await app.until(() => app.card(id));
		expect(card.text()).toContain('⚙️ Order new chairs · working · step 1');
		expect(card.text()).toContain('I open the shop.');
		expect(card.buttons()).toEqual(['Open session', 'Open in the dashboard', 'Stop watching']);
		await app.pass(60_000);
		expect(app.inChannel()).toHaveLength(1);
		expect(card.thread()).toEqual([]);
		expect(card.editHistory()).toEqual([]);
	});

	it('accepts several ids and links at once, with a line for those that are watched and for each other', async ({
		app,
	}) => {
		const [one, two] = [app.session({ name: 'Order chairs' }), app.session({ name: 'Order lamps' })];
		const link = `https://dashboard.example.com/sessions/session?id=${two}`;
		const told = await app.command(`/session watch ${one} <${link}> nosuch completed`);
		const lines = told.text().split('\n');
		expect(lines).toEqual([
			'👀 Watching 2 sessions here: Order chairs, Order lamps.',
			'⚠️ No session nosuch found. Check the id.',
			'✅ session completed is done: there is nothing to watch.',
		]);
		await app.until(() => app.card(one) && app.card(two));
	});

	it.for(['watch', 'unwatch'])(
		'gives the outcome of each of 20 sessions, however long their ids: %s',
		async (verb, { app }) => {
			const ids = Array.from({ length: 20 }, (_, index) => `n${index}-${'nosuch'.repeat(30)}`);
			const told = await app.command(`/session ${verb} ${ids.join(' ')}`);
			const lines = told.text().split('\n');
			for (const id of ids) expect(lines.filter((line) => line.includes(id.slice(0, 50)))).toHaveLength(1);
		},
	);

	it.for([
		{ what: 'where the bot is not a member', channel: '#general', code: 'watch_not_member' },
		{ what: 'in a private channel that the bot cannot see', channel: '#vault', code: 'watch_not_member' },
		{ what: 'in an archived channel', channel: '#old', code: 'watch_archived' },
		{ what: 'in a channel shared with another organisation', channel: '#shared', code: 'watch_external' },
		{ what: 'by a guest', channel: '#agents', code: 'guest', who: 'gus' },
		{ what: 'by somebody of another organisation', channel: '#shared', code: 'external', who: 'eve' },
	])('refuses to watch $what, with the reason', async ({ channel, code, who = 'ada' }, { app }) => {
		const id = app.session();
		const told = await app.command(`/session watch ${id}`, who, channel);
		expect(told.text()).toContain(whatHappened(code));
		await app.pass(5_000);
		expect(app.calls('chat.postMessage').filter(({ request }) => JSON.stringify(request).includes(id))).toEqual([]);
		expect(app.service.log.reads(id)).toEqual([]);
	});
});

describe('the buttons', () => {
	it("watches by the modal's button in the channel from which it was opened", async ({ app }) => {
		const id = app.session();
		const modal = await openSession(app, id);
		const told = await app.toldAfter(() => modal.press('Watch in this channel'));
		expect(told.text()).toContain(WATCHING);
		await app.until(() => app.card(id));
		await app.until(() => !modal.buttons().includes('Watch in this channel'));
	});

	it("unwatches and opens the session by the card's buttons", async ({ app }) => {
		const id = await app.watched();
		const card = await app.until(() => app.card(id));
		await card.press('Open session');
		await app.slack.as('ada').waitForModal('Order six desk chairs.');
		await app.slack.as('ada').modal()?.close(true);
		const told = await app.toldAfter(() => card.press('Stop watching'));
		expect(told.text()).toContain(unwatched(app, id));
		await app.until(() => !card.buttons().includes('Stop watching'));
		expect(card.text()).toContain(ended('unwatched'));
		// A read under way at the press ends.
		await app.pass(2_000);
		const reads = app.service.log.reads(id).length;
		app.ask(id);
		await app.pass(60_000);
		expect(app.service.log.reads(id)).toHaveLength(reads);
		expect(app.thread(id)).toEqual([]);
	});

	it.for([
		['list', false],
		['watch x', true],
		['watch all', true],
		['unwatch x', true],
	] as const)(
		'tells a guest after /session %s whether anything would have been changed',
		async ([typed, changes], { app }) => {
			const told = await app.command(`/session ${typed}`, 'gus');
			expect(told.text()).toContain(whatHappened('guest'));
			expect(told.text().includes('Nothing was changed')).toBe(changes);
		},
	);
});

describe('/session unwatch and list', () => {
	it('ends one watch or all watches of the channel, and none of other channels', async ({ app }) => {
		expect((await app.command('/session list')).text()).toContain('This channel watches no session.');
		expect((await app.unwatchAll()).text()).toContain('This channel watches no session.');
		const [one, two, three] = [app.session(), app.session(), app.session()];
		await app.command(`/session watch ${one} ${two} ${three}`);
		await app.command(`/session watch ${three}`, 'ada', '#secret');
		expect((await app.command(`/session unwatch ${one} nosuch`)).text()).toMatch(
			/is not watched here any more.*nosuch is not watched here/s,
		);
		expect((await app.command('/session list')).text()).toContain('This channel watches 2 sessions.');
		expect((await app.command(`/session unwatch ${two} nosuch ${three}`)).text().split('\n')).toEqual([
			'👋 2 sessions are not watched here any more.',
			'⚠️ nosuch is not watched here.',
		]);
		await app.command(`/session watch ${two} ${three}`);
		expect((await app.unwatchAll()).text()).toContain('2 sessions are not watched here any more');
		expect((await app.command('/session list', 'ada', '#secret')).text()).toContain(
			app.service.sessions.get(three).name,
		);
	});

	it('lists watches with state, step, question and *Stop watching*, in pages, also by /session unwatch alone', async ({
		app,
	}) => {
		const asks = app.session({ name: 'The one that asks' });
		const ids = [...Array.from({ length: 16 }, () => app.session()), asks];
		await app.command(`/session watch ${ids.join(' ')}`);
		await app.pass(5_000);
		app.ask(asks, ['Which?', 'Why?']);
		await app.until(() => app.thread(asks).length > 0);
		const list = await app.command('/session list');
		const rows = () => list.buttons().filter((label) => label === 'Stop watching').length;
		expect(list.text()).toContain('This channel watches 17 sessions.');
		expect(list.text()).toContain('✋ The one that asks · asks · step 2\nQuestion: Which? and 1 more\n[Stop watching]');
		expect(list.text()).toMatch(/^⚙️ Order \d+ chairs · working · step 1\n\[Stop watching\]$/m);
		expect(rows()).toBe(10);
		expect(list.buttons().at(-1)).toBe('More');
		const first = list.text();
		expect((await app.command('/session unwatch')).text()).toBe(first);
		const before = app.slack.as('ada').messages('#agents').length;
		await list.press('More');
		await app.until(() => list.buttons().at(-1) === 'Back');
		expect(list.text()).not.toBe(first);
		expect(rows()).toBe(7);
		await list.press('Back');
		await app.until(() => list.text() === first);
		expect(app.slack.as('ada').messages('#agents')).toHaveLength(before);

		const at = list
			.text()
			.split('[Stop watching]')
			.findIndex((row) => row.includes('The one that asks'));
		const told = await app.toldAfter(() => list.press('Stop watching', at));
		expect(told.text()).toBe(unwatched(app, asks));
		await app.until(() => list.text().includes('This channel watches 16 sessions.'));
		expect(list.text()).not.toContain('The one that asks');
		await app.threadSays(asks, SETTLED_WORDS.unwatched);
	});

	it('asks before it ends all, and ends nothing when that was not meant', async ({ app }) => {
		const ids = [app.session(), app.session()];
		await app.command(`/session watch ${ids.join(' ')}`);
		const offer = await app.command('/session unwatch all');
		expect(offer.text()).toContain('👋 End 2 watches here?');
		expect(offer.buttons()).toEqual(['End all', 'No']);
		await offer.press('No');
		await app.until(() => offer.text() === WATCHES_KEPT);
		expect((await app.command('/session list')).text()).toContain('This channel watches 2 sessions.');
		expect((await app.unwatchAll()).text()).toBe(unwatchedAllWords(2, false));
	});
});

it('says once how slow a watch will be when many sessions are watched', async () => {
	const app = await forCase(watchingApp({ env: { SESSION_SERVICE_RPM: '40' }, service: { rateLimit: false } }));
	const ids = Array.from({ length: 24 }, () => app.session());
	for (let from = 0; from < ids.length; from += 6) {
		// The small budget needs time before it has room for these.
		await app.pass(30_000);
		const watched = await app.command(`/session watch ${ids.slice(from, from + 6).join(' ')}`);
		expect(watched.text()).not.toContain('Many sessions');
	}
	await app.pass(30_000);
	const more = Array.from({ length: 6 }, () => app.session());
	const told = await app.command(`/session watch ${more.join(' ')}`);
	expect(told.text()).toMatch(
		/seen after about \d+ s if the agent is busy, and after up to \d+ (?:s|min) if it is quiet/,
	);
	expect(told.text().match(/Many sessions are watched/g)).toHaveLength(1);
});

it('watches in a shared channel with ALLOW_EXTERNAL', async () => {
	const app = await forCase(watchingApp({ env: { ALLOW_EXTERNAL: 'true' } }));
	const id = app.session();
	expect((await app.command(`/session watch ${id}`, 'ada', '#shared')).text()).toContain(WATCHING);
	await app.until(() => app.card(id, '#shared'));
	expect((await app.command(`/session unwatch ${id}`, 'eve', '#shared')).text()).toContain(unwatched(app, id));
});
